"""Kernels by place: 64 that lie close together are a leaf with a box around it, so that whole leaves can be skipped.

A tree is not kept, only its leaves: points are halved at the median of the feature that spreads most, until no more
than a leaf is left. Numbers of a leaf stand feature by feature, 64 in a row, as vector units want them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from camber.arrays.types import F8, I8, Array
from camber.errors import CamberError
from camber.kernel import kernel, kernel_inlined

#: Kernels of a leaf.
SIZE = 64
#: Features that are handled together: rows of features are filled up to a multiple with ones that add nothing.
STEP = 4
#: The greatest number whose square, and sums of such squares, are still far from overflow.
_GREATEST = 1e100
_DEPTH = 128  # of the stack of open halves; twice the logarithm of what fits in memory


class Leaves(NamedTuple):
    """Gaussian kernels by place. Place `p` is number ``p % SIZE`` of leaf ``p // SIZE``; F is filled up to `STEP`."""

    order: Array  # int64[places]: the kernel at a place, -1: none
    table: Array  # float64[leaves, F, 2, SIZE]: means, and 1 / (√2 σ)
    constants: Array  # float64[places]: log w - Σ log(√(2π) σ), -inf where there is no kernel
    owners: Array  # int64[places]: the sentence that a kernel comes from, -1: none
    boxes: Array  # float64[F, 3, leaves]: the least and greatest mean, and the least 1 / (√2 σ)
    tops: Array  # float64[leaves]: the greatest constant

    @classmethod
    def make(cls, means: F8, deviations: F8, log_priors: F8, owners: I8 | None = None) -> Leaves:
        """Arrange kernels: float64[kernels, features], as many or one row, [kernels]."""
        kernels, features = means.shape
        order = spatial_order(means, SIZE)
        leaves = -(-kernels // SIZE)
        at = np.concatenate([order, np.repeat(order[-1:], leaves * SIZE - kernels)])
        table = np.zeros((leaves, padded(features), 2, SIZE))
        table[:, :features, 0] = _by_leaf(means[at], leaves)
        each = np.broadcast_to(np.sqrt(0.5) / deviations, means.shape)
        table[:, :features, 1] = _by_leaf(each[at], leaves)
        constants = (log_priors - np.log(np.sqrt(2.0 * np.pi) * deviations).sum(1))[at]
        constants[kernels:] = -np.inf
        boxes = np.stack([table[:, :, 0].min(2).T, table[:, :, 0].max(2).T, table[:, :, 1].min(2).T], 1)
        places = np.concatenate([order, np.full(len(at) - kernels, -1)])
        whose = np.full(len(at), -1) if owners is None else owners[at]
        return cls(places, table, constants, whose, np.ascontiguousarray(boxes), constants.reshape(leaves, SIZE).max(1))


def _by_leaf(rows: F8, leaves: int) -> F8:
    return rows.reshape(leaves, SIZE, -1).transpose(0, 2, 1)


def padded(features: int) -> int:
    """Return the number of features, filled up.

    >>> padded(11)
    12
    """
    return -(-features // STEP) * STEP


def checked(points: F8, features: int) -> F8:
    """Return points float64[points, features] as they should be; anything else is an error."""
    points = np.ascontiguousarray(points, np.float64)
    if points.ndim != 2 or points.shape[1] != features:
        raise CamberError(f"points of shape {points.shape}; expected [points, {features}]")
    good = (np.abs(points) < _GREATEST).all(1)  # NaN is not below anything
    if not good.all():
        row = int(np.argmin(good))
        raise CamberError(f"point {row} has a feature that is no number or far too large: {points[row].tolist()}")
    return points


def spatial_order(points: F8, size: int) -> I8:
    """Return an order of points float64[points, features] in which every stretch of `size` lies close together.

    >>> spatial_order(np.array([[5.0], [1.0], [6.0], [2.0]]), 2).tolist()
    [1, 3, 0, 2]
    """
    order = np.arange(len(points))
    _arrange(np.ascontiguousarray(points, np.float64), order, size, np.empty((_DEPTH, 2), np.int64))
    return order


@kernel
def _arrange(points, order, size, stack):
    """Halve stretches of `order` at a multiple of `size`, by the feature that spreads most."""
    stack[0, 0], stack[0, 1] = 0, len(order)
    waiting = 1
    while waiting > 0:
        waiting -= 1
        first, last = stack[waiting, 0], stack[waiting, 1]
        if last - first <= size:
            continue
        middle = first + (last - first + size - 1) // size // 2 * size
        _select(points, order, first, last, middle, _widest(points, order, first, last))
        stack[waiting, 0], stack[waiting, 1] = first, middle
        stack[waiting + 1, 0], stack[waiting + 1, 1] = middle, last
        waiting += 2


@kernel_inlined
def _widest(points, order, first, last):
    widest, best = -1.0, 0
    for feature in range(points.shape[1]):
        low = high = points[order[first], feature]
        for i in range(first + 1, last):
            value = points[order[i], feature]
            low, high = min(low, value), max(high, value)
        if high - low > widest:
            widest, best = high - low, feature
    return best


@kernel_inlined
def _select(points, order, first, last, middle, feature):
    """Let none before `middle` be greater than any from there on (Hoare's quickselect)."""
    low, high = first, last - 1
    while low < high:
        pivot = points[order[(low + high) // 2], feature]
        i, j = low, high
        while i <= j:
            while points[order[i], feature] < pivot:
                i += 1
            while points[order[j], feature] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            break


@kernel_inlined
def bound_leaves(low, high, boxes, tops, bounds):
    """Bound the log density of any kernel of every leaf at any point between `low` and `high`: [F], [F] → [leaves]."""
    leaves = len(tops)
    for leaf in range(leaves):
        bounds[leaf] = tops[leaf]
    for f in range(0, boxes.shape[0], 2):
        low0, high0, low1, high1 = low[f], high[f], low[f + 1], high[f + 1]
        for leaf in range(leaves):
            gap0 = max(max(boxes[f, 0, leaf] - high0, low0 - boxes[f, 1, leaf]), 0.0) * boxes[f, 2, leaf]
            gap1 = max(max(boxes[f + 1, 0, leaf] - high1, low1 - boxes[f + 1, 1, leaf]), 0.0) * boxes[f + 1, 2, leaf]
            bounds[leaf] -= gap0 * gap0 + gap1 * gap1


@kernel_inlined
def bound_kernels(low, high, table, constants, leaf, bounds):
    """Bound the log density of every kernel of one leaf at any point between `low` and `high`: [F], [F] → [SIZE]."""
    for k in range(SIZE):
        bounds[k] = constants[leaf * SIZE + k]
    for f in range(0, table.shape[1], 2):
        low0, high0, low1, high1 = low[f], high[f], low[f + 1], high[f + 1]
        for k in range(SIZE):
            gap0 = max(max(table[leaf, f, 0, k] - high0, low0 - table[leaf, f, 0, k]), 0.0) * table[leaf, f, 1, k]
            gap1 = (
                max(max(table[leaf, f + 1, 0, k] - high1, low1 - table[leaf, f + 1, 0, k]), 0.0)
                * table[leaf, f + 1, 1, k]
            )
            bounds[k] -= gap0 * gap0 + gap1 * gap1
