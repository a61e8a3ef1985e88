"""Logistic regression on columns, for what is true or false, and for shares between 0 and 1."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from camber.arrays.types import F8

#: steps of Newton's method at most, and when it has arrived
_STEPS, _CLOSE = 50, 1e-8


class Logistic(NamedTuple):
    """p = 1 / (1 + exp(-(bias + weights · x)))."""

    bias: float
    weights: F8  # [columns]

    def odds(self, table: F8) -> F8:
        """Return the logarithms of odds, float64[rows]; those of a row are the same whatever other rows there are."""
        odds = np.full(len(table), self.bias)
        for column, weight in zip(table.T, self.weights.tolist(), strict=True):
            odds += weight * column  # BLAS would round a row by how many there are
        return odds

    def probabilities(self, table: F8) -> F8:
        """Return probabilities, float64[rows]."""
        return np.asarray(1.0 / (1.0 + np.exp(-np.clip(self.odds(table), -50.0, 50.0))))

    def loss(self, table: F8, truth: F8) -> float:
        """Return the mean cross entropy, in nats."""
        p = np.clip(self.probabilities(table), 1e-12, 1 - 1e-12)
        return float(-(truth * np.log(p) + (1 - truth) * np.log(1 - p)).mean())


def fit_logistic(table: F8, truth: F8, penalty: float = 1.0) -> Logistic:
    """Fit by least cross entropy: float64[rows, columns], float64[rows] from 0 to 1.

    `penalty` times half the squared weights of standardised columns is added. A column that does not vary has weight 0.

    >>> round(float(fit_logistic(np.zeros((4, 1)), np.array([0.0, 1, 1, 1])).probabilities(np.zeros((1, 1)))[0]), 3)
    0.75
    """
    mean, deviation = table.mean(axis=0), table.std(axis=0)
    varies = deviation > 1e-9
    scaled = np.column_stack([np.ones(len(table)), (table[:, varies] - mean[varies]) / deviation[varies]])
    ridge = np.full(scaled.shape[1], penalty)
    ridge[0] = 1e-6  # of the bias: only so that all true has a solution
    weights = np.zeros(scaled.shape[1])
    for _ in range(_STEPS):
        p = 1.0 / (1.0 + np.exp(-np.clip(scaled @ weights, -50.0, 50.0)))
        slope = scaled.T @ (p - truth) + ridge * weights
        curve = (scaled * np.maximum(p * (1 - p), 1e-9)[:, None]).T @ scaled + np.diag(ridge)
        step = np.linalg.solve(curve, slope)
        weights -= step * min(1.0, 5.0 / max(1e-300, float(np.abs(step).max())))  # a long step may go astray
        if np.abs(step).max() < _CLOSE:
            break
    full = np.zeros(table.shape[1])
    full[varies] = weights[1:] / deviation[varies]
    return Logistic(float(weights[0] - (full * mean).sum()), full)
