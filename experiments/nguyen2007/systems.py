"""The rows of the paper's Table 1: a linear model, and kernels of several kinds beside it.

All begin with the weights of the linear model, and kernels with 0; all weights are then trained together on the lists
of the training text, by RProp on expected BLEU, with a Gaussian prior on the weights of kernels.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from lists import METRIC

from camber.bend.mixtures.em import fit_mixture
from camber.bend.mixtures.mixture import Mixture
from camber.bend.mixtures.perceptron import perceptron_kernels
from camber.engine import Threads
from camber.features.weights import Weights
from camber.rerank.mixture import Prior
from camber.tune.data import TuningData
from camber.tune.expected import ExpectedBleu

#: where posteriors are cut: this share of their mass, and this many kernels at most
MASS, MOST = 0.99, 64
#: RProp's steps; the paper's: "about 50 iterations"
STEPS = 50
Result = dict[str, Any]


@dataclass(frozen=True)
class Kernels:
    """How the kernels of a row come about."""

    kind: str  # "ml", or "perceptron"
    count: int = 0  # of ml
    of: str = "train"  # the list that they are made from
    widest: float = 1.0  # bandwidth at most; of tens of thousands of wide kernels, 64 hold next to nothing


@dataclass(frozen=True)
class Scale:
    """How much is tried."""

    bandwidths: tuple[float, ...] = (0.1, 0.25, 0.5, 1.0)
    variances: tuple[float, ...] = (0.01, 0.1, 1.0)
    em_points: int = 200_000
    small: int = 1024
    large: int = 16_384

    def rows(self) -> dict[str, Kernels]:
        """Return the rows with kernels: what is trained with a prior."""
        return {
            f"GMM-ML-{_short(self.small)}": Kernels("ml", self.small),
            f"GMM-ML-{_short(self.large)}": Kernels("ml", self.large),
            "GMM-PCP (dev)": Kernels("perceptron", of="dev"),
            "GMM-PCP (train)": Kernels("perceptron", widest=0.25),
        }


#: the row that is trained once more without a prior, and with a sentence's own kernels left in
LAST = "GMM-PCP (train)"


@dataclass(frozen=True)
class Job:
    """One model to be trained."""

    row: str
    bandwidth: float = 0.0
    variance: float = 0.0  # 0: no prior
    leave_out: bool = True

    def place(self, language: str) -> str:
        """Return the name of its files."""
        name = self.row.lower().replace(" ", "-").replace("(", "").replace(")", "")
        inside = "" if self.leave_out else ".in"
        return f"{language}.{name}.b{self.bandwidth:g}.v{self.variance:g}{inside}"


class Trainer:
    """Everything that is learnt from the lists of one language pair."""

    def __init__(self, language: str, lists: Mapping[str, TuningData], scale: Scale, work: Path) -> None:
        self.language, self.lists, self.scale, self.work = language, lists, scale, work
        self.engine = Threads(1)
        self._mixtures: dict[str, Mixture | None] = {}

    # --- the linear model ---------------------------------------------------------------------------------------------

    @cached_property
    def baseline(self) -> np.ndarray:
        """The weights of the linear model, trained on the lists of the training text."""
        place = self.work / f"{self.language}.baseline.npy"
        if not place.exists():
            start, cpu = time.time(), time.thread_time()
            data = self.lists["train"]
            begin = Weights.read(self.work / f"{self.language}.weights.tsv", data.names).vector(data.names)
            tuned = ExpectedBleu(steps=200).fit(data, begin, seed=1, engine=self.engine)
            np.save(place, tuned.weights)
            self._keep(Job("Baseline"), tuned.weights, {}, time.time() - start, time.thread_time() - cpu)
        return np.load(place)

    # --- kernels ------------------------------------------------------------------------------------------------------

    @cached_property
    def centre_and_scale(self) -> tuple[np.ndarray, np.ndarray]:
        """What kernels see of a feature: less its mean, over its standard deviation, in the training text's lists."""
        features = self.lists["train"].features
        spread = features.std(0)
        return features.mean(0), np.where(spread > 1e-12, spread, 1.0)

    def points(self, name: str) -> np.ndarray:
        """Return where the hypotheses of a list are for kernels."""
        centre, scale = self.centre_and_scale
        return (self.lists[name].features - centre) / scale

    def mixture(self, row: str) -> Mixture | None:
        """Make the kernels of a row, once."""
        if row not in self._mixtures:
            self._mixtures = {row: self._make(self.scale.rows()[row])}  # one at a time: they are large
        return self._mixtures[row]

    def _make(self, kernels: Kernels) -> Mixture | None:
        data, points = self.lists[kernels.of], self.points(kernels.of)
        if kernels.kind == "perceptron":
            return perceptron_kernels(points, data.sentence_offsets, data.scores(self.baseline), data.oracle())
        place = self.work / f"{self.language}.ml.{kernels.count}.npz"
        if not place.exists():
            start, cpu = time.time(), time.thread_time()
            drawn = np.random.default_rng(1).permutation(len(points))[: self.scale.em_points]
            fitted = fit_mixture(points[np.sort(drawn)], min(kernels.count, len(drawn)), seed=1, engine=self.engine)
            mixture, spent = fitted.mixture, np.array([time.time() - start, time.thread_time() - cpu])
            part = place.with_suffix(".part.npz")
            np.savez(part, means=mixture.means, variances=mixture.variances, log_priors=mixture.log_priors, spent=spent)
            part.rename(place)
            print(f"{self.language}: {len(mixture):,} kernels by EM, {spent[0]:.0f} s", flush=True)
        with np.load(place) as file:
            return Mixture(file["means"], file["variances"], file["log_priors"])

    def wide(self, job: Job, name: str) -> tuple[TuningData, float]:
        """Return a list with the posteriors of a job's kernels beside its features, and the mean mass dropped."""
        kernels, data = self.scale.rows()[job.row], self.lists[name]
        mixture = self.mixture(job.row)
        assert mixture is not None
        owners = data.owners if name == kernels.of and job.leave_out and mixture.owners is not None else None
        kept = mixture.posteriors(
            self.points(name), bandwidth=job.bandwidth, mass=MASS, most=MOST, owners=owners, engine=self.engine
        )
        fixed = np.concatenate([data.fixed, np.zeros(len(mixture), bool)])
        names = (*data.names, *(f"kernel{number}" for number in range(1, len(mixture) + 1)))
        return replace(data, names=names, counts=kept.sparse, fixed=fixed), float(kept.dropped.mean())

    # --- training -----------------------------------------------------------------------------------------------------

    def train(self, jobs: list[Job]) -> list[Result]:
        """Train models that share kernels and bandwidth; those that were trained are not trained again."""
        if any(self.result(job) is None for job in jobs):
            wide, dropped = self.wide(jobs[0], "train")
            dev, _ = self.wide(jobs[0], "dev")
            for job in jobs:
                if self.result(job) is None:
                    self._train(job, wide, dev, dropped)
        results = [self.result(job) for job in jobs]
        return [result for result in results if result is not None]

    def _train(self, job: Job, wide: TuningData, dev: TuningData, dropped: float) -> None:
        start, cpu = time.time(), time.thread_time()
        linear = len(self.baseline)
        weights = np.concatenate([self.baseline, np.zeros(wide.bins)])
        prior = Prior(1.0 / job.variance if job.variance else 0.0, int((~wide.fixed[:linear]).sum()))
        tuned = ExpectedBleu(steps=STEPS).fit(wide, weights, seed=1, engine=self.engine, regulariser=prior)
        stored = np.diff(wide.counts.offsets) if wide.counts is not None else np.zeros(1)
        facts = {
            "kernels": wide.bins,
            "dropped": dropped,
            "kept": float(stored.mean()),
            "objective": tuned.objective,
            "steps": tuned.info.get("steps"),
            "train": score_of(wide, tuned.weights),
            "dev": score_of(dev, tuned.weights),
        }
        self._keep(job, tuned.weights, facts, time.time() - start, time.thread_time() - cpu)

    def _keep(self, job: Job, weights: np.ndarray, facts: Result, seconds: float, cpu: float) -> None:
        place = self.work / job.place(self.language)
        np.save(f"{place}.npy", weights)
        if not facts:
            facts = {name: score_of(self.lists[name], weights) for name in ("train", "dev")}
        document = {"job": asdict(job), **facts, "seconds": seconds, "cpu": cpu}
        part = Path(f"{place}.part")
        part.write_text(json.dumps(document))
        part.rename(f"{place}.json")
        print(
            f"{self.language}: {job}, train {facts['train']:.2f}, dev {facts['dev']:.2f}, {seconds:.0f} s", flush=True
        )

    def result(self, job: Job) -> Result | None:
        """Return what a job left, if it was run."""
        place = self.work / f"{job.place(self.language)}.json"
        return json.loads(place.read_text()) if place.exists() else None

    def choose(self) -> dict[str, Job]:
        """Train every row, and return the job of each that is best on dev: first the bandwidth, then the variance."""
        chosen = {"Baseline": Job("Baseline")}
        _ = self.baseline
        middle = self.scale.variances[len(self.scale.variances) // 2]
        for row, kernels in self.scale.rows().items():
            widths = [Job(row, width, middle) for width in self.scale.bandwidths if width <= kernels.widest]
            best = _best(widths, [self.train([job])[0] for job in widths])
            others = [replace(best, variance=variance) for variance in (*self.scale.variances, 0.0)]
            results = self.train(others)
            chosen[row] = _best(others[:-1], results[:-1])
            if row == LAST:
                chosen[f"{row}, unregularised"] = others[-1]
                own = replace(chosen[row], leave_out=False)
                self.train([own])
                chosen[f"{row}, own kernels left in"] = own
        return chosen

    def statistics(self, job: Job, name: str) -> np.ndarray:
        """Return the statistics of BLEU of what a model ranks first in every list."""
        weights = np.load(self.work / f"{job.place(self.language)}.npy")
        data = self.lists[name] if job.row == "Baseline" else self.wide(job, name)[0]
        return data.statistics[data.one_best(weights)]


def score_of(data: TuningData, weights: np.ndarray) -> float:
    """Return BLEU of what weights rank first."""
    return float(METRIC.score(data.statistics[data.one_best(weights)].sum(0)))


def _best(jobs: list[Job], results: list[Result]) -> Job:
    return jobs[int(np.argmax([result["dev"] for result in results]))]


def _short(count: int) -> str:
    return f"{count // 1024}k" if count >= 1024 else str(count)
