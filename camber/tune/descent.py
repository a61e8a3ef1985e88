"""Minimise smooth functions: L-BFGS, and RProp, which looks at the signs of the gradient only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.linalg
import scipy.optimize

from camber.arrays.types import F8
from camber.bend.neighbours import Regulariser
from camber.progress import log
from camber.tune.data import TuningData

Objective = Callable[[F8], tuple[float, F8]]


@dataclass(frozen=True)
class Minimum:
    """Where a descent ended."""

    point: F8
    value: float
    steps: int
    moved: bool  # whether the function changed: away from the start, or between the start and the origin


#: Steps of a descent with ties between weights, which needs more than one without. Linear ties take some hundreds;
#: monotone ones of 10⁷ in 256 bins came within 0.1 % of the minimum in a thousand, and were 12 % above it after 200
#: (benchmarks/descent.py).
TIED_STEPS = 1000


class Coordinates:
    """Coordinates in which a descent sees every direction as alike.

    `scales` are the sizes at which weights matter, float64[n]. Weights in `chains` (int64[n, 2], ranges) whose second
    differences cost ``tie`` times their square are far stiffer in some directions than in others, and a method with a
    short memory hardly moves along the stiff ones. So their coordinates are ``v = U w`` with the Cholesky factor U of

        diag(1 / scales²) + 2 tie AᵀA,    A w = second differences / 2,

    which is about the curvature of the whole objective.
    """

    def __init__(self, scales: F8, chains: npt.ArrayLike = (), tie: float = 0.0) -> None:
        self._scales = scales
        self._bands: list[tuple[slice, F8]] = []
        for first, last in np.asarray(chains, np.int64).reshape(-1, 2).tolist():
            if last - first > 2 and tie > 0.0:
                size = last - first
                bands = np.zeros((3, size))  # of the upper triangle: second diagonal, first, main
                bands[2] = scales[first:last] ** -2.0
                bands[2, 1:-1] += 2.0 * tie
                bands[2, :-2] += 0.5 * tie
                bands[2, 2:] += 0.5 * tie
                bands[1, 1:-1] -= tie
                bands[1, 2:] -= tie
                bands[0, 2:] += 0.5 * tie
                self._bands.append((slice(first, last), scipy.linalg.cholesky_banded(bands)))

    def inside(self, point: F8) -> F8:
        """Return the coordinates of weights."""
        coordinates = point / self._scales
        for chain, factor in self._bands:
            own = point[chain]
            coordinates[chain] = factor[2] * own
            coordinates[chain][:-1] += factor[1, 1:] * own[1:]
            coordinates[chain][:-2] += factor[0, 2:] * own[2:]
        return coordinates

    def outside(self, inside: F8) -> F8:
        """Return the weights of coordinates."""
        weights = inside * self._scales
        for chain, factor in self._bands:
            weights[chain] = scipy.linalg.solve_banded((0, 2), factor, inside[chain])
        return weights

    def gradient(self, gradient: F8) -> F8:
        """Turn a gradient in the weights into one in the coordinates."""
        turned = gradient * self._scales
        for chain, factor in self._bands:
            lower = np.zeros_like(factor)  # the transposed factor, in rows by diagonal
            lower[0] = factor[2]
            lower[1, :-1] = factor[1, 1:]
            lower[2, :-2] = factor[0, 2:]
            turned[chain] = scipy.linalg.solve_banded((2, 0), lower, gradient[chain])
        return turned


def tied_coordinates(data: TuningData, regulariser: Regulariser | None, share: float) -> Coordinates:
    """Return coordinates for the tuned weights of a list; the ties of a regulariser count `share` times."""
    if regulariser is None:
        return Coordinates(1.0 / data.scales())
    chains, strength = regulariser.ties()
    return Coordinates(1.0 / data.scales(), chains, share * strength)


def lbfgs(
    objective: Objective,
    start: F8,
    scales: F8 | Coordinates | None = None,
    steps: int = 100,
    tolerance: float = 1e-9,
) -> Minimum:
    """Minimise by limited-memory BFGS until the relative gain of a step is below `tolerance`.

    `scales` are the sizes at which weights matter, float64[n] (1 by default), or coordinates that make them alike.
    """
    if not isinstance(scales, Coordinates):
        scales = Coordinates(np.ones(len(start)) if scales is None else scales)
    seen = scales

    def scaled(point: F8) -> tuple[float, F8]:
        value, gradient = objective(seen.outside(point))
        return value, seen.gradient(gradient)

    descent = scipy.optimize.minimize(
        scaled,
        seen.inside(start),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": steps, "maxfun": 20 * steps, "ftol": tolerance, "gtol": 1e-12, "maxcor": 10},
    )
    if descent.nit >= steps:
        log.debug("descent: stopped after %d steps, before it converged", steps)
    point = seen.outside(np.asarray(descent.x, np.float64))
    return _minimum(objective, start, point, float(descent.fun), int(descent.nit))


def rprop(
    objective: Objective,
    start: F8,
    scales: F8,
    steps: int = 100,
    first_step: float = 0.1,
    patience: int = 5,
    tolerance: float = 1e-6,
) -> Minimum:
    """Minimise by RProp (Riedmiller and Braun 1993, without back-tracking); return the best point on the way.

    Each coordinate has a step of its own, which starts as `first_step` of `scales`, grows by 1.2 while the gradient
    keeps its sign and is halved when it turns. It stops when `patience` steps in a row gained less than `tolerance`.
    """
    point = start.copy()
    step = first_step * scales
    before = np.zeros(len(start))
    best, best_value, idle, taken = start, np.inf, 0, 0
    for taken in range(1, steps + 1):  # noqa: B007  (the number of steps is part of the answer)
        value, gradient = objective(point)
        idle = idle + 1 if value > best_value - tolerance * (1.0 + abs(value)) else 0
        if value < best_value:
            best, best_value = point.copy(), value
        if idle >= patience:
            break
        turned = before * gradient
        step = np.clip(np.where(turned > 0, 1.2 * step, np.where(turned < 0, 0.5 * step, step)), 1e-9 * scales, None)
        step = np.minimum(step, 50.0 * scales)
        before = np.where(turned < 0, 0.0, gradient)  # after a turn the next step is taken without growing
        point = point - np.sign(before) * step
    return _minimum(objective, start, best, best_value, taken)


def _minimum(objective: Objective, start: F8, point: F8, value: float, steps: int) -> Minimum:
    """Compare with the start and the origin, so that "it never moved" can be told from "it was there already"."""
    elsewhere = (objective(start)[0], objective(np.zeros(len(start)))[0])
    return Minimum(point, value, steps, any(abs(other - value) > 1e-12 * (1.0 + abs(value)) for other in elsewhere))
