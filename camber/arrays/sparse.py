"""Bent features of hypotheses: many, of which each hypothesis has a few. A sparse matrix in rows.

A feature with thousands of bins becomes thousands of features, and a hypothesis of ten parts fires ten of them. Rows
hold (column, value) pairs, sorted by column; a value is how often the bin was hit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from camber.arrays.ragged import offsets_from, owners_of, places_of
from camber.arrays.types import F4, F8, I4, I8
from camber.kernel import kernel
from camber.kernel.sort import sort_rising
from camber.kernel.table import mix


@dataclass(frozen=True)
class Counts:
    """Rows of a sparse matrix; those of row `r` are ``columns[offsets[r]:offsets[r + 1]]`` and as many `values`.

    >>> table = Counts.of_dense([[0, 2], [1, 1]])
    >>> table.products([10.0, 1.0]).tolist()
    [2.0, 11.0]
    """

    width: int
    offsets: I8  # [rows + 1]
    columns: I4
    values: F4

    @classmethod
    def of_dense(cls, table: npt.ArrayLike) -> Counts:
        """Make the sparse form of a matrix."""
        dense = np.asarray(table, np.float64)
        rows, columns = np.nonzero(dense)
        offsets = offsets_from(np.bincount(rows, minlength=len(dense)))
        return cls(dense.shape[1], offsets, columns.astype(np.int32), dense[rows, columns].astype(np.float32))

    @classmethod
    def empty(cls, width: int) -> Counts:
        """Make a matrix without rows."""
        return cls(width, np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32))

    @classmethod
    def gather(cls, keys: I8, row_offsets: I8, width: int) -> Counts:
        """Count the columns that are named: those of row `r` are ``keys[row_offsets[r]:row_offsets[r + 1]]``, -1: none.

        >>> Counts.gather(np.array([1, 1, -1, 0]), np.array([0, 3, 4]), 2).dense().tolist()
        [[0.0, 2.0], [1.0, 0.0]]
        """
        offsets = np.zeros(len(row_offsets), np.int64)
        columns, values = np.empty(len(keys), np.int32), np.empty(len(keys), np.float32)
        _gather(np.ascontiguousarray(keys, np.int64).copy(), row_offsets, offsets, columns, values)
        total = int(offsets[-1])
        return cls(width, offsets, columns[:total].copy(), values[:total].copy())

    @classmethod
    def join(cls, tables: Sequence[Counts], width: int) -> Counts:
        """Put rows behind each other."""
        tables = [cls.empty(width), *tables]
        starts = offsets_from(int(table.offsets[-1]) for table in tables)
        return cls(
            width,
            np.concatenate([[0], *(table.offsets[1:] + start for table, start in zip(tables, starts, strict=False))]),
            np.concatenate([table.columns for table in tables]),
            np.concatenate([table.values for table in tables]),
        )

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.offsets) - 1

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return self.offsets.nbytes + self.columns.nbytes + self.values.nbytes

    def take(self, rows: I8) -> Counts:
        """Return some rows, in the order asked for."""
        sizes = self.offsets[rows + 1] - self.offsets[rows]
        at = places_of(self.offsets[rows], sizes)
        return Counts(self.width, offsets_from(sizes), self.columns[at], self.values[at])

    def dense(self) -> F8:
        """Return the matrix, float64[rows, width]."""
        table = np.zeros((len(self), self.width))
        table[owners_of(self.offsets), self.columns] = self.values
        return table

    def products(self, weights: npt.ArrayLike) -> F8:
        """Return matrix · weights, float64[rows]."""
        scores = np.zeros(len(self))
        self.add_products(np.asarray(weights, np.float64), scores)
        return scores

    def add_products(self, weights: F8, scores: F8) -> None:
        """Add matrix · weights to `scores` in place: float64[width], [rows]."""
        _add_products(self.offsets, self.columns, self.values, np.ascontiguousarray(weights, np.float64), scores)

    def project(self, slopes: F8) -> F8:
        """Return transposed matrix · slopes: float64[rows] → [width]."""
        sums = np.zeros(self.width)
        _project(self.offsets, self.columns, self.values, np.ascontiguousarray(slopes, np.float64), sums)
        return sums

    def differences(self, left: I8, right: I8) -> Counts:
        """Return rows `left` minus rows `right`, without what cancels."""
        room = int((self.offsets[left + 1] - self.offsets[left] + self.offsets[right + 1] - self.offsets[right]).sum())
        offsets = np.zeros(len(left) + 1, np.int64)
        columns, values = np.empty(room, np.int32), np.empty(room, np.float32)
        _subtract(self.offsets, self.columns, self.values, left, right, offsets, columns, values)
        total = int(offsets[-1])
        return Counts(self.width, offsets, columns[:total].copy(), values[:total].copy())

    def spreads(self, group_offsets: I8) -> F8:
        """Return the standard deviation of every column around the mean of its group of rows, float64[width].

        The values must not be negative.
        """
        squares, sums, touched = np.zeros(self.width), np.zeros(self.width), np.empty(self.width, np.int64)
        _spread(self.offsets, self.columns, self.values, group_offsets, squares, sums, touched)
        return np.sqrt(np.maximum(squares, 0.0) / max(1, len(self)))

    def fingerprints(self) -> F8:
        """Return two numbers for every row that equal rows share and others hardly ever: float64[rows, 2]."""
        marks = np.empty((len(self), 2), np.int64)
        _fingerprint(self.offsets, self.columns, self.values, marks)
        return marks.astype(np.float64)


@kernel
def _gather(keys, row_offsets, offsets, columns, values):
    at = 0
    for r in range(len(row_offsets) - 1):
        first, last = row_offsets[r], row_offsets[r + 1]
        sort_rising(keys, first, last)  # rows are short: a few keys for each part
        before = np.int64(-1)
        for i in range(first, last):
            if keys[i] < 0:
                continue
            if keys[i] == before:
                values[at - 1] += np.float32(1.0)
            else:
                before = keys[i]
                columns[at] = before
                values[at] = np.float32(1.0)
                at += 1
        offsets[r + 1] = at


@kernel
def _add_products(offsets, columns, values, weights, scores):
    for r in range(len(scores)):
        total = 0.0
        for i in range(offsets[r], offsets[r + 1]):
            total += values[i] * weights[columns[i]]
        scores[r] += total


@kernel
def _project(offsets, columns, values, slopes, sums):
    for r in range(len(slopes)):
        slope = slopes[r]
        if slope != 0.0:
            for i in range(offsets[r], offsets[r + 1]):
                sums[columns[i]] += slope * values[i]


@kernel
def _subtract(offsets, columns, values, left, right, out_offsets, out_columns, out_values):
    at = 0
    for p in range(len(left)):
        i, i_end = offsets[left[p]], offsets[left[p] + 1]
        j, j_end = offsets[right[p]], offsets[right[p] + 1]
        while i < i_end or j < j_end:
            if j >= j_end or (i < i_end and columns[i] < columns[j]):
                column, value = columns[i], values[i]
                i += 1
            elif i >= i_end or columns[j] < columns[i]:
                column, value = columns[j], -values[j]
                j += 1
            else:
                column, value = columns[i], values[i] - values[j]
                i += 1
                j += 1
            if value != 0.0:
                out_columns[at] = column
                out_values[at] = value
                at += 1
        out_offsets[p + 1] = at


@kernel
def _spread(offsets, columns, values, group_offsets, squares, sums, touched):
    """Σ x² - (Σ x)² / n of every group; `sums` is left as it came, all 0."""
    for g in range(len(group_offsets) - 1):
        size = group_offsets[g + 1] - group_offsets[g]
        count = 0
        for i in range(offsets[group_offsets[g]], offsets[group_offsets[g + 1]]):
            column, value = columns[i], np.float64(values[i])
            if sums[column] == 0.0:
                touched[count] = column
                count += 1
            sums[column] += value
            squares[column] += value * value
        for t in range(count):
            column = touched[t]
            squares[column] -= sums[column] * sums[column] / size
            sums[column] = 0.0


@kernel
def _fingerprint(offsets, columns, values, marks):
    for r in range(len(marks)):
        first, second = np.int64(1), np.int64(2)
        for i in range(offsets[r], offsets[r + 1]):
            key = np.int64(columns[i]) * 4194304 + np.int64(values[i] * 1024.0)
            first = mix(first ^ key)
            second = mix((second >> 1) ^ (key << 7))
        # 52 bits: exact as a float64
        marks[r, 0] = first & np.int64(0xFFFFFFFFFFFFF)
        marks[r, 1] = second & np.int64(0xFFFFFFFFFFFFF)
