"""Measure confidences: do they say how good translations are, how often words are right, and what do they cost?

    python benchmarks/confidence.py [tatoeba-phrase] [tatoeba-hiero] … [--data ../shared] [--work DIR]

Models are made in --work, and made once; they are calibrated on dev, and judged here on test. For sentences: the
correlation of confidence with chrF (Pearson, Spearman), beside that of the model's score for each word. For words: how
well confidence tells those that the reference has from the others (area under the ROC curve), the cross entropy beside
that of the share of right words, and in ten groups of rising confidence what was said and what came true; the expected
calibration error is the mean difference.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from scipy.stats import pearsonr, spearmanr

import camber
from camber.confidence.calibration import right_words
from camber.engine import Threads
from camber.files import read_lines
from camber.metrics.chrf import ChrF
from camber.pipeline.calibrate import calibrate_model
from camber.pipeline.settings import TrainSettings

ONE = Threads(1)
#: name → folder of the data, languages, method
CASES = {
    "tatoeba-phrase": ("tatoeba-fr-en", "fr", "en", "phrase"),
    "tatoeba-hiero": ("tatoeba-fr-en", "fr", "en", "hiero"),
    "multi30k-phrase": ("multi30k/raw", "de", "en", "phrase"),
    "multi30k-hiero": ("multi30k/raw", "de", "en", "hiero"),
    "pythondocs-phrase": ("pythondocs-fr-en", "fr", "en", "phrase"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", help=f"{', '.join(CASES)} (default: all)")
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--work", type=Path, default=Path("confidence-benchmark"))
    parser.add_argument("--lines", type=int, help="translate only the first lines of the test sets")
    arguments = parser.parse_args()
    if not (arguments.data / "data").is_dir():
        sys.exit(f"{arguments.data / 'data'} is absent: give the folder that holds data/multi30k with --data")
    arguments.work.mkdir(parents=True, exist_ok=True)
    for name in arguments.cases or CASES:
        measure(name, arguments.data / "data", arguments.work, arguments.lines)


def opened(name: str, data: Path, work: Path) -> camber.Translator:
    folder, source, target, method = CASES[name]
    place, files = work / name, data / folder
    if not place.is_dir():
        settings = TrainSettings.from_dict({"text": {"source_lang": source, "target_lang": target}})
        dev = {"dev_source": files / f"dev.{source}", "dev_target": files / f"dev.{target}"}
        pair = files / f"train.{source}", files / f"train.{target}"
        return camber.train(*pair, place, method=method, settings=settings, engine=ONE, **dev)
    model = camber.load(place)
    if model.calibration is None:
        calibrate_model(place, files / f"dev.{source}", files / f"dev.{target}", engine=ONE)
        model = camber.load(place)
    return model


def measure(name: str, data: Path, work: Path, most: int | None) -> None:
    model = opened(name, data, work)
    folder, source, target, _ = CASES[name]
    lines, references = (read_lines(data / folder / f"test.{language}")[:most] for language in (source, target))
    seconds = {}
    for sure in (False, True, False, True):  # the second time around counts: everything is in memory then
        start = time.process_time()
        found = [best[0] for best in model.translations(lines, engine=ONE, confidence=sure)]
        seconds[sure] = time.process_time() - start
    chrf = ChrF()
    scores = np.asarray(chrf.score(chrf.statistics([item.text for item in found], [references])), float)
    confidence = np.array([item.confidence for item in found])
    plain = np.array([item.derivation.score / max(1, len(item.derivation.words)) for item in found])
    targets = [model.text.target_tokens(reference, line) for reference, line in zip(references, lines, strict=True)]
    right = np.array(
        [
            flag
            for item, words in zip(found, targets, strict=True)
            for flag in right_words(item.derivation.words, [words])
        ],
        float,
    )
    words = np.array([value for item in found for value in item.word_confidences])
    print(
        f"{name}: {len(lines):,} test sentences, mean chrF {scores.mean():.1f}, mean confidence {confidence.mean():.3f}"
    )
    print(
        f"  sentences: correlation with chrF {pearsonr(confidence, scores)[0]:.3f} (Pearson),"
        f" {spearmanr(confidence, scores)[0]:.3f} (Spearman); of the score for each word"
        f" {pearsonr(plain, scores)[0]:.3f}, {spearmanr(plain, scores)[0]:.3f}"
    )
    print(f"  sentences: expected calibration error {calibration_error(confidence, scores / 100):.3f}")
    print("             " + reliability(confidence, scores / 100))
    print(
        f"  words: {100 * right.mean():.1f} % of {len(right):,} right; area under the curve {area(words, right):.3f};"
        f" cross entropy {entropy(words, right):.3f}, of their share {entropy(right * 0 + right.mean(), right):.3f}"
    )
    print(f"  words: expected calibration error {calibration_error(words, right):.3f}")
    print("         " + reliability(words, right))
    print(
        f"  CPU seconds: {seconds[False]:.1f} without, {seconds[True]:.1f} with confidences"
        f" ({100 * (seconds[True] / seconds[False] - 1):+.0f} %)",
        flush=True,
    )


def area(sure: np.ndarray, right: np.ndarray) -> float:
    """Return the probability that of a right and a wrong word the right one has the higher confidence."""
    ranks = np.empty(len(sure))
    ranks[np.argsort(sure, kind="stable")] = np.arange(len(sure))
    good = right.sum()
    return float((ranks[right == 1].sum() - good * (good - 1) / 2) / (good * (len(right) - good)))


def entropy(sure: np.ndarray, right: np.ndarray) -> float:
    p = np.clip(sure, 1e-9, 1 - 1e-9)
    return float(-(right * np.log(p) + (1 - right) * np.log(1 - p)).mean())


def tenths(sure: np.ndarray) -> list[np.ndarray]:
    return np.array_split(np.argsort(sure, kind="stable"), 10)


def calibration_error(sure: np.ndarray, truth: np.ndarray) -> float:
    return float(np.mean([abs(sure[rows].mean() - truth[rows].mean()) for rows in tenths(sure)]))


def reliability(sure: np.ndarray, truth: np.ndarray) -> str:
    return "  ".join(f"{sure[rows].mean():.2f}→{truth[rows].mean():.2f}" for rows in tenths(sure))


if __name__ == "__main__":
    main()
