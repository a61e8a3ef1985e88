"""Whether features can tell the best hypotheses of 200 × 100 from the others: how long the question takes.

    python benchmarks/separable.py [--data ../shared] [--work FOLDER]

Trains a phrase model on Multi30k de-en (into FOLDER if one is named, where it is found again), makes 100-best lists
of the first 200 sentences of dev, and asks `camber.bend.separable` about one, two and all of the features (goal: 5
CPU-seconds). The best are those of the highest sentence BLEU. CPU time, after a first call that imports the solver.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import camber
from camber.bend import separable
from camber.engine import Threads
from camber.files import read_lines
from camber.metrics.bleu import BLEU
from camber.metrics.sentence import sentence_scores
from camber.nbest.nbest import NBest
from camber.pipeline.settings import TrainSettings

ROOT = Path(__file__).resolve().parent.parent
SENTENCES, NBEST = 200, 100
METRIC = BLEU(tokenize="none")


def lists(text: Path, work: Path) -> NBest:
    """Translate the beginning of dev."""
    model = work / "phrase"
    if not model.is_dir():
        settings = TrainSettings.from_dict({"text": {"tokenizer": "none"}, "align": {"model": "quick"}})
        camber.train(text / "train.de", text / "train.en", model, held_out=0, tuned=False, settings=settings)
    lines = read_lines(text / "dev.de")[:SENTENCES]
    translator = camber.load(model)
    return translator.to_nbest(list(translator.translations(lines, NBEST, engine=Threads(1))))


def main() -> None:
    """Measure, and print a row for each choice of features."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--work", type=Path)
    options = parser.parse_args()
    text = options.data / "data" / "multi30k" / "tok"
    if not text.is_dir():
        raise SystemExit(f"{text}: no such folder; name the data folder with --data")
    with tempfile.TemporaryDirectory() as folder:
        nbest = lists(text, options.work or Path(folder))
    quality = sentence_scores(METRIC, nbest.statistics(METRIC, [read_lines(text / "dev.en")[:SENTENCES]]))
    separable([[[{"h": 1.0}], [{"h": 2.0}]], [[{"h": 2.0}], [{"h": 1.0}]]], [[1.0, 0.0], [1.0, 0.0]])
    print(f"{len(nbest)} sentences, {nbest.hypotheses:,} hypotheses")
    for features in (["p_t_given_s"], ["p_t_given_s", "lex_t_given_s"], None):
        start = time.process_time()
        answer = separable(nbest, quality, features, absent=0.0)
        seconds = time.process_time() - start
        print(f"\n{', '.join(features or ['all features'])}: {seconds:.1f} CPU-s\n{answer}")


if __name__ == "__main__":
    main()
