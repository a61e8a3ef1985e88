"""Hierarchical translation of Multi30k, German to English, tuned by PRO: means over replicas, beside what cdec reached.

    python experiments/hiero/run.py [--data ../shared] [--work FOLDER] [--replicas 3] [--write]

PRO runs for 30 iterations, as in clark2014. Weights are tuned on dev; test is translated once per replica, with the
weights of the iteration that translated dev best. Finished runs are kept in the work folder, so that an interrupted
experiment goes on where it was. --write puts the table into README.md.
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

#: how PRO's sentence score counts length, and cdec's test BLEU (benchmarks/README.md) with its defaults and with a
#: length-aware metric
CONDITIONS = {"plain": 40.02, "smoothed": 40.97}
ITERATIONS = 30


def main() -> None:
    """Run what is missing and print the table."""
    parser = arguments(__doc__, HERE)
    parser.add_argument("--replicas", type=int, default=3)
    parser.add_argument("--threads", type=int, default=0)
    options = parser.parse_args()
    text = multi30k(options)
    show()
    rows = run(text, options)
    table = "\n".join(["| brevity penalty of PRO | dev | test | cdec, test | CPU-s |", "|---|---|---|---|---|", *rows])
    print(table)
    if options.write:
        write_tables(HERE, table)


def run(text: Path, options: argparse.Namespace) -> list[str]:
    """Train, tune under every condition, translate test; return the rows of the table."""
    model = camber.train(
        text / "train.de",
        text / "train.en",
        options.work / "de",
        method="hiero",
        held_out=0,
        tuned=False,
        settings=TrainSettings.from_dict({"text": {"tokenizer": "none"}}),
        engine=Threads(options.threads),
    )
    sets = dev_and_test(text, "de")
    rows = []
    for brevity, cdec in CONDITIONS.items():
        runs = []
        for replica in range(options.replicas):
            place = options.work / f"{brevity}.{replica}.json"
            runs.append(kept(place, partial(one_run, model, brevity, replica, sets, Threads(options.threads))))
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
