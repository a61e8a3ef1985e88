"""Ridge regression in its dual (Eq. 1): W = M_Y (K + λ I)⁻¹ M_Xᵀ, where K = M_Xᵀ M_X is instances × instances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from camber.arrays.types import F8
from camber.kernel import kernel
from camber.regress.ridge import gram_solver
from camber.regress.sparse.coefficients import Coefficients
from camber.regress.sparse.problem import Problem
from camber.settings import Settings, setting


@dataclass(frozen=True)
class Ridge(Settings):
    """Least squares with an L2 penalty; the matrix is factorised once for a sentence.

    >>> from camber.arrays.sparse import Counts
    >>> one = Counts.of_dense([[1.0], [1.0]])
    >>> problem = Problem(one, one, Counts.of_dense([[3.0]]), np.ones(1, np.uint8), np.ones(1, np.uint8))
    >>> Ridge(penalty=2.0).predict(problem).tolist()     # W = 2 / (2 + 2)
    [1.5]
    """

    linear: ClassVar[bool] = True

    penalty: float = setting(1.0, "λ of Eq. 1: what squared weights cost", low=1e-9)

    def coefficients(self, problem: Problem) -> Coefficients:
        """Return W of the sentence's n-grams: a right-hand side for each."""
        columns = problem.source_columns.take(problem.asked).dense().T  # [instances, asked]
        multipliers = gram_solver(problem.source, self.penalty).solve(columns).values
        weights = np.zeros((problem.target.width, columns.shape[1]))
        by_target = problem.target_columns
        _add_rows(by_target.offsets, by_target.columns, by_target.values, np.ascontiguousarray(multipliers), weights)
        return Coefficients.of_columns(weights, problem.asked, problem.source.width)

    def predict(self, problem: Problem) -> F8:
        """Return M_Y (K + λ I)⁻¹ M_Xᵀ Φ_X: one solve for all targets."""
        products = problem.source.products(problem.own)
        multipliers = gram_solver(problem.source, self.penalty).solve(products[:, None]).values
        return problem.target.project(multipliers[:, 0])


@kernel
def _add_rows(offsets, columns, values, table, sums):
    """Add the sparse matrix times the table to `sums`."""
    width = table.shape[1]
    for r in range(len(sums)):
        out = sums[r]
        for i in range(offsets[r], offsets[r + 1]):
            value = np.float64(values[i])
            row = table[columns[i]]
            for k in range(width):
                out[k] += value * row[k]
