"""Every tuner on Multi30k, German and French to English: means over replicas, beside what Moses reached.

    python experiments/tuners/run.py [--data ../shared] [--work FOLDER] [--replicas 3] [--write]

Weights are tuned on dev; test is translated once per replica, with the weights that were best on dev. Finished runs are
kept in the work folder, so that an interrupted experiment goes on where it was. --write puts the table into README.md.
"""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np

import camber
from camber.engine import Engine, Threads
from camber.model.translator import Translator
from camber.pipeline.settings import TrainSettings
from camber.pipeline.tune import tune_translator
from camber.progress import show
from camber.tune.loop import TuneSettings
from camber.tune.pro import Pro

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from steps import Sets, arguments, dev_and_test, kept, multi30k, scores, spread, write_tables  # noqa: E402

TUNERS = ("mert", "pro", "pro-smoothed", "mira", "expected-bleu")  # smoothed: PRO's brevity penalty
#: test BLEU of Moses with the same tuner (benchmarks/README.md)
MOSES = {
    ("de", "untuned"): 40.06,
    ("de", "mert"): 40.27,
    ("de", "pro"): 40.41,
    ("de", "mira"): 40.17,
    ("fr", "untuned"): 47.48,
    ("fr", "mira"): 49.59,
}


def main() -> None:
    """Run what is missing and print the table."""
    parser = arguments(__doc__, HERE)
    parser.add_argument("--replicas", type=int, default=3)
    parser.add_argument("--threads", type=int, default=0)
    options = parser.parse_args()
    text = multi30k(options)
    show()
    rows = [row for language in ("de", "fr") for row in run_language(language, text, options)]
    table = "\n".join(["| pair | tuner | dev | test | Moses, test | CPU-s |", "|---|---|---|---|---|---|", *rows])
    print(table)
    if options.write:
        write_tables(HERE, table)


def run_language(language: str, text: Path, options: argparse.Namespace) -> list[str]:
    """Train, tune with every tuner, translate test; return the rows of the table."""
    model = camber.train(
        text / f"train.{language}",
        text / "train.en",
        options.work / language,
        held_out=0,
        tuned=False,
        settings=TrainSettings.from_dict({"text": {"tokenizer": "none"}}),
        engine=Threads(options.threads),
    )
    sets = dev_and_test(text, language)
    rows = []
    for tuner in ("untuned", *TUNERS):
        runs = []
        for replica in range(1 if tuner == "untuned" else options.replicas):
            place = options.work / f"{language}.{tuner}.{replica}.json"
            runs.append(kept(place, partial(one_run, model, tuner, replica, sets, Threads(options.threads))))
        moses = MOSES.get((language, tuner))
        cells = [spread([run[name] for run in runs]) for name in ("dev", "test")]
        seconds = f"{np.mean([run['cpu'] for run in runs]):.0f}"
        rows.append(f"| {language}→en | {tuner} | {cells[0]} | {cells[1]} | {moses or '–'} | {seconds} |")
    return rows


def one_run(model: Translator, tuner: str, replica: int, sets: Sets, engine: Engine) -> dict[str, float]:
    """Tune once and measure dev and test."""
    start = time.process_time()
    weights = model.weights
    if tuner != "untuned":
        source, target = sets["dev"]
        own = Pro(brevity="smoothed") if tuner == "pro-smoothed" else None
        settings = TuneSettings(tuner=tuner.removesuffix("-smoothed"))
        seed = 1 + 1000 * replica
        weights = tune_translator(model, source, [target], settings, seed=seed, engine=engine, tuner=own).weights
    seconds = time.process_time() - start
    return {**scores(model.reweighted(weights), sets, engine), "cpu": seconds}


if __name__ == "__main__":
    main()
