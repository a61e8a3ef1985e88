"""Sums by code: all that a split needs to know about the rows of a node.

A histogram is float64[columns, 256, channels]. The channels of constant leaves are the number of parts and the sum of
their targets y; leaves that are linear in a feature x have three more, the sums of x, x² and x·y. For all rows
together, those without y never change from tree to tree, so a new tree costs one pass that sums the others ("moving"),
for all features that leaves may be linear in at once.

What a list of rows has of an indicator is one row of sums instead of 256: float64[indicators, channels].

Rows are added in their order, column by column, so the sums do not depend on who computes which columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from camber.arrays.types import F8, I4, I8
from camber.bend.trees.rows import Rows
from camber.engine import Engine
from camber.kernel import kernel

CODES = 256
#: channels of the histogram of a node: parts, Σ y; and with linear leaves Σ x, Σ x², Σ x y
PARTS, Y, X, XX, XY = range(5)
CONSTANT, LINEAR = 2, 5
#: columns that one task sums: enough for four at a time
PIECE = 8
_BLOCK = 2048  # rows at a time: their targets stay in the cache while the columns go by


class Histogram(NamedTuple):
    """The sums of one node."""

    columns: F8  # [columns, 256, channels]
    lists: F8  # [indicators, channels]: of rows that have the indicator
    total: F8  # [channels]

    def minus(self, child: Histogram) -> Histogram:
        """Return the sums of the rows that are not the child's."""
        return Histogram(self.columns - child.columns, self.lists - child.lists, self.total - child.total)


def moving_sums(rows: Rows, y: F8, engine: Engine) -> Histogram:
    """Return Σ y and, for each of the slopes, Σ x y over all rows."""
    return _summed(_moving, rows, (rows, y), 1 + len(rows.slopes), engine)


def fixed_sums(rows: Rows, engine: Engine) -> Histogram:
    """Return the number of parts and, for each of the slopes, Σ x and Σ x² over all rows."""
    return _summed(_fixed, rows, (rows,), 1 + 2 * len(rows.slopes), engine)


def sums_of(rows: Rows, y: F8, slope: int, chosen: I4, engine: Engine) -> Histogram:
    """Return the sums of some rows int32[n], rising; `slope` is a place in slopes, or -1."""
    x = rows.slope_values[slope] if slope >= 0 else rows.counts[:0]
    return _summed(_chosen, rows, (rows, y, x, chosen), CONSTANT if slope < 0 else LINEAR, engine)


def _summed(task: Any, rows: Rows, shared: tuple[Any, ...], width: int, engine: Engine) -> Histogram:
    """Sum columns and lists in pieces; the total comes from the first column, or from a list of everything."""
    pieces = list(_pieces(rows))
    columns = np.empty((len(rows.columns), CODES, width))
    lists = np.empty((len(rows.indicators), width))
    total = np.empty(width)
    for (kind, first, last), sums in zip(pieces, engine.map(task, (*shared, width), pieces), strict=True):
        if kind == 0:
            columns[first:last] = sums
        elif kind == 1:
            lists[first:last] = sums
        else:
            total = sums[0]
    return Histogram(columns, lists, columns[0].sum(0) if len(columns) else total)


def _pieces(rows: Rows) -> Iterator[tuple[int, int, int]]:
    """Yield (0: columns, 1: lists, 2: the list of all rows; first, last)."""
    count = len(rows.columns)
    for first in range(0, count, PIECE):
        yield 0, first, min(first + PIECE, count)
    if len(rows.indicators):
        yield 1, 0, len(rows.indicators)
    if not count:
        yield 2, 0, 1


def _listed(rows: Rows, kind: int) -> tuple[I8, I4]:
    """Return the offsets and rows of the lists, or of one list with every row."""
    if kind == 1:
        return rows.offsets, rows.lists
    return np.array([0, len(rows)], np.int64), np.arange(len(rows), dtype=np.int32)


