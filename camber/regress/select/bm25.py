"""Selection as a search engine does it: BM25 over the n-grams that a sentence and the source of a pair have in common.

An n-gram of the sentence adds idf · f (k + 1) / (f + k (1 - b + b |S| / mean)) to the pairs that have it f times, with
idf = log(1 + (N - C + ½) / (C + ½)) for an n-gram in C of N pairs. All that is computed when the corpus is indexed; a
sentence then adds up rows of n-grams.
"""

from __future__ import annotations

from typing import Self

import numpy as np

from camber.arrays.types import F4, I4, I8
from camber.corpus.bitext import Bitext
from camber.kernel import kernel
from camber.kernel.heap import pop, push, replace
from camber.regress.select.postings import Postings
from camber.regress.select.selector import Selector
from camber.regress.select.selectors import SelectSettings


class Bm25Selector(Selector):
    """Pairs by BM25."""

    uses = frozenset({"order", "saturation", "length_share"})

    worth: F4  # of each n-gram in each pair that has it, as in the postings

    @classmethod
    def of(cls, bitext: Bitext, settings: SelectSettings) -> Self:
        """Index a corpus."""
        selector = cls(Postings.of(bitext, settings.order), settings)
        postings, pairs = selector.postings, selector.postings.pairs
        counts = np.diff(pairs.offsets)
        idf = np.log1p((len(postings) - counts + 0.5) / (counts + 0.5))
        k, b = settings.saturation, settings.length_share
        mean = max(float(postings.lengths.mean()) if len(postings) else 1.0, 1e-9)
        soft = k * (1.0 - b + b * postings.lengths / mean)
        often = pairs.values.astype(np.float64)
        worth = np.repeat(idf, counts) * often * (k + 1.0) / (often + soft[pairs.columns])
        selector.worth = worth.astype(np.float32)
        return selector

    @property
    def nbytes(self) -> int:
        """Bytes of the index."""
        return super().nbytes + self.worth.nbytes

    def scores(self, sentence: I4) -> F4:
        """Return the scores of all pairs (0: nothing in common)."""
        scores = np.zeros(len(self.postings), np.float32)
        self._add(sentence, scores)
        return scores

    def select(self, sentence: I4, count: int) -> I8:
        """Return the numbers of at most `count` pairs for a sentence, best first."""
        count = min(count, len(self.postings))
        scores = self._room("scores", len(self.postings), np.float32)
        self._add(sentence, scores)
        worst, heap = self._room("worst", count)[:count], self._room("heap", count, np.int64)[:count]
        chosen = np.empty(count, np.int64)
        return chosen[: _take_best(scores, worst, heap, chosen)]

    def _add(self, sentence: I4, scores: F4) -> None:
        pairs = self.postings.pairs
        grams = np.concatenate(self.postings.of_sentence(sentence))
        _add_postings(grams, pairs.offsets, pairs.columns, self.worth, scores)


@kernel
def _add_postings(grams, offsets, pairs, worth, scores):
    """Add up what n-grams are worth in the pairs that have them."""
    for g in range(len(grams)):
        for i in range(offsets[grams[g]], offsets[grams[g] + 1]):
            scores[pairs[i]] += worth[i]


@kernel
def _take_best(scores, worst, heap, chosen):
    """Fill `chosen` with the best of all pairs that have a score, best first, and forget scores; return how many."""
    room = len(heap)
    kept = 0
    bound = np.float32(0.0)  # what a pair must exceed: a later one with an equal score is worse
    for pair in range(len(scores)):
        score = scores[pair]
        scores[pair] = 0.0
        if score <= bound or room == 0:
            continue
        if kept < room:
            kept = push(worst, heap, kept, -np.float64(score), -pair)
        else:
            replace(worst, heap, kept, -np.float64(score), -pair)
        if kept == room:
            bound = np.float32(-worst[0])
    size = kept
    while kept > 0:
        _, item, kept = pop(worst, heap, kept)
        chosen[kept] = -item
    return size
