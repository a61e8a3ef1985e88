"""Rows of n-gram counts, made fewer: equal sentences are one row, and n-grams of the same sentences one column.

    collapsed = Collapsed.of(rows)
    collapsed.row_of[sentence], collapsed.sizes, collapsed.squares

For products with K = R Rᵀ this loses nothing. Columns with the same counts in the same rows add up their squared
scales, and a column of one row only adds to the diagonal. Sentences that are equal have equal rows of K, so that their
multipliers differ only by what their right-hand sides do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from camber.arrays.distinct import number_pieces
from camber.arrays.ragged import offsets_from
from camber.arrays.sparse import Counts
from camber.arrays.types import F8, I4, I8
from camber.errors import CamberError
from camber.kernel import kernel
from camber.regress.spectrum import transposed

_SHIFT = 20  # counts are below 2 ** 20
#: how near to a whole number a count is, relatively, in single precision; and into how many parts values are divided
_NEAR, _MOST_PARTS = 1e-6, 400


class Collapsed(NamedTuple):
    """Distinct rows by their distinct columns, the most frequent ones first; values are a column's scale times counts.

    The rows of column c are ``rows[offsets[c]:offsets[c + 1]]``, rising, with as many `counts`.
    """

    row_of: I4  # [sentences]: the distinct row of each
    sizes: F8  # [rows]: how many sentences are equal
    alone: F8  # [rows]: the sum of squared values of columns that no other row has
    squares: F8  # [columns]: the squared scale
    offsets: I8
    rows: I4
    counts: I4

    @classmethod
    def of(cls, vectors: Counts) -> Collapsed:
        """Collapse rows whose values are counts times a number that their column has, as those of n-grams are."""
        scales, parts = np.full(vectors.width, np.inf), np.ones(vectors.width, np.int32)
        _smallest(vectors.columns, vectors.values, scales)
        counts = np.empty(len(vectors.columns), np.int32)
        if not _count(vectors.columns, vectors.values, scales, parts, counts):
            raise CamberError("vectors that are not counts times one number per column; expected those of n-grams")
        row_of = number_pieces(_keys(vectors.columns, counts), vectors.offsets)
        first = _firsts(row_of)
        held = Counts(vectors.width, vectors.offsets, vectors.columns, counts.astype(np.float32)).take(first)
        across = transposed(held)
        often = np.diff(across.offsets)
        squared = scales**2
        single = np.flatnonzero(often == 1)
        place = across.offsets[single]
        alone = _summed(
            across.columns[place], across.values[place].astype(np.float64) ** 2 * squared[single], len(first)
        )
        shared = np.flatnonzero(often > 1)
        some = across.take(shared)
        column_of = number_pieces(_keys(some.columns, some.values.astype(np.int32)), some.offsets)
        own = _firsts(column_of)
        squares = _summed(column_of, squared[shared], len(own))
        order = np.argsort(-np.diff(some.offsets)[own], kind="stable")
        kept = some.take(own[order])
        return cls(
            row_of,
            np.bincount(row_of, minlength=len(first)).astype(np.float64),
            alone,
            squares[order],
            kept.offsets,
            kept.columns,
            kept.values.astype(np.int32),
        )

    def by_rows(self, first: int, last: int, order: I8) -> tuple[I8, I4]:
        """Return the columns first … last - 1 of all rows in an order, numbered from 0: offsets, and columns.

        One that counts twice is there twice.
        """
        begin, end = self.offsets[first], self.offsets[last]
        rows, counts = self.rows[begin:end], self.counts[begin:end]
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        offsets = offsets_from(np.bincount(place[rows], counts, len(order)).astype(np.int64))
        columns = np.empty(int(offsets[-1]), np.int32)
        _by_rows(self.offsets[first : last + 1] - begin, rows, counts, place, offsets[:-1].copy(), columns)
        return offsets, columns

    def entries(self, first: int, last: int) -> I8:
        """Return how many of the columns first … last - 1 every row has, each as often as it counts."""
        begin, end = self.offsets[first], self.offsets[last]
        return np.bincount(self.rows[begin:end], self.counts[begin:end], len(self.sizes)).astype(np.int64)

    def squared(self, first: int, last: int) -> F8:
        """Return the sum of squared values that every row has in the columns first … last - 1."""
        begin, end = self.offsets[first], self.offsets[last]
        each = np.repeat(self.squares[first:last], np.diff(self.offsets[first : last + 1]))
        return _summed(self.rows[begin:end], each * self.counts[begin:end].astype(np.float64) ** 2, len(self.sizes))


def _summed(numbers: I4, weights: F8, count: int) -> F8:
    return np.bincount(numbers, weights, count).astype(np.float64)


def _keys(numbers: I4, counts: I4) -> I8:
    return (numbers.astype(np.int64) << _SHIFT) + counts


def _firsts(numbers: I4) -> I8:
    """Return where each number first stands; they are in the order of their first occurrences."""
    firsts = np.zeros(int(numbers.max(initial=-1)) + 1, np.int64)
    firsts[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)
    return firsts


@kernel
def _smallest(columns, values, scales):
    """Find the smallest value of every column."""
    for i in range(len(columns)):
        c = columns[i]
        if values[i] < scales[c]:
            scales[c] = values[i]


@kernel
def _count(columns, values, scales, parts, counts):
    """Divide the scales so that all values are multiples, and fill these; 0: values that are no counts.

    The smallest count of a column may be 2, and another one 3; then the scale is half of the smallest value.
    """
    for i in range(len(columns)):
        c = columns[i]
        if not scales[c] > 0.0:
            return 0
        ratio, part = values[i] / scales[c], parts[c]
        more = part
        while abs(ratio * more - np.rint(ratio * more)) > _NEAR * ratio * more:
            more += part
            if more > _MOST_PARTS:
                return 0
        parts[c] = more
    for c in range(len(scales)):
        scales[c] /= parts[c]
    for i in range(len(columns)):
        count = np.rint(values[i] / scales[columns[i]])
        if not count < 1 << _SHIFT:
            return 0
        counts[i] = np.int32(count)
    return 1


@kernel
def _by_rows(offsets, rows, counts, place, ends, columns):
    """Write the columns of all rows, one after the other, so that those of a row rise."""
    for c in range(len(offsets) - 1):
        for i in range(offsets[c], offsets[c + 1]):
            row = place[rows[i]]
            for _ in range(counts[i]):
                columns[ends[row]] = c
                ends[row] += 1
