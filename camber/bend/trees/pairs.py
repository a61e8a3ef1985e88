"""Splits and leaves in the space of pairs of hypotheses.

All parts of a hypothesis share one gradient, so that least squares over parts fits each part to what its neighbours
did. What a leaf really changes is the margin of each pair, by the difference d of how many parts the better and the
worse hypothesis have in it. To second order a leaf with value v changes the logistic loss by -v g·d + v²/2 dᵀHd, with g
the negative slopes and H the (diagonal) curvature of the loss in the margins; at best that is

    (g·d)² / dᵀHd,

up to a factor of 2. A split is worth what the better one of its two sides is worth. Of a pair only those rows matter
in which its hypotheses differ. For one column, d changes at the codes of these rows alone, so a walk over them gives
dᵀHd for all edges.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.types import F4, F8, I4, I8, U1
from camber.bend.trees.binning import ABSENT
from camber.bend.trees.histogram import CODES, PARTS, Histogram, Y
from camber.bend.trees.rows import Rows
from camber.bend.trees.splitting import Split, feature_order
from camber.engine import Engine
from camber.kernel import kernel
from camber.kernel.sort import sort_rising


@dataclass(frozen=True, eq=False)
class Differences:
    """In which rows the two hypotheses of each pair differ: ``rows[offsets[k]:offsets[k + 1]]``, and by how many parts.

    >>> parts = Differences.of(np.array([[0, 1]]), np.array([0, 2, 4]), np.array([7, 3, 7, 4], np.int32))
    >>> parts.rows.tolist(), parts.counts.tolist()
    ([3, 4], [1.0, -1.0])
    """

    offsets: I8  # [pairs + 1]
    rows: I4
    counts: F4  # parts of the better one minus those of the worse one

    @classmethod
    def of(cls, pairs: I8, part_offsets: I8, numbers: I4) -> Differences:
        """Compare hypotheses int64[pairs, 2] (better, worse) whose parts are rows int32[parts]."""
        sizes = np.diff(part_offsets)
        room = offsets_from((sizes[pairs[:, 0]] + sizes[pairs[:, 1]]).astype(np.int64))
        rows, counts = np.empty(int(room[-1]), np.int32), np.empty(int(room[-1]), np.float32)
        offsets = np.zeros(len(pairs) + 1, np.int64)
        longest = int(sizes.max(initial=0)) * 2
        _compare(
            np.ascontiguousarray(pairs, np.int64),
            part_offsets,
            numbers,
            np.empty(longest, np.int64),
            offsets,
            rows,
            counts,
        )
        total = int(offsets[-1])
        return cls(offsets, rows[:total].copy(), counts[:total].copy())

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.offsets) - 1

    def products(self, values: F8) -> F8:
        """Return by how much the sums of values float64[rows] of the two hypotheses differ, float64[pairs]."""
        sums = np.empty(len(self))
        _products(self.offsets, self.rows, self.counts, np.ascontiguousarray(values, np.float64), sums)
        return sums

    def project(self, slopes: F8, rows: int) -> F8:
        """Return the sums over pairs of slope times difference, float64[rows]: derivatives in the values of rows."""
        sums = np.zeros(rows)
        _project(self.offsets, self.rows, self.counts, np.ascontiguousarray(slopes, np.float64), sums)
        return sums


@dataclass(frozen=True, eq=False)
class Pairs:
    """What a tree is to improve: pairs of hypotheses, with the curvature of the loss in their margins.

    The slopes come with the targets: that of a row is the sum over pairs of slope times difference.
    """

    differences: Differences
    curvatures: F8  # [pairs]
    ridge: float = 1.0  # added to dᵀHd, as an L2 penalty on the value of a leaf


class PairSplitter:
    """Finds splits of nodes, and values of leaves, for one set of pairs."""

    def __init__(self, rows: Rows, pairs: Pairs, engine: Engine) -> None:
        self.rows, self.pairs, self.engine = rows, pairs, engine
        self._longest = int(np.diff(pairs.differences.offsets).max(initial=0))

    def best_split(self, histogram: Histogram, node_of: U1, node: int, least: float) -> Split | None:
        """Return the split of a node (rows with ``node_of[row] == node``) that gains most; None: there is none."""
        rows = self.rows
        pieces = list(_pieces(rows))
        curves = np.empty((len(rows.columns), CODES, 3))
        lists = np.empty((len(rows.indicators), 2))
        shared = (rows, self.pairs, node_of, node, self._longest)
        for (kind, first, last), sums in zip(pieces, self.engine.map(_curvatures, shared, pieces), strict=True):
            if kind == 0:
                curves[first:last] = sums
            else:
                lists[:] = sums
        totals = np.zeros(1)
        _node_curvature(*self._arrays, node_of, node, totals)
        place, sides = np.empty(4), np.empty((2, 2))
        bins = np.array([len(rows.edges[feature]) + 1 for feature in rows.columns.tolist()], np.int64)
        _best_pair_split(
            histogram.columns, histogram.lists, histogram.total, curves, lists, float(totals[0]), feature_order(rows),
            bins, float(max(least, 1.0)), self.pairs.ridge, place, sides,
        )  # fmt: skip
        gain, at, edge, absent_left = place.tolist()
        if not gain > 0.0:
            return None
        number, dense = int(at), len(rows.columns)
        feature = int(rows.columns[number] if number < dense else rows.indicators[number - dense])
        return Split(gain, feature, int(edge), bool(absent_left), sides[0].copy(), sides[1].copy())

    @property
    def _arrays(self) -> tuple[I8, I4, F4, F8]:
        differences = self.pairs.differences
        return differences.offsets, differences.rows, differences.counts, self.pairs.curvatures

    def leaf_values(self, leaf_of_rows: U1, leaves: int, y: F8) -> F8:
        """Return the values of leaves by one step of Newton's method, float64[leaves]: (H + ridge) v = g."""
        hessian = np.zeros((leaves, leaves))
        _leaf_curvatures(*self._arrays, leaf_of_rows, np.empty(leaves), hessian)
        slopes = np.bincount(leaf_of_rows, y, leaves)
        ridge = max(self.pairs.ridge, 1e-9 * float(np.trace(hessian)), 1e-300)
        return np.asarray(np.linalg.solve(hessian + ridge * np.eye(leaves), slopes))


