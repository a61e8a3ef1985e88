"""Consensus on several sets: minimum Bayes risk for a phrase model and a hierarchical one, and both of them together.

    python experiments/consensus/run.py [SET …] [--data ../shared] [--work FOLDER] [--write]

For every set, both models are trained, tuned by PRO on dev, and translate test with and without minimum Bayes risk;
then both translate together, untuned and with weights that `camber combine` fits on dev. Test is translated once.
Finished steps are kept in the work folder, so that an interrupted experiment goes on where it was. --write puts the
table into README.md.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import camber
from camber.cli.display import show
from camber.engine import Engine, Threads
from camber.files import read_lines, write_lines
from camber.metrics.bleu import BLEU
from camber.metrics.significance import paired_bootstrap
from camber.model.combination import together
from camber.model.translator import load
from camber.pipeline.combine import combine_models
from camber.pipeline.settings import TrainSettings

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from steps import arguments, kept, write_tables  # noqa: E402


class Text(NamedTuple):
    """Where a set is, its source language, how it is tokenised, and how many lines of dev are used."""

    folder: str
    language: str
    tokenizer: str = "moses"
    dev: int = 1000


SETS = {
    "multi30k-de": Text("multi30k/tok", "de", "none", 1014),
    "multi30k-fr": Text("multi30k/tok", "fr", "none", 1014),
    "tatoeba-fi": Text("tatoeba-fi-en", "fi"),
    "callhome-es": Text("callhome-es-en", "es"),
    "europarl-fr": Text("europarl-fr-en-10k", "fr", "none"),
    "pythondocs-fr": Text("pythondocs-fr-en", "fr"),
    "tatoeba-tr": Text("tatoeba-tr-en", "tr"),
}
METHODS = ("phrase", "hiero")
TUNE = {"tuner": "pro", "tuner_options": "brevity=smoothed"}
#: rounds of tuning; one of a hierarchical model takes four times as long
ROUNDS = {"phrase": 5, "hiero": 4}
SYSTEMS = ("phrase", "hiero", "phrase, MBR", "hiero, MBR", "together", "combined")


def main() -> None:
    """Run what is missing and print the table."""
    parser = arguments(__doc__, HERE)
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"of {', '.join(SETS)} (default: all)")
    parser.add_argument("--threads", type=int, default=0)
    options = parser.parse_args()
    if unknown := [name for name in options.sets if name not in SETS]:
        parser.error(f"unknown set {unknown[0]!r}; there are {', '.join(SETS)}")
    show()
    titles = [
        "set",
        *SYSTEMS,
        "together, combined − best alone",
        "CPU-ms per sentence: phrase, hiero, phrase MBR, combined",
    ]
    rows = [row(name, options) for name in options.sets or SETS]
    table = "\n".join([f"| {' | '.join(titles)} |", "|" + "---|" * len(titles), *rows])
    print(table)
    if options.write:
        write_tables(HERE, table)


def row(name: str, options: argparse.Namespace) -> str:
    """Run what is missing for a set; return its row of the table."""
    text, engine = SETS[name], Threads(options.threads)
    folder, work = options.data / "data" / text.folder, options.work / name
    if not folder.is_dir():
        raise SystemExit(f"{folder}: no such folder; name the data folder with --data")
    work.mkdir(parents=True, exist_ok=True)
    dev = work / "dev.source", work / "dev.target"
    for place, language in zip(dev, (text.language, "en"), strict=True):
        write_lines(place, read_lines(folder / f"dev.{language}")[: text.dev])
    tuned = {
        method: kept(work / f"{method}.json", partial(make, method, text, folder, work, dev, engine))
        for method in METHODS
    }
    models = [work / method for method in METHODS]
    fitted = kept(work / "combined.json", partial(fit, models, dev, work / "combined", engine))
    source, target = (read_lines(folder / f"test.{language}") for language in (text.language, "en"))
    openers: dict[str, Callable[[], Any]] = {
        "phrase": lambda: load(models[0]),
        "hiero": lambda: load(models[1]),
        "phrase, MBR": lambda: together([load(models[0])]),
        "hiero, MBR": lambda: together([load(models[1])]),
        "together": lambda: together([load(model) for model in models]),
        "combined": lambda: load(work / "combined"),
    }
    done = {
        system: kept(
            work / f"test.{system.replace(', ', '-')}.json", partial(translated, openers[system], source, engine)
        )
        for system in SYSTEMS
    }
    metric = BLEU(tokenize="none" if text.tokenizer == "none" else "13a")
    tables = {system: metric.statistics(done[system]["lines"], [target]) for system in SYSTEMS}
    scores = {system: float(metric.score(table.sum(0))) for system, table in tables.items()}
    best = max(METHODS, key=lambda method: float(tuned[method]["dev"]))
    gains = []
    for system in ("together", "combined"):
        p = paired_bootstrap(metric, [tables[best]], [tables[system]]).p
        gains.append(f"{scores[system] - scores[best]:+.2f} (p = {p:.3f})")
    milliseconds = [
        f"{1000 * done[s]['cpu'] / len(source):.0f}" for s in ("phrase", "hiero", "phrase, MBR", "combined")
    ]
    cells = [f"{scores[system]:.2f}" for system in SYSTEMS]
    kept_weights = "" if fitted["fitted"] else " (not fitted)"
    return f"| {name} | {' | '.join(cells)} | {', '.join(gains)}{kept_weights} | {', '.join(milliseconds)} |"


def make(method: str, text: Text, folder: Path, work: Path, dev: Sequence[Path], engine: Engine) -> dict[str, float]:
    """Train and tune a model; return BLEU on dev and CPU seconds."""
    start = time.process_time()
    settings = {"text": {"tokenizer": text.tokenizer, "source_lang": text.language, "target_lang": "en"}}
    files = folder / f"train.{text.language}", folder / "train.en", work / f"{method}.untuned"
    own = {"method": method, "held_out": 0, "tuned": False, "settings": TrainSettings.from_dict(settings)}
    camber.train(*files, engine=engine, **own)
    outcome = camber.tune_model(
        files[2], *dev, out=work / method, settings={**TUNE, "iterations": ROUNDS[method]}, engine=engine
    )
    return {"dev": float(outcome.scores.max()), "cpu": time.process_time() - start}


def fit(models: Sequence[Path], dev: Sequence[Path], out: Path, engine: Engine) -> dict[str, Any]:
    """Combine the models."""
    start = time.process_time()
    combined = combine_models(models, *dev, out, engine=engine)
    return {**combined.to_dict(), "cpu": time.process_time() - start}


def translated(opened: Callable[[], Any], source: Sequence[str], engine: Engine) -> dict[str, Any]:
    """Translate test; return the lines and the CPU seconds that it took, opening excluded."""
    translator = opened()
    translator.translate(source[:2], engine)  # kernels are compiled or fetched
    start = time.process_time()
    return {"lines": translator.translate(source, engine), "cpu": time.process_time() - start}


if __name__ == "__main__":
    main()
