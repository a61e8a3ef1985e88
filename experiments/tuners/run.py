"""Every tuner on eight sets, phrase and hierarchical, judged on text that was not tuned on.

    python experiments/tuners/run.py [--data ../shared] [--work FOLDER] [--replicas 3] [--methods phrase,hiero]
                                     [--sets NAME,…] [--tuners "pro;blend of=pro,mira"] [--judge test|others] [--write]

A replica tunes on a third of a pool of dev sentences (../sets.py), and is judged on test text, or (--judge others) on
the other two thirds: that is for choosing, and test is for the end. Finished runs are kept in the work folder, so that
an interrupted experiment goes on where it was; tables are made of what is there. --write puts them into README.md.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from camber.cli.display import show
from camber.engine import Engine, Threads
from camber.metrics.bleu import BLEU
from camber.metrics.significance import stratified_randomisation
from camber.model.translator import Translator
from camber.pipeline.tune import dev_set
from camber.tune.loop import TuneSettings, tune_bent

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from engines import add_engine, engine_of  # noqa: E402
from sets import TEXTS, Lines, Set, read_set, trained  # noqa: E402
from steps import arguments, kept, write_tables  # noqa: E402

UNTUNED, DEFAULT = "untuned", TuneSettings().tuner
TUNERS = (UNTUNED, DEFAULT, "held-bleu", "pro", "mira", "expected-bleu", "mert")
#: how often a dev set is decoded at most, and how many lines of others a replica is judged on
ROUNDS, OTHERS = 6, 500
METRIC = BLEU(tokenize="none")
JUDGES = ("test", "others")
TRIALS = 10_000


class Run(NamedTuple):
    """What is run once: names a file in the work folder."""

    method: str
    name: str
    tuner: str
    replica: int

    def place(self, work: Path, judge: str) -> Path:
        tuner = self.tuner.replace(" ", "-")
        return work / f"{self.name}.{self.method}.{tuner}.{self.replica}.{judge}.json"


def main() -> None:
    """Run what is missing and print the tables."""
    parser = arguments(__doc__, HERE)
    parser.add_argument("--replicas", type=int, default=3)
    add_engine(parser)
    parser.add_argument("--methods", default="phrase,hiero")
    parser.add_argument("--sets", default=",".join(TEXTS))
    parser.add_argument("--tuners", default=";".join(TUNERS), help="with settings of their own, between semicolons")
    parser.add_argument("--judge", choices=JUDGES, default=JUDGES[0])
    parser.add_argument("--tables", action="store_true", help="run nothing; make tables of what is there")
    options = parser.parse_args()
    if not (options.data / "data").is_dir():
        parser.exit(1, f"{options.data}: no such folder; name the data folder with --data\n")
    options.work.mkdir(parents=True, exist_ok=True)
    show()
    if not options.tables:
        for _ in made(options):
            pass
    made_of = [table(method, judge, options) for judge in JUDGES for method in options.methods.split(",")]
    tables = "\n\n".join(filter(None, made_of))
    print(tables)
    if options.write:
        write_tables(HERE, tables)


def made(options: argparse.Namespace) -> Iterator[Any]:
    """Make and yield all runs: all sets with their first replica, then all with the second."""
    engine = engine_of(options)
    for replica in range(options.replicas):
        for method in options.methods.split(","):
            for name in options.sets.split(","):
                for tuner in options.tuners.split(";"):
                    run = Run(method, name, tuner, replica)
                    place = run.place(options.work, options.judge)
                    yield kept(place, partial(one_run, run, options.data, options.work, options.judge, engine))


@cache
def opened(name: str, method: str, data: Path, work: Path) -> tuple[Set, Translator]:
    """Return a set and its model."""
    whole = read_set(name, data)
    return whole, trained(whole, method, work / "models", Threads(1))


def one_run(run: Run, data: Path, work: Path, judge: str, engine: Engine) -> dict[str, Any]:
    """Tune once and translate what judges: the statistics of its sentences, and what tuning cost."""
    whole, model = opened(run.name, run.method, data, work)
    found = tuned(run, whole, model, work, engine)
    judging = as_dev(model, whole.test if judge == "test" else whole.others(run.replica)[:OTHERS])
    decoder = model.decoder.reweighted(found["weights"])
    best = decoder.decode_columns(judging.inputs, judging.vocabulary, 1, engine)
    return {**found, "statistics": judging.statistics(best).tolist()}


def tuned(run: Run, whole: Set, model: Translator, work: Path, engine: Engine) -> dict[str, Any]:
    """Tune, unless this was done for the other judge."""
    for judge in JUDGES:
        if (place := run.place(work, judge)).exists():
            return {name: value for name, value in kept(place, dict).items() if name != "statistics"}
    decoder = model.decoder
    if run.tuner == UNTUNED:
        return {"dev": float("nan"), "cpu": 0.0, "rounds": 0, "weights": decoder.weighing.by_name()}
    start = time.process_time()
    name, _, own = run.tuner.partition(" ")
    settings = TuneSettings(tuner=name, tuner_options=own, iterations=ROUNDS)
    seed = 1 + 1000 * run.replica
    outcome = tune_bent(decoder.remembering(), as_dev(model, whole.part(run.replica)), settings, seed, engine)
    return {
        "dev": float(outcome.scores[0]),
        "cpu": time.process_time() - start,
        "rounds": len(outcome.replicas[0].rounds),
        "weights": outcome.weights.values,
    }


def as_dev(model: Translator, lines: Lines) -> Any:
    return dev_set(model, lines.source, [lines.target])


def table(method: str, judge: str, options: argparse.Namespace) -> str:
    """Return the rows of a method: BLEU of every set by every tuner, means over replicas, and means of all sets.

    Tuners that were run on none of the sets are left out, and sets that one of the others was not run on.
    """
    runs = {tuner: _found(method, tuner, judge, options) for tuner in options.tuners.split(";")}
    tuners = [tuner for tuner in runs if runs[tuner]]
    if UNTUNED not in tuners or DEFAULT not in tuners:
        return ""
    judging = {"test": "test", "others": "held-out"}[judge]
    rows = [
        f"| {method}, {judging} | {' | '.join(tuners)} | {DEFAULT} − untuned | p |",
        "|---" * (len(tuners) + 3) + "|",
    ]
    scores: dict[str, list[float]] = {tuner: [] for tuner in tuners}
    seconds: dict[str, list[float]] = {tuner: [] for tuner in tuners}
    for name in options.sets.split(","):
        found = {tuner: runs[tuner].get(name, {}) for tuner in tuners}
        # replicas that every tuner has: else one would be judged by easier dev sets than another
        common = set.intersection(*(set(runs) for runs in found.values()))
        if not common:
            continue
        tables = {t: [np.array(runs[r]["statistics"], float) for r in sorted(common)] for t, runs in found.items()}
        for tuner, own in tables.items():
            scores[tuner].append(float(np.mean([METRIC.score(table.sum(0)) for table in own])))
            seconds[tuner].append(float(np.mean([found[tuner][r]["cpu"] for r in common])))
        p = stratified_randomisation(METRIC, tables[UNTUNED], tables[DEFAULT], TRIALS)
        cells = [f"{scores[tuner][-1]:.2f}" for tuner in tuners]
        rows.append(f"| {name} ({len(common)}) | {' | '.join(cells)} | {gain(scores, DEFAULT)[-1]:+.2f} | {p:.3f} |")
    if not scores[UNTUNED]:
        return ""
    means = [f"{np.mean(scores[tuner]):.2f}" for tuner in tuners]
    rows.append(f"| **mean** | {' | '.join(means)} | {np.mean(gain(scores, DEFAULT)):+.2f} | |")
    rows.append(f"| lowest gain | {' | '.join(f'{min(gain(scores, t)):+.2f}' for t in tuners)} | | |")
    rows.append(f"| CPU-s | {' | '.join(f'{np.mean(seconds[tuner]):.0f}' for tuner in tuners)} | | |")
    return "\n".join(rows)


def gain(scores: dict[str, list[float]], tuner: str) -> Sequence[float]:
    """Return what a tuner gains on every set."""
    return (np.array(scores[tuner]) - scores[UNTUNED]).tolist()


def _found(method: str, tuner: str, judge: str, options: argparse.Namespace) -> dict[str, dict[int, dict[str, Any]]]:
    """Return the finished runs of a tuner by set and replica."""
    found: dict[str, dict[int, dict[str, Any]]] = {}
    for name in options.sets.split(","):
        for replica in range(options.replicas):
            place = Run(method, name, tuner, replica).place(options.work, judge)
            if place.exists():
                found.setdefault(name, {})[replica] = kept(place, dict)
    return found


if __name__ == "__main__":
    main()
