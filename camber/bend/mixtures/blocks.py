"""Log densities of a block of neighbouring points, under those kernels only that can matter to one of them.

The points of a block lie in a box. At no point of it can a kernel be denser than where the box comes closest to the
kernel's mean; where that falls short of the best density of every point by more than a given reach, the kernel is left
out. With a reach of log(kernels / LOST), what was left out of a point adds up to less than the share LOST of its mass.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from camber.arrays.types import F8, I8, Array
from camber.bend.mixtures.leaves import SIZE, STEP, Leaves, bound_kernels, bound_leaves, padded, spatial_order
from camber.kernel import kernel_inlined

#: At most so much of the mass of a point belongs to kernels that were left out.
LOST = 1e-5
#: Points of a block.
ROWS = 16
#: Kernels that are evaluated at a time, so that what they need stays in the nearest cache.
CHUNK = 128


class Room(NamedTuple):
    """Work arrays of one thread."""

    low: Array  # float64[F]: the box of a block
    high: Array
    leaf_bounds: Array  # float64[leaves]
    bounds: Array  # float64[SIZE]
    chosen: Array  # int64[places, or ROWS · SIZE]: places of kernels that can matter
    gathered: Array  # float64[F · 2 · CHUNK]: means and scales of some of them, feature by feature
    constants: Array  # float64[CHUNK]: their constants
    whose: Array  # int64[CHUNK]: and whom they belong to
    pair: Array  # float64[2 · CHUNK]: log densities of two points under these
    best: Array  # float64[ROWS]: the greatest log density of every point so far
    promising: Array  # int64[ROWS]: the leaf with the greatest bound
    logs: Array  # float64[ROWS, width]

    @classmethod
    def make(cls, leaves: Leaves, width: int) -> Room:
        """Make them for log densities of at most `width` kernels at a time."""
        features = leaves.means.shape[1]
        return cls(
            np.empty(features),
            np.empty(features),
            np.empty(len(leaves.tops)),
            np.empty(SIZE),
            np.empty(max(len(leaves.order), ROWS * SIZE), np.int64),
            np.zeros(features * 2 * CHUNK),
            np.zeros(CHUNK),
            np.empty(CHUNK, np.int64),
            np.empty(2 * CHUNK),
            np.empty(ROWS),
            np.empty(ROWS, np.int64),
            np.empty((ROWS, row_width(max(width, CHUNK)))),
        )


def reach_of(kernels: int) -> float:
    """Return how far a kernel may fall short of the best, as a logarithm, before it is left out."""
    return float(np.log(kernels / LOST))


def row_width(width: int) -> int:
    """Return a length of rows that holds `width`: an odd number of cache lines, lest rows compete for the same ones.

    >>> row_width(1024)
    1032
    """
    return (width + 7) // 8 // 2 * 16 + 8


def in_blocks(points: F8) -> tuple[F8, I8]:
    """Return points by place, filled up with copies of the last to whole blocks and steps, and their order."""
    order = spatial_order(points, ROWS)
    count, features = points.shape
    rows = np.zeros((-(-count // ROWS) * ROWS, padded(features)))
    rows[:count, :features] = points[order]
    rows[count:] = rows[count - 1]
    return rows, order


@kernel_inlined
def choose(points, start, live, owners, owned, leaves, reach, room):
    """List the places of all kernels that can matter to the points ``start`` … ``start + live - 1``; return how many.

    `owners` int64[points] are compared where `owned`. ``room.best`` gets a lower bound of the best log densities.
    """
    low, high = room.low, room.high
    least = _lower_bounds(points, start, live, owners, owned, leaves, room) - reach
    for f in range(points.shape[1]):
        low[f] = high[f] = points[start, f]
        for row in range(1, live):
            value = points[start + row, f]
            low[f], high[f] = min(low[f], value), max(high[f], value)
    bound_leaves(low, high, leaves.boxes, leaves.tops, 0, len(leaves.tops), room.leaf_bounds)
    chosen = 0
    for leaf in range(len(leaves.tops)):
        if room.leaf_bounds[leaf] > least:
            bound_kernels(low, high, leaves.constants, leaves.means, leaves.scales, leaf, room.bounds)
            for k in range(SIZE):
                room.chosen[chosen] = leaf * SIZE + k
                chosen += room.bounds[k] > least
    return chosen


@kernel_inlined
def _lower_bounds(points, start, live, owners, owned, leaves, room):
    """Try the leaf that promises most to each point, all of them on all points; return the least of the best."""
    _most_promising(points, start, live, leaves, room)
    tried = 0
    for row in range(live):
        leaf = room.promising[row]
        new = True
        for k in range(tried):
            new = new and room.chosen[k * SIZE] != leaf * SIZE
        if new:
            for k in range(SIZE):
                room.chosen[tried * SIZE + k] = leaf * SIZE + k
            tried += 1
    for row in range(ROWS):
        room.best[row] = -np.inf
    for first in range(0, tried * SIZE, CHUNK):
        last = min(first + CHUNK, tried * SIZE)
        evaluate(points, start, owners, owned, leaves, room, first, last, 0)
        for row in range(ROWS):
            room.best[row] = max(room.best[row], greatest(room.logs[row, : last - first]))
    least = np.inf
    for row in range(live):
        least = min(least, room.best[row])
    return least


@kernel_inlined
def _most_promising(points, start, live, leaves, room):
    """Find the leaf with the greatest bound for each point; some boxes at a time, while they are in the cache."""
    for row in range(live):
        room.best[row] = -np.inf
        room.promising[row] = 0
    for first in range(0, len(leaves.tops), CHUNK):
        last = min(first + CHUNK, len(leaves.tops))
        bounds = room.leaf_bounds[: last - first]
        for row in range(live):
            point = points[start + row]
            bound_leaves(point, point, leaves.boxes, leaves.tops, first, last, bounds)
            top = greatest(bounds)
            if top > room.best[row]:
                room.best[row] = top
                for k in range(last - first):
                    if bounds[k] == top:
                        room.promising[row] = first + k
                        break


@kernel_inlined
def greatest(values):
    """Return the greatest of some values; in four strands, because each comparison waits for the one before."""
    a = b = c = d = values[0]
    whole = len(values) // 4 * 4
    for k in range(0, whole, 4):
        a, b = max(a, values[k]), max(b, values[k + 1])
        c, d = max(c, values[k + 2]), max(d, values[k + 3])
    for k in range(whole, len(values)):
        a = max(a, values[k])
    return max(max(a, b), max(c, d))


@kernel_inlined
def evaluate(points, start, owners, owned, leaves, room, first, last, column):
    """Fill ``logs[:, column:]`` with the log densities of a block under the kernels ``chosen[first:last]``."""
    gathered, pair = room.gathered, room.pair
    features = points.shape[1]
    for begin in range(first, last, CHUNK):
        places = room.chosen[begin : min(begin + CHUNK, last)]
        size, to = len(places), column + begin - first
        for k in range(size):
            room.constants[k] = leaves.constants[places[k]]
        for f in range(features):
            _gather(leaves.mean_rows, places, f, gathered[2 * f * CHUNK : (2 * f + 1) * CHUNK])
            _gather(leaves.scale_rows, places, f, gathered[(2 * f + 1) * CHUNK : (2 * f + 2) * CHUNK])
        for row in range(0, ROWS, 2):
            for k in range(CHUNK):
                pair[k] = room.constants[k]
                pair[k + CHUNK] = room.constants[k]
            one, two = points[start + row], points[start + row + 1]
            for f in range(0, features, STEP):
                here = gathered[2 * f * CHUNK : 2 * (f + STEP) * CHUNK]
                if leaves.scales is None:
                    _subtract_plain_squares(one[f : f + STEP], two[f : f + STEP], here, pair)
                else:
                    _subtract_squares(one[f : f + STEP], two[f : f + STEP], here, pair)
            first_logs, second_logs = room.logs[row, to : to + size], room.logs[row + 1, to : to + size]
            for k in range(size):
                first_logs[k] = pair[k]
                second_logs[k] = pair[k + CHUNK]
        if owned:
            _leave_out_owned(owners, start, leaves.owners, places, room, to)


@kernel_inlined
def _gather(rows, places, f, column):
    if rows is not None:
        for k in range(len(places)):
            column[k] = rows[places[k], f]


@kernel_inlined
def _leave_out_owned(owners, start, kernel_owners, places, room, to):
    whose, size = room.whose, len(places)
    for k in range(size):
        whose[k] = kernel_owners[places[k]]
    for row in range(ROWS):
        owner = owners[start + row]
        if owner >= 0:
            own = room.logs[row, to : to + size]
            for k in range(size):
                own[k] = -np.inf if whose[k] == owner else own[k]


@kernel_inlined
def _subtract_squares(one, two, g, pair):
    """Subtract ((h - μ) / (√2 σ))² of four features of two points from their log densities, float64[2 · CHUNK].

    The means of a feature in `g` are followed by its scales. Distances between columns are constants, because that
    lets the compiler see that nothing overlaps.
    """
    a0, a1, a2, a3 = one[0], one[1], one[2], one[3]
    b0, b1, b2, b3 = two[0], two[1], two[2], two[3]
    for k in range(CHUNK):
        mean, scale = g[k], g[k + CHUNK]
        p0, q0 = (a0 - mean) * scale, (b0 - mean) * scale
        mean, scale = g[k + 2 * CHUNK], g[k + 3 * CHUNK]
        p1, q1 = (a1 - mean) * scale, (b1 - mean) * scale
        mean, scale = g[k + 4 * CHUNK], g[k + 5 * CHUNK]
        p2, q2 = (a2 - mean) * scale, (b2 - mean) * scale
        mean, scale = g[k + 6 * CHUNK], g[k + 7 * CHUNK]
        p3, q3 = (a3 - mean) * scale, (b3 - mean) * scale
        pair[k] -= (p0 * p0 + p1 * p1) + (p2 * p2 + p3 * p3)
        pair[k + CHUNK] -= (q0 * q0 + q1 * q1) + (q2 * q2 + q3 * q3)


@kernel_inlined
def _subtract_plain_squares(one, two, g, pair):
    """Subtract (h - μ)², the same where all has been divided by √2 σ."""
    a0, a1, a2, a3 = one[0], one[1], one[2], one[3]
    b0, b1, b2, b3 = two[0], two[1], two[2], two[3]
    for k in range(CHUNK):
        p0, q0 = a0 - g[k], b0 - g[k]
        p1, q1 = a1 - g[k + 2 * CHUNK], b1 - g[k + 2 * CHUNK]
        p2, q2 = a2 - g[k + 4 * CHUNK], b2 - g[k + 4 * CHUNK]
        p3, q3 = a3 - g[k + 6 * CHUNK], b3 - g[k + 6 * CHUNK]
        pair[k] -= (p0 * p0 + p1 * p1) + (p2 * p2 + p3 * p3)
        pair[k + CHUNK] -= (q0 * q0 + q1 * q1) + (q2 * q2 + q3 * q3)


_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10  # the first has 21 trailing zeros
_MAGIC = 6755399441055744.0  # 1.5 · 2⁵²: what is added to it is rounded, and stands in the last bits of the sum
_LEAST = -700.0


@kernel_inlined
def exponential(value):
    """Return e^value for a value of at most about 0, to 12 digits; 0 below -700. Loops of it become vector code.

    e^x = 2^n e^r with a whole n and |r| ≤ ½ log 2, where the series of ten terms will do.
    """
    x = max(value, _LEAST)
    shifted = x * _LOG2_E + _MAGIC
    whole = shifted - _MAGIC
    r = (x - whole * _LN2_HIGH) - whole * _LN2_LOW
    p = 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    scaled = np.float64(p).view(np.int64) + (np.float64(shifted).view(np.int64) << 52)
    return np.int64(scaled).view(np.float64) if value >= _LEAST else 0.0
