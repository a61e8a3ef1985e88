#!/usr/bin/env python3
"""The large set of features: what it takes to learn and to keep, and decoding with it beside the base set.

    python benchmarks/large.py [--data ../shared] [phrase hiero]

Multi30k German to English (29,000 pairs), one thread, CPU seconds after compilation; decoding of the dev set (of 100
sentences of it with hierarchical rules, which are extracted for each sentence), the least of five runs, in turns. With
all new weights at 0 the large model decodes as the base model; with random ones it has to add them.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from camber.align.words import align_corpus
from camber.corpus import Bitext
from camber.corpus.clusters import WordClusters
from camber.corpus.inputs import as_inputs
from camber.corpus.subwords import Subwords
from camber.decode.chart.decoder import ChartDecoder
from camber.decode.phrase.decoder import PhraseDecoder
from camber.engine import Threads
from camber.features.weights import Weights
from camber.files import read_lines
from camber.lm.kneser_ney import estimate
from camber.lm.ngrams import NgramModel
from camber.model.hiero import HieroRules
from camber.model.phrase import PhraseRules
from camber.rules.hiero.extraction import HieroSettings
from camber.rules.hiero.index import CorpusIndex
from camber.rules.hiero.large import learn_inventory
from camber.rules.phrase.extraction import extract
from camber.rules.phrase.large import LargeFeatures
from camber.rules.phrase.settings import RuleSettings
from camber.rules.words import WordKnowledge

ONE = Threads(1)
LARGE, GAPS = RuleSettings(rule_features="large"), HieroSettings(rule_features="large")
T = TypeVar("T")


def timed(what: str, work: Callable[[], T]) -> T:
    """Print the CPU seconds of one call, and return its result."""
    start = time.process_time()
    result = work()
    print(f"  {what:<60}{time.process_time() - start:7.2f} CPU-s")
    return result


def learn(bitext: Bitext) -> tuple[PhraseRules, PhraseRules]:
    """Learn all that the features need; return the rules with the base and with the large set."""
    for name, side in (("German", bitext.source), ("English", bitext.target)):
        timed(f"{name}: 50 clusters", lambda side=side: WordClusters.learn(side, 50))
        timed(f"{name}: 3,000 merges", lambda side=side: Subwords.learn(side, 3000))
    words = timed("all of it, and an alignment of pieces", lambda: WordKnowledge.learn(bitext, LARGE, engine=ONE))
    store = timed("phrase pairs, base features", lambda: extract(bitext, align_corpus(bitext, engine=ONE), LARGE, ONE))
    large = timed(f"large features of {len(store):,} phrase pairs", lambda: LargeFeatures.of(words, store, LARGE))
    size = large.measured.nbytes
    print(
        f"  {len(large.inventory.names)} indicators, {len(large.measured.numbers) / len(store):.1f} a rule; "
        f"{size / len(store):.0f} bytes a rule for all that is not in the store"
    )
    return PhraseRules(store), PhraseRules(store, LARGE.features, large=large)


def learn_hiero(bitext: Bitext) -> tuple[HieroRules, HieroRules]:
    """Learn all that the features of hierarchical rules need; return the rules with the base and with the large set."""
    words = timed("clusters, merges, an alignment of pieces", lambda: WordKnowledge.learn(bitext, GAPS, engine=ONE))
    alignment = align_corpus(bitext, engine=ONE)
    index = timed("an index", lambda: CorpusIndex.build(bitext, alignment))
    inventory = timed("which indicators there are", lambda: learn_inventory(words, index, GAPS))
    print(f"  {len(inventory.names)} indicators")
    return HieroRules(index), HieroRules(index, GAPS, inventory=inventory)


def weighted(rules: PhraseRules | HieroRules, language: NgramModel, spread: float) -> PhraseDecoder | ChartDecoder:
    """Return the decoder, with random weights where there is none yet."""
    rng = np.random.default_rng(1)
    weights = {name: value or spread * float(rng.normal()) for name, value in rules.untuned(1).values.items()}
    return rules.weighted([language], Weights(weights))


def compare(works: Mapping[str, Sequence[Callable[[], object]]], sentences: int, what: Sequence[str]) -> None:
    """Print milliseconds a sentence of all works, the least of five runs in turns, and ratios to the first ones."""
    times = {name: [float("inf")] * len(some) for name, some in works.items()}
    for _ in range(5):
        for name, some in works.items():
            for place, work in enumerate(some):
                start = time.process_time()
                work()
                times[name][place] = min(times[name][place], time.process_time() - start)
    first = next(iter(times.values()))
    for name, least in times.items():
        figures = (
            f"{label} {1000 * seconds / sentences:6.2f} ms (x {seconds / base:4.2f})"
            for label, seconds, base in zip(what, least, first, strict=True)
        )
        print(f"  {name:<16}" + ", ".join(figures))


def decoding(rules: Sequence[PhraseRules | HieroRules], language: NgramModel, lines: list[list[str]]) -> None:
    """Compare the base set with the large one, without and with weights for what is new."""
    inputs = as_inputs(lines)
    works = {}
    for name, some, spread in (("base", 0, 0.0), ("large, 0", 1, 0.0), ("large, random", 1, 0.02)):
        decoder = weighted(rules[some], language, spread)
        vocabulary = decoder.target_vocabulary.extended(word for words in lines for word in words)
        kept = decoder.remembering()
        works[name] = [
            lambda kept=kept: list(kept.decode(inputs, engine=ONE)),
            lambda kept=kept, vocabulary=vocabulary: kept.decode_columns(inputs, vocabulary, 100, ONE),
        ]
        if isinstance(decoder, ChartDecoder):
            grammars = decoder.grammars
            works[name].append(lambda grammars=grammars: [grammars.grammar(item) for item in inputs])
        works[name][0]()  # rules are extracted, and kept
    compare(works, len(lines), ("one best", "100 best for tuning", "extraction")[: len(works["base"])])


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("methods", nargs="*", default=("phrase", "hiero"))
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    arguments = parser.parse_args()
    data = arguments.data / "data" / "multi30k" / "tok"
    if not data.is_dir():
        sys.exit(f"no {data}; give the folder of the data with --data")
    sides = [[line.split() for line in read_lines(data / f"train.{code}")] for code in ("de", "en")]
    few = Bitext.encode(*(side[:50] for side in sides))
    learnt, links = WordKnowledge.learn(few, LARGE), align_corpus(few)  # compiles
    LargeFeatures.of(learnt, extract(few, links, LARGE), LARGE)
    learn_inventory(learnt, CorpusIndex.build(few, links), GAPS)
    bitext = Bitext.encode(*sides)
    language = NgramModel.from_trie(estimate(bitext.target))
    lines = [line.split() for line in read_lines(data / "dev.de")]
    if "phrase" in arguments.methods:
        print("phrase pairs")
        decoding(learn(bitext), language, lines)
    if "hiero" in arguments.methods:
        print("hierarchical rules")
        decoding(learn_hiero(bitext), language, lines[:100])


if __name__ == "__main__":
    main()
