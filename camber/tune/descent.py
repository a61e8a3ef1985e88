"""Minimise smooth functions: L-BFGS, and RProp, which looks at the signs of the gradient only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.optimize

from camber.tune.data import Array

Objective = Callable[[Array], tuple[float, Array]]


@dataclass(frozen=True)
class Minimum:
    """Where a descent ended."""

    point: Array
    value: float
    steps: int
    moved: bool  # whether the function changed: away from the start, or between the start and the origin


def lbfgs(
    objective: Objective, start: Array, scales: Array | None = None, steps: int = 100, tolerance: float = 1e-9
) -> Minimum:
    """Minimise by limited-memory BFGS until the relative gain of a step is below `tolerance`.

    `scales` are the sizes at which coordinates matter, so that all are alike to the method: float64[n], 1 by default.
    """
    units = np.ones(len(start)) if scales is None else scales

    def scaled(point: Array) -> tuple[float, Array]:
        value, gradient = objective(point * units)
        return value, gradient * units

    found = scipy.optimize.minimize(
        scaled,
        start / units,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": steps, "maxfun": 20 * steps, "ftol": tolerance, "gtol": 1e-12, "maxcor": 10},
    )
    return _minimum(objective, start, np.asarray(found.x, np.float64) * units, float(found.fun), int(found.nit))


def rprop(
    objective: Objective,
    start: Array,
    scales: Array,
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


def _minimum(objective: Objective, start: Array, point: Array, value: float, steps: int) -> Minimum:
    """Compare with the start and the origin, so that "it never moved" can be told from "it was there already"."""
    elsewhere = (objective(start)[0], objective(np.zeros(len(start)))[0])
    return Minimum(point, value, steps, any(abs(other - value) > 1e-12 * (1.0 + abs(value)) for other in elsewhere))