def _pieces(rows: Rows) -> Iterator[tuple[int, int, int]]:
    """Yield (0: columns, 1: lists; first, last)."""
    for column in range(len(rows.columns)):
        yield 0, column, column + 1
    if len(rows.indicators):
        yield 1, 0, len(rows.indicators)


def _curvatures(shared: tuple[Rows, Pairs, U1, int, int], piece: tuple[int, int, int]) -> F8:
    rows, pairs, node_of, node, longest = shared
    kind, first, last = piece
    differences = pairs.differences
    arrays = (differences.offsets, differences.rows, differences.counts, pairs.curvatures)
    if kind == 0:
        curves = np.zeros((last - first, CODES, 3))
        room = np.empty(longest, np.int64)
        for column in range(first, last):
            _column_curvatures(*arrays, rows.codes[column], node_of, node, room, curves[column - first])
        return curves
    sums = np.zeros((last - first, 2))
    starts, indicators = rows.by_row
    hits, stamps, touched = np.zeros(last), np.full(last, -1, np.int64), np.empty(last, np.int64)
    _list_curvatures(*arrays, starts, indicators, node_of, node, hits, stamps, touched, sums)
    return sums


@kernel
def _products(offsets, rows, counts, values, sums):
    for pair in range(len(sums)):
        total = 0.0
        for item in range(offsets[pair], offsets[pair + 1]):
            total += counts[item] * values[rows[item]]
        sums[pair] = total


@kernel
def _project(offsets, rows, counts, slopes, sums):
    for pair in range(len(slopes)):
        for item in range(offsets[pair], offsets[pair + 1]):
            sums[rows[item]] += counts[item] * slopes[pair]


@kernel
def _compare(pairs, part_offsets, numbers, room, offsets, rows, counts):
    filled = 0
    for pair in range(len(pairs)):
        size = 0
        for side in range(2):
            hypothesis = pairs[pair, side]
            for part in range(part_offsets[hypothesis], part_offsets[hypothesis + 1]):
                room[size] = np.int64(numbers[part]) << 1 | side
                size += 1
        sort_rising(room, 0, size)
        at = 0
        while at < size:
            row = room[at] >> 1
            net = 0
            while at < size and room[at] >> 1 == row:
                net += 1 - 2 * (room[at] & 1)
                at += 1
            if net != 0:
                rows[filled] = row
                counts[filled] = net
                filled += 1
        offsets[pair + 1] = filled


@kernel
def _column_curvatures(offsets, rows, counts, curvatures, codes, node_of, node, room, curves):
    """Fill curves float64[256, 3]: at each code, what dᵀHd, dᵀHD and aᵀHd are for the parts up to it.

    D is the difference of all parts of the node, a that of those where the value is absent (which d never holds); at
    the code of what is absent stand aᵀHa, aᵀHD and 0.
    """
    for pair in range(len(curvatures)):
        size = 0
        whole = np.int64(0)
        lacking = np.int64(0)
        for item in range(offsets[pair], offsets[pair + 1]):
            row = rows[item]
            if node_of[row] == node:
                net = np.int64(counts[item])
                whole += net
                if codes[row] == ABSENT:
                    lacking += net
                else:
                    room[size] = (np.int64(codes[row]) << 32) + net  # the code above, the signed count below
                    size += 1
        sort_rising(room, 0, size)
        curvature = curvatures[pair]
        d = np.int64(0)
        for at in range(size):
            code = (room[at] + 0x80000000) >> 32
            net = room[at] - (code << 32)
            curves[code, 0] += curvature * np.float64((d + net) * (d + net) - d * d)
            curves[code, 1] += curvature * np.float64(whole * net)
            curves[code, 2] += curvature * np.float64(lacking * net)
            d += net
        curves[ABSENT, 0] += curvature * np.float64(lacking * lacking)
        curves[ABSENT, 1] += curvature * np.float64(lacking * whole)
    for code in range(1, ABSENT):
        for channel in range(3):
            curves[code, channel] += curves[code - 1, channel]


