"""Least squares regression with a ridge (wang2007, 2.2): solve (K + λ I) v = k, K the Gram matrix of n-gram vectors.

    gram = gram_solver(rows, ridge=10.0)
    gram.solve(right)                       # right[sentences, k], all columns at once

Eq. 4 wants K⁻¹, but K is singular as soon as a source sentence repeats; hence the ridge. For a few sentences the matrix
is factorised (Cholesky). For many, it is never made (`camber.regress.gradients`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from camber.arrays.sparse import Counts
from camber.arrays.types import F8
from camber.errors import CamberError
from camber.kernel import kernel
from camber.regress.cholesky import cholesky, solve
from camber.regress.gradients import FREQUENT, TOLERANCE, Gradients
from camber.regress.solution import GramSolver, Solution
from camber.regress.spectrum import transposed

#: up to so many sentences the Gram matrix is made and factorised
SMALL = 1500


def gram_solver(rows: Counts, ridge: float, *, tolerance: float = TOLERANCE, frequent: int = FREQUENT) -> GramSolver:
    """Return the solver that suits the number of rows."""
    if not ridge > 0.0:
        raise CamberError(f"a ridge of {ridge}; expected more than 0: sentences that repeat make the matrix singular")
    if len(rows) <= SMALL:
        return Factorised.of(rows, ridge)
    return Gradients.of(rows, ridge, tolerance=tolerance, frequent=frequent)


@dataclass(frozen=True, eq=False)
class Factorised:
    """The factor of the whole matrix, for a few sentences."""

    factor: F8

    @classmethod
    def of(cls, rows: Counts, ridge: float) -> Factorised:
        """Make the Gram matrix and factorise it."""
        gram = np.zeros((len(rows), len(rows)))
        columns = transposed(rows)
        _gram(columns.offsets, columns.columns, columns.values, gram)
        gram[np.diag_indices(len(rows))] += ridge
        return cls(cholesky(gram))

    def solve(self, right: F8, tolerances: F8 | None = None) -> Solution:
        """Solve by substitution, exactly."""
        values = np.array(right, np.float64, order="C")
        solve(self.factor, values)
        return Solution(values, 0, 0.0)


@kernel
def _gram(offsets, columns, values, gram):
    """Add Σ over rows of value · value to the pairs of columns."""
    for r in range(len(offsets) - 1):
        for i in range(offsets[r], offsets[r + 1]):
            value = np.float64(values[i])
            for j in range(offsets[r], offsets[r + 1]):
                gram[columns[i], columns[j]] += value * values[j]
