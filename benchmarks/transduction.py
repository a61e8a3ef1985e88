"""Models of one sentence: what selecting pairs, extracting their phrases, regression and decoding cost for each.

    python benchmarks/transduction.py [--data ../shared] [--sentences 100]

The training text of Multi30k, German to English, is aligned once. For each of some test sentences, pairs are selected,
and all phrases of theirs are extracted from the stored alignment and kept where the sentence has them; W is learnt by
each regressor that knows one, and made a phrase table; predicted n-grams are searched for the best path (beam 300).
One thread, CPU time, after a first sentence that compiles.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from camber.align.words import learn_alignment
from camber.corpus import Bitext
from camber.corpus.inputs import as_inputs
from camber.engine import Threads
from camber.files import read_lines
from camber.lm.kneser_ney import LmSettings, estimate
from camber.lm.ngrams import NgramModel
from camber.regress.graph_decoder import GraphDecoder
from camber.regress.graph_settings import untuned_weights
from camber.regress.sparse.regressor import REGRESSORS
from camber.regress.transduce.grams import RegressedGrams
from camber.regress.transduce.individual import IndividualRules
from camber.regress.transduce.instances import Instances
from camber.regress.transduce.settings import SparseSettings
from camber.regress.transduce.table import TableRules
from camber.rules.hiero.index import CorpusIndex
from camber.rules.phrase.settings import RuleSettings

#: regressors whose W is worth a phrase table here
LINEAR = ("ridge", "lasso", "fsr")


def each(call: Callable[[Any], Any], items: list[Any]) -> float:
    """Return CPU-milliseconds of a call for each item, after one that compiles."""
    call(items[0])
    begin = time.process_time()
    for item in items:
        call(item)
    return 1000 * (time.process_time() - begin) / len(items)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--sentences", type=int, default=100)
    options = parser.parse_args()
    folder = options.data / "data" / "multi30k" / "tok"
    if not folder.is_dir():
        sys.exit(f"{folder}: no such folder; name the data folder with --data")
    text = {name: [line.split() for line in read_lines(folder / name)] for name in ("train.de", "train.en", "test.de")}
    bitext = Bitext.encode(text["train.de"], text["train.en"])
    index = CorpusIndex.build(bitext, learn_alignment(bitext, engine=Threads(1))[0])
    language = NgramModel.from_trie(estimate(bitext.target, LmSettings()))
    lines = [words for words in text["test.de"] if words][: options.sentences]
    print(f"{len(bitext):,} pairs, {len(lines)} sentences of {np.mean([len(words) for words in lines]):.1f} words")
    print(f"{'':44} {'CPU-ms a sentence':>18}")
    for count in (100, 250, 500):
        instances = Instances(index, SparseSettings(instances=count))
        coded = [instances.encode(words) for words in lines]
        print(f"{f'select {count} pairs in turns of n-grams':44} {each(instances.select, coded):18.2f}", flush=True)
        for longest in (2, 3, 7):
            chosen = Instances(index, SparseSettings(instances=count, phrase_length=longest))
            milliseconds = each(IndividualRules(chosen, RuleSettings()).rules, lines)
            title = f"select {count}, extract phrases of {longest} words"
            print(f"{title:44} {milliseconds:18.2f}", flush=True)
    for name in LINEAR:
        if name not in REGRESSORS:
            continue
        instances = Instances(index, SparseSettings(instances=250, regressor=name))
        milliseconds = each(TableRules(instances).rules, lines)
        print(f"{f'select 250, W of 1&2-grams by {name}, as rules':44} {milliseconds:18.2f}", flush=True)
    instances = Instances(index, SparseSettings(instances=250, regressor="ridge"))
    source = RegressedGrams(instances).remembering()
    decoder = GraphDecoder(source, [language], untuned_weights(1, source.orders))
    for words in lines:
        source.predictions(as_inputs([words]))
    milliseconds = each(lambda words: list(decoder.decode(as_inputs([words]), engine=Threads(1))), lines)
    print(f"{'the best path, predictions being known':44} {milliseconds:18.2f}")


if __name__ == "__main__":
    main()