@kernel
def _list_curvatures(offsets, rows, counts, curvatures, starts, indicators, node_of, node, hits, stamps, touched, sums):
    """Fill sums float64[indicators, 2] with dᵀHd and dᵀHD of the parts that have an indicator."""
    for pair in range(len(curvatures)):
        many = 0
        whole = 0.0
        for item in range(offsets[pair], offsets[pair + 1]):
            row = rows[item]
            if node_of[row] != node:
                continue
            net = np.float64(counts[item])
            whole += net
            for at in range(starts[row], starts[row + 1]):
                place = indicators[at]
                if stamps[place] != pair:
                    stamps[place] = pair
                    hits[place] = 0.0
                    touched[many] = place
                    many += 1
                hits[place] += net
        for at in range(many):
            place = touched[at]
            sums[place, 0] += curvatures[pair] * hits[place] * hits[place]
            sums[place, 1] += curvatures[pair] * hits[place] * whole


@kernel
def _node_curvature(offsets, rows, counts, curvatures, node_of, node, totals):
    """Add DᵀHD of the parts of a node to totals float64[1]."""
    for pair in range(len(curvatures)):
        whole = 0.0
        for item in range(offsets[pair], offsets[pair + 1]):
            if node_of[rows[item]] == node:
                whole += counts[item]
        totals[0] += curvatures[pair] * whole * whole


@kernel
def _leaf_curvatures(offsets, rows, counts, curvatures, leaf_of_rows, d, hessian):
    """Add dᵀHd of all leaves with each other to hessian float64[leaves, leaves]."""
    leaves = len(d)
    for pair in range(len(curvatures)):
        for leaf in range(leaves):
            d[leaf] = 0.0
        for item in range(offsets[pair], offsets[pair + 1]):
            d[leaf_of_rows[rows[item]]] += counts[item]
        for one in range(leaves):
            for two in range(leaves):
                hessian[one, two] += curvatures[pair] * d[one] * d[two]


@kernel
def _best_pair_split(columns, lists, total, curves, list_curves, whole, order, bins, least, ridge, place, sides):
    """Fill place (gain, number among columns and lists, edge, absent left) and sides float64[2, channels]."""
    place[0] = -np.inf
    for at in range(len(order)):
        number = order[at]
        if number >= len(columns):
            one = number - len(columns)
            own, cross = list_curves[one, 0], list_curves[one, 1]
            parts, y = total[PARTS] - lists[one, PARTS], total[Y] - lists[one, Y]
            _consider(parts, y, whole - 2.0 * cross + own, own, total, least, ridge, number, 0, 1, place, sides)
            continue
        sums, curve = columns[number], curves[number]
        lacking = sums[ABSENT, PARTS] > 0.0
        parts = y = 0.0
        for edge in range(bins[number] if lacking else bins[number] - 1):
            if sums[edge, PARTS] <= 0.0:
                continue  # the same sides as one edge before
            parts += sums[edge, PARTS]
            y += sums[edge, Y]
            own, cross = curve[edge, 0], curve[edge, 1]
            if lacking:
                more = own + 2.0 * curve[edge, 2] + curve[ABSENT, 0]
                other = whole - 2.0 * (cross + curve[ABSENT, 1]) + more
                _consider(
                    parts + sums[ABSENT, PARTS], y + sums[ABSENT, Y], more, other, total, least, ridge, number, edge, 1,
                    place, sides,
                )  # fmt: skip
            absent_left = 1 if not lacking and 2.0 * parts >= total[PARTS] else 0
            _consider(
                parts, y, own, whole - 2.0 * cross + own, total, least, ridge, number, edge, absent_left, place, sides
            )


@kernel
def _consider(parts, y, left, right, total, least, ridge, number, edge, absent_left, place, sides):
    """Take the split if it is better; `left` and `right` are dᵀHd of the sides, parts and y sums of the left one."""
    if parts < least or total[PARTS] - parts < least:
        return
    rest = total[Y] - y
    one, two = max(left, 0.0) + ridge, max(right, 0.0) + ridge  # what is left of a subtraction may be below 0
    gain = 0.0
    if one > 0.0:
        gain = y * y / one
    if two > 0.0:
        gain = max(gain, rest * rest / two)
    if gain > place[0]:
        place[0], place[1], place[2], place[3] = gain, number, edge, absent_left
        sides[0, PARTS], sides[0, Y] = parts, y
        sides[1, PARTS], sides[1, Y] = total[PARTS] - parts, rest
