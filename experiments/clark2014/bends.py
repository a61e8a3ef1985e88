"""Bends on eight sets: is a curve that is anchored to logarithms ever worse than logarithms?

    python experiments/clark2014/bends.py [--data ../shared] [--work FOLDER] [--sets NAME,…] [--replicas 3]
                                          [--part choose|test|tables] [--bits 4,8,12] [--betas 3,10,…] [--write]
                                          [--jobs 1 | --threads 2 | --cluster ADDRESS]

`--part choose` tries strengths for every number of bits, judged on held-out text; `--part test` tunes every kind of
bend with what was chosen, the defaults of the package, and translates test. Finished runs are kept in the
work folder, one strength after the other, so that an interrupted experiment goes on where it was; tables are made of
what is there. --write puts them into README.md.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binomtest

from camber.cli.display import show
from camber.engine import Threads
from camber.features.weights import Weights
from camber.metrics.bleu import BLEU
from camber.metrics.significance import stratified_randomisation
from camber.model.translator import Translator
from camber.pipeline.tune import dev_set
from camber.tune.confirming import confirmed
from camber.tune.course import made_decoder
from camber.tune.dev_set import DevSet
from camber.tune.loop import Outcome, TuneSettings, tune_bent

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from engines import add_jobs, jobs_of  # noqa: E402
from sets import TEXTS, Lines, Set, read_set, trained  # noqa: E402
from steps import arguments, kept, write_tables  # noqa: E402

METRIC = BLEU(tokenize="none")
ENGINE = Threads(1)
TRIALS = 10_000
#: the classical model is tuned in so many rounds; a bend, which starts from it, in so many more
ROUNDS, MORE = 6, 4
#: what is tried for the kind "anchored", in few rounds
BITS, BETAS, QUICK = (4, 8, 12), (3.0, 10.0, 30.0, 100.0, 300.0), 3
#: what is compared with logarithms
LOG, KINDS = "none", ("anchored", "isotonic", "mnr")


class Run(NamedTuple):
    """What is run once: a kind of bend that translates test, or a strength that is tried."""

    name: str
    replica: int
    part: str
    what: str  # a kind, or bits and beta, or LOG

    def place(self, work: Path) -> Path:
        return work / f"bends.{self.name}.{self.replica}.{self.part}.{self.what.replace(' ', '-')}.json"


class Texts(NamedTuple):
    """What a replica sees: text to tune on, text to choose by, and test text."""

    weight: DevSet
    hyper: DevSet
    test: DevSet


def main() -> None:
    """Run what is missing and print the tables."""
    parser = arguments(__doc__, HERE)
    parser.add_argument("--sets", default=",".join(TEXTS))
    parser.add_argument("--replicas", type=int, default=3)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--part", choices=("choose", "test", "tables"), default="test")
    parser.add_argument("--bits", default=",".join(map(str, BITS)), help="of those that are tried")
    parser.add_argument("--betas", default=",".join(f"{beta:g}" for beta in BETAS), help="of those that are tried")
    add_jobs(parser, jobs=1)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    show()
    names = options.sets.split(",")
    todo = {"choose": strengths(options), "test": options.kinds.split(","), "tables": []}[options.part]
    for name in names if todo else ():
        opened(name, options.data, options.work)  # trained, before several jobs want it
    engine, shared = jobs_of(options), (options.data, options.work)
    for one in todo:
        runs = [Run(name, replica, options.part, one) for replica in range(options.replicas) for name in names]
        for _ in engine.map(keep, shared, runs):
            pass
    tables = "\n\n".join(filter(None, [test_table(names, options), choosing_table(names, options)]))
    print(tables)
    if options.write:
        write_tables(HERE, tables, "bends")


# --- runs -------------------------------------------------------------------------------------------------------------


def keep(shared: tuple[Path, Path], run: Run) -> None:
    """Do a run, unless its result is there."""
    kept(run.place(shared[1]), partial(choose if run.part == "choose" else test, run, *shared))


@cache
def opened(name: str, data: Path, work: Path) -> tuple[Set, Translator]:
    """Return a set and its phrase model, untuned."""
    whole = read_set(name, data)
    return whole, trained(whole, "phrase", work / "models", ENGINE)


def texts(model: Translator, whole: Set, replica: int) -> Texts:
    """Return what a replica sees: two thirds of the pool, one third, test."""

    def dev(lines: Lines) -> DevSet:
        return dev_set(model, lines.source, [lines.target])

    return Texts(dev(whole.others(replica)), dev(whole.part(replica)), dev(whole.test))


def classical(run: Run, model: Translator, seen: Texts, seed: int, work: Path) -> Outcome:
    """Tune the model of logarithms, once for all kinds."""
    decoder = model.decoder.remembering()

    def tuned() -> dict[str, float]:
        return tune_bent(decoder, seen.weight, TuneSettings(iterations=ROUNDS), seed, ENGINE).weights.values

    weights = kept(work / f"bends.{run.name}.{run.replica}.{LOG}.json", tuned)
    return Outcome(Weights(weights), [], decoder.reweighted(weights))


def bent(kind: str, start: Outcome, seen: Texts, settings: TuneSettings, seed: int) -> Outcome:
    """Tune a bend that starts from the model of logarithms."""
    settings = replace(settings, bend=kind)
    return tune_bent(
        made_decoder(start.decoder, seen.weight, settings, seed, ENGINE), seen.weight, settings, seed, ENGINE
    )


def translated(outcome: Outcome, text: DevSet) -> list[list[int]]:
    """Return the statistics of all sentences of a text."""
    statistics: list[list[int]] = text.statistics(
        outcome.decoder.decode_columns(text.inputs, text.vocabulary, 1, ENGINE)
    ).tolist()
    return statistics


def strengths(options: Any) -> list[str]:
    """Return what is tried: logarithms, and bits with beta."""
    return [LOG, *(f"{bits} {beta}" for bits in options.bits.split(",") for beta in options.betas.split(","))]


def choose(run: Run, data: Path, work: Path) -> dict[str, Any]:
    """Tune with a number of bits and a strength; return the statistics of the text to choose by."""
    whole, model = opened(run.name, data, work)
    seen, seed, start = texts(model, whole, run.replica), 1 + 1000 * run.replica, time.thread_time()
    outcome = classical(run, model, seen, seed, work)
    if run.what != LOG:
        bits, beta = run.what.split()
        settings = TuneSettings(iterations=QUICK, bits=int(bits), beta=float(beta))
        outcome = bent(KINDS[0], outcome, seen, settings, seed)
    return {"statistics": {run.what: translated(outcome, seen.hyper)}, "cpu": time.thread_time() - start}


def test(run: Run, data: Path, work: Path) -> dict[str, Any]:
    """Tune a kind, go as far as held-out sentences confirm, and translate test with and without this caution."""
    whole, model = opened(run.name, data, work)
    seen, seed, start = texts(model, whole, run.replica), 1 + 1000 * run.replica, time.thread_time()
    first = classical(run, model, seen, seed, work)
    settings = TuneSettings(iterations=MORE, bend=run.what)
    second = bent(run.what, first, seen, settings, seed)
    careful = confirmed(first, second, seen.weight, settings, seed, ENGINE)
    found = {LOG: translated(first, seen.test), incautious(run.what): translated(second, seen.test)}
    found[run.what] = translated(careful.outcome, seen.test)
    return {"statistics": found, "step": careful.step, "cpu": time.thread_time() - start}


def incautious(kind: str) -> str:
    """Return what a kind without caution is called."""
    return f"{kind}, not cautious"


# --- tables -----------------------------------------------------------------------------------------------------------


def finished(names: Sequence[str], part: str, what: str, options: Any) -> dict[str, list[dict[str, Any]]]:
    """Return the sets that were run with the results of their replicas."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name in names:
        places = [Run(name, replica, part, what).place(options.work) for replica in range(options.replicas)]
        if runs := [kept(place, dict) for place in places if place.exists()]:
            found[name] = runs
    return found


