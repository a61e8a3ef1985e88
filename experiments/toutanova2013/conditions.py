"""The rows of the table, how much of everything there is, and which hyper-parameters Dev-Select chooses."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from texts import TEXTS, Sizes


@dataclass(frozen=True)
class Scale:
    """How much of everything."""

    sizes: Mapping[str, Sizes]
    replicas: int = 3
    nbest: int = 500
    pop_limit: int = 200  # half of the decoder's default
    iterations: int = 6  # of decoding and fitting, where weights are tuned in the decoder
    tune_nbest: int = 100
    samples: int = 10_000
    keeps: tuple[int, ...] = (100, 300)
    alphas: tuple[float, ...] = (0.01, 0.1, 1.0)
    leaf: tuple[str, ...] = ("constant", "linear")
    leaves: tuple[int, ...] = (2, 4, 8)
    rounds: int = 50
    patience: int = 10
    bits: int = 4  # of mnr, as chosen most often in experiments/clark2014
    beta: float = 1e5

    def told(self, text: str) -> dict[str, Any]:
        """Return all that concerns a text, as plain values."""
        return {**asdict(self), "sizes": asdict(self.sizes[text])}


FULL = Scale({"fi": Sizes(more=5000, select=1000), "de": Sizes(more=0, select=1000)})
QUICK = Scale(
    {name: Sizes(train=3000, dev=40, more=20, select=40, test=40) for name in TEXTS},
    replicas=2, nbest=30, pop_limit=50, iterations=2, tune_nbest=20, samples=500, keeps=(10, 20), alphas=(0.1, 1.0),
    leaves=(2, 4), rounds=3, patience=2,
)  # fmt: skip

#: ways in which a row comes about
MERT, BOOST, DECODER = "MERT", "boosting", "decoder"


@dataclass(frozen=True)
class Row:
    """A row of the table."""

    way: str
    features: str
    changes: Mapping[str, Any] = field(default_factory=dict)  # of the settings of boosting
    whole: bool = False  # trees look at whole hypotheses
    leaf: tuple[str, ...] = ()  # kinds of leaves, where not all can be had
    bend: str = ""
    paper: str = ""  # Dev-Train and Test of Chs-En, then of Fin-En


LINEAR_ONLY = {"rounds": 0}
ROWS = {
    "base-MERT": Row(MERT, "base", paper="31.3, 30.76; 49.8, 51.31"),
    "base-PRO": Row(BOOST, "base", LINEAR_ONLY, paper="31.1, 31.16; 49.7, 51.56"),
    "large-PRO": Row(BOOST, "large", LINEAR_ONLY, paper="31.8, 31.44; 49.8, 51.77"),
    "boost-global": Row(BOOST, "large", whole=True, paper="31.8, 31.30; 50.0, 51.87"),
    "boost-local": Row(BOOST, "large", paper="31.8, 31.44; 50.1, 51.95"),
    "boost-local, splits in pair space": Row(BOOST, "large", {"split": "pairs"}, leaf=("constant",)),
    "boost-local, uniform pairs": Row(BOOST, "large", {"choice": "uniform"}),
    "large-PRO in the decoder": Row(DECODER, "large", bend="none"),
    "boost-local in the decoder": Row(DECODER, "large", bend="trees"),
    "mnr + trees in the decoder": Row(DECODER, "large", bend="mnr+trees"),
}
#: what the others are compared with
BASELINE = "base-PRO"
NOT_RUN = "not yet run"


@dataclass(frozen=True)
class Job:
    """One model to be learnt."""

    text: str
    row: str
    replica: int = 0
    keep: int = 0
    alpha: float = 0.0
    leaf: str = ""
    leaves: int = 0

    def place(self, scale: Scale) -> str:
        """Return the name of its file."""
        said = json.dumps([asdict(self), asdict(ROWS[self.row]), scale.told(self.text)], sort_keys=True)
        name = self.row.replace(",", "").replace(" + ", "+").replace(" ", "-").lower()
        return f"{self.text}.{name}.{self.replica}.{hashlib.sha256(said.encode()).hexdigest()[:8]}.json"


Result = dict[str, Any]


# --- what was run, and what is best -----------------------------------------------------------------------------------


def read(job: Job, scale: Scale, work: Path) -> Result | None:
    """Return what a job left, if it was run."""
    place = work / job.place(scale)
    return json.loads(place.read_text()) if place.exists() else None


def choose(name: str, scale: Scale, run: Callable[[Job], Result | None]) -> dict[str, Job]:
    """Return the job of every row that was best on Dev-Select; rows that are not run yet are left out."""
    best: dict[str, Job] = {}

    def choose_among(jobs: Sequence[Job]) -> None:
        results = [run(job) for job in jobs]
        scores = [result["select"]["sbp"] for result in results if result is not None]
        if len(scores) == len(jobs):
            best[jobs[0].row] = jobs[int(np.argmax(scores))]

    choose_among([Job(name, "base-MERT")])
    for row in ("base-PRO", "large-PRO"):
        choose_among([Job(name, row, keep=keep, alpha=alpha) for keep in scale.keeps for alpha in scale.alphas])
    if "large-PRO" in best:
        start = best["large-PRO"]  # its pairs are those of boosting, too
        for row in ROWS:
            if ROWS[row].way == BOOST and row not in best and row != BASELINE:
                kinds = ROWS[row].leaf or scale.leaf
                shapes = [(leaf, leaves) for leaf in kinds for leaves in scale.leaves]
                choose_among([replace(start, row=row, leaf=leaf, leaves=leaves) for leaf, leaves in shapes])
    if "boost-local" in best:
        trees = best["boost-local"]
        for row in ROWS:
            if ROWS[row].way == DECODER:
                choose_among([Job(name, row, leaf=trees.leaf, leaves=trees.leaves)])
    return best


def jobs_of(
    name: str, scale: Scale, run: Callable[[Job], Result | None], *, whole: bool = False
) -> dict[str, list[Job]]:
    """Return the chosen jobs of every row that were run, one for each replica; `whole`: all rows, or an error."""
    jobs = {
        row: [one for one in (replace(job, replica=r) for r in range(scale.replicas)) if run(one) is not None]
        for row, job in choose(name, scale, run).items()
    }
    missing = [row for row in ROWS if len(jobs.get(row, ())) < scale.replicas]
    if whole and missing:
        raise SystemExit(f"{name}: {', '.join(missing)} not learnt yet; run without --test first")
    return jobs


def test_place(job: Job, scale: Scale, work: Path) -> Path:
    """Return the file of what a model made of the test set."""
    return work / f"test.{job.place(scale)}"
