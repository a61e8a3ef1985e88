"""Boosted features (toutanova2013) on Finnish and German to English: its Table 2, and trees inside the decoder.

    python experiments/toutanova2013/run.py [--data ../shared] [--work FOLDER] [--jobs 2] [--texts fi,de] [--write]
    python experiments/toutanova2013/run.py --test [--write]
    python experiments/toutanova2013/run.py --quick [--test]

The first command learns and chooses everything on Dev-Train and Dev-Select; --test then translates the test set, which
nothing looks at before, and is refused until all is learnt. Finished runs are kept in the work folder, so that an
interrupted experiment goes on where it was. --write puts the tables and the learnt trees into README.md. --quick does
all of it with a few sentences, in a folder of its own, and takes held-out training text for the test set.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import camber
from camber.bend.trees.bend import TreesBend
from camber.bend.trees.description import describe
from camber.bend.trees.document import forest_from_json, forest_to_json
from camber.bend.trees.forest import Forest
from camber.bend.weighing import Weighing
from camber.engine import Threads
from camber.features.weights import Weights
from camber.files import read_lines
from camber.metrics.significance import stratified_randomisation
from camber.model.translator import Translator
from camber.pipeline.settings import TrainSettings
from camber.pipeline.tune import dev_set, tune_translator
from camber.tune.boost import Boost, Boosted
from camber.tune.loop import TuneSettings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # for the workers: theirs are the jobs, not the vectors

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

from lists import SBP, Lists, make_lists, strict  # noqa: E402
from steps import METRIC, arguments, kept, spread, write_tables  # noqa: E402
from texts import TEXTS, Sizes, Text, cut  # noqa: E402


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


def main() -> None:
    """Run what is missing and print the tables."""
    parser = arguments(__doc__, HERE)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--texts", default=",".join(TEXTS))
    parser.add_argument("--quick", action="store_true", help="a few sentences, to see that everything runs")
    parser.add_argument("--test", action="store_true", help="translate the test set, when all is learnt")
    parser.add_argument("--show", action="store_true", help="run nothing: only tell what is there")
    options = parser.parse_args()
    scale = QUICK if options.quick else FULL
    work = options.work / "quick" if options.quick else options.work
    if options.quick and options.write:
        parser.error("a quick run tells nothing: it is not written into README.md")
    names = options.texts.split(",")
    if not options.show:
        for name in names:
            train(name, scale, options.data, work, options.jobs)
        run_all(names, scale, work, options.jobs, test=options.test)
    report = "\n\n".join([*(part for name in names for part in report_of(name, scale, work)), cost(work)])
    print(report)
    if options.write:
        write_tables(HERE, report)


def train(name: str, scale: Scale, data: Path, work: Path, jobs: int) -> None:
    """Cut the text, and train the systems with both sets of features, untuned; those that exist are taken."""
    text = TEXTS[name]
    folder = cut(text, scale.sizes[name], data, work)
    for features in ("base", "large"):
        start = time.time()
        settings = {"text": text.settings, "rules": {"rule_features": features}}
        camber.train(
            folder / f"train.{text.source}",
            folder / "train.en",
            work / f"model.{name}.{features}",
            held_out=0,
            tuned=False,
            settings=TrainSettings.from_dict(settings),
            engine=Threads(jobs),
        )
        print(f"trained: {name}, {features}, {time.time() - start:.0f} s", flush=True)


# --- running ----------------------------------------------------------------------------------------------------------


def run_all(names: Sequence[str], scale: Scale, work: Path, jobs: int, *, test: bool) -> None:
    """Learn what is missing: the first replica of a text also chooses for the others; then test, if asked for."""
    with ProcessPoolExecutor(jobs, get_context("spawn"), max_tasks_per_child=1) as pool:
        if test:
            for name in names:
                jobs_of(name, scale, partial(read, scale=scale, work=work), whole=True)
            for task in [pool.submit(test_replica, n, r, scale, work) for n in names for r in range(scale.replicas)]:
                task.result()
            return
        waiting = {pool.submit(learn_replica, name, 0, scale, work) for name in names}
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for task in done:
                name, replica = task.result()
                others = range(1, scale.replicas) if replica == 0 else ()
                waiting |= {pool.submit(learn_replica, name, other, scale, work) for other in others}


def read(job: Job, scale: Scale, work: Path) -> Result | None:
    """Return what a job left, if it was run."""
    place = work / job.place(scale)
    return json.loads(place.read_text()) if place.exists() else None


def learn_replica(name: str, replica: int, scale: Scale, work: Path) -> tuple[str, int]:
    """Run all jobs of a replica."""
    place = Replica(name, replica, scale, work)
    if replica == 0:
        choose(name, scale, place.run)
    else:
        for job in choose(name, scale, partial(read, scale=scale, work=work)).values():
            place.run(replace(job, replica=replica))
    return name, replica


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


def test_replica(name: str, replica: int, scale: Scale, work: Path) -> None:
    """Translate the test set with all models of a replica."""
    place = Replica(name, replica, scale, work)
    for jobs in jobs_of(name, scale, partial(read, scale=scale, work=work), whole=True).values():
        place.test(jobs[replica])


@cache
def opened(work: Path, name: str, features: str, pop_limit: int) -> Translator[Any]:
    """Open a system."""
    return camber.load(work / f"model.{name}.{features}").searching({"pop_limit": pop_limit})


class Replica:
    """What is learnt from the lists of one tuning by MERT; lists are made when they are needed."""

    def __init__(self, name: str, replica: int, scale: Scale, work: Path) -> None:
        self.name, self.replica, self.scale, self.work = name, replica, scale, work
        self.text: Text = TEXTS[name]
        self.seed = 1 + 1000 * replica
        self._lists: dict[str, Lists] = {}

    def run(self, job: Job) -> Result:
        """Return the result of a job; run it, unless it is there."""
        place = self.work / job.place(self.scale)
        result: Result = kept(place, partial(self._timed, self._fit, job))
        return result

    def test(self, job: Job) -> Result:
        """Translate the test set with the model of a job, unless that was done."""
        place = test_place(job, self.scale, self.work)
        result: Result = kept(place, partial(self._timed, self._test, job))
        return result

    def _timed(self, function: Callable[[Job], Result], job: Job) -> Result:
        for part in ("train", "select") if function == self._fit else ("test",):
            if ROWS[job.row].way != DECODER:
                self.lists(part)  # not on any row's account
        start, cpu = time.time(), time.process_time()
        result = function(job)
        spent = {"seconds": time.time() - start, "cpu": time.process_time() - cpu}
        print(f"done: {job}, {spent['seconds']:.0f} s", flush=True)
        return {"job": asdict(job), **result, **spent}

    def _fit(self, job: Job) -> Result:
        row = ROWS[job.row]
        if row.way == DECODER:
            return self._fit_decoder(job, row)
        boosted = self._mert_only() if row.way == MERT else self._boosted(job, row)
        told = [
            line for k in range(len(boosted.forest)) for line in describe(boosted.forest, k, boosted.tree_weights[k])
        ]
        return {
            **{part: self.lists(part).measure(boosted, row.features, whole=row.whole) for part in ("train", "select")},
            "linear": dict(zip(boosted.names, boosted.linear.tolist(), strict=True)),
            "tree_weights": boosted.tree_weights.tolist(),
            "forest": forest_to_json(boosted.forest),
            "told": told,
            "rounds": [asdict(state) for state in boosted.rounds],
        }

    # --- re-ranking ---------------------------------------------------------------------------------------------------

    def lines(self, part: str) -> tuple[list[str], list[str]]:
        """Return both sides of a set: train (Dev-Train), select (Dev-Select) or test."""
        folder = self.work / f"text.{self.name}"
        name = {"train": "dev-train", "select": "dev-select"}.get(part, part)
        return read_lines(folder / f"{name}.{self.text.source}"), read_lines(folder / f"{name}.en")

    def lists(self, part: str) -> Lists:
        """Make the lists of a set with the weights of MERT and all features, once."""
        if part not in self._lists:
            place = self.work / f"{self.name}.lists.{part}.{self.replica}.seconds"
            start, cpu = time.time(), time.process_time()
            names = opened(self.work, self.name, "base", self.scale.pop_limit).decoder.names
            self._lists[part] = make_lists(self.large, *self.lines(part), self.scale.nbest, names)
            seconds = time.time() - start
            place.write_text(json.dumps({"seconds": seconds, "cpu": time.process_time() - cpu}))
            print(f"{self.name}, {part}, replica {self.replica}: {self._lists[part]}, {seconds:.0f} s", flush=True)
        return self._lists[part]

    @cached_property
    def mert(self) -> dict[str, float]:
        """The weights of the base features by MERT on Dev-Train."""
        said = hashlib.sha256(json.dumps(self.scale.told(self.name), sort_keys=True).encode()).hexdigest()[:8]

        def tune() -> Result:
            start, cpu = time.time(), time.process_time()
            model = opened(self.work, self.name, "base", self.scale.pop_limit)
            source, target = self.lines("train")
            settings = TuneSettings(
                tuner="mert", metric="sbp", iterations=self.scale.iterations, nbest=self.scale.tune_nbest, bend="none"
            )
            tuned = tune_translator(model, source, [target], settings, seed=self.seed, engine=Threads(1))
            print(f"{self.name}, replica {self.replica}: MERT {tuned}, {time.time() - start:.0f} s", flush=True)
            spent = {"seconds": time.time() - start, "cpu": time.process_time() - cpu}
            return {"weights": dict(tuned.weights.values), **spent}

        weights: dict[str, float] = kept(self.work / f"{self.name}.mert.{self.replica}.{said}.json", tune)["weights"]
        return weights

    @cached_property
    def large(self) -> Translator[Any]:
        """The system with the large set, which for now weighs the base features alone."""
        model = opened(self.work, self.name, "large", self.scale.pop_limit)
        weights = [self.mert.get(name, 0.0) for name in model.decoder.names]
        return model.reweighted(Weights.from_vector(model.decoder.names, np.array(weights), signature="MERT, base"))

    def _mert_only(self) -> Boosted:
        data = self.lists("train").of("base").data
        none = Forest(self.lists("train").of("base").parts.features, ())
        return Boosted(none, data.names, np.array([self.mert[name] for name in data.names]), np.zeros(0))

    def _boosted(self, job: Job, row: Row) -> Boosted:
        shape = {"leaf": job.leaf, "leaves": job.leaves} if job.leaf else {}
        boost = Boost(
            **{
                "samples": self.scale.samples,
                "keep": job.keep,
                "alpha": job.alpha,
                "rounds": self.scale.rounds,
                "patience": self.scale.patience,
                **shape,
                **row.changes,
            }
        )
        learn, select = (self.lists(part).of(row.features, whole=row.whole) for part in ("train", "select"))
        start = [self.mert.get(name, 0.0) for name in learn.data.names]
        return boost.fit(learn, start, select=select, seed=self.seed, engine=Threads(1))

    # --- in the decoder -----------------------------------------------------------------------------------------------

    def _fit_decoder(self, job: Job, row: Row) -> Result:
        source, target = self.lines("train")
        settings = TuneSettings(
            tuner="pro",
            metric="sbp",
            iterations=self.scale.iterations,
            nbest=self.scale.tune_nbest,
            bend=row.bend,
            bits=self.scale.bits,
            beta=self.scale.beta,
            trees=self.scale.rounds,
            leaves=job.leaves,
            leaf=job.leaf,
        )
        tuned = tune_translator(self.large, source, [target], settings, seed=self.seed, engine=Threads(1))
        bend = tuned.decoder.bend
        forest = bend.forest if isinstance(bend, TreesBend) else None
        if forest is not None:
            place = self._bend_place(job)
            place.parent.mkdir(exist_ok=True)
            bend.write(place)
        model = self.large.shaped(tuned.decoder, tuned.weights)
        return {
            **{part: measure(self._statistics(model, part)) for part in ("train", "select")},
            "weights": dict(tuned.weights.values),
            "forest": None if forest is None else forest_to_json(forest),
            "told": [] if forest is None else bend.told(tuned.weights.values),
        }

    def _bend_place(self, job: Job) -> Path:
        return (self.work / job.place(self.scale)).with_suffix(".bend") / TreesBend.FILE

    def _statistics(self, model: Translator[Any], part: str) -> np.ndarray:
        """Return the statistics of BLEU of every sentence, as the model's tokens."""
        source, target = self.lines(part)
        dev = dev_set(model, source, [target], "bleu", part)
        return dev.statistics(model.decoder.decode_columns(dev.inputs, dev.vocabulary, 1, Threads(1)))

    # --- test ---------------------------------------------------------------------------------------------------------

    def _test(self, job: Job) -> Result:
        result, row = read(job, self.scale, self.work), ROWS[job.row]
        if result is None:
            raise SystemExit(f"{job}: not learnt yet")
        if row.way == DECODER:
            decoder = self.large.decoder
            bend = decoder.bend if result["forest"] is None else TreesBend.read(self._bend_place(job), decoder.inputs)
            weights = Weights(result["weights"])
            statistics = self._statistics(
                self.large.shaped(decoder.weighed(Weighing(bend, weights.values)), weights), "test"
            )
        else:
            linear, forest = result["linear"], forest_from_json(result["forest"])
            boosted = Boosted(
                forest, tuple(linear), np.array(list(linear.values())), np.array(result["tree_weights"], np.float64)
            )
            statistics = self.lists("test").statistics_of(boosted, row.features, whole=row.whole)
        return {**measure(statistics), "statistics": statistics.astype(int).tolist()}


