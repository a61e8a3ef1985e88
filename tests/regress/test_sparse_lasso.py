"""The lasso and forward stagewise regression: against twins, scikit-learn and the conditions of an optimum."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.stagewise import lasso_gap, lasso_objective, stagewise
from toys.problems import draw_problem

from camber.arrays.sparse import Counts
from camber.regress.sparse.collapse import by_rows, collapse_sources, distinct_columns, squares_of
from camber.regress.sparse.descent import lasso_fits
from camber.regress.sparse.lasso import Lasso
from camber.regress.sparse.problem import Problem
from camber.regress.sparse.stagewise import Stagewise, gram_columns, stagewise_fits

seeds = st.integers(0, 10_000)
penalties = st.sampled_from([0.01, 0.3, 1.0, 4.0])


def drawn(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    instances, sources, targets = (int(rng.integers(1, top)) for top in (12, 16, 8))
    return draw_problem(rng, instances=instances, sources=sources, targets=targets)


def whole(problem: Problem) -> Problem:
    """Ask for all source n-grams, so that all of W is returned."""
    every = Counts.of_dense(np.ones((1, problem.source.width)))
    return Problem(problem.source, problem.target, every, problem.source_lengths, problem.target_lengths)


@given(seeds)
def test_directions_are_the_largest_of_all_columns_that_are_multiples_and_equal_ones_share(seed: int) -> None:
    table = drawn(seed).source.dense()
    sources = collapse_sources(Counts.of_dense(table))
    kept = np.zeros((len(table), len(sources)))
    columns = sources.columns
    for d in range(len(sources)):
        at = slice(columns.offsets[d], columns.offsets[d + 1])
        kept[columns.rows[at], d] = columns.values[at]
    units = kept / np.linalg.norm(kept, axis=0)
    assert (units.T @ units - np.eye(len(sources)) < 1 - 1e-9).all()  # no two point the same way
    for c, d in enumerate(sources.direction):
        length = np.linalg.norm(table[:, c])
        if d >= 0:
            assert table[:, c] == pytest.approx(kept[:, d], rel=1e-6)
        elif length:
            along = units.T @ table[:, c] / length
            assert along.max() == pytest.approx(1.0)
            assert np.linalg.norm(kept[:, along.argmax()]) > length
    members = np.bincount(sources.direction[sources.direction >= 0], minlength=len(sources))
    assert sources.shares == pytest.approx(1 / members)
    assert squares_of(columns) == pytest.approx((kept**2).sum(0))
    rows = by_rows(columns, len(table))
    assert len(rows.offsets) == len(table) + 1
    gram, product = gram_columns(sources), np.zeros((len(sources), len(sources)))
    for d in range(len(sources)):
        at = slice(gram.offsets[d], gram.offsets[d + 1])
        assert len(set(gram.rows[at])) == len(gram.rows[at])
        product[gram.rows[at], d] = gram.values[at]
    assert product == pytest.approx(kept.T @ kept)


@given(seeds)
def test_distinct_columns_are_all_columns(seed: int) -> None:
    rows = drawn(seed).target
    distinct = distinct_columns(rows)
    columns, table = distinct.columns, np.zeros((len(rows), len(distinct)))
    for d in range(len(distinct)):
        at = slice(columns.offsets[d], columns.offsets[d + 1])
        table[columns.rows[at], d] = columns.values[at]
    assert table[:, distinct.number].tolist() == rows.dense().tolist()
    assert len(np.unique(table, axis=1).T) == len(distinct)
    assert distinct.often.tolist() == np.bincount(distinct.number).tolist()


@given(seeds, penalties)
@settings(deadline=None)
def test_the_gap_is_that_of_the_weights_over_all_columns_and_bounds_the_excess(seed: int, penalty: float) -> None:
    problem = whole(drawn(seed))
    sources, targets = collapse_sources(problem.source), distinct_columns(problem.target)
    fits, gaps, _ = lasso_fits(sources, targets, penalty=penalty, gap=1e-3, rounds=200)
    assert (gaps <= 1e-3).all()
    rough = fits.coefficients(problem.asked).dense()
    close = Lasso(penalty=penalty, gap=1e-11).coefficients(problem).dense()
    x, y = problem.source.dense(), problem.target.dense()
    for t in range(y.shape[1]):
        if y[:, t].any():
            gap = gaps[targets.number[t]]
            assert lasso_gap(x, y[:, t], rough[t], penalty) == pytest.approx(gap, abs=1e-6)
            costs = [lasso_objective(x, y[:, t], weights, penalty) for weights in (rough[t], close[t])]
            assert costs[0] - costs[1] <= gap * (y[:, t] @ y[:, t]) + 1e-9
        else:
            assert not rough[t].any()


@given(seeds, penalties)
@settings(deadline=None)
def test_weights_obey_the_conditions_of_an_optimum_and_equal_columns_have_equal_weights(
    seed: int, penalty: float
) -> None:
    problem = whole(drawn(seed))
    weights = Lasso(penalty=penalty, gap=1e-12, rounds=1000).coefficients(problem).dense()
    x, y = problem.source.dense(), problem.target.dense()
    slopes = 2 * x.T @ (y - x @ weights.T)  # [sources, targets]
    tolerance = 1e-4 * max(1.0, np.abs(x).max() * np.abs(y).max())
    assert (np.abs(slopes) <= penalty + tolerance).all()
    used = np.abs(weights.T) > 1e-3
    assert slopes[used] == pytest.approx(penalty * np.sign(weights.T[used]), abs=tolerance)
    for c in range(x.shape[1]):
        same = (x == x[:, [c]]).all(0)
        assert (weights[:, same] == weights[:, [c]]).all()


@pytest.mark.parametrize("seed", range(4))
def test_weights_are_those_of_scikit_learn_where_there_is_one_solution(seed: int) -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(30, 20)), rng.normal(size=(30, 5))
    x[rng.random(x.shape) < 0.5] = 0.0
    lengths = np.ones(20, np.uint8), np.ones(5, np.uint8)
    problem = Problem(Counts.of_dense(x), Counts.of_dense(y), Counts.of_dense(np.ones((1, 20))), *lengths)
    for penalty in (0.5, 5.0):
        model = linear.Lasso(alpha=penalty / (2 * 30), fit_intercept=False, tol=1e-12, max_iter=100_000)
        expected = model.fit(problem.source.dense(), problem.target.dense()).coef_
        lasso = Lasso(penalty=penalty, gap=1e-12)
        assert lasso.coefficients(problem).dense() == pytest.approx(expected, abs=1e-5)
        assert lasso.predict(problem) == pytest.approx(expected.sum(1), abs=1e-4)


@given(seeds, penalties)
@settings(deadline=None)
def test_predictions_do_not_depend_on_columns_that_are_repeated(seed: int, penalty: float) -> None:
    problem = drawn(seed)
    twice = np.repeat(np.arange(problem.source.width), 2)
    source, own = (Counts.of_dense(rows.dense()[:, twice]) for rows in (problem.source, problem.row))
    lengths = problem.source_lengths[twice]
    repeated = Problem(source, problem.target, own, lengths, problem.target_lengths)
    for regressor in (Lasso(penalty=penalty), Stagewise(iterations=20)):
        assert regressor.predict(repeated) == pytest.approx(regressor.predict(problem), abs=1e-9)
        weights, once = regressor.coefficients(repeated).dense(), regressor.coefficients(problem).dense()
        assert weights == pytest.approx(once[:, twice] / 2, abs=1e-9)


@given(seeds, st.integers(1, 60), st.sampled_from([0.03, 0.2, 5.0]))
@settings(deadline=None)
def test_stagewise_regression_is_its_textbook(seed: int, iterations: int, step: float) -> None:
    problem = whole(drawn(seed))
    weights = Stagewise(iterations=iterations, step=step).coefficients(problem).dense()
    x, y = problem.source.dense(), problem.target.dense()
    for t in range(y.shape[1]):
        # a last step may be just above what counts as rounding, 1e-6 of the first product, for one of the two only
        least = max(1e-9, 2e-6 * float(np.abs(x.T @ y[:, t]).max(initial=0.0)))
        assert weights[t] == pytest.approx(stagewise(x, y[:, t], iterations, step), abs=least)


def test_steps_that_are_too_large_for_a_column_do_not_oscillate() -> None:
    rng = np.random.default_rng(2)
    problem = draw_problem(rng, instances=40, sources=10, targets=3, share=0.8)
    x, y = problem.source.dense(), problem.target.dense()
    weights = Stagewise(iterations=20_000, step=10.0).coefficients(whole(problem)).dense()
    best = np.linalg.lstsq(x, y, rcond=None)[0]
    assert ((y - x @ weights.T) ** 2).sum() == pytest.approx(((y - x @ best) ** 2).sum(), rel=1e-9)


@pytest.mark.slow
def test_small_steps_follow_the_path_of_the_lasso() -> None:
    """With the norm of a lasso solution, stagewise regression costs nearly what that solution does."""
    problem = whole(draw_problem(np.random.default_rng(7), instances=40, sources=30, targets=6))
    x, y = problem.source.dense(), problem.target.dense()
    exact = Lasso(penalty=8.0, gap=1e-10).coefficients(problem).dense()
    for t in range(y.shape[1]):
        norm = np.abs(exact[t]).sum()
        if norm:
            step = float(norm / 5000)
            one = Problem(
                problem.source, Counts.of_dense(y[:, [t]]), problem.row, problem.source_lengths, np.ones(1, np.uint8)
            )
            near = Stagewise(iterations=5000, step=step).coefficients(one).dense()[0]
            best = lasso_objective(x, y[:, t], exact[t], 8.0)
            assert best <= lasso_objective(x, y[:, t], near, 8.0) * (1 + 1e-9)
            assert lasso_objective(x, y[:, t], near, 8.0) < best * 1.01


def test_more_weights_than_one_call_has_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = draw_problem(np.random.default_rng(4), instances=20, sources=15, targets=40)
    sources, targets = collapse_sources(problem.source), distinct_columns(problem.target)
    roomy = lasso_fits(sources, targets, penalty=0.1, gap=1e-6, rounds=100)[0]
    walked = stagewise_fits(sources, targets, iterations=30, step=0.1)
    monkeypatch.setattr("camber.regress.sparse.descent._BLOCK", 3)
    monkeypatch.setattr("camber.regress.sparse.stagewise._BLOCK", 3)
    tight = lasso_fits(sources, targets, penalty=0.1, gap=1e-6, rounds=100)[0]
    assert tight.weights.tolist() == roomy.weights.tolist()
    assert tight.offsets.tolist() == roomy.offsets.tolist()
    again = stagewise_fits(sources, targets, iterations=30, step=0.1)
    assert again.directions.tolist() == walked.directions.tolist()


def test_a_gap_that_is_not_reached_is_told(caplog: pytest.LogCaptureFixture) -> None:
    problem = draw_problem(np.random.default_rng(4), instances=20, sources=15, targets=5)
    with caplog.at_level(logging.WARNING, "camber"):
        Lasso(penalty=0.01, gap=1e-12, rounds=1).predict(problem)
    assert "allow more rounds" in caplog.text
