"""N-gram spectra: a sentence as the vector of its n-grams, up to a length, and the string kernel between two of them.

    spectrum = Spectrum(order=3)
    grams, rows = NgramMap.of(text, spectrum)      # numbers of n-grams, and a sparse row for each sentence
    grams.rows(other)                              # the n-grams of another text that are known

The *blended* spectrum counts every common n-gram of 1 … `order` words alike (wang2007, 2.1); the *weighted* one counts
a common p-gram as p (bicici Eq. 5). A weight belongs to a match, so a value of the vector is √weight times the count,
and the inner product of two vectors is the kernel.

N-grams are the nodes of a trie: the number of an n-gram follows from that of its first n - 1 words and its last word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from camber.arrays.ragged import offsets_from, owners_of
from camber.arrays.sparse import Counts
from camber.arrays.types import F8, I4, I8, U1, Records
from camber.corpus.bitext import Sentences
from camber.kernel import kernel
from camber.kernel.table import capacity_for, record_slot
from camber.settings import Settings, setting

BLENDED, WEIGHTED = "blended", "weighted"
#: the trie's table: an n-gram and a word → the longer n-gram (-1: a free slot)
ENTRY = np.dtype([("key", "i8"), ("gram", "i4"), ("unused", "i4")])


@dataclass(frozen=True)
class Spectrum(Settings):
    """Which n-grams make the vector of a sentence, and what a match of each length counts."""

    order: int = setting(3, "longest n-gram of the vectors", low=1, high=16)
    weighting: str = setting(
        BLENDED, "what a common n-gram counts: 1, or its number of words", choices=(BLENDED, WEIGHTED)
    )

    @property
    def weights(self) -> F8:
        """What a match counts, by length: float64[order]."""
        return np.ones(self.order) if self.weighting == BLENDED else np.arange(1.0, self.order + 1)


def string_kernel(left: I4, right: I4, spectrum: Spectrum) -> float:
    """Return the kernel of two sentences (word numbers): the weighted number of pairs of equal n-grams.

    >>> string_kernel(np.array([1, 2, 1]), np.array([2, 1]), Spectrum(order=2))
    4.0
    """
    first, second = (np.ascontiguousarray(side, np.int64) for side in (left, right))
    return float(_string_kernel(first, second, np.cumsum(spectrum.weights)))


@dataclass(frozen=True, eq=False)
class NgramMap:
    """The n-grams of a text, numbered from 0 in the order of their first occurrence."""

    spectrum: Spectrum
    words: int  # word numbers are below this
    table: Records  # ENTRY
    lengths: U1  # [n-grams]

    @classmethod
    def of(cls, text: Sentences, spectrum: Spectrum) -> tuple[NgramMap, Counts]:
        """Number the n-grams of a text, and return them with its rows; words outside the vocabulary are in none.

        >>> grams, rows = NgramMap.of(Sentences.encode([["a", "b"], ["b"]]), Spectrum(order=2))
        >>> len(grams), rows.dense().tolist()
        (3, [[1.0, 1.0, 1.0], [0.0, 0.0, 1.0]])
        """
        words = len(text.vocabulary)
        places = _places(text, spectrum.order)
        table = np.empty(capacity_for(places), ENTRY)
        table["key"] = -1
        lengths = np.empty(places, np.uint8)
        keys, offsets = np.empty(places, np.int64), np.zeros(len(text) + 1, np.int64)
        size = _number(text.ids, text.offsets, spectrum.order, words, table, lengths, keys, offsets)
        fitting = np.empty(capacity_for(size), ENTRY)
        fitting["key"] = -1
        _move(table, fitting)
        grams = cls(spectrum, words, fitting, lengths[:size].copy())
        return grams, grams._weighed(keys, offsets)

    def __len__(self) -> int:
        """Return the number of n-grams."""
        return len(self.lengths)

    def rows(self, text: Sentences) -> Counts:
        """Return the known n-grams of sentences (of the same vocabulary), one row for each."""
        places = _places(text, self.spectrum.order)
        keys, offsets = np.empty(places, np.int64), np.zeros(len(text) + 1, np.int64)
        _find(text.ids, text.offsets, self.spectrum.order, self.words, self.table, keys, offsets)
        return self._weighed(keys, offsets)

    def ends(self, sentence: I4) -> I4:
        """Return the n-grams that end at each word, shortest first: int32[words, order], -1 where unknown or none."""
        found = np.full((len(sentence), self.spectrum.order), -1, np.int32)
        _ends(np.ascontiguousarray(sentence, np.int32), self.words, self.table, found)
        return found

    def _weighed(self, keys: I8, offsets: I8) -> Counts:
        rows = Counts.gather(keys[: offsets[-1]], offsets, len(self))
        if self.spectrum.weighting != BLENDED:
            rows.values[:] *= np.sqrt(self.spectrum.weights)[self.lengths[rows.columns].astype(np.int64) - 1]
        return rows

    def arrays(self) -> dict[str, Any]:
        """Return what is kept on disk: the numbers of n-grams by key, and their lengths."""
        used = self.table[self.table["key"] >= 0]
        order = np.argsort(used["gram"], kind="stable")
        return {"keys": used["key"][order], "lengths": self.lengths}

    @classmethod
    def of_arrays(cls, spectrum: Spectrum, words: int, keys: I8, lengths: U1) -> NgramMap:
        """Make the map of what :meth:`arrays` returned."""
        table = np.empty(capacity_for(len(keys)), ENTRY)
        table["key"] = -1
        _fill(table, np.ascontiguousarray(keys, np.int64))
        return cls(spectrum, words, table, np.asarray(lengths))


def squared_norms(text: Sentences, spectrum: Spectrum) -> F8:
    """Return the kernel of every sentence with itself, unknown words and n-grams included: float64[sentences]."""
    norms = np.empty(len(text))
    weights = np.cumsum(spectrum.weights)
    for s, sentence in enumerate(text):
        words = sentence.astype(np.int64)
        norms[s] = _string_kernel(words, words, weights)
    return norms


def _places(text: Sentences, order: int) -> int:
    """Return how many n-grams stand in a text."""
    lengths = text.lengths
    return int(sum(np.maximum(lengths - n, 0).sum() for n in range(order)))


def occurrences(rows: Counts) -> I8:
    """Return in how many rows each column stands: int64[width]."""
    return np.bincount(rows.columns, minlength=rows.width)


def transposed(rows: Counts) -> Counts:
    """Return the same matrix by its columns; entries of a column are in the order of the rows."""
    offsets = offsets_from(occurrences(rows))
    columns, values = np.empty(len(rows.columns), np.int32), np.empty(len(rows.values), np.float32)
    _transpose(rows.offsets, rows.columns, rows.values, offsets[:-1].copy(), columns, values)
    return Counts(len(rows), offsets, columns, values)


def of_columns(rows: Counts, kept: I8) -> Counts:
    """Return some columns (rising numbers) of a matrix, numbered anew."""
    place = np.full(rows.width, -1, np.int64)
    place[kept] = np.arange(len(kept))
    new = place[rows.columns]
    inside = new >= 0
    counts = np.bincount(owners_of(rows.offsets)[inside], minlength=len(rows))
    return Counts(len(kept), offsets_from(counts), new[inside].astype(np.int32), rows.values[inside])


@kernel
def _string_kernel(left, right, cumulated):
    """Sum, over pairs of places, the weights of all n-grams that end there in both: the longest one says which."""
    order = len(cumulated)
    total = 0.0
    for i in range(len(left)):
        for j in range(len(right)):
            same = 0
            while same < order and same <= i and same <= j and left[i - same] == right[j - same]:
                same += 1
            if same > 0:
                total += cumulated[same - 1]
    return total


@kernel
def _number(ids, offsets, order, words, table, lengths, keys, row_offsets):
    """Number the n-grams of all sentences; fill the numbers that stand in each, and return how many there are."""
    size = 0
    at = 0
    for s in range(len(offsets) - 1):
        for start in range(offsets[s], offsets[s + 1]):
            node = np.int64(0)  # 0: the empty n-gram; n-gram g is node g + 1
            for end in range(start, min(start + order, offsets[s + 1])):
                if ids[end] < 0:
                    break
                key = node * words + ids[end]
                slot = record_slot(table, key)
                if table[slot]["key"] < 0:
                    table[slot]["key"] = key
                    table[slot]["gram"] = size
                    lengths[size] = end - start + 1
                    size += 1
                gram = table[slot]["gram"]
                keys[at] = gram
                at += 1
                node = np.int64(gram) + 1
        row_offsets[s + 1] = at
    return size


@kernel
def _find(ids, offsets, order, words, table, keys, row_offsets):
    at = 0
    for s in range(len(offsets) - 1):
        for start in range(offsets[s], offsets[s + 1]):
            node = np.int64(0)
            for end in range(start, min(start + order, offsets[s + 1])):
                if ids[end] < 0:
                    break
                key = node * words + ids[end]
                slot = record_slot(table, key)
                if table[slot]["key"] < 0:
                    break  # what begins with an unknown n-gram is unknown
                keys[at] = table[slot]["gram"]
                at += 1
                node = np.int64(table[slot]["gram"]) + 1
        row_offsets[s + 1] = at


@kernel
def _ends(sentence, words, table, found):
    order = found.shape[1]
    for start in range(len(sentence)):
        node = np.int64(0)
        for end in range(start, min(start + order, len(sentence))):
            if sentence[end] < 0:
                break
            key = node * words + sentence[end]
            slot = record_slot(table, key)
            if table[slot]["key"] < 0:
                break
            found[end, end - start] = table[slot]["gram"]
            node = np.int64(table[slot]["gram"]) + 1


@kernel
def _move(table, other):
    for slot in range(len(table)):
        if table[slot]["key"] >= 0:
            place = record_slot(other, table[slot]["key"])
            other[place]["key"] = table[slot]["key"]
            other[place]["gram"] = table[slot]["gram"]
            other[place]["unused"] = 0


@kernel
def _fill(table, keys):
    for gram in range(len(keys)):
        slot = record_slot(table, keys[gram])
        table[slot]["key"] = keys[gram]
        table[slot]["gram"] = gram
        table[slot]["unused"] = 0


@kernel
def _transpose(offsets, columns, values, ends, out_columns, out_values):
    """Fill the entries by column; `ends` are where the next entry of each column goes."""
    for row in range(len(offsets) - 1):
        for i in range(offsets[row], offsets[row + 1]):
            at = ends[columns[i]]
            out_columns[at] = row
            out_values[at] = values[i]
            ends[columns[i]] = at + 1
