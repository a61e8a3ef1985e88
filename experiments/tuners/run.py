"""Every tuner on Multi30k, German and French to English: means over replicas, beside what Moses reached.

    python experiments/tuners/run.py [--data ../shared] [--work FOLDER] [--replicas 3] [--write]

Weights are tuned on dev; test is translated once per replica, with the weights that were best on dev. Finished runs are
kept in the work folder, so that an interrupted experiment goes on where it was. --write puts the table into README.md.
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
TUNERS = ("mert", "pro", "pro-smoothed", "mira", "expected-bleu")  # smoothed: PRO's brevity penalty
#: test BLEU of Moses with the same tuner (anchors/README.md)
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
    rows = [row for language in ("de", "fr") for row in run_language(language, text, options)]
    table = "\n".join(["| pair | tuner | dev | test | Moses, test | CPU-s |", "|---|---|---|---|---|---|", *rows])
    print(table)
    if options.write:
        readme = HERE / "README.md"
        before, mark, rest = readme.read_text().partition("<!-- table -->")
        readme.write_text(f"{before}{mark}\n{table}\n<!-- end -->{rest.partition('<!-- end -->')[2]}")


def run_language(language: str, text: Path, options: argparse.Namespace) -> list[str]:
    """Train, tune with every tuner, translate test; return the rows of the table."""
    model = camber.train(
        text / f"train.{language}",
        text / "train.en",
        options.work / language,
        held_out=0,
        tuned=False,
        settings=TrainSettings.from_dict({"text": {"tokenizer": "none"}}),
        threads=options.threads,
    )
    sets = {
        name: (read_lines(text / f"{name}.{language}"), read_lines(text / f"{name}.en")) for name in ("dev", "test")
    }
    rows = []
    for tuner in ("untuned", *TUNERS):
        found = []
        for replica in range(1 if tuner == "untuned" else options.replicas):
            place = options.work / f"{language}.{tuner}.{replica}.json"
            if not place.exists():
                place.write_text(json.dumps(one_run(model, tuner, replica, sets, options.threads)))
            found.append(json.loads(place.read_text()))
        moses = MOSES.get((language, tuner))
        cells = [spread([run[name] for run in found]) for name in ("dev", "test")]
        seconds = f"{np.mean([run['cpu'] for run in found]):.0f}"
        rows.append(f"| {language}→en | {tuner} | {cells[0]} | {cells[1]} | {moses or '–'} | {seconds} |")
    return rows


def one_run(
    model: Translator, tuner: str, replica: int, sets: dict[str, tuple[list[str], list[str]]], threads: int
) -> dict[str, float]:
    """Tune once and measure dev and test."""
    start = time.process_time()
    weights = model.weights
    if tuner != "untuned":
        source, target = sets["dev"]
        own = Pro(brevity="smoothed") if tuner == "pro-smoothed" else None
        settings = TuneSettings(tuner=tuner.removesuffix("-smoothed"))
        weights = tune(model, source, [target], settings, 1 + 1000 * replica, threads, own).weights
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
