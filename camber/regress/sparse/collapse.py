"""Columns that point the same way are one column: exactly, and several times fewer.

    sources = collapse_sources(problem.source)
    targets = distinct_columns(problem.target)      # equal target columns have the same regression

N-grams that stand in the same instances as often have equal columns, and with a penalty on absolute weights any split
of a weight among them costs the same. **The rule for ties: equal columns share their weight equally** (of all
solutions, the one whose squares are least). Of columns that are multiples of one another the largest has all weight,
since it needs the least for the same effect; so the singletons among words have none where a bigram beside them is
a singleton, too, of value √2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from camber.arrays.distinct import number_pieces
from camber.arrays.ragged import offsets_from, owners_of, places_of
from camber.arrays.sparse import Counts
from camber.arrays.types import F4, F8, I4, I8, Array
from camber.regress.spectrum import transposed


class Columns(NamedTuple):
    """A sparse matrix by its columns, as kernels take it."""

    offsets: Array  # int64[columns + 1]
    rows: Array  # int32
    values: Array  # float64


@dataclass(frozen=True, eq=False)
class CollapsedSources:
    """The distinct directions of the source columns, in the order of their first n-gram with the largest values."""

    height: int  # instances
    columns: Columns  # [instances, directions]
    direction: I4  # [source n-grams]: -1 where the weight is 0: columns that are empty, or smaller than another
    shares: F8  # [directions]: what each n-gram of a direction has of its weight

    def __len__(self) -> int:
        """Return the number of directions."""
        return len(self.shares)

    def vector(self, values: F8) -> F8:
        """Turn a vector over n-grams into one over directions, so that products with W stay the same."""
        used = self.direction >= 0
        summed = np.bincount(self.direction[used], weights=values[used], minlength=len(self))
        return np.asarray(summed * self.shares)


@dataclass(frozen=True, eq=False)
class DistinctColumns:
    """The distinct columns of a side, in the order of their first n-gram."""

    columns: Columns  # [instances, distinct columns]
    number: I4  # [n-grams]
    often: I8  # [distinct columns]: n-grams that have it

    def __len__(self) -> int:
        """Return the number of distinct columns."""
        return len(self.often)


def collapse_sources(rows: Counts) -> CollapsedSources:
    """Collapse source columns that are multiples of one another.

    >>> sources = collapse_sources(Counts.of_dense([[1, 2, 0, 2, 0], [0, 0, 1, 0, 0]]))
    >>> sources.direction.tolist(), sources.shares.tolist()
    ([-1, 0, 1, 0, -1], [0.5, 1.0])
    """
    table = transposed(rows)
    counts = np.diff(table.offsets)
    first = np.zeros(len(table), np.float32)
    filled = counts > 0
    first[filled] = table.values[table.offsets[:-1][filled]]
    ratios = np.divide(
        table.values, np.repeat(first, counts), dtype=np.float32
    )  # columns of one direction have the same
    alike = number_pieces(_keys(table.columns, ratios), table.offsets)
    largest = np.zeros(len(table), np.float32)
    size = np.abs(first)
    np.maximum.at(largest, alike, size)
    kept = filled & (size == largest[alike])
    # what is kept of a direction may still be a column and its negative: a sign tells them apart
    names, leaders, numbers, often = np.unique(
        2 * alike[kept].astype(np.int64) + (first[kept] < 0), return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(leaders, kind="stable")
    place = np.empty(len(names), np.int32)
    place[order] = np.arange(len(names))
    direction = np.full(len(table), -1, np.int32)
    direction[kept] = place[numbers]
    columns = _taken(table, np.flatnonzero(kept)[leaders[order]])
    return CollapsedSources(len(rows), columns, direction, 1.0 / often[order])


def distinct_columns(rows: Counts) -> DistinctColumns:
    """Collapse equal columns: of targets, because they have the same regression.

    >>> distinct_columns(Counts.of_dense([[1, 2, 1], [0, 0, 0]])).number.tolist()
    [0, 1, 0]
    """
    table = transposed(rows)
    number = number_pieces(_keys(table.columns, table.values), table.offsets)
    _, leaders, often = np.unique(number, return_index=True, return_counts=True)
    return DistinctColumns(_taken(table, leaders), number, often)


def by_rows(columns: Columns, height: int) -> Columns:
    """Return the same matrix by its rows, whose columns rise.

    >>> rows = by_rows(Columns(np.array([0, 1, 3]), np.array([1, 0, 1], np.int32), np.array([5.0, 6.0, 7.0])), 2)
    >>> rows.offsets.tolist(), rows.rows.tolist(), rows.values.tolist()
    ([0, 1, 3], [1, 0, 1], [6.0, 5.0, 7.0])
    """
    owners = owners_of(columns.offsets).astype(np.int32)
    order = np.argsort(columns.rows, kind="stable")
    return Columns(offsets_from(np.bincount(columns.rows, minlength=height)), owners[order], columns.values[order])


def squares_of(columns: Columns) -> F8:
    """Return the squared length of every column."""
    size = len(columns.offsets) - 1
    return np.asarray(np.bincount(owners_of(columns.offsets), weights=columns.values**2, minlength=size), np.float64)


def _keys(rows: I4, values: F4) -> I8:
    """Put a row and the bits of its value into one number."""
    bits = np.ascontiguousarray(values, np.float32).view(np.int32).astype(np.int64)
    return (rows.astype(np.int64) << 32) ^ (bits & 0xFFFFFFFF)


def _taken(table: Counts, chosen: I8) -> Columns:
    """Take some columns of a matrix that is given by its columns."""
    sizes = table.offsets[chosen + 1] - table.offsets[chosen]
    at = places_of(table.offsets[chosen], sizes)
    return Columns(offsets_from(sizes), table.columns[at], table.values[at].astype(np.float64))
