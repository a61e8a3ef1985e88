"""Hierarchical translation: of Multi30k beside what cdec reached, and with tight and loose edges on several sets.

    python experiments/hiero/run.py [PART …] [--data ../shared] [--work FOLDER] [--replicas 3] [--write]

cdec     German to English, tuned by PRO: means over replicas. PRO runs for 30 iterations, as in clark2014. Weights are
         tuned on dev; test is translated once per replica, with the weights of the iteration that translated dev best.
edges    tight and loose edges beside phrases, tuned alike on dev, and judged on pairs that were held out of training,
         of which neither side occurs there.

Finished runs are kept in the work folder, so that an interrupted experiment goes on where it was. --write puts the
tables into README.md.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import camber
from camber.cli.display import show
from camber.corpus.inputs import Input
from camber.engine import Engine
from camber.files import read_lines, write_lines
from camber.metrics.bleu import BLEU
from camber.metrics.significance import paired_bootstrap
from camber.model.translator import Translator
from camber.pipeline.settings import TrainSettings
from camber.pipeline.tune import tune_translator
from camber.tune.loop import TuneSettings
from camber.tune.pro import Pro

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from engines import add_engine, engine_of  # noqa: E402
from steps import Sets, arguments, dev_and_test, kept, multi30k, scores, spread, write_tables  # noqa: E402

#: how PRO's sentence score counts length, and cdec's test BLEU (benchmarks/README.md) with its defaults and with a
#: length-aware metric
CONDITIONS = {"plain": 40.02, "smoothed": 40.97}
ITERATIONS = 30


class Corpus(NamedTuple):
    """A set: folder, source language, how it is tokenised, pairs to hold out, lines of dev, rounds of tuning."""

    folder: str
    language: str
    tokenizer: str
    held: int
    dev: int
    rounds: int


CORPORA = {
    "tatoeba-fi": Corpus("tatoeba-fi-en", "fi", "moses", 2000, 1000, 8),
    "callhome-es": Corpus("callhome-es-en", "es", "moses", 2000, 1500, 6),
}
SYSTEMS = ("phrase", "tight", "loose")


def main() -> None:
    """Run what is missing and print the table."""
    parser = arguments(__doc__, HERE)
    parser.add_argument("parts", nargs="*", metavar="PART", help="of cdec, edges (default: both)")
    parser.add_argument("--replicas", type=int, default=3)
    add_engine(parser)
    options = parser.parse_args()
    text = multi30k(options)
    show()
    tables = []
    for part in options.parts or ("cdec", "edges"):
        if part == "cdec":
            head = "| brevity penalty of PRO | dev | test | cdec, test | CPU-s |"
            tables.append([head, "|---|---|---|---|---|", *run(text, options)])
        else:
            head = "| set | system | rules per sentence | untuned | tuned | against phrases | CPU-s to translate |"
            rows = [row for name in CORPORA for row in compare_edges(name, options)]
            tables.append([head, "|---|---|---|---|---|---|---|", *rows])
    table = "\n\n".join("\n".join(lines) for lines in tables)
    print(table)
    if options.write:
        write_tables(HERE, table)


def compare_edges(name: str, options: argparse.Namespace) -> list[str]:
    """Train, tune and judge every system on a set; return the rows of the table."""
    corpus, work = CORPORA[name], options.work / name
    work.mkdir(parents=True, exist_ok=True)
    folder = options.data / "data" / corpus.folder
    sides = [read_lines(folder / f"train.{language}") for language in (corpus.language, "en")]
    chosen = held_out(sides, corpus.held)
    files, held = [], []
    for side, language in zip(sides, (corpus.language, "en"), strict=True):
        files.append(work / f"train.{language}")
        write_lines(files[-1], [line for number, line in enumerate(side) if number not in chosen])
        held.append([side[number] for number in sorted(chosen)])
    dev = [read_lines(folder / f"dev.{language}")[: corpus.dev] for language in (corpus.language, "en")]
    engine, runs = engine_of(options), {}
    for system in SYSTEMS:
        make = partial(one_system, system, corpus, files, dev, held, work / system, engine)
        runs[system] = kept(work / f"{system}.json", make)
    metric = BLEU()
    tables = {system: metric.statistics(run["lines"], [held[1]]) for system, run in runs.items()}
    rows = []
    for system, run in runs.items():
        told = "–"
        if system != "phrase":
            p = paired_bootstrap(metric, [tables["phrase"]], [tables[system]]).p
            told = f"{run['held'] - runs['phrase']['held']:+.2f} (p = {p:.3f})"
        rules = f"{run['rules']:,.0f}" if run["rules"] else "–"
        rows.append(
            f"| {name} | {system} | {rules} | {run['untuned']:.2f} | {run['held']:.2f} | {told} | {run['cpu']:.1f} |"
        )
    return rows


def held_out(sides: Sequence[Sequence[str]], size: int) -> set[int]:
    """Choose pairs evenly of those of which neither side occurs twice."""
    often = [Counter(side) for side in sides]
    alone = [
        number
        for number, pair in enumerate(zip(*sides, strict=True))
        if all(line.strip() and counts[line] == 1 for counts, line in zip(often, pair, strict=True))
    ]
    return {alone[(2 * k + 1) * len(alone) // (2 * size)] for k in range(size)}


def one_system(
    system: str,
    corpus: Corpus,
    files: Sequence[Path],
    dev: Sequence[Sequence[str]],
    held: Sequence[Sequence[str]],
    place: Path,
    engine: Engine,
) -> dict[str, Any]:
    """Train and tune a system; measure it on what was held out."""
    settings: dict[str, Any] = {
        "text": {"tokenizer": corpus.tokenizer, "source_lang": corpus.language, "target_lang": "en"}
    }
    method = "phrase" if system == "phrase" else "hiero"
    if method == "hiero":
        settings["hiero"] = {"edges": system}
    own = {"method": method, "held_out": 0, "tuned": False, "settings": TrainSettings.from_dict(settings)}
    model = camber.train(*files, place, engine=engine, **own)
    rules = 0.0
    if method == "hiero":
        grammars = (model.decoder.grammars.grammar(Input(tuple(model.source_tokens(line)))) for line in held[0][:200])
        rules = sum(map(len, grammars)) / 200
    metric = BLEU()
    untuned = metric.score(metric.statistics(model.translate(held[0], engine), [held[1]]).sum(0))
    tuning = TuneSettings(tuner="pro", tuner_options="brevity=smoothed", iterations=corpus.rounds)
    outcome = tune_translator(model, dev[0], [dev[1]], tuning, seed=1, engine=engine)
    tuned = model.shaped(outcome.decoder, outcome.weights)
    start = time.process_time()
    lines = tuned.translate(held[0], engine)
    seconds = time.process_time() - start
    score = metric.score(metric.statistics(lines, [held[1]]).sum(0))
    return {"rules": rules, "untuned": float(untuned), "held": float(score), "lines": lines, "cpu": seconds}


def run(text: Path, options: argparse.Namespace) -> list[str]:
    """Train, tune under every condition, translate test; return the rows of the table."""
    engine = engine_of(options)
    model = camber.train(
        text / "train.de",
        text / "train.en",
        options.work / "de",
        method="hiero",
        held_out=0,
        tuned=False,
        settings=TrainSettings.from_dict({"text": {"tokenizer": "none"}, "hiero": {"edges": "tight"}}),
        engine=engine,
    )
    sets = dev_and_test(text, "de")
    rows = []
    for brevity, cdec in CONDITIONS.items():
        runs = []
        for replica in range(options.replicas):
            place = options.work / f"{brevity}.{replica}.json"
            runs.append(kept(place, partial(one_run, model, brevity, replica, sets, engine)))
        cells = [spread([run[name] for run in runs]) for name in ("dev", "test")]
        rows.append(f"| {brevity} | {cells[0]} | {cells[1]} | {cdec} | {np.mean([run['cpu'] for run in runs]):.0f} |")
    return rows


def one_run(model: Translator, brevity: str, replica: int, sets: Sets, engine: Engine) -> dict[str, float]:
    """Tune once and measure dev and test."""
    start = time.process_time()
    source, target = sets["dev"]
    settings = TuneSettings(tuner="pro", iterations=ITERATIONS, patience=0)
    tuner, seed = Pro(brevity=brevity), 1 + 1000 * replica
    weights = tune_translator(model, source, [target], settings, seed=seed, engine=engine, tuner=tuner).weights
    seconds = time.process_time() - start
    return {**scores(model.reweighted(weights), sets, engine), "cpu": seconds}


if __name__ == "__main__":
    main()
