"""Iterative thresholding (iter-ε of bicici 3.1): gradient steps on the squares, each followed by a soft threshold.

    w ← S(w + Xᵀ (y - X w) / L, λ / 2 L),       S(a, t) = sign(a) max(|a| - t, 0)

L is the largest eigenvalue of XᵀX. With enough iterations this is the lasso of Eq. 2; the few that are made stop on the
way there, with weights spread over many columns. Equal columns have equal weights at every iteration, so they are one
column that counts several times: this changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from camber.arrays.types import F8
from camber.kernel import kernel
from camber.regress.sparse.coefficients import Coefficients
from camber.regress.sparse.collapse import by_rows, distinct_columns
from camber.regress.sparse.problem import Problem
from camber.settings import Settings, setting

_POWER_STEPS = 100


@dataclass(frozen=True)
class Thresholding(Settings):
    """Iterative soft thresholding.

    >>> from camber.arrays.sparse import Counts
    >>> one = Counts.of_dense([[1.0], [1.0]])
    >>> problem = Problem(one, one, Counts.of_dense([[3.0]]), np.ones(1, np.uint8), np.ones(1, np.uint8))
    >>> Thresholding(penalty=1.0, iterations=1).predict(problem).round(6).tolist()
    [2.25]
    """

    linear: ClassVar[bool] = True

    penalty: float = setting(1.0, "λ of Eq. 2: what absolute weights cost", low=0)
    iterations: int = setting(50, "gradient steps for each target n-gram", low=1)

    def coefficients(self, problem: Problem) -> Coefficients:
        """Return W of the sentence's n-grams."""
        sources, targets = distinct_columns(problem.source), distinct_columns(problem.target)
        asked, place = np.unique(sources.number[problem.asked], return_inverse=True)
        columns, height = sources.columns, len(problem)
        rows, width = by_rows(columns, height), len(sources)
        often = sources.often.astype(np.float64)
        kept = np.zeros((len(targets), len(asked)))
        vector, image = np.ones(width), np.zeros(height)
        largest = _largest_eigenvalue(rows, often, vector, image)
        if largest > 0.0:
            step, threshold = 1.0 / largest, self.penalty / 2.0 / largest
            _iterate(
                rows, often, targets.columns, self.iterations, step, threshold, np.zeros(height), np.zeros(width),
                np.zeros(width), asked.astype(np.int64), kept,
            )  # fmt: skip
        return Coefficients.of_columns(kept[targets.number][:, place], problem.asked, problem.source.width)

    def predict(self, problem: Problem) -> F8:
        """Return W Φ_X."""
        return self.coefficients(problem).predict(problem.own)


@kernel
def _largest_eigenvalue(rows, often, vector, image):
    """Return that of XᵀX by the power method; the n-grams' counts are not negative, so it starts from ones."""
    largest = 0.0
    for _ in range(_POWER_STEPS):
        length = 0.0
        for c in range(len(vector)):
            length += often[c] * vector[c] * vector[c]
        if length == 0.0:
            return 0.0
        length = np.sqrt(length)
        total = 0.0
        for c in range(len(vector)):
            vector[c] /= length
        for i in range(len(image)):
            product = 0.0
            for k in range(rows.offsets[i], rows.offsets[i + 1]):
                product += rows.values[k] * often[rows.rows[k]] * vector[rows.rows[k]]
            image[i] = product
            total += product * product
        largest = total
        for c in range(len(vector)):
            vector[c] = 0.0
        for i in range(len(image)):
            for k in range(rows.offsets[i], rows.offsets[i + 1]):
                vector[rows.rows[k]] += rows.values[k] * image[i]
    return largest


@kernel
def _iterate(rows, often, targets, iterations, step, threshold, residual, weights, slopes, asked, kept):
    """Fill the weights of the columns that are asked for, of every target column."""
    for t in range(len(kept)):
        for c in range(len(weights)):
            weights[c] = 0.0
        for _ in range(iterations):
            for i in range(len(residual)):
                residual[i] = 0.0
            for k in range(targets.offsets[t], targets.offsets[t + 1]):
                residual[targets.rows[k]] = targets.values[k]
            for c in range(len(slopes)):
                slopes[c] = 0.0
            for i in range(len(residual)):
                left = residual[i]
                for k in range(rows.offsets[i], rows.offsets[i + 1]):
                    left -= rows.values[k] * often[rows.rows[k]] * weights[rows.rows[k]]
                if left != 0.0:
                    for k in range(rows.offsets[i], rows.offsets[i + 1]):
                        slopes[rows.rows[k]] += left * rows.values[k]
            for c in range(len(weights)):
                moved = weights[c] + step * slopes[c]
                if moved > threshold:
                    weights[c] = moved - threshold
                elif moved < -threshold:
                    weights[c] = moved + threshold
                else:
                    weights[c] = 0.0
        for a in range(len(asked)):
            kept[t, a] = weights[asked[a]]