def measure(statistics: np.ndarray) -> dict[str, float]:
    """Return both metrics of the statistics of BLEU, one row for each sentence."""
    return {"sbp": float(SBP.score(strict(statistics).sum(0))), "bleu": float(METRIC.score(statistics.sum(0)))}


def test_place(job: Job, scale: Scale, work: Path) -> Path:
    """Return the file of what a model made of the test set."""
    return work / f"test.{job.place(scale)}"


# --- tables -----------------------------------------------------------------------------------------------------------


def report_of(name: str, scale: Scale, work: Path) -> list[str]:
    """Return the table of a text, and its trees."""
    look = partial(read, scale=scale, work=work)
    jobs = jobs_of(name, scale, look)
    results = {row: [result for job in group if (result := look(job)) is not None] for row, group in jobs.items()}
    tests = {
        row: [json.loads(place.read_text()) for job in group if (place := test_place(job, scale, work)).exists()]
        for row, group in jobs.items()
    }
    lines = [
        f"**{TEXTS[name].title}**",
        "",
        "| row | K, alpha | leaves | trees | Dev-Train SBP | Dev-Select SBP | test SBP | test BLEU | − base-PRO | p |"
        " paper: Chs-En Dev-Train, Test; Fin-En |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in ROWS:
        lines.append(line_of(row, jobs.get(row, []), results.get(row, []), tests))
    return ["\n".join(lines), *([trees_of(name, results["boost-local"][0])] if results.get("boost-local") else [])]


def line_of(row: str, jobs: Sequence[Job], results: Sequence[Result], tests: Mapping[str, list[Result]]) -> str:
    """Return one line of the table."""

    def cell(values: Sequence[float]) -> str:
        return spread(values) if values else NOT_RUN

    tested, base = tests.get(row, []), tests.get(BASELINE, [])
    change = p = ""
    if tested and base and row != BASELINE:
        change = f"{np.mean([r['sbp'] for r in tested]) - np.mean([r['sbp'] for r in base]):+.2f}"
        tables = [[strict(np.array(result["statistics"])) for result in group] for group in (base, tested)]
        p = f"{stratified_randomisation(SBP, *tables):.3f}"
    first = jobs[0] if jobs else Job("", row)
    trees = [len(result["forest"]["trees"]) for result in results if result["forest"]]
    cells = [
        row,
        f"{first.keep}, {first.alpha:g}" if first.keep else "",
        f"{first.leaves} {first.leaf}" if first.leaf and any(trees) else "",
        ", ".join(map(str, trees)) if any(trees) or (results and first.leaf and ROWS[row].bend != "none") else "",
        cell([r["train"]["sbp"] for r in results]),
        cell([r["select"]["sbp"] for r in results]),
        cell([r["sbp"] for r in tested]),
        cell([r["bleu"] for r in tested]),
        change,
        p,
        ROWS[row].paper,
    ]
    return f"| {' | '.join(cells)} |"


def trees_of(name: str, result: Result) -> str:
    """Tell the trees of the first replica as the paper tells its own: what they combine, then every one."""
    forest = forest_from_json(result["forest"])
    if not len(forest):
        return f"boost-local, {TEXTS[name].title}: no tree was any better on Dev-Select than none."
    together = Counter(" and ".join(forest.names_used(k)) for k in range(len(forest)))
    told = "; ".join(f"{names} ({often})" for names, often in together.most_common())
    lines = "\n".join(result["told"])
    return (
        f"boost-local, {TEXTS[name].title}, first replica: {len(forest)} trees. What they look at: {told}.\n\n"
        f"<details><summary>All trees</summary>\n\n```\n{lines}\n```\n\n</details>"
    )


def cost(work: Path) -> str:
    """Say how long everything took."""
    places = [*work.glob("*.json"), *work.glob("*.seconds")]
    minutes = sum(json.loads(place.read_text()).get("cpu", 0.0) for place in places) / 60
    return f"{len(places)} steps kept, {minutes:.0f} CPU-minutes without training."


if __name__ == "__main__":
    main()
