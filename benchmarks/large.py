#!/usr/bin/env python3
"""The large set of features: what it takes to learn and to keep, and decoding with it beside the base set.

    python benchmarks/large.py [--data ../shared]

Multi30k German to English (29,000 pairs), one thread, CPU seconds after compilation; decoding of the dev set, the least
of five runs. With all new weights at 0 the large model decodes as the base model; with random ones it has to add them.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

from camber.align.words import align_corpus
from camber.corpus import Bitext
from camber.corpus.clusters import WordClusters
from camber.corpus.inputs import as_inputs
from camber.corpus.subwords import Subwords
from camber.engine import Threads
from camber.features.weights import Weights
from camber.files import read_lines
from camber.lm.kneser_ney import estimate
from camber.lm.ngrams import NgramModel
from camber.model.phrase import PhraseRules
from camber.rules.phrase.extraction import extract
from camber.rules.phrase.large import LargeFeatures
from camber.rules.phrase.settings import RuleSettings
from camber.rules.words import WordKnowledge

ONE = Threads(1)
LARGE = RuleSettings(rule_features="large")
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
    size = sum(array.nbytes for array in (large.numbers, large.offsets, large.subword_scores))
    print(
        f"  {len(large.inventory.names)} indicators, {len(large.numbers) / len(store):.1f} a rule; "
        f"{size / len(store):.0f} bytes a rule for all that is not in the store"
    )
    return PhraseRules(store), PhraseRules(store, LARGE.features, large=large)


def decode(rules: PhraseRules, language: NgramModel, lines: list[list[str]], spread: float) -> tuple[float, float]:
    """Return milliseconds a sentence: one best, and columns of 100 best."""
    weights = rules.untuned(1).values
    rng = np.random.default_rng(1)
    changed = {name: value or spread * float(rng.normal()) for name, value in weights.items()}
    decoder, inputs = rules.weighted([language], Weights(changed)), as_inputs(lines)
    vocabulary = decoder.target_vocabulary.extended(word for words in lines for word in words)
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(5):
        start = time.process_time()
        list(decoder.decode(inputs, engine=ONE))
        middle = time.process_time()
        decoder.decode_columns(inputs, vocabulary, 100, ONE)
        times[0].append(middle - start)
        times[1].append(time.process_time() - middle)
    return 1000 * min(times[0]) / len(lines), 1000 * min(times[1]) / len(lines)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    data = parser.parse_args().data / "data" / "multi30k" / "tok"
    if not data.is_dir():
        sys.exit(f"no {data}; give the folder of the data with --data")
    sides = [[line.split() for line in read_lines(data / f"train.{code}")] for code in ("de", "en")]
    few = Bitext.encode(*(side[:50] for side in sides))
    LargeFeatures.of(WordKnowledge.learn(few, LARGE), extract(few, align_corpus(few), LARGE), LARGE)  # compiles
    bitext = Bitext.encode(*sides)
    base, large = learn(bitext)
    language = NgramModel.from_trie(estimate(bitext.target))
    lines = [line.split() for line in read_lines(data / "dev.de")]
    for what, rules, spread in (("base", base, 0.0), ("large, 0", large, 0.0), ("large, random", large, 0.02)):
        one, columns = decode(rules, language, lines, spread)
        print(f"  {what:<20}{one:7.2f} ms a sentence, {columns:7.2f} with 100 best for tuning")


if __name__ == "__main__":
    main()
