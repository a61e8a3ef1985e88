"""L1-loss regression against linear programmes, iterative thresholding against its formula and its limit, and peers."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from toys.problems import draw_problem

from camber.arrays.sparse import Counts
from camber.errors import CamberError
from camber.regress.sparse.absolute import AbsoluteLoss, independent_rows
from camber.regress.sparse.lasso import Lasso
from camber.regress.sparse.problem import Problem
from camber.regress.sparse.regressor import make_regressor
from camber.regress.sparse.thresholding import Thresholding

seeds = st.integers(0, 10_000)


def whole(problem: Problem) -> Problem:
    """Ask for all source n-grams, so that all of W is returned."""
    every = Counts.of_dense(np.ones((1, problem.source.width)))
    return Problem(problem.source, problem.target, every, problem.source_lengths, problem.target_lengths)


def least_error(x: Any, y: Any) -> float:
    """Return the least sum of absolute errors: the whole linear programme, in weights and errors."""
    instances, sources = x.shape
    costs = np.concatenate([np.zeros(2 * sources), np.ones(2 * instances)])
    equal = np.hstack([x, -x, np.eye(instances), -np.eye(instances)])
    return float(linprog(costs, A_eq=equal, b_eq=y, method="highs").fun)


@given(seeds, st.booleans())
@settings(deadline=None, max_examples=40)
def test_no_weights_have_smaller_absolute_errors(seed: int, many: bool) -> None:
    rng = np.random.default_rng(seed)
    problem = whole(draw_problem(rng, instances=9, sources=14 if many else 5, targets=4))
    weights = AbsoluteLoss().coefficients(problem).dense()
    x, y = problem.source.dense(), problem.target.dense()
    for t in range(y.shape[1]):
        error = float(np.abs(y[:, t] - x @ weights[t]).sum())
        assert error == pytest.approx(least_error(x, y[:, t]), abs=1e-3)
    assert AbsoluteLoss().predict(problem) == pytest.approx(weights.sum(1), abs=1e-6)


def test_of_weights_without_error_the_shortest_are_taken() -> None:
    problem = whole(draw_problem(np.random.default_rng(8), instances=6, sources=40, targets=5))
    x, y = problem.source.dense(), problem.target.dense()
    assert np.linalg.matrix_rank(x) == 6
    assert AbsoluteLoss().coefficients(problem).dense() == pytest.approx((np.linalg.pinv(x) @ y).T, abs=1e-5)


@given(seeds)
def test_independent_rows_span_all_rows(seed: int) -> None:
    x = draw_problem(np.random.default_rng(seed), instances=10, sources=6, targets=1).source.dense()
    chosen = independent_rows(x @ x.T)
    assert len(chosen) == np.linalg.matrix_rank(x) == np.linalg.matrix_rank(x[chosen])


@given(seeds, st.integers(1, 20))
@settings(deadline=None, max_examples=40)
def test_thresholding_is_its_formula_over_all_columns(seed: int, iterations: int) -> None:
    problem = whole(draw_problem(np.random.default_rng(seed), instances=8, sources=9, targets=4))
    found = Thresholding(penalty=0.7, iterations=iterations).coefficients(problem).dense()
    x, y = problem.source.dense(), problem.target.dense()
    largest = np.linalg.eigvalsh(x.T @ x)[-1]
    weights = np.zeros((9, 4))
    for _ in range(iterations if largest > 0 else 0):
        moved = weights + x.T @ (y - x @ weights) / largest
        weights = np.sign(moved) * np.maximum(np.abs(moved) - 0.35 / largest, 0.0)
    assert found == pytest.approx(weights.T, abs=1e-4)


def test_the_limit_of_thresholding_predicts_as_the_lasso_does() -> None:
    problem = draw_problem(np.random.default_rng(6), instances=40, sources=12, targets=5)
    limit = Thresholding(penalty=2.0, iterations=5000).predict(problem)
    assert limit == pytest.approx(Lasso(penalty=2.0, gap=1e-12).predict(problem), abs=1e-3)


def test_support_vector_regression_is_scikit_learns_on_the_vectors() -> None:
    svm = pytest.importorskip("sklearn.svm")
    problem = draw_problem(np.random.default_rng(2), instances=15, sources=8, targets=4)
    x, y = problem.source.dense(), problem.target.dense()
    for given_gamma, gamma in ((0.0, "scale"), (0.3, 0.3)):
        expected = [
            svm.SVR(kernel="rbf", gamma=gamma, C=2.0, epsilon=0.05).fit(x, column).predict(problem.own[None])[0]
            for column in y.T
        ]
        found = make_regressor("svr", {"cost": 2.0, "tube": 0.05, "gamma": given_gamma}).predict(problem)
        assert found == pytest.approx(np.where(y.any(0), expected, 0.0), abs=1e-6)


@pytest.mark.parametrize("name", ["logreg", "svc"])
def test_classifiers_answer_in_the_unit_of_the_vectors(name: str) -> None:
    pytest.importorskip("sklearn")
    x = Counts.of_dense(np.vstack([np.eye(2)] * 10))
    y = Counts.of_dense(np.column_stack([x.dense()[:, 0] * 3.0, np.ones(20), np.zeros(20)]))
    lengths = np.ones(2, np.uint8), np.ones(3, np.uint8)
    regressor = make_regressor(name, {"cost": 100.0})
    with_it = regressor.predict(Problem(x, y, Counts.of_dense([[1.0, 0.0]]), *lengths))
    without = regressor.predict(Problem(x, y, Counts.of_dense([[0.0, 1.0]]), *lengths))
    assert 3.0 > with_it[0] > 2.0 > 1.0 > without[0] > 0.0
    assert (with_it[1], with_it[2]) == (1.0, 0.0)
    with pytest.raises(CamberError, match="has no matrix W"):
        regressor.coefficients(Problem(x, y, Counts.of_dense([[1.0, 0.0]]), *lengths))


def test_without_scikit_learn_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *others: Any, **more: Any) -> Any:
        if name.startswith("sklearn"):
            raise ImportError(name)
        return real(name, *others, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    problem = draw_problem(np.random.default_rng(1), instances=5, sources=4, targets=3)
    with pytest.raises(CamberError, match=r"pip install 'camber\[experiments\]'"):
        make_regressor("svr").predict(problem)
