"""Hierarchical translation of Multi30k, German to English, tuned by PRO: means over replicas, beside what cdec reached.

    python experiments/hiero/run.py [--data ../shared] [--work FOLDER] [--replicas 3] [--write]

PRO runs for 30 iterations, as in clark2014. Weights are tuned on dev; test is translated once per replica, with the
weights of the iteration that translated dev best. Finished runs are kept in the work folder, so that an interrupted
experiment goes on where it was. --write puts the table into README.md.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

import camber
from camber.corpus.reading import read_lines
from camber.metrics.bleu import BLEU
from camber.model.translator import Translator
from camber.pipeline.settings import TrainSettings
from camber.progress import show
from camber.tune.loop import TuneSettings, tune
from camber.tune.pro import Pro

HERE = Path(__file__).resolve().parent
#: how PRO's sentence score counts length, and cdec's test BLEU (anchors/README.md) with its defaults and with a
#: length-aware metric
CONDITIONS = {"plain": 40.02, "smoothed": 40.97}
ITERATIONS = 30


def main() -> None:
    """Run what is missing and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=HERE.parents[1].parent / "shared")
    parser.add_argument("--work", type=Path, default=HERE / "runs")
    parser.add_argument("--replicas", type=int, default=3)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    text = options.data / "data" / "multi30k" / "tok"
    if not text.is_dir():
        raise SystemExit(f"{text}: no such folder; name the data folder with --data")
    options.work.mkdir(parents=True, exist_ok=True)
    show()
    rows = run(text, options)
    table = "\n".join(["| brevity penalty of PRO | dev | test | cdec, test | CPU-s |", "|---|---|---|---|---|", *rows])
    print(table)
    if options.write:
        readme = HERE / "README.md"
        before, mark, rest = readme.read_text().partition("<!-- table -->")
        readme.write_text(f"{before}{mark}\n{table}\n<!-- end -->{rest.partition('<!-- end -->')[2]}")


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
        threads=options.threads,
    )
    sets = {name: (read_lines(text / f"{name}.de"), read_lines(text / f"{name}.en")) for name in ("dev", "test")}
    rows = []
    for brevity, cdec in CONDITIONS.items():
        found = []
        for replica in range(options.replicas):
            place = options.work / f"{brevity}.{replica}.json"
            if not place.exists():
                place.write_text(json.dumps(one_run(model, brevity, replica, sets, options.threads)))
            found.append(json.loads(place.read_text()))
        cells = [spread([run[name] for run in found]) for name in ("dev", "test")]
        rows.append(f"| {brevity} | {cells[0]} | {cells[1]} | {cdec} | {np.mean([run['cpu'] for run in found]):.0f} |")
    return rows


def one_run(
    model: Translator, brevity: str, replica: int, sets: dict[str, tuple[list[str], list[str]]], threads: int
) -> dict[str, float]:
    """Tune once and measure dev and test."""
    start = time.process_time()
    source, target = sets["dev"]
    settings = TuneSettings(tuner="pro", iterations=ITERATIONS, patience=0)
    weights = tune(model, source, [target], settings, 1 + 1000 * replica, threads, Pro(brevity=brevity)).weights
    seconds = time.process_time() - start
    tuned = model.reweighted(weights)
    metric = BLEU(tokenize="none")
    scores = {
        name: float(metric.score(metric.statistics(tuned.translate(source, threads), [target]).sum(0)))
        for name, (source, target) in sets.items()
    }
    return {**scores, "cpu": seconds}


def spread(values: list[float]) -> str:
    """Return mean ± standard deviation."""
    if len(values) == 1:
        return f"{values[0]:.2f}"
    return f"{np.mean(values):.2f} ± {np.std(values, ddof=1):.2f}"


if __name__ == "__main__":
    main()
