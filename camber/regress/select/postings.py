"""Which n-grams a corpus' source sentences have, and which sentences have an n-gram."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.sparse import Counts
from camber.arrays.types import I4, I8
from camber.corpus.bitext import Bitext, Sentences
from camber.kernel import kernel
from camber.kernel.heap import pop, push, replace
from camber.kernel.sort import sort_rising
from camber.regress.spectrum import NgramMap, Spectrum, transposed


@dataclass(frozen=True, eq=False)
class Postings:
    """The n-grams of source sentences; a pair with an empty side has none, and so is never selected."""

    grams: NgramMap
    rows: Counts  # pair → its n-grams
    pairs: Counts  # n-gram → the pairs that have it, rising, and how often
    lengths: I8  # source words of each pair

    @classmethod
    def of(cls, bitext: Bitext, order: int) -> Postings:
        """Index the source side of a corpus by n-grams of 1 … `order` words."""
        text = bitext.source
        halves = (bitext.target.lengths == 0) & (text.lengths > 0)
        if halves.any():
            kept = np.repeat(~halves, text.lengths)
            text = Sentences(text.ids[kept], offsets_from(np.where(halves, 0, text.lengths)), text.vocabulary)
        grams, rows = NgramMap.of(text, Spectrum(order=order))
        return cls(grams, rows, transposed(rows), text.lengths)

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.rows)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return self.rows.nbytes + self.pairs.nbytes + self.grams.table.nbytes + self.lengths.nbytes

    def of_sentence(self, sentence: I4) -> list[I8]:
        """Return the known n-grams of a sentence by their length, shortest first, each once and in rising order."""
        return [distinct(column) for column in self.grams.ends(sentence).T]

    def pairs_of(self, grams: I8, limit: int) -> tuple[I4, I8]:
        """Return the pairs that have each n-gram, and offsets: of more than `limit`, so many at even distances."""
        sizes = np.minimum(self.pairs.offsets[grams + 1] - self.pairs.offsets[grams], limit)
        offsets = offsets_from(sizes)
        flat = np.empty(int(offsets[-1]), np.int32)
        _sample(grams, self.pairs.offsets, self.pairs.columns, offsets, flat)
        return flat, offsets


def distinct(grams: I4) -> I8:
    """Return the different numbers of n-grams in rising order, without -1.

    >>> distinct(np.array([3, -1, 1, 3], np.int32)).tolist()
    [1, 3]
    """
    room = np.array(grams, np.int64)
    return room[: _distinct(room)]


@kernel
def _distinct(grams):
    """Sort a few numbers, and put the different ones that are not negative to the front; return how many."""
    sort_rising(grams, 0, len(grams))
    size = 0
    for i in range(len(grams)):
        if grams[i] >= 0 and (size == 0 or grams[i] != grams[size - 1]):
            grams[size] = grams[i]
            size += 1
    return size


@kernel
def _sample(grams, pair_offsets, pairs, offsets, flat):
    """Fill `flat` with as many pairs of each n-gram as the offsets have room for."""
    for g in range(len(grams)):
        first = pair_offsets[grams[g]]
        have = pair_offsets[grams[g] + 1] - first
        room = offsets[g + 1] - offsets[g]
        for i in range(room):
            flat[offsets[g] + i] = pairs[first + i * have // room]


@kernel
def best_of(items, size, scores, worst, heap, chosen, at):
    """Put the best of ``items[:size]`` at ``chosen[at:]``, as many as `heap` holds, best first; return where they end.

    Of equal scores the smaller item is better. `worst` and `heap` are room of that length.
    """
    room = len(heap)
    kept = 0
    for i in range(size):
        item = items[i]
        score = scores[item]
        # a heap of opposites, so that the worst one that is kept is in front
        if kept < room:
            kept = push(worst, heap, kept, -score, -item)
        elif room > 0 and (-score < worst[0] or (-score == worst[0] and -item > heap[0])):
            replace(worst, heap, kept, -score, -item)
    end = at + kept
    while kept > 0:
        _, item, kept = pop(worst, heap, kept)
        chosen[at + kept] = -item
    return end