def _moving(shared: tuple[Rows, F8, int], piece: tuple[int, int, int]) -> F8:
    rows, y, width = shared
    kind, first, last = piece
    if kind:
        sums = np.zeros((last - first, width))
        _add_moving_lists(*_listed(rows, kind), y, rows.slope_values, sums)
        return sums
    sums = np.zeros((last - first, CODES, width))
    if width == 1:
        _add_targets(rows.codes[first:last], y, sums.reshape(last - first, CODES))
    else:
        _add_moving(rows.codes[first:last], y, rows.slope_values, np.empty((_BLOCK, width)), sums)
    return sums


def _fixed(shared: tuple[Rows, int], piece: tuple[int, int, int]) -> F8:
    rows, width = shared
    kind, first, last = piece
    if kind:
        sums = np.zeros((last - first, width))
        _add_fixed_lists(*_listed(rows, kind), rows.counts, rows.slope_values, sums)
        return sums
    sums = np.zeros((last - first, CODES, width))
    _add_fixed(rows.codes[first:last], rows.counts, rows.slope_values, np.empty((_BLOCK, width)), sums)
    return sums


def _chosen(shared: tuple[Rows, F8, F8, I4, int], piece: tuple[int, int, int]) -> F8:
    rows, y, x, chosen, width = shared
    kind, first, last = piece
    if kind:
        # row by row, because a node has fewer rows than there are in all lists
        starts, turned = rows.by_row if kind == 1 else (np.arange(len(rows) + 1), np.zeros(len(rows), np.int32))
        sums = np.zeros((last - first, width))
        _add_chosen_lists(starts, turned, chosen, rows.counts, y, x, sums)
        return sums
    sums = np.zeros((last - first, CODES, width))
    room = np.empty((_BLOCK, width))
    if width == CONSTANT:
        _add_chosen(rows.codes[first:last], chosen, rows.counts, y, room, sums)
    else:
        _add_chosen_linear(rows.codes[first:last], chosen, rows.counts, y, x, room, sums)
    return sums


def root_histogram(fixed: Histogram, moving: Histogram, slope: int) -> Histogram:
    """Return the histogram of all rows; `slope` is a place in slopes, or -1."""
    places = [(fixed, 0), (moving, 0)]
    if slope >= 0:
        places += [(fixed, 1 + 2 * slope), (fixed, 2 + 2 * slope), (moving, 1 + slope)]
    return Histogram(
        np.stack([sums.columns[:, :, at] for sums, at in places], axis=2),
        np.stack([sums.lists[:, at] for sums, at in places], axis=1),
        np.array([sums.total[at] for sums, at in places]),
    )


@kernel
def _add_targets(codes, y, sums):
    """Add y float64[rows] to sums float64[columns, 256] by codes uint8[columns, rows]: most of the time of a tree."""
    columns, rows = codes.shape
    fours = columns // 4 * 4
    for first in range(0, rows, _BLOCK):
        last = min(first + _BLOCK, rows)
        # four columns at once: each target is loaded once, and no sum waits for the one before
        for column in range(0, fours, 4):
            a, b, c, d = codes[column], codes[column + 1], codes[column + 2], codes[column + 3]
            sa, sb, sc, sd = sums[column], sums[column + 1], sums[column + 2], sums[column + 3]
            for row in range(first, last):
                target = y[row]
                sa[a[row]] += target
                sb[b[row]] += target
                sc[c[row]] += target
                sd[d[row]] += target
        for column in range(fours, columns):
            a, sa = codes[column], sums[column]
            for row in range(first, last):
                sa[a[row]] += y[row]


@kernel
def _add_moving(codes, y, x, room, sums):
    rows = codes.shape[1]
    slopes = len(x)
    for first in range(0, rows, _BLOCK):
        size = min(_BLOCK, rows - first)
        for i in range(size):
            room[i, 0] = y[first + i]
        for slope in range(slopes):
            for i in range(size):
                room[i, 1 + slope] = x[slope, first + i] * y[first + i]
        _add_rows(codes, first, size, room, sums)


