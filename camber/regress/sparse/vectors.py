"""Support vector regression (rbf), and classifiers: scikit-learn's, for comparison (bicici 3.1-3.2).

Equal target columns are fitted once; kernels are computed once for all targets. A classifier asks whether an n-gram is
there. Its answer, from 0 to 1, is multiplied by the mean value of the n-gram in the instances that have it, so that it
is in the unit of the vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np

from camber.arrays.sparse import Counts
from camber.arrays.types import F8
from camber.errors import CamberError
from camber.regress.sparse.coefficients import Coefficients
from camber.regress.sparse.collapse import distinct_columns
from camber.regress.sparse.problem import Problem
from camber.settings import Settings, setting


class _WithoutWeights(Settings):
    """What has no W whose products are its predictions."""

    linear: ClassVar[bool] = False

    def coefficients(self, problem: Problem) -> Coefficients:
        """Refuse."""
        raise CamberError(f"{type(self).__name__} has no matrix W; take ridge, lasso, fsr, l1 or threshold for one")


@dataclass(frozen=True)
class VectorRegression(_WithoutWeights):
    """Support vector regression with the kernel exp(-γ ‖x - x'‖²)."""

    cost: float = setting(1.0, "C: what an error beyond the tube costs", low=1e-9)
    tube: float = setting(0.1, "ε: errors up to this cost nothing", low=0)
    gamma: float = setting(0.0, "γ of the kernel (0: 1 over source n-grams times the variance of values)", low=0)

    def predict(self, problem: Problem) -> F8:
        """Return the value of every target n-gram."""
        svm: Any = _sklearn().svm
        kernel, own = rbf(problem, self.gamma)

        def fit(wanted: F8) -> float:
            model = svm.SVR(kernel="precomputed", C=self.cost, epsilon=self.tube)
            return float(model.fit(kernel, wanted).predict(own)[0])

        return _each(problem, fit)


@dataclass(frozen=True)
class VectorClassifier(_WithoutWeights):
    """Support vector classification with that kernel; the decision is squeezed into 0 … 1."""

    cost: float = setting(1.0, "C: what an error costs", low=1e-9)
    gamma: float = setting(0.0, "γ of the kernel (0: 1 over source n-grams times the variance of values)", low=0)

    def predict(self, problem: Problem) -> F8:
        """Return the value of every target n-gram."""
        svm: Any = _sklearn().svm
        kernel, own = rbf(problem, self.gamma)

        def decide(there: Any) -> float:
            model = svm.SVC(kernel="precomputed", C=self.cost)
            return float(1.0 / (1.0 + np.exp(-model.fit(kernel, there).decision_function(own)[0])))

        return _each(problem, lambda wanted: _classified(wanted, decide))


@dataclass(frozen=True)
class Logistic(_WithoutWeights):
    """Logistic regression with squared weights as penalty; its answer is a probability."""

    cost: float = setting(1.0, "C: what errors cost, over what squared weights do", low=1e-9)

    def predict(self, problem: Problem) -> F8:
        """Return the value of every target n-gram."""
        linear: Any = _sklearn().linear_model
        source, own = _matrix(problem.source), _matrix(problem.row)

        def decide(there: Any) -> float:
            model = linear.LogisticRegression(C=self.cost, solver="liblinear")
            return float(model.fit(source, there).predict_proba(own)[0, 1])

        return _each(problem, lambda wanted: _classified(wanted, decide))


def rbf(problem: Problem, gamma: float = 0.0) -> tuple[F8, F8]:
    """Return the kernel of instances with each other, and of the sentence with them: float64[n, n], [1, n]."""
    rows = np.vstack([problem.source.dense(), problem.own])
    products = np.einsum("ic,jc->ij", rows, rows)
    squares = np.diag(products)
    instances = rows[:-1]
    spread = float(instances.var()) * instances.shape[1] if instances.size else 0.0
    scale = gamma or (1.0 / spread if spread > 0.0 else 1.0)
    kernel = np.exp(-scale * np.maximum(squares[:, None] + squares - 2 * products, 0.0))
    return np.ascontiguousarray(kernel[:-1, :-1]), kernel[-1:, :-1]


def _each(problem: Problem, fit: Callable[[F8], float]) -> F8:
    """Fit every distinct target column."""
    targets = distinct_columns(problem.target)
    predicted = np.zeros(len(targets))
    for t in range(len(targets)):
        at = slice(targets.columns.offsets[t], targets.columns.offsets[t + 1])
        wanted = np.zeros(len(problem))
        wanted[targets.columns.rows[at]] = targets.columns.values[at]
        predicted[t] = fit(wanted) if wanted.any() else 0.0
    return predicted[targets.number]


def _classified(wanted: F8, decide: Callable[[Any], float]) -> float:
    there = wanted != 0.0
    answer = decide(there.astype(np.int64)) if not there.all() else 1.0  # no classifier takes a single class
    return answer * float(wanted[there].mean())


def _matrix(rows: Counts) -> Any:
    from scipy.sparse import csr_matrix

    return csr_matrix((rows.values.astype(np.float64), rows.columns, rows.offsets), (len(rows), rows.width))


def _sklearn() -> Any:
    try:
        import sklearn.linear_model
        import sklearn.svm
    except ImportError as error:
        _refuse(error)
    return sklearn


def _refuse(error: ImportError) -> NoReturn:
    raise CamberError("this regressor needs scikit-learn: pip install 'camber[experiments]'") from error
