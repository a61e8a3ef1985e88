"""Measures, thresholds and tuning for F1."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys.problems import draw_problem

from camber.corpus import Bitext
from camber.engine import Threads
from camber.errors import CamberError
from camber.regress.sparse.lasso import Lasso
from camber.regress.sparse.measures import NOTHING, Measures
from camber.regress.sparse.thresholds import above, best_thresholds
from camber.regress.sparse.tuning import Example, evaluate, grid, settings_of, tune
from camber.regress.spectrum import Spectrum

items = st.lists(
    st.tuples(st.sampled_from([-1.0, 0.0, 0.25, 0.5, 0.7, 2.0]), st.integers(1, 3), st.booleans()), max_size=9
)


def test_measures_are_those_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(1)
    predicted, wanted = rng.random(50) < 0.3, rng.random(50) < 0.4
    found = Measures.of(predicted, wanted)
    assert found.precision == pytest.approx(metrics.precision_score(wanted, predicted))
    assert found.recall == pytest.approx(metrics.recall_score(wanted, predicted))
    assert found.f1 == pytest.approx(metrics.f1_score(wanted, predicted))
    assert found.ber == pytest.approx(1 - metrics.balanced_accuracy_score(wanted, predicted))


def test_measures_of_nothing_are_0_and_what_cannot_be_predicted_is_missed() -> None:
    assert (NOTHING.precision, NOTHING.recall, NOTHING.f1, NOTHING.ber) == (0.0, 0.0, 0.0, 0.0)
    found = Measures.of(np.array([True]), np.array([True]), unreachable=1)
    assert (found.precision, found.recall) == (1.0, 0.5)
    assert found.plus(found) == Measures(2, 0, 0, 2)


@given(items, st.integers(0, 3))
@settings(deadline=None)
def test_no_thresholds_are_better_than_the_best(drawn: list[tuple[float, int, bool]], unreachable: int) -> None:
    values = np.array([value for value, _, _ in drawn], np.float64)
    lengths = np.array([length for _, length, _ in drawn], np.int64)
    wanted = np.array([want for _, _, want in drawn], bool)
    found = best_thresholds(values, lengths, wanted, unreachable, orders=3)
    score = Measures.of(above(values, lengths, found), wanted, unreachable).f1
    cuts = [-2.0, -0.5, 0.1, 0.3, 0.6, 1.0, 3.0]  # between all values there are
    every = (np.array(some) for some in itertools.product(cuts, repeat=3))
    assert score == pytest.approx(max(Measures.of(above(values, lengths, t), wanted, unreachable).f1 for t in every))


def test_tuning_takes_the_settings_with_the_highest_f1_on_any_number_of_threads() -> None:
    rng = np.random.default_rng(3)
    examples = []
    for _ in range(4):
        problem = draw_problem(rng, instances=15, sources=12, targets=10)
        examples.append(Example(problem, rng.random(10) < 0.3, np.array([1, 0])))
    regressors = grid("lasso", {"penalty": [0.3, 3.0, 30.0]})
    tuned = tune(regressors, examples)
    scores = [tune([one], examples).measures.f1 for one in regressors]
    assert tuned.measures.f1 == max(scores)
    assert settings_of(tuned.regressor) == settings_of(regressors[int(np.argmax(scores))])
    assert evaluate(tuned.regressor, tuned.thresholds, examples) == tuned.measures
    again = tune(regressors, examples, engine=Threads(2))
    assert again.thresholds.tolist() == tuned.thresholds.tolist()
    with pytest.raises(CamberError, match="nothing to tune"):
        tune([], examples)


def test_an_example_knows_which_ngrams_its_reference_has_and_how_many_no_instance_has() -> None:
    pairs = Bitext.encode([["a", "b"], ["b"]], [["x", "y"], ["y", "z"]])
    example = Example.of(pairs, pairs.source[0], ["x", "y", "w", "y"], Spectrum(2, "weighted"))
    assert example.wanted.sum() == 3  # x, y, x y
    assert example.unreachable.tolist() == [1, 2]  # w; y w, w y
    words = example.of_lengths((1,))
    assert (words.wanted.sum(), words.unreachable.tolist()) == (2, [1, 0])
    assert words.problem.target.width == 3
    assert Lasso().predict(words.problem).shape == (3,)
