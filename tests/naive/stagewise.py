"""Forward stagewise regression and the lasso's objective as the textbook has them: dense, one target, no collapsing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


def stagewise(x: Vector, y: Vector, iterations: int, step: float) -> Vector:
    """Return weights; columns that are the same move together, each with its share of the step."""
    weights = np.zeros(x.shape[1])
    first = np.abs(x.T @ y).max(initial=0.0)
    for _ in range(iterations):
        products = x.T @ (y - x @ weights)
        largest = np.abs(products).max(initial=0.0)
        if largest <= 1e-6 * first:
            break
        chosen = int(np.flatnonzero(np.abs(products) >= largest * (1 - 1e-6))[0])
        same = (x == x[:, [chosen]]).all(0)
        move = min(step, abs(products[chosen]) / (x[:, chosen] ** 2).sum()) * np.sign(products[chosen])
        weights[same] += move / same.sum()
    return weights


def lasso_objective(x: Vector, y: Vector, weights: Vector, penalty: float) -> float:
    """Return ‖y - X w‖² + λ ‖w‖₁."""
    return float(((y - x @ weights) ** 2).sum() + penalty * np.abs(weights).sum())


def lasso_gap(x: Vector, y: Vector, weights: Vector, penalty: float) -> float:
    """Return the gap between these weights and the best dual point along the residual, relative to ‖y‖².

    Of points θ with |2 Xᵀ θ| ≤ λ the dual is ‖y‖² - ‖y - θ‖².
    """
    residual = y - x @ weights
    steepest = 2 * np.abs(x.T @ residual).max(initial=0.0)
    limit = penalty / steepest if steepest else np.inf
    best = (y @ residual) / (residual @ residual) if residual.any() else 0.0
    theta = residual * np.clip(best, -limit, limit)
    dual = (y @ y) - ((y - theta) ** 2).sum()
    return float((lasso_objective(x, y, weights, penalty) - dual) / (y @ y))
