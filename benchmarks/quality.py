#!/usr/bin/env python3
"""The quality that `camber analyse` expects of a job, beside the chrF that its translations reach.

    python benchmarks/quality.py [--data ../shared] [--model MODEL] [--folder F]

The job is the test set of pythondocs-fr-en, whole documents that the training text does not have. The model is trained
on the rest with the default settings: held-out lines of the training text tune and calibrate it. Then it is calibrated
anew on the dev set, which is of other documents, too. Expected and reached are means by words, for each band.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
import sacrebleu

from camber.engine import Threads
from camber.files import read_lines
from camber.memory.words import match_words
from camber.model.translator import Translator, load
from camber.pipeline.analyse import LIMITS, NONE, band_of
from camber.pipeline.calibrate import calibrate_model
from camber.pipeline.settings import TrainSettings
from camber.pipeline.train import train

ONE = Threads(1)


def show(title: str, translator: Translator, source: list[str], reference: list[str]) -> None:
    """Translate the job and print a row for each band."""
    best = [found[0] for found in translator.translations(source, confidence=True, engine=ONE)]
    expected = np.array([item.confidence for item in best])
    reached = np.array(
        [sacrebleu.sentence_chrf(item.text, [line]).score / 100 for item, line in zip(best, reference, strict=True)]
    )
    split = [match_words(translator.text, line) for line in source]
    words = np.array([sum(any(map(str.isalnum, word)) for word in line) for line in split])
    matches = [translator.matches(line, 0.5, 1) for line in source]
    bands = np.array([band_of(found[0].percent) if found else NONE for found in matches])
    whole = sacrebleu.corpus_chrf([item.text for item in best], [reference]).score
    print(f"{title}: chrF of the whole {whole:.1f}, correlation by segments {np.corrcoef(expected, reached)[0, 1]:.2f}")
    for band in (*LIMITS, NONE, "all"):
        rows = bands == band if band != "all" else np.ones(len(source), bool)
        if rows.any() and words[rows].sum():
            told, true = (np.average(values[rows], weights=words[rows]) for values in (expected, reached))
            size = f"{rows.sum():6,} segments{words[rows].sum():8,} words"
            print(f"  {band:<10}{size}  {told:.3f} expected  {true:.3f} reached")


def main() -> None:
    """Train if need be, and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--model", type=Path, help="a model that was trained so")
    parser.add_argument("--folder", type=Path, help="where models go (default: a temporary folder)")
    options = parser.parse_args()
    data = options.data / "data" / "pythondocs-fr-en"
    if not data.is_dir():
        sys.exit(f"no {data}; give the folder of the data with --data")
    job = read_lines(data / "test.fr"), read_lines(data / "test.en")
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        model = options.model or Path(folder) / "model"
        if options.model is None:
            settings = TrainSettings.from_dict({"text": {"source_lang": "fr", "target_lang": "en"}})
            train(data / "train.fr", data / "train.en", model, settings=settings, engine=ONE)
        show("calibrated on lines of the training's documents", load(model), *job)
        other = Path(folder) / "calibrated"
        calibrate_model(model, data / "dev.fr", data / "dev.en", out=other, engine=ONE)
        show("calibrated on other documents", load(other), *job)


if __name__ == "__main__":
    main()
