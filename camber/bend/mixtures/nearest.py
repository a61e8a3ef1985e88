"""The nearest of many points, exactly: leaves whose box is farther away than what was found are never looked at.

    near = Neighbours.of(mixture.means)
    distances, numbers = near.nearest(queries, 16)

Boxes and points are first looked at in single precision, with a margin for its rounding; only what may be among the
nearest is measured in double precision.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from camber.arrays.types import F4, F8, I8, Array
from camber.bend.mixtures.leaves import SIZE, STEP, Space, checked, padded, spatial_order
from camber.engine import LOCAL, Engine
from camber.errors import SettingsError
from camber.kernel import kernel, kernel_inlined
from camber.kernel.heap import pop, push, replace

#: Queries of one piece of work.
_PIECE = 2048
#: A coordinate in single precision is wrong by at most this share, with something to spare for sums of squares.
_ROUNDING = 2.0**-22


class Neighbours(NamedTuple):
    """Points in leaves, around their mean."""

    space: Space
    middle: F8  # [features]
    means: F4  # [leaves, F, SIZE]: the points in single precision
    boxes: F4  # [F, 2, leaves]
    points: int

    @classmethod
    def of(cls, points: F8) -> Neighbours:
        """Arrange points float64[points, features]."""
        points = checked(points, np.shape(points)[-1])
        middle = points.mean(0)
        unit = np.full((1, points.shape[1]), np.sqrt(0.5))  # so that distances in the space are those of the points
        space = Space.make(points - middle, unit, np.zeros(len(points)))
        with np.errstate(over="ignore"):
            means, boxes = space.leaves.means.astype(np.float32), space.leaves.boxes[:, :2].astype(np.float32)
        return cls(space, middle, means, np.ascontiguousarray(boxes), len(points))

    def nearest(self, queries: F8, count: int, *, engine: Engine = LOCAL) -> tuple[F8, I8]:
        """Return the squared distances and the numbers of the `count` nearest points, nearest first: [queries, count].

        Of equally near ones the one with the lower number comes first.

        >>> distances, numbers = Neighbours.of(np.array([[0.0], [4.0], [6.0]])).nearest(np.array([[4.5]]), 2)
        >>> distances.round(9).tolist(), numbers.tolist()
        ([[0.25, 2.25]], [[1, 2]])
        """
        if not 1 <= count <= self.points:
            raise SettingsError(f"{count} nearest of {self.points} points; expected 1 to as many")
        features = len(self.middle)
        placed = self.space.place(checked(queries, features) - self.middle)
        order = spatial_order(placed, SIZE)
        rows = np.zeros((len(placed), padded(features)))
        rows[:, :features] = placed[order]
        pieces = [range(first, min(first + _PIECE, len(rows))) for first in range(0, len(rows), _PIECE)]
        distances, numbers = np.empty((len(rows), count)), np.empty((len(rows), count), np.int64)
        for piece, (near, which) in zip(
            pieces, engine.map(_nearest_piece, _Task(self, rows, count), pieces), strict=True
        ):
            to = order[piece.start : piece.stop]
            distances[to], numbers[to] = near, which
        return distances, numbers


class _Task(NamedTuple):
    neighbours: Neighbours
    rows: F8
    wanted: int


class _Points(NamedTuple):
    order: Array  # int64[places]: the point at a place, -1: none
    rows: Array  # float64[places, F]
    means: Array  # float32[leaves, F, SIZE]
    boxes: Array  # float32[F, 2, leaves]
    greatest: float  # of all coordinates, whatever their sign


class _Work(NamedTuple):
    query: Array  # float32[F]
    bounds: Array  # float32[leaves]: squared distances of boxes
    waiting: Array  # float64[leaves]: a heap of leaves that may hold a near point, minus their bounds
    which: Array  # int64[leaves]: their numbers
    squares: Array  # float32[SIZE]: squared distances of the points of a leaf


def _nearest_piece(task: _Task, piece: range) -> tuple[F8, I8]:
    near, leaves = task.neighbours, task.neighbours.space.leaves
    points = _Points(leaves.order, leaves.mean_rows, near.means, near.boxes, float(np.abs(leaves.mean_rows).max()))
    many = near.boxes.shape[2]
    distances, numbers = np.empty((len(piece), task.wanted)), np.empty((len(piece), task.wanted), np.int64)
    work = _Work(
        np.empty(near.boxes.shape[0], np.float32),
        np.empty(many, np.float32),
        np.empty(many),
        np.empty(many, np.int64),
        np.empty(SIZE, np.float32),
    )
    _search(task.rows[piece.start : piece.stop], points, work, distances, numbers)
    return distances, numbers


@kernel
def _search(rows, points, work, distances, numbers):
    leaves = len(work.bounds)
    before = 0
    for r in range(len(rows)):
        row, near, which = rows[r], distances[r], numbers[r]
        greatest = points.greatest
        for f in range(len(row)):
            work.query[f] = row[f]
            greatest = max(greatest, abs(row[f]))
        margin = 2.0 * np.sqrt(np.float64(len(row))) * greatest * _ROUNDING
        _bound(work.query, points.boxes, work.bounds)
        size = _visit(row, points, work, before, margin, near, which, 0)  # first the one that was nearest before
        waiting, bar = 0, _loosened(near, size, margin)
        for first in range(0, leaves, SIZE):
            some = work.bounds[first : first + SIZE]
            if _any_within(some, bar):
                for k in range(len(some)):
                    if some[k] <= bar and first + k != before:
                        waiting = push(work.waiting, work.which, waiting, -np.float64(some[k]), first + k)
        top = -np.float64(work.bounds[before])
        while waiting > 0:
            bound, leaf, waiting = pop(work.waiting, work.which, waiting)
            if -bound > _loosened(near, size, margin):
                break
            if bound > top:
                top, before = bound, leaf
            size = _visit(row, points, work, leaf, margin, near, which, size)
        while size > 0:  # the farthest leaves the heap first, and goes to the end
            square, item, size = pop(near, which, size)
            near[size], which[size] = square, -item


@kernel_inlined
def _loosened(near, size, margin):
    """Return what a squared distance in single precision may be at most for the true one to be among the nearest."""
    if size < len(near):
        return np.float32(np.inf)
    root = np.sqrt(near[0]) + margin
    return np.float32(root * root * (1.0 + 8.0 * _ROUNDING))


@kernel_inlined
def _any_within(squares, bar):
    within = 0
    for k in range(len(squares)):
        within += squares[k] <= bar  # a sum of integers, which vector units do many at a time
    return within > 0


@kernel_inlined
def _bound(query, boxes, bounds):
    """Return the squared distances of boxes: [F], [F, 2, leaves] → [leaves]."""
    for leaf in range(len(bounds)):
        bounds[leaf] = np.float32(0.0)
    for f in range(0, len(query), 2):
        a, b = query[f], query[f + 1]
        from0, to0, from1, to1 = boxes[f, 0], boxes[f, 1], boxes[f + 1, 0], boxes[f + 1, 1]
        for leaf in range(len(bounds)):
            gap0 = max(max(from0[leaf] - a, a - to0[leaf]), np.float32(0.0))
            gap1 = max(max(from1[leaf] - b, b - to1[leaf]), np.float32(0.0))
            bounds[leaf] += gap0 * gap0 + gap1 * gap1


@kernel_inlined
def _visit(row, points, work, leaf, margin, near, which, size):
    """Put the points of a leaf that are among the nearest into the heap of these, the farthest on top."""
    squares, query = work.squares, work.query
    for k in range(SIZE):
        squares[k] = np.float32(0.0)
    for f in range(0, len(query), STEP):
        a, b, c, d = query[f], query[f + 1], query[f + 2], query[f + 3]
        one, two = points.means[leaf, f], points.means[leaf, f + 1]
        three, four = points.means[leaf, f + 2], points.means[leaf, f + 3]
        for k in range(SIZE):
            p, q, s, t = a - one[k], b - two[k], c - three[k], d - four[k]
            squares[k] += (p * p + q * q) + (s * s + t * t)
    bar = _loosened(near, size, margin)
    if not _any_within(squares, bar):
        return size
    for k in range(SIZE):
        if squares[k] <= bar:
            place = leaf * SIZE + k
            item = -points.order[place]
            if item <= 0:
                square = 0.0
                for f in range(len(row)):
                    gap = row[f] - points.rows[place, f]
                    square += gap * gap
                if size < len(near):
                    size = push(near, which, size, square, item)
                elif square < near[0] or (square == near[0] and item > which[0]):
                    replace(near, which, size, square, item)
                bar = _loosened(near, size, margin)
    return size
