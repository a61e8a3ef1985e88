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
    """Gaussian kernels by place. Place `p` is number ``p % SIZE`` of leaf ``p // SIZE``; F is filled up to `STEP`.

    Without scales, all kernels have the same standard deviations, and means are divided by √2 σ already.
    """

    order: Array  # int64[places]: the kernel at a place, -1: none
    means: Array  # float64[leaves, F, SIZE]
    scales: Array | None  # float64[leaves, F, SIZE]: 1 / (√2 σ)
    mean_rows: Array  # float64[places, F]: the same again, kernel by kernel
    scale_rows: Array | None
    constants: Array  # float64[places]: log w - Σ log(√(2π) σ), -inf where there is no kernel
    owners: Array  # int64[places]: the sentence that a kernel comes from, -1: none
    boxes: Array  # float64[F, 3, leaves]: the least and greatest mean, and the least scale
    tops: Array  # float64[leaves]: the greatest constant

    @classmethod
    def make(cls, means: F8, deviations: F8, log_priors: F8, owners: I8 | None = None) -> Leaves:
        """Arrange kernels that differ in their standard deviations: float64[kernels, features], the same, [kernels]."""
        constants = log_priors - np.log(np.sqrt(2.0 * np.pi) * deviations).sum(1)
        return cls._arranged(means, np.sqrt(0.5) / deviations, constants, owners)

    @classmethod
    def _arranged(cls, means: F8, scales: F8 | None, constants: F8, owners: I8 | None) -> Leaves:
        order = spatial_order(means, SIZE)
        kernels = len(order)
        leaves = -(-kernels // SIZE)
        empty = leaves * SIZE - kernels
        at = np.concatenate([order, np.repeat(order[-1:], empty)])
        mean_rows, by_leaf = _filled_up(means[at])
        boxes = np.ones((by_leaf.shape[1], 3, leaves))
        boxes[:, 0], boxes[:, 1] = by_leaf.min(2).T, by_leaf.max(2).T
        scale_rows = scales_by_leaf = None
        if scales is not None:
            scale_rows, scales_by_leaf = _filled_up(scales[at])
            boxes[:, 2] = scales_by_leaf.min(2).T
        in_order = np.concatenate([constants[order], np.full(empty, -np.inf)])
        return cls(
            np.concatenate([order, np.full(empty, -1)]),
            by_leaf,
            scales_by_leaf,
            mean_rows,
            scale_rows,
            in_order,
            np.full(len(at), -1) if owners is None else owners[at].astype(np.int64),
            boxes,
            in_order.reshape(leaves, SIZE).max(1),
        )


class Space(NamedTuple):
    """Kernels by place, and how points come to where they are."""

    leaves: Leaves
    transform: F8 | None  # [features, features]

    @classmethod
    def make(cls, means: F8, deviations: F8, log_priors: F8, owners: I8 | None = None) -> Space:
        """Arrange kernels; `deviations` are as many, or one row for all.

        In the latter case distances are Euclidean, once all is divided by it, and no rotation changes them: so axes
        are turned to where kernels spread, and boxes become smaller.
        """
        if len(deviations) == len(means) > 1:
            return cls(Leaves.make(means, deviations, log_priors, owners), None)
        scaled = means / (np.sqrt(2.0) * deviations[0])
        axes = np.linalg.eigh(np.atleast_2d(np.cov(scaled, rowvar=False, bias=True)))[1]
        transform = axes / (np.sqrt(2.0) * deviations[0])[:, None]
        constants = log_priors - np.log(np.sqrt(2.0 * np.pi) * deviations[0]).sum()
        return cls(Leaves._arranged(_turned(means, transform), None, constants, owners), transform)

    def place(self, points: F8) -> F8:
        """Return where points [points, features] are in this space."""
        return points if self.transform is None else _turned(points, self.transform)


def _turned(points: F8, transform: F8) -> F8:
    return np.einsum("pf,fg->pg", points, transform)  # the same sums whatever a BLAS would do on so many threads


def _filled_up(rows: F8) -> tuple[F8, F8]:
    """Return rows with features of zeros added, and the same leaf by leaf: [places, F], [leaves, F, SIZE]."""
    filled = np.zeros((len(rows), padded(rows.shape[1])))
    filled[:, : rows.shape[1]] = rows
    return filled, np.ascontiguousarray(filled.reshape(-1, SIZE, filled.shape[1]).transpose(0, 2, 1))


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
def bound_leaves(low, high, boxes, tops, first, last, bounds):
    """Bound the log density of any kernel of some leaves at any point between `low` and `high`: [F], [F] → [leaves]."""
    count = last - first
    for leaf in range(count):
        bounds[leaf] = tops[first + leaf]
    for f in range(0, boxes.shape[0], 2):
        low0, high0, low1, high1 = low[f], high[f], low[f + 1], high[f + 1]
        from0, to0, scale0 = boxes[f, 0, first:last], boxes[f, 1, first:last], boxes[f, 2, first:last]
        from1, to1, scale1 = boxes[f + 1, 0, first:last], boxes[f + 1, 1, first:last], boxes[f + 1, 2, first:last]
        for leaf in range(count):
            gap0 = max(max(from0[leaf] - high0, low0 - to0[leaf]), 0.0) * scale0[leaf]
            gap1 = max(max(from1[leaf] - high1, low1 - to1[leaf]), 0.0) * scale1[leaf]
            bounds[leaf] -= gap0 * gap0 + gap1 * gap1


@kernel_inlined
def bound_kernels(low, high, constants, means, scales, leaf, bounds):
    """Bound the log density of every kernel of one leaf at any point between `low` and `high`: [F], [F] → [SIZE]."""
    tops = constants[leaf * SIZE : (leaf + 1) * SIZE]
    for k in range(SIZE):
        bounds[k] = tops[k]
    for f in range(0, len(low), 2):
        low0, high0, low1, high1 = low[f], high[f], low[f + 1], high[f + 1]
        mean0, mean1 = means[leaf, f], means[leaf, f + 1]
        if scales is None:
            for k in range(SIZE):
                gap0 = max(max(mean0[k] - high0, low0 - mean0[k]), 0.0)
                gap1 = max(max(mean1[k] - high1, low1 - mean1[k]), 0.0)
                bounds[k] -= gap0 * gap0 + gap1 * gap1
        else:
            scale0, scale1 = scales[leaf, f], scales[leaf, f + 1]
            for k in range(SIZE):
                gap0 = max(max(mean0[k] - high0, low0 - mean0[k]), 0.0) * scale0[k]
                gap1 = max(max(mean1[k] - high1, low1 - mean1[k]), 0.0) * scale1[k]
                bounds[k] -= gap0 * gap0 + gap1 * gap1