@kernel
def _add_fixed(codes, counts, x, room, sums):
    rows = codes.shape[1]
    slopes = len(x)
    for first in range(0, rows, _BLOCK):
        size = min(_BLOCK, rows - first)
        for i in range(size):
            room[i, 0] = counts[first + i]
        for slope in range(slopes):
            for i in range(size):
                value = x[slope, first + i]
                room[i, 1 + 2 * slope] = value * counts[first + i]
                room[i, 2 + 2 * slope] = value * counts[first + i] * value
        _add_rows(codes, first, size, room, sums)


@kernel
def _add_rows(codes, first, size, room, sums):
    for column in range(len(codes)):
        for i in range(size):
            into = sums[column, codes[column, first + i]]
            for channel in range(room.shape[1]):
                into[channel] += room[i, channel]


@kernel
def _add_chosen(codes, chosen, counts, y, room, sums):
    columns, rows = len(codes), len(chosen)
    pairs = columns // 2 * 2
    for first in range(0, rows, _BLOCK):
        size = min(_BLOCK, rows - first)
        for i in range(size):
            room[i, 0] = counts[chosen[first + i]]
            room[i, 1] = y[chosen[first + i]]
        for column in range(0, pairs, 2):
            a, b = codes[column], codes[column + 1]
            sa, sb = sums[column], sums[column + 1]
            for i in range(size):
                row = np.uint32(chosen[first + i])
                at, bt = a[row], b[row]
                n, target = room[i, 0], room[i, 1]
                sa[at, 0] += n
                sa[at, 1] += target
                sb[bt, 0] += n
                sb[bt, 1] += target
        for column in range(pairs, columns):
            a, sa = codes[column], sums[column]
            for i in range(size):
                at = a[np.uint32(chosen[first + i])]
                sa[at, 0] += room[i, 0]
                sa[at, 1] += room[i, 1]


@kernel
def _add_chosen_linear(codes, chosen, counts, y, x, room, sums):
    for first in range(0, len(chosen), _BLOCK):
        size = min(_BLOCK, len(chosen) - first)
        for i in range(size):
            row = chosen[first + i]
            room[i, 0] = counts[row]
            room[i, 1] = y[row]
            room[i, 2] = counts[row] * x[row]
            room[i, 3] = counts[row] * x[row] * x[row]
            room[i, 4] = x[row] * y[row]
        for column in range(len(codes)):
            a, sa = codes[column], sums[column]
            for i in range(size):
                at = a[np.uint32(chosen[first + i])]
                sa[at, 0] += room[i, 0]
                sa[at, 1] += room[i, 1]
                sa[at, 2] += room[i, 2]
                sa[at, 3] += room[i, 3]
                sa[at, 4] += room[i, 4]


@kernel
def _add_moving_lists(offsets, lists, y, x, sums):
    for place in range(len(sums)):
        for item in range(offsets[place], offsets[place + 1]):
            row = lists[item]
            sums[place, 0] += y[row]
            for slope in range(len(x)):
                sums[place, 1 + slope] += x[slope, row] * y[row]


@kernel
def _add_fixed_lists(offsets, lists, counts, x, sums):
    for place in range(len(sums)):
        for item in range(offsets[place], offsets[place + 1]):
            row = lists[item]
            sums[place, 0] += counts[row]
            for slope in range(len(x)):
                sums[place, 1 + 2 * slope] += x[slope, row] * counts[row]
                sums[place, 2 + 2 * slope] += x[slope, row] * counts[row] * x[slope, row]


@kernel
def _add_chosen_lists(starts, turned, chosen, counts, y, x, sums):
    linear = sums.shape[1] == LINEAR
    for i in range(len(chosen)):
        row = chosen[i]
        for at in range(starts[row], starts[row + 1]):
            place = turned[at]
            sums[place, PARTS] += counts[row]
            sums[place, Y] += y[row]
            if linear:
                sums[place, X] += counts[row] * x[row]
                sums[place, XX] += counts[row] * x[row] * x[row]
                sums[place, XY] += x[row] * y[row]
