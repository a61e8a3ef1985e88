"""The lasso, solved: the exact contrast to forward stagewise regression, which is an approximation of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from camber.arrays.types import F8
from camber.progress import log
from camber.regress.sparse.coefficients import Coefficients
from camber.regress.sparse.collapse import collapse_sources, distinct_columns
from camber.regress.sparse.descent import lasso_fits
from camber.regress.sparse.fits import Fits
from camber.regress.sparse.problem import Problem
from camber.settings import Settings, setting


@dataclass(frozen=True)
class Lasso(Settings):
    """Least squares with an L1 penalty (bicici Eq. 2), by coordinate descent to a duality gap.

    λ is that of ‖y - X w‖² + λ ‖w‖₁; scikit-learn's alpha is λ / (2 · instances). Equal columns share their weight
    equally (`collapse`).

    >>> import numpy as np
    >>> from camber.arrays.sparse import Counts
    >>> one = Counts.of_dense([[1.0], [1.0]])
    >>> problem = Problem(one, one, Counts.of_dense([[3.0]]), np.ones(1, np.uint8), np.ones(1, np.uint8))
    >>> Lasso(penalty=1.0).predict(problem).tolist()     # W = (2 - 1 / 2) / 2
    [2.25]
    """

    linear: ClassVar[bool] = True

    penalty: float = setting(1.0, "λ of Eq. 2: what absolute weights cost", low=1e-6)
    gap: float = setting(1e-4, "duality gap at which to stop, relative to the squares of the target", low=1e-12)
    rounds: int = setting(200, "times that columns may join the active set, at most", low=1)

    def coefficients(self, problem: Problem) -> Coefficients:
        """Return W of the sentence's n-grams."""
        return self.fits(problem).coefficients(problem.asked)

    def predict(self, problem: Problem) -> F8:
        """Return W Φ_X."""
        return self.fits(problem).predict(problem.own)

    def fits(self, problem: Problem) -> Fits:
        """Fit all target n-grams."""
        sources, targets = collapse_sources(problem.source), distinct_columns(problem.target)
        fits, gaps, _ = lasso_fits(sources, targets, penalty=self.penalty, gap=self.gap, rounds=self.rounds)
        if (gaps > self.gap).any():
            log.warning(
                "the lasso of %d target columns stopped at a gap of %.1e; allow more rounds",
                (gaps > self.gap).sum(), gaps.max(),
            )  # fmt: skip
        return fits
