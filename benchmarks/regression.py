"""What a regression as one more feature of the phrase decoder costs, and what it gains.

    python benchmarks/regression.py [--data ../shared] [--work FOLDER] [--sentences 60] [--tune 300] [--json]

Trains a phrase model with `--regression lsr` on Multi30k fr-en (29,000 pairs) with the package itself, into FOLDER if
one is named, where it is found again. The same model without the feature is what it is compared with.

time     CPU milliseconds a sentence on one thread: without the feature; with it; with it where solutions are kept, as
         from the second round of tuning on; and the search alone, without what is made before it.
errors   how far the sums of n-grams of references are from those of a far finer solution.
BLEU     both tuned in the same way on the first dev sentences (`--tune`, 0: not at all), and how they translate the
         others, which neither has seen.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import camber
from camber.corpus import Vocabulary
from camber.corpus.inputs import Input, as_inputs
from camber.decode.phrase import decoder as phrase
from camber.decode.phrase.decoder import PhraseDecoder
from camber.engine import Threads
from camber.features.weights import Weights
from camber.files import read_lines
from camber.metrics.bleu import BLEU
from camber.model.translator import Translator
from camber.pipeline.settings import TrainSettings
from camber.pipeline.tune import tune_translator
from camber.regress.gradients import Gradients
from camber.regress.prediction import LeastSquares
from camber.regress.scorer import RegressionScorer, SingleSolver, word_numbers
from camber.tune.loop import TuneSettings

ROOT = Path(__file__).resolve().parent.parent
FEATURE = "regression"


def model_of(data: Path, work: Path) -> Translator:
    """Train a model with the feature, or open it if it is there."""
    folder = work / "model"
    if not folder.is_dir():
        tables = {"text": {"tokenizer": "none"}, "align": {"model": "quick"}, "regression": {"regression": "lsr"}}
        sides = (data / f"train.{side}" for side in ("fr", "en"))
        camber.train(*sides, folder, tuned=False, held_out=0, settings=TrainSettings.from_dict(tables))
    return camber.load(folder)


def without(model: Translator) -> Translator:
    """Return the same translator without the feature."""
    decoder = model.decoder
    weights = Weights({name: value for name, value in model.weights.values.items() if name != FEATURE})
    plain = PhraseDecoder(decoder.rules, decoder.languages, weights.values, decoder.settings)
    return model.shaped(plain, weights)


class Clock:
    """Sums up the CPU time of the kernel that searches."""

    def __init__(self) -> None:
        self.total, self.kernel = 0.0, phrase.decode_batch

    def __call__(self, *arguments: Any) -> Any:
        """Search, and take the time."""
        start = time.process_time()
        code = self.kernel(*arguments)
        self.total += time.process_time() - start
        return code


def milliseconds(decoder: PhraseDecoder, inputs: Sequence[Input]) -> tuple[float, float]:
    """Return the CPU time of a sentence in all, and that of its search."""
    list(decoder.decode(inputs[:2], engine=Threads(1)))  # what is compiled or made once does not count
    clock = Clock()
    phrase.decode_batch = clock
    start = time.process_time()
    list(decoder.decode(inputs, engine=Threads(1)))
    took = time.process_time() - start
    phrase.decode_batch = clock.kernel
    return 1e3 * took / len(inputs), 1e3 * clock.total / len(inputs)


def errors(
    scorer: RegressionScorer, inputs: Sequence[Input], references: Sequence[Sequence[str]], words: Vocabulary
) -> dict[str, float]:
    """Compare sums over the n-grams of references with those of a solution to a tolerance of 1e-6."""
    regression = scorer.regression
    assert isinstance(regression, LeastSquares)
    assert isinstance(regression.solver, SingleSolver)
    assert isinstance(regression.solver.solver, Gradients)
    fine = replace(regression.solver.solver, tolerance=1e-6)
    vectors, solvers = regression.vectors, (regression.solver, fine)
    single, whole = [], []
    for item, reference in zip(inputs, references, strict=True):
        right = vectors.kernels(word_numbers(item.tokens, scorer.source_words), np.array([len(item)]))
        ends = vectors.target_grams.ends(np.array([words.id(word) for word in reference], np.int32))
        grams, often = np.unique(ends[ends >= 0], return_counts=True)
        both = [vectors.worths(grams.astype(np.int64), solver.solve(right).values) for solver in solvers]
        difference = (both[0] - both[1])[:, 0]
        single.append(float(np.abs(difference).max(initial=0.0)))
        whole.append(abs(float(difference @ often)))
    return {"largest of an n-gram, mean": float(np.mean(single)), "of a reference's sum, mean": float(np.mean(whole))}


def bleu_of(model: Translator, dev: tuple[list[str], list[str]], tuned_on: int) -> dict[str, float]:
    """Tune on the first dev sentences; return BLEU there and on the others, and the feature's weight."""
    metric = BLEU(tokenize="none")
    first, rest = [side[:tuned_on] for side in dev], [side[tuned_on:] for side in dev]
    outcome = tune_translator(model, first[0], [first[1]], TuneSettings(), engine=Threads(1))
    tuned = model.shaped(outcome.decoder, outcome.weights)
    scores = {
        name: float(metric.score(metric.statistics(tuned.translate(some[0], Threads(1)), [some[1]]).sum(0)))
        for name, some in (("tuned on", first), ("unseen", rest))
    }
    return {**scores, "weight": outcome.weights.values.get(FEATURE, 0.0)}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--sentences", type=int, default=60, help="sentences that are timed")
    parser.add_argument("--tune", type=int, default=300, help="dev sentences to tune on (0: nothing is tuned)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    data = options.data / "data" / "multi30k" / "tok"
    with tempfile.TemporaryDirectory() as folder:
        model = model_of(data, options.work or Path(folder))
        dev = read_lines(data / "dev.fr"), read_lines(data / "dev.en")
        report = measure(model, dev, options.sentences, options.tune)
    if options.json:
        print(json.dumps(report, indent=1))
        return
    for title, table in report.items():
        print(title)
        for name, value in table.items():
            print(f"  {name:<44}{value if isinstance(value, str) else f'{value:.3f}'}")


def measure(model: Translator, dev: tuple[list[str], list[str]], sentences: int, tuned_on: int) -> dict[str, Any]:
    """Return all figures."""
    plain, decoder = without(model), model.decoder
    inputs = as_inputs(line.split() for line in dev[0][:sentences])
    base, kept = milliseconds(plain.decoder, inputs), decoder.remembering()
    first = milliseconds(kept, inputs)
    again = milliseconds(kept, inputs)
    few = inputs[:20]
    references = [line.split() for line in dev[1][: len(few)]]
    report: dict[str, Any] = {
        "CPU ms a sentence": {
            "without": base[0], "with": first[0], "with, solutions kept": again[0], "ratio": first[0] / base[0],
            "ratio, solutions kept": again[0] / base[0], "search without": base[1], "search with": first[1],
            "search ratio": first[1] / base[1],
        },
        "errors": errors(decoder.scorer, few, references, decoder.target_vocabulary),
    }  # fmt: skip
    if tuned_on:
        report["BLEU without"] = bleu_of(plain, dev, tuned_on)
        report["BLEU with"] = bleu_of(model, dev, tuned_on)
    return report


if __name__ == "__main__":
    main()
