"""Sorted suffixes: every n-gram of a text gets a number, without storing n-grams and without hashing.

All positions of the text are sorted by the words that follow, up to the end of their sentence. The positions where an
n-gram occurs then stand side by side, and the place of the first of them, together with n, names the n-gram. Names
compare like the id sequences themselves, a prefix before its extensions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from camber.arrays.types import I4, I8
from camber.corpus.bitext import Sentences


@dataclass(frozen=True)
class SortedSuffixes:
    """The positions of a text in the order of their next `longest` words."""

    text: Sentences
    longest: int
    order: I8  # [tokens] positions, sorted
    first: I4  # [tokens, longest] place in `order` of the first occurrence of the n-gram (position, n - 1)

    @classmethod
    def sort(cls, text: Sentences, longest: int) -> SortedSuffixes:
        """Sort by prefix doubling: the rank by 2k words is the rank by k words and that of the place k further.

        >>> suffixes = SortedSuffixes.sort(Sentences.encode([["b", "a"], ["b"]]), 2)   # ids: b 0, a 1
        >>> suffixes.order.tolist(), suffixes.first.tolist()
        ([2, 0, 1], [[0, 1], [2, 2], [0, 0]])
        """
        ids, tokens = text.ids, len(text.ids)
        left = np.repeat(text.offsets[1:], text.lengths) - np.arange(tokens)  # words up to the sentence's end
        rank = ids.astype(np.int64) + 1
        order, known = np.argsort(rank, kind="stable"), 1
        while known < longest:
            later = np.zeros(tokens, np.int64)  # 0: past the end, before every word
            later[:-known] = np.where(left[:-known] > known, rank[known:], 0)
            key = rank * (rank.max(initial=0) + 1) + later
            order = np.argsort(key, kind="stable")
            step = np.ones(tokens, np.int64)
            step[1:] = np.diff(key[order]) != 0
            rank[order] = np.cumsum(step)
            known *= 2
        return cls(text, longest, order, _first_occurrences(ids, left, order, longest))

    def lengths_of(self, codes: I8) -> I8:
        """Return n of n-grams named by ``first * (longest + 1) + n``."""
        return codes % (self.longest + 1)

    def starts_of(self, codes: I8) -> I8:
        """Return a position in the text where each named n-gram stands."""
        return self.order[codes // (self.longest + 1)]


def _first_occurrences(ids: I4, left: I8, order: I8, longest: int) -> I4:
    tokens = len(ids)
    first = np.empty((tokens, longest), np.int32)
    same = np.ones(max(tokens - 1, 0), bool)  # neighbours in the order that share their first n words
    places = np.arange(tokens, dtype=np.int32)
    padded = np.append(ids, np.full(longest, -1, np.int32))
    for n in range(1, longest + 1):
        here = np.where(left >= n, padded[n - 1 : n - 1 + tokens], -1)[order]
        same &= (here[1:] == here[:-1]) & (here[1:] >= 0)
        start = places.copy()
        start[1:][same] = 0
        first[order, n - 1] = np.maximum.accumulate(start)
    return first
