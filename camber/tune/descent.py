"""Minimise smooth functions: L-BFGS, and RProp, which looks at the signs of the gradient only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.optimize

from camber.arrays.types import F8
from camber.bend.neighbours import Regulariser, Tie
from camber.progress import counting, each, log
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
#: Steps whose gain tells whether a descent still gets anywhere.
LATELY = 20


class Coordinates:
    """Coordinates in which a descent sees every direction as alike.

    `scales` are the sizes at which weights matter, float64[n]. Weights that are tied (`ties`, which count `share`
    times) are far stiffer in some directions than in others, and a method with a short memory hardly moves along the
    stiff ones. So their coordinates are ``v = U w`` with the Cholesky factor U of

        diag(1 / scales²) + share · the curvature of the tie,

    which is about the curvature of the whole objective.
    """

    def __init__(self, scales: F8, ties: Sequence[Tie] = (), share: float = 1.0) -> None:
        self._scales = scales
        self._bands: list[tuple[slice, F8]] = []
        for tie in ties if share > 0.0 else ():
            bands = share * tie.bands
            bands[-1] += scales[tie.chain] ** -2.0
            self._bands.append((tie.chain, scipy.linalg.cholesky_banded(bands)))

    def inside(self, point: F8) -> F8:
        """Return the coordinates of weights."""
        coordinates = point / self._scales
        for chain, factor in self._bands:
            own = point[chain]
            coordinates[chain] = factor[-1] * own
            for away in range(1, len(factor)):
                coordinates[chain][:-away] += factor[-1 - away, away:] * own[away:]
        return coordinates

    def outside(self, inside: F8) -> F8:
        """Return the weights of coordinates."""
        weights = inside * self._scales
        for chain, factor in self._bands:
            weights[chain] = scipy.linalg.solve_banded((0, len(factor) - 1), factor, inside[chain])
        return weights

    def gradient(self, gradient: F8) -> F8:
        """Turn a gradient in the weights into one in the coordinates."""
        turned = gradient * self._scales
        for chain, factor in self._bands:
            lower = np.zeros_like(factor)  # the transposed factor, in rows by diagonal
            lower[0] = factor[-1]
            for away in range(1, len(factor)):
                lower[away, :-away] = factor[-1 - away, away:]
            turned[chain] = scipy.linalg.solve_banded((len(factor) - 1, 0), lower, gradient[chain])
        return turned


def tied_coordinates(data: TuningData, regulariser: Regulariser | None, share: float) -> Coordinates:
    """Return coordinates for the tuned weights of a list; the ties of a regulariser count `share` times."""
    return Coordinates(1.0 / data.scales(), () if regulariser is None else regulariser.ties(), share)


def lbfgs(
    objective: Objective,
    start: F8,
    scales: F8 | Coordinates | None = None,
    steps: int = 100,
    tolerance: float = 1e-9,
    slow: float = 0.0,
) -> Minimum:
    """Minimise by limited-memory BFGS until the relative gain of a step is below `tolerance`.

    It also ends when the last `LATELY` steps gained less than `slow` together. `scales` are the sizes at which weights
    matter, float64[n] (1 by default), or coordinates that make them alike.
    """
    if not isinstance(scales, Coordinates):
        scales = Coordinates(np.ones(len(start)) if scales is None else scales)
    seen = scales

    def scaled(point: F8) -> tuple[float, F8]:
        work.add()
        value, gradient = objective(seen.outside(point))
        return value, seen.gradient(gradient)

    values: list[float] = []

    def pace(intermediate_result: scipy.optimize.OptimizeResult) -> None:
        values.append(float(intermediate_result.fun))
        if len(values) > LATELY and values[-1 - LATELY] - values[-1] < slow:
            raise StopIteration

    with counting("descend", unit="evaluations") as work:
        descent = scipy.optimize.minimize(
            scaled,
            seen.inside(start),
            jac=True,
            method="L-BFGS-B",
            callback=pace if slow else None,
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
    for taken in each(range(1, steps + 1), "descend", unit="steps"):  # noqa: B007  (the number of steps is part of the answer)
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