def tables_of(runs: Sequence[dict[str, Any]], row: str) -> list[np.ndarray]:
    """Return the statistics of all replicas."""
    return [np.array(run["statistics"][row], float) for run in runs]


def score_of(runs: Sequence[dict[str, Any]], row: str) -> float:
    """Return the mean BLEU of the replicas."""
    return float(np.mean([METRIC.score(table.sum(0)) for table in tables_of(runs, row)]))


def test_table(names: Sequence[str], options: Any) -> str:
    """Return the gains of every kind on every set, their mean, and what a sign test makes of them."""
    runs = {kind: found for kind in KINDS if (found := finished(names, "test", kind, options))}
    if not runs:
        return ""
    base, gains, seconds = {}, {row: {} for kind in runs for row in (kind, incautious(kind))}, []
    lines = [
        f"| set | log P | {' | '.join(gains)} | p ({', '.join(runs)}) | how far confirmed |",
        "|---" * (len(gains) + 4) + "|",
    ]
    for name in names:
        values, steps = [], []
        for kind in runs:
            if (own := runs[kind].get(name)) is None:
                continue
            base.setdefault(name, score_of(own, LOG))
            seconds += [run["cpu"] for run in own]
            for row in (kind, incautious(kind)):
                gains[row][name] = score_of(own, row) - score_of(own, LOG)
            values.append(f"{stratified_randomisation(METRIC, tables_of(own, LOG), tables_of(own, kind), TRIALS):.3f}")
            steps.append(", ".join(f"{run['step']:g}" for run in own))
        if name in base:
            cells = [f"{own[name]:+.2f}" if name in own else "" for own in gains.values()]
            count = max(len(runs[kind].get(name, [])) for kind in runs)
            told = f"{', '.join(values)} | {'; '.join(steps)}"
            lines.append(f"| {name} ({count}) | {base[name]:.2f} | {' | '.join(cells)} | {told} |")
    if base:
        every = [list(own.values()) for own in gains.values()]
        told = [[f"{np.mean(own):+.2f}", f"{min(own):+.2f}", sign_test(own)] if own else [""] * 3 for own in every]
        means, lowest, signs = (" | ".join(column) for column in zip(*told, strict=True))
        lines.append(f"| **mean** | {np.mean(list(base.values())):.2f} | {means} | | |")
        lines.append(f"| lowest | | {lowest} | | |")
        lines.append(f"| better, worse, p of a sign test | | {signs} | | |")
        lines += [
            "",
            f"Replicas are in brackets. A kind took {np.mean(seconds):.0f} CPU-seconds for each.",
        ]
    return "\n".join(lines)


