"""What every regression of target n-grams offers, and the kinds by name.

    regressor = make_regressor("lasso", {"penalty": 0.5})
    regressor.predict(problem)              # the expected value of every target n-gram
    regressor.coefficients(problem)         # W, of the sentence's own source n-grams

A regressor *is* its settings, a frozen dataclass; it keeps nothing of a problem, so threads may share it. Each problem
is that of one sentence, and is solved from nothing (transduction).
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

from camber.arrays.types import F8
from camber.registry import Entry, Registry
from camber.regress.sparse.coefficients import Coefficients
from camber.regress.sparse.problem import Problem


class Regressor(Protocol):
    """A way to learn W, or a prediction without W; a class that is `Settings`, too."""

    #: whether there is a W: without it, `coefficients` is an error that says so
    linear: ClassVar[bool]

    def coefficients(self, problem: Problem) -> Coefficients:
        """Return W, restricted to the columns of the sentence's own n-grams (`problem.asked`).

        These are all that predictions and Eq. 8-9 need, though all source n-grams take part in the fit. Its product
        with the sentence's vector is what :meth:`predict` returns, up to rounding.
        """
        ...

    def predict(self, problem: Problem) -> F8:
        """Return the expected value of every target n-gram, float64[target n-grams].

        It is in the unit of the vectors, √weight · count; that of a classifier is √weight times a probability or
        vote.
        """
        ...


#: what is taken where nobody says otherwise
USUAL = "lasso"

REGRESSORS: Registry[type[Any]] = Registry(
    "regressor",
    "camber.regressors",
    {
        "ridge": Entry("camber.regress.sparse.ridge:Ridge", "least squares with squared weights as penalty (L2)"),
        "lasso": Entry(
            "camber.regress.sparse.lasso:Lasso", "least squares with absolute weights as penalty (L1), solved"
        ),
        "fsr": Entry("camber.regress.sparse.stagewise:Stagewise", "the lasso by forward stagewise regression (bicici)"),
        "l1": Entry("camber.regress.sparse.absolute:AbsoluteLoss", "least absolute errors, without a penalty"),
        "threshold": Entry("camber.regress.sparse.thresholding:Thresholding", "iterative soft thresholding"),
        "svr": Entry("camber.regress.sparse.vectors:VectorRegression", "support vector regression, rbf (scikit-learn)"),
        "logreg": Entry("camber.regress.sparse.vectors:Logistic", "logistic regression: is it there? (scikit-learn)"),
        "svc": Entry("camber.regress.sparse.vectors:VectorClassifier", "support vectors: is it there? (scikit-learn)"),
    },
)


def make_regressor(name: str, values: dict[str, Any] | None = None) -> Regressor:
    """Make a regressor of its settings, as names and values."""
    kind: Any = REGRESSORS.load(name)
    regressor: Regressor = kind.from_dict(values or {})
    return regressor
