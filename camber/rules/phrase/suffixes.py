"""Sorted suffixes: every n-gram of a text gets a number, without storing n-grams and without hashing.

All positions of the text are sorted by the words that follow, up to the end of their sentence. The positions where an
n-gram occurs then stand side by side, and the place of the first of them, together with n, names the n-gram:
``place * (longest + 1) + n``. Names compare like the id sequences themselves, a prefix before its extensions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from camber.arrays.scratch import UNLIMITED, Scratch
from camber.arrays.types import I4, I8
from camber.corpus.bitext import Sentences
from camber.kernel import kernel


@dataclass(frozen=True)
class SortedSuffixes:
    """The positions of a text in the order of their next `longest` words."""

    text: Sentences
    longest: int
    order: I8  # [tokens] positions, sorted
    first: I4  # [tokens, longest] place in `order` of the first occurrence of the n-gram (position, n - 1)

    @classmethod
    def sort(cls, text: Sentences, longest: int, scratch: Scratch = UNLIMITED) -> SortedSuffixes:
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
        return cls(text, longest, order, _first_occurrences(ids, left, order, longest, scratch))


def _first_occurrences(ids: I4, left: I8, order: I8, longest: int, scratch: Scratch) -> I4:
    first: I4 = scratch.empty((len(ids), longest), np.int32)
    _fill_first(ids, left, order, longest, np.zeros(longest, np.int32), first)
    return first


@kernel
def _fill_first(ids, left, order, longest, start, first):
    """Write for each of the sorted positions where its n-grams stand first; `start` is room for a row."""
    for place in range(len(order)):
        here = order[place]
        shared = 0  # words that it has in common with the position before it
        if place > 0:
            before = order[place - 1]
            most = min(longest, left[here], left[before])
            while shared < most and ids[before + shared] == ids[here + shared]:
                shared += 1
        for n in range(longest):
            if n >= shared:
                start[n] = place
            first[here, n] = start[n]
