"""Logistic regression against its definition, and against scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.confidence import logistic_loss

from camber.confidence.logistic import fit_logistic


@given(st.integers(0, 1000), st.booleans(), st.sampled_from([0.1, 1.0, 10.0]))
def test_no_step_away_makes_the_fit_better(seed, shares, penalty):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(30, 3)) * [1.0, 10.0, 0.1]
    table[:, 2] += 5
    truth = rng.random(30)
    truth = truth if shares else (truth < 0.4).astype(float)
    model = fit_logistic(table, truth, penalty)
    rows, deviations = table.tolist(), table.std(axis=0).tolist()

    def loss(bias, weights):
        return logistic_loss(rows, truth.tolist(), bias, weights, penalty, deviations)

    best = loss(model.bias, model.weights.tolist())
    for column in range(4):
        for step in (-1e-3, 1e-3):
            weights = model.weights.copy()
            bias = model.bias
            if column == 3:
                bias += step
            else:  # around the middle of the column, so that the bias does not have to follow
                weights[column] += step / deviations[column]
                bias -= step / deviations[column] * table[:, column].mean()
            assert loss(bias, weights.tolist()) >= best - 1e-8


def test_it_is_scikit_learns():
    linear = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(1)
    table = rng.normal(size=(200, 4))
    truth = (table @ [1.0, -2.0, 0.0, 0.5] + rng.normal(size=200) > 0).astype(float)
    scaled = (table - table.mean(axis=0)) / table.std(axis=0)
    theirs = linear.LogisticRegression(C=1.0, tol=1e-10, max_iter=1000).fit(scaled, truth)
    ours = fit_logistic(table, truth, 1.0)
    np.testing.assert_allclose(ours.probabilities(table), theirs.predict_proba(scaled)[:, 1], atol=1e-5)


@pytest.mark.parametrize("truth", [0.0, 1.0])
def test_what_is_always_true_or_false_has_a_solution(truth):
    table = np.random.default_rng(1).normal(size=(20, 2))
    p = fit_logistic(table, np.full(20, truth)).probabilities(table)
    assert np.abs(p - truth).max() < 0.01
