"""L1-loss regression (L1-reg of bicici 3.1): the least sum of absolute errors, without any penalty.

There are more n-grams than instances, so as a rule some weights fit all instances, and many do; of all weights with the
same fit those with the least squares are taken, W = Fᵀ (X_I X_Iᵀ)⁻¹ X_I. F are the fitted values of independent
instances I; those of the others follow from them, D = A F. Where the targets obey this, they are fitted without error.
Where they do not (a sentence that repeats with another translation, say) a linear programme finds the fit. Of fits
with the same error the lower is preferred: to predict too much costs a millionth more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from camber.arrays.types import F8, I8
from camber.errors import CamberError
from camber.kernel import kernel
from camber.regress.cholesky import cholesky, solve
from camber.regress.sparse.coefficients import Coefficients
from camber.regress.sparse.collapse import distinct_columns
from camber.regress.sparse.problem import Problem
from camber.settings import Settings

#: an instance depends on others if so small a share of its square is its own
_DEPENDENT = 1e-5
#: entries of A and errors below this are rounding
_ROUNDING = 1e-4
#: what it costs more to predict too much
_TIE = 1e-6


@dataclass(frozen=True)
class AbsoluteLoss(Settings):
    """Least absolute errors; of all solutions that with the least squares of weights.

    >>> from camber.arrays.sparse import Counts
    >>> x, y = Counts.of_dense([[1.0]] * 3), Counts.of_dense([[1.0], [1.0], [4.0]])
    >>> problem = Problem(x, y, Counts.of_dense([[2.0]]), np.ones(1, np.uint8), np.ones(1, np.uint8))
    >>> AbsoluteLoss().predict(problem).round(6).tolist()       # the median, twice
    [2.0]
    """

    linear: ClassVar[bool] = True

    def coefficients(self, problem: Problem) -> Coefficients:
        """Return W of the sentence's n-grams."""
        columns = problem.source_columns.take(problem.asked).dense().T  # [instances, asked]
        return Coefficients.of_columns(self._products(problem, columns), problem.asked, problem.source.width)

    def predict(self, problem: Problem) -> F8:
        """Return W Φ_X."""
        return self._products(problem, problem.source.products(problem.own)[:, None])[:, 0]

    def _products(self, problem: Problem, right: F8) -> F8:
        """Return Fᵀ (X_I X_Iᵀ)⁻¹ right_I, float64[target n-grams, k]."""
        dense = problem.source.dense()
        gram = np.zeros((len(problem), len(problem)))
        _gram(dense, gram)
        chosen = independent_rows(gram)
        others = np.setdiff1d(np.arange(len(problem)), chosen)
        if not len(chosen):
            return np.zeros((problem.target.width, right.shape[1]))
        factor = cholesky(gram[np.ix_(chosen, chosen)])
        multipliers = np.ascontiguousarray(right[chosen])
        solve(factor, multipliers)
        mixed = np.ascontiguousarray(gram[np.ix_(chosen, others)])
        solve(factor, mixed)
        mixed[np.abs(mixed) < _ROUNDING] = 0.0
        targets = distinct_columns(problem.target)
        products = np.zeros((len(targets), right.shape[1]))
        for t in range(len(targets)):
            at = slice(targets.columns.offsets[t], targets.columns.offsets[t + 1])
            wanted = np.zeros(len(problem))
            wanted[targets.columns.rows[at]] = targets.columns.values[at]
            fitted = fit_dependent(wanted[chosen], wanted[others], mixed.T)
            used = np.flatnonzero(fitted)
            products[t] = (fitted[used, None] * multipliers[used]).sum(0)
        return products[targets.number]


def independent_rows(gram: F8) -> I8:
    """Return the rows that no earlier ones add up to, given all products of rows; the first come first.

    >>> independent_rows(np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 1.0]])).tolist()
    [0, 2]
    """
    chosen = np.zeros(len(gram), np.int64)
    size = _choose(np.ascontiguousarray(gram), np.zeros_like(gram), chosen)
    return chosen[:size].copy()


def fit_dependent(wanted: F8, others: F8, mixed: F8) -> F8:
    """Return f with the least |wanted - f| + |others - mixed f|, summed; float64[i], [d], [d, i] → [i].

    >>> fit_dependent(np.array([0.0, 2.0]), np.array([1.0]), np.array([[1.0, 0.0]])).tolist()
    [0.0, 2.0]
    """
    short = others - mixed @ wanted
    if (np.abs(short) < _ROUNDING).all():
        return wanted
    from scipy.optimize import linprog

    involved = np.flatnonzero((mixed != 0.0).any(0))
    inside = mixed[:, involved]
    size, more = len(involved), len(others)
    # move = up - down of the involved values; short - inside · move = over - under, all four not negative
    costs = np.concatenate([np.full(size, 1.0 + _TIE), np.ones(size), np.ones(more), np.full(more, 1.0 + _TIE)])
    equal = np.hstack([inside, -inside, np.eye(more), -np.eye(more)])
    outcome = linprog(costs, A_eq=equal, b_eq=short, method="highs")
    if outcome.x is None:
        raise CamberError(f"the linear programme of least absolute errors was not solved: {outcome.message}")
    fitted = wanted.copy()
    fitted[involved] += outcome.x[:size] - outcome.x[size : 2 * size]
    return fitted


@kernel
def _gram(dense, gram):
    for i in range(len(dense)):
        for j in range(i + 1):
            total = 0.0
            for c in range(dense.shape[1]):
                if dense[i, c] != 0.0:
                    total += dense[i, c] * dense[j, c]
            gram[i, j] = total
            gram[j, i] = total


@kernel
def _choose(gram, factor, chosen):
    """Factorise row after row, and leave out those of which nothing is left."""
    size = 0
    for i in range(len(gram)):
        rest = gram[i, i]
        row = factor[size]
        for s in range(size):
            total = gram[i, chosen[s]]
            for k in range(s):
                total -= row[k] * factor[s, k]
            row[s] = total / factor[s, s]
            rest -= row[s] * row[s]
        if rest > _DEPENDENT * gram[i, i]:
            factor[size, size] = np.sqrt(rest)
            chosen[size] = i
            size += 1
    return size
