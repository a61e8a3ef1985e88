"""The best split of a node by least squares, from its histogram.

A leaf that is a constant explains (Σ y)² / n of the squares of its targets, one that is linear in x also

    (Σ x y - Σ x Σ y / n)² / (Σ x² - (Σ x)² / n);

a split gains what its two sides explain beyond what the node explains. Rows whose value is absent go to the side where
they fit better, in one piece; where no row of the node lacks the value, to the side with more parts. Of equal gains
the first wins: features in their order, then edges from below, then absent values to the left.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from camber.arrays.types import F8, I8
from camber.bend.trees.binning import ABSENT
from camber.bend.trees.histogram import LINEAR, PARTS, XX, XY, Histogram, X, Y
from camber.bend.trees.rows import Rows
from camber.kernel import kernel, kernel_inlined

#: A slope is not fitted where x varies less than this share of its squares: that is rounding.
FLAT = 1e-10
#: A gain below this share of what the node explains is rounding.
NO_GAIN = 1e-12


@dataclass(frozen=True)
class Split:
    """Where a node is cut: rows with a code up to `edge`, that is values below ``edges[edge]``, go left."""

    gain: float
    feature: int
    edge: int
    absent_left: bool
    left: F8  # [channels] the sums of the left side
    right: F8


def explained(total: F8) -> float:
    """Return how much of the squares of targets one leaf explains, given its sums."""
    return float(_explained(total))


def leaf_of(total: F8) -> tuple[float, float]:
    """Return the constant and the coefficient that fit sums best by least squares.

    >>> leaf_of(np.array([4.0, 2.0]))
    (0.5, 0.0)
    """
    n, y = float(total[PARTS]), float(total[Y])
    if n <= 0.0:
        return 0.0, 0.0
    if len(total) != LINEAR:
        return y / n, 0.0
    spread = float(total[XX]) - float(total[X]) ** 2 / n
    if not spread > FLAT * float(total[XX]):
        return y / n, 0.0
    coefficient = (float(total[XY]) - float(total[X]) * y / n) / spread
    return (y - coefficient * float(total[X])) / n, coefficient


def best_split(rows: Rows, histogram: Histogram, least: float) -> Split | None:
    """Return the split that gains most, each side with at least `least` parts; None where there is none."""
    width = len(histogram.total)
    place, sides, room = np.empty(4), np.empty((2, width)), np.empty((3, width))
    order = feature_order(rows)
    bins = np.array([len(rows.edges[feature]) + 1 for feature in rows.columns.tolist()], np.int64)
    _best_split(
        histogram.columns, histogram.lists, histogram.total, order, bins, float(max(least, 1.0)), place, sides, room
    )
    gain, at, edge, absent_left = place.tolist()
    if not gain > NO_GAIN * abs(explained(histogram.total)) or not math.isfinite(gain):
        return None
    number = int(at)
    feature = int(rows.columns[number] if number < len(rows.columns) else rows.indicators[number - len(rows.columns)])
    return Split(gain, feature, int(edge), bool(absent_left), sides[0].copy(), sides[1].copy())


def feature_order(rows: Rows) -> I8:
    """Return columns (by number) and lists (behind them) in the order of their features."""
    return np.argsort(np.concatenate([rows.columns, rows.indicators]), kind="stable").astype(np.int64)


@kernel_inlined
def _explained(total):
    n = total[PARTS]
    if n <= 0.0:
        return 0.0
    fits = total[Y] * total[Y] / n
    if len(total) == LINEAR:
        spread = total[XX] - total[X] * total[X] / n
        if spread > FLAT * total[XX]:
            common = total[XY] - total[X] * total[Y] / n
            fits += common * common / spread
    return fits


@kernel
def _best_split(columns, lists, total, order, bins, least, place, sides, room):
    """Fill place (gain, number among columns and lists, edge, absent left) and sides float64[2, channels]."""
    width = len(total)
    before = _explained(total)
    place[0] = -np.inf
    left, right, run = room[0], room[1], room[2]
    for at in range(len(order)):
        number = order[at]
        if number >= len(columns):
            for channel in range(width):
                right[channel] = lists[number - len(columns), channel]
                left[channel] = total[channel] - right[channel]
            _consider(left, right, before, least, number, 0, 1, place, sides)
            continue
        sums = columns[number]
        lacking = sums[ABSENT, PARTS] > 0.0
        for channel in range(width):
            run[channel] = 0.0
        # behind the last edge, all values are on one side and what is absent on the other
        for edge in range(bins[number] if lacking else bins[number] - 1):
            if sums[edge, PARTS] <= 0.0:
                continue  # the same sides as one edge before
            for channel in range(width):
                run[channel] += sums[edge, channel]
            if lacking:
                for channel in range(width):
                    left[channel] = run[channel] + sums[ABSENT, channel]
                    right[channel] = total[channel] - left[channel]
                _consider(left, right, before, least, number, edge, 1, place, sides)
            for channel in range(width):
                left[channel] = run[channel]
                right[channel] = total[channel] - left[channel]
            absent_left = 1 if not lacking and left[PARTS] >= right[PARTS] else 0
            _consider(left, right, before, least, number, edge, absent_left, place, sides)


@kernel
def _consider(left, right, before, least, number, edge, absent_left, place, sides):
    if left[PARTS] < least or right[PARTS] < least:
        return
    gain = _explained(left) + _explained(right) - before
    if gain > place[0]:
        place[0], place[1], place[2], place[3] = gain, number, edge, absent_left
        for channel in range(len(left)):
            sides[0, channel], sides[1, channel] = left[channel], right[channel]