def sign_test(gains: Sequence[float]) -> str:
    """Return how many sets are better, how many worse, and how likely that is by chance; equal ones do not count.

    >>> sign_test([0.1, 0.2, 0.0, -0.1])
    '2, 1, p = 1.000'
    """
    up, down = sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)
    p = binomtest(up, up + down).pvalue if up + down else 1.0
    return f"{up}, {down}, p = {p:.3f}"


def choosing_table(names: Sequence[str], options: Any) -> str:
    """Return BLEU of the text to choose by: what every number of bits and strength gains over logarithms."""
    base = finished(names, "choose", LOG, options)
    head = " | ".join(f"beta {beta:g}" for beta in BETAS)
    if not base:
        return ""
    lines = [f"| held-out text: {', '.join(base)} | {head} |", "|---" * (len(BETAS) + 1) + "|"]
    for bits in BITS:
        cells = []
        for beta in BETAS:
            tried = finished(names, "choose", what := f"{bits} {beta:g}", options)
            gains = [score_of(own, what) - score_of(base[name][: len(own)], LOG) for name, own in tried.items()]
            told = f"{np.mean(gains):+.2f} ({min(gains):+.2f})" if gains else ""
            cells.append(told + (f", {len(gains)} sets" if 0 < len(gains) < len(base) else ""))
        lines.append(f"| {bits} bits: mean (lowest) gain over log P | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    from bends import main as start  # by the name that processes and workers know

    start()
