"""The large set of features of hierarchical rules: which there are is learnt from the rules of some training sentences.

Rules are extracted when a sentence comes, so that there are no counts of all of them. The signatures that have features
are those of the rules of sentences taken evenly from the training text: each rule counts as often as its source side is
expected to be translated so there, which is p_coherent. Gaps are symbols of a signature, ``[1]`` and ``[2]``; all other
features look at words alone. In all but that, the features are those of phrase pairs.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.rules.hiero.extraction import HieroExtractor, HieroSettings
from camber.rules.hiero.index import CorpusIndex
from camber.rules.inventory import Inventory, frequent_sequences
from camber.rules.measuring import cluster_sequences
from camber.rules.words import WordKnowledge

#: Training sentences whose rules are looked at, and most rules of them.
SENTENCES, MOST_RULES = 400, 2_000_000


def learn_inventory(words: WordKnowledge, index: CorpusIndex, settings: HieroSettings) -> Inventory:
    """Choose the indicators of rules that will be extracted from an index."""
    extractor = HieroExtractor(index, settings=replace(settings, rule_features=""))
    ids, sizes, often = [np.zeros(0, np.int32)], [np.zeros(0, np.int64)], [np.zeros(0)]
    rules = 0
    for row in evenly(len(index), SENTENCES):
        if rules > MOST_RULES:
            break
        a, b = index.source.offsets[row : row + 2]
        grammar = extractor.raw(index.source.vocabulary.decode(index.source.ids[a:b]))
        sequences, offsets = cluster_sequences(grammar.sides, words.source.clusters, words.target.clusters)
        ids.append(sequences)
        sizes.append(np.diff(offsets))
        often.append(grammar.column("p_coherent"))
        rules += len(grammar)
    offsets = offsets_from(np.concatenate(sizes))
    signatures = frequent_sequences(np.concatenate(ids), offsets, np.concatenate(often), settings.signatures)
    return Inventory.make(words, (index.source.vocabulary, index.target.vocabulary), signatures, settings)


def evenly(size: int, number: int) -> list[int]:
    """Return at most so many of the first `size` numbers, spread evenly.

    >>> evenly(3, 5), evenly(100, 4)
    ([0, 1, 2], [12, 37, 62, 87])
    """
    return list(range(size)) if size <= number else [(2 * k + 1) * size // (2 * number) for k in range(number)]
