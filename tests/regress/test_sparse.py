"""Problems of one sentence, W, and ridge regression against dense computations."""

from __future__ import annotations

import numpy as np
import pytest
from toys.problems import draw_problem

from camber.arrays.sparse import Counts
from camber.corpus import Bitext
from camber.errors import CamberError, SettingsError
from camber.regress.sparse.coefficients import Coefficients
from camber.regress.sparse.problem import Problem
from camber.regress.sparse.regressor import REGRESSORS, make_regressor
from camber.regress.sparse.ridge import Ridge
from camber.regress.spectrum import Spectrum

PAIRS = Bitext.encode(
    [["das", "Haus", "ist", "alt"], ["das", "Haus"], ["alt"]],
    [["the", "house", "is", "old"], ["the", "house"], ["old"]],
)


def test_a_problem_has_the_ngrams_of_its_pairs_and_those_of_the_sentence_that_they_know() -> None:
    sentence = np.append(PAIRS.source[1], -1)
    problem = Problem.of(PAIRS, sentence, Spectrum(2, "weighted"))
    assert len(problem) == 3
    assert problem.source.width == len(problem.source_lengths) == 7
    assert problem.own[problem.asked].tolist() == pytest.approx([1.0, np.sqrt(2.0), 1.0])
    bigrams = problem.of_lengths((2,))
    assert bigrams.source_lengths.tolist() == [2] * 3
    chosen = problem.target_lengths == 2
    assert bigrams.target.dense().tolist() == problem.target.dense()[:, chosen].tolist()
    assert bigrams.row.dense()[0].tolist() == problem.own[problem.source_lengths == 2].tolist()


def test_sides_that_do_not_match_are_refused() -> None:
    rows, row, lengths = Counts.of_dense(np.ones((2, 1))), Counts.of_dense(np.ones((1, 1))), np.ones(1, np.uint8)
    with pytest.raises(CamberError, match="2 source but 1 target"):
        Problem(rows, row, row, lengths, lengths)
    with pytest.raises(CamberError, match="one row over the source n-grams"):
        Problem(rows, rows, rows, lengths, lengths)


def test_coefficients_are_a_matrix_without_its_zeros() -> None:
    rng = np.random.default_rng(3)
    table = rng.normal(size=(5, 4)) * rng.integers(0, 2, (5, 4))
    weights = Coefficients.of_columns(table, np.arange(4), 4)
    assert len(weights.values) == np.count_nonzero(table)
    assert weights.dense().tolist() == table.tolist()
    vector = rng.normal(size=4)
    assert weights.predict(vector) == pytest.approx(table @ vector)


@pytest.mark.parametrize("penalty", [0.1, 3.0])
def test_ridge_is_the_solution_of_the_primal(penalty: float) -> None:
    problem = draw_problem(np.random.default_rng(5), instances=9, sources=12, targets=7)
    x, y = problem.source.dense(), problem.target.dense()
    primal = np.linalg.solve(x.T @ x + penalty * np.eye(x.shape[1]), x.T @ y).T
    ridge = Ridge(penalty=penalty)
    weights = ridge.coefficients(problem).dense()
    assert weights[:, problem.asked] == pytest.approx(primal[:, problem.asked])
    assert ridge.predict(problem) == pytest.approx(primal @ problem.own)


@pytest.mark.parametrize("name", list(REGRESSORS))
def test_every_kind_predicts_for_a_sentence_without_known_words_and_without_instances(name: str) -> None:
    if name in ("svr", "logreg", "svc"):
        pytest.importorskip("sklearn")
    problem = draw_problem(np.random.default_rng(1), instances=6, sources=5, targets=4)
    nothing = Counts(5, np.zeros(2, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32))
    unknown = Problem(problem.source, problem.target, nothing, problem.source_lengths, problem.target_lengths)
    regressor = make_regressor(name)
    assert regressor.predict(unknown).shape == (4,)
    if regressor.linear:
        assert len(regressor.coefficients(unknown).values) == 0
    none = np.zeros(0, np.uint8)
    empty = Problem(
        Counts.empty(0), Counts.empty(0), Counts(0, nothing.offsets, nothing.columns, nothing.values), none, none
    )
    assert regressor.predict(empty).shape == (0,)


def test_an_unknown_kind_or_setting_is_named() -> None:
    with pytest.raises(SettingsError, match="unknown regressor 'best'; known: ridge"):
        make_regressor("best")
    with pytest.raises(SettingsError, match="unknown setting 'depth' for Ridge"):
        make_regressor("ridge", {"depth": 3})
