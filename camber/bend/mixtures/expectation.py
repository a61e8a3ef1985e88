"""The expectation step of EM: posteriors of all kernels at all points, and their moments.

Points go by in blocks of neighbours. Of the kernels that can matter to a block (`blocks`), those that do are kept;
their densities become shares, and one small product of matrices gives the moments that the block adds to each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from camber.arrays.types import F8, Array
from camber.bend.mixtures.blocks import ROWS, Room, choose, evaluate, exponential, greatest, in_blocks, reach_of
from camber.bend.mixtures.leaves import Leaves, checked
from camber.bend.mixtures.mixture import Mixture
from camber.engine import LOCAL, Engine, split_evenly
from camber.kernel import kernel, kernel_inlined

#: Pieces that points are cut into, for any number of threads.
_PIECES = 16
#: Kernels whose sums are made at a time.
_TILE = 64


class Sums(NamedTuple):
    """What EM needs to know of points: sums over them, weighed by the posteriors p of each kernel."""

    masses: F8  # [kernels]: Σ p
    means: F8  # [kernels, features]: Σ p h / Σ p; the kernel's own where the mass is 0
    variances: F8  # [kernels, features]: Σ p (h - mean)² / Σ p, likewise
    log_likelihood: float  # Σ log Σ w N(h; μ, C)


class Cloud(NamedTuple):
    """Points in blocks, around their mean."""

    rows: F8  # [blocks · ROWS, features, filled up]
    live: int  # the rows before are points
    middle: F8  # [features]

    @classmethod
    def of(cls, points: F8) -> Cloud:
        """Make blocks of points float64[points, features]."""
        middle = points.mean(0)  # so that differences of squares lose no digits, however far from 0 points are
        return cls(in_blocks(points - middle)[0], len(points), middle)


class _Task(NamedTuple):
    cloud: Cloud
    leaves: Leaves
    reach: float


def expect(mixture: Mixture, points: F8 | Cloud, *, engine: Engine = LOCAL) -> Sums:
    """Return the sums over points float64[points, features].

    Less than `LOST` (`blocks`) of the mass of a point is left out, and its log likelihood is too low by no more.

    >>> mixture = Mixture(np.array([[0.0], [9.0]]), np.ones((2, 1)), np.log([0.5, 0.5]))
    >>> sums = expect(mixture, np.array([[0.0], [0.0], [9.0]]))
    >>> sums.masses.round(3).tolist(), sums.means.round(3).tolist()
    ([2.0, 1.0], [[0.0], [9.0]])
    """
    features = mixture.means.shape[1]
    cloud = points if isinstance(points, Cloud) else Cloud.of(checked(points, features))
    variances = np.broadcast_to(mixture.variances, mixture.means.shape)
    leaves = Leaves.make(mixture.means - cloud.middle, np.sqrt(variances), mixture.log_priors)
    blocks = split_evenly(len(cloud.rows) // ROWS, _PIECES)
    moments, log_likelihood = np.zeros((len(leaves.order), 1 + 2 * cloud.rows.shape[1])), 0.0
    for piece in engine.map(_expect_piece, _Task(cloud, leaves, reach_of(len(mixture))), blocks):
        moments += piece[0]
        log_likelihood += piece[1]
    there = leaves.order >= 0
    by_kernel = np.empty((len(mixture), moments.shape[1]))
    by_kernel[leaves.order[there]] = moments[there]
    once, twice = np.split(by_kernel[:, 1:], 2, axis=1)
    masses = by_kernel[:, 0].copy()
    used = masses > 0
    weights = np.where(used, masses, 1.0)[:, None]
    means = np.where(used[:, None], once[:, :features] / weights, mixture.means - cloud.middle)
    spread = np.maximum(twice[:, :features] / weights - means**2, 0.0)
    variances = np.where(used[:, None], spread, mixture.variances)
    return Sums(masses, means + cloud.middle, variances, log_likelihood)


def _expect_piece(task: _Task, blocks: range) -> tuple[F8, float]:
    leaves = task.leaves
    places, features = len(leaves.order), leaves.means.shape[1]
    moments = np.zeros((places, 1 + 2 * features))
    work = _Work(
        np.empty(places),
        np.empty(places, np.int64),
        np.empty(-(-places // _TILE) * _TILE * ROWS),
        np.empty(ROWS),
        np.empty((1 + 2 * features, ROWS)),
        np.empty((1 + 2 * features, _TILE)),
    )
    room = Room.make(leaves, places)
    nobody = np.zeros(0, np.int64)
    log_likelihood = _sum_blocks(
        task.cloud.rows, blocks.start, blocks.stop, task.cloud.live, nobody, leaves, task.reach, room, work, moments
    )
    return moments, log_likelihood


class _Work(NamedTuple):
    peaks: Array  # float64[places]: how far a chosen kernel falls short of the best, where it does so least
    kept: Array  # int64[places]: which of the chosen kernels matter
    shares: Array  # float64[tiles · ROWS · _TILE]: their densities as shares of the best, tile by tile, row by row
    mass: Array  # float64[ROWS]: the sum of the shares of a point
    powers: Array  # float64[1 + 2 F, ROWS]: 1, h and h² of every point, divided by its mass
    sums: Array  # float64[1 + 2 F, _TILE]


@kernel
def _sum_blocks(points, first, last, total, nobody, leaves, reach, room, work, moments):
    log_likelihood = 0.0
    for block in range(first, last):
        start = block * ROWS
        live = min(ROWS, total - start)
        count = choose(points, start, live, nobody, False, leaves, reach, room)
        evaluate(points, start, nobody, False, leaves, room, 0, count, 0)
        kept = _useful(room, work, count, reach)
        log_likelihood += _share(room, work, kept, live)
        _add_moments(points, start, live, room, work, kept, moments)
    return log_likelihood


@kernel_inlined
def _useful(room, work, count, reach):
    """List which of the chosen kernels come near to the best of any point."""
    logs, best, peaks = room.logs, room.best, work.peaks
    for row in range(ROWS):
        best[row] = greatest(logs[row, :count])
    for k in range(count):
        peaks[k] = -np.inf
    for row in range(0, ROWS, 4):
        a, b, c, d = best[row], best[row + 1], best[row + 2], best[row + 3]
        for k in range(count):
            one = max(logs[row, k] - a, logs[row + 1, k] - b)
            two = max(logs[row + 2, k] - c, logs[row + 3, k] - d)
            peaks[k] = max(peaks[k], max(one, two))
    kept = 0
    for k in range(count):
        work.kept[kept] = k
        kept += peaks[k] > -reach
    return kept


@kernel_inlined
def _share(room, work, kept, live):
    """Turn log densities into shares of the best; return the sum of the points' log likelihoods."""
    shares, mass = work.shares, work.mass
    for row in range(ROWS):
        mass[row] = 0.0
    for begin in range(0, kept, _TILE):
        chosen = work.kept[begin : min(begin + _TILE, kept)]
        tile = shares[begin * ROWS : (begin + _TILE) * ROWS]
        for row in range(ROWS):
            logs, best = room.logs[row], room.best[row]
            own = tile[row * _TILE : (row + 1) * _TILE]
            for k in range(len(chosen)):
                own[k] = logs[chosen[k]] - best
            for k in range(len(chosen), _TILE):
                own[k] = -np.inf
        for k in range(ROWS * _TILE):
            tile[k] = exponential(tile[k])
        for row in range(ROWS):
            own = tile[row * _TILE : (row + 1) * _TILE]
            a = b = c = d = 0.0
            for k in range(0, _TILE, 4):
                a += own[k]
                b += own[k + 1]
                c += own[k + 2]
                d += own[k + 3]
            mass[row] += (a + b) + (c + d)
    log_likelihood = 0.0
    for row in range(live):
        log_likelihood += room.best[row] + np.log(mass[row])
    return log_likelihood


