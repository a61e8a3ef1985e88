"""Scores of n-grams for tests: what each n-gram adds is written down, the same for every sentence."""

from __future__ import annotations

import numpy as np

from camber.decode.phrase.ngram_scores import ScoredNgrams
from camber.features.feature import CONTEXT, NUMBER, Feature


class WrittenScores:
    """Score n-grams by a dictionary of word tuples."""

    feature = Feature("regression", NUMBER, CONTEXT)

    def __init__(self, scored, vocabulary):
        self.scored_ngrams, self.vocabulary, self.asked = scored, vocabulary, []

    def remembering(self):
        return self

    def scored(self, item, words):
        self.asked.append((tuple(item.tokens), words.tolist()))
        return laid_out(self.scored_ngrams, self.vocabulary, set(words.tolist()))


def laid_out(scored, vocabulary, reachable=None):
    """Return the n-grams whose words can all be reached, and all that they begin with."""
    ids = {tuple(vocabulary.id(word) for word in gram): score for gram, score in scored.items()}
    ids = {gram: s for gram, s in ids.items() if min(gram) >= 0 and (reachable is None or set(gram) <= reachable)}
    every = sorted({gram[:n] for gram in ids for n in range(1, len(gram) + 1)})
    place = {gram: number for number, gram in enumerate(every)}
    return ScoredNgrams(
        np.array([gram[-1] for gram in every], np.int32),
        np.array([place.get(gram[:-1], -1) for gram in every], np.int32),
        np.array([ids.get(gram, 0.0) for gram in every]),
    )


def random_scores(rng, words, order=3, count=30):
    """Draw n-grams of up to `order` words, some without the shorter ones in them, with scores of either sign."""
    grams = {tuple(map(str, rng.choice(words, rng.integers(1, order + 1)))) for _ in range(count)}
    return {gram: float(rng.normal()) for gram in sorted(grams)}