@kernel_inlined
def _add_moments(points, start, live, room, work, kept, moments):
    """Add Σ p, Σ p h and Σ p h²."""
    features = points.shape[1]
    powers, sums = work.powers, work.sums
    for row in range(ROWS):
        factor = 1.0 / work.mass[row] if row < live else 0.0
        powers[0, row] = factor
        for f in range(features):
            value = points[start + row, f]
            powers[1 + f, row] = factor * value
            powers[1 + features + f, row] = factor * value * value
    for begin in range(0, kept, _TILE):
        for c in range(1 + 2 * features):
            _weighted_sums(powers[c], work.shares[begin * ROWS : (begin + _TILE) * ROWS], sums[c])
        for k in range(min(_TILE, kept - begin)):
            total = moments[room.chosen[work.kept[begin + k]]]
            for c in range(1 + 2 * features):
                total[c] += sums[c, k]


@kernel_inlined
def _weighted_sums(powers, s, sums):
    """Sum a power of all points of a block, weighed by the shares of each kernel of a tile."""
    a, b, c, d = powers[0], powers[1], powers[2], powers[3]
    e, f, g, h = powers[4], powers[5], powers[6], powers[7]
    i, j, u, v = powers[8], powers[9], powers[10], powers[11]
    n, o, p, q = powers[12], powers[13], powers[14], powers[15]
    for k in range(_TILE):
        one = (a * s[k] + b * s[k + _TILE]) + (c * s[k + 2 * _TILE] + d * s[k + 3 * _TILE])
        two = (e * s[k + 4 * _TILE] + f * s[k + 5 * _TILE]) + (g * s[k + 6 * _TILE] + h * s[k + 7 * _TILE])
        three = (i * s[k + 8 * _TILE] + j * s[k + 9 * _TILE]) + (u * s[k + 10 * _TILE] + v * s[k + 11 * _TILE])
        four = (n * s[k + 12 * _TILE] + o * s[k + 13 * _TILE]) + (p * s[k + 14 * _TILE] + q * s[k + 15 * _TILE])
        sums[k] = (one + two) + (three + four)
