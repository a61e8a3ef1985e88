"""PRO: sampling against a plain loop, the loss, the length cut-off."""

import numpy as np
import pytest
import scipy.optimize
from hypothesis import example, given, settings
from hypothesis import strategies as st
from naive import tuners
from toys.tuning_lists import random_list

from camber.errors import TuneError
from camber.tune import Pro
from camber.tune.pro import logistic_loss
from camber.tune.regularise import L2


@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 6), st.integers(0, 3), st.sampled_from([0.0, 0.05]))
@settings(deadline=None, max_examples=60)
@example(3, 40, 6, 0, 0.0)
def test_pairs_are_those_of_a_plain_loop(seed, samples, keep, limit, threshold):
    data = random_list(np.random.default_rng(seed), sentences=5, most=6)
    pro = Pro(samples=samples, keep=keep, length_difference=limit, threshold=threshold)
    key = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0] >> np.uint64(1))
    expected = tuners.pro_pairs(
        data.sentence_offsets.tolist(),
        (data.sentence_scores(pro.brevity) / 100.0).tolist(),
        data.statistics[:, 0].tolist(),
        samples,
        pro.threshold,
        keep,
        limit or np.inf,
        key,
    )
    assert pro.sample(data, seed).tolist() == expected


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=30)
def test_loss_and_gradient_are_those_of_the_formula(seed):
    rng = np.random.default_rng(seed)
    data = random_list(rng, sentences=8, most=5, empty=False)
    pairs = Pro(samples=20).sample(data, seed)
    weights = rng.standard_normal(3)
    differences = data.columns[:, pairs[:, 0]] - data.columns[:, pairs[:, 1]]
    loss, gradient = logistic_loss(np.ascontiguousarray(differences), np.zeros(len(pairs)), weights)
    assert loss == pytest.approx(tuners.logistic(pairs.tolist(), data.features.tolist(), weights.tolist()))

    def value(point):
        return logistic_loss(np.ascontiguousarray(differences), np.zeros(len(pairs)), point)[0]

    np.testing.assert_allclose(gradient, scipy.optimize.approx_fprime(weights, value, 1e-7), rtol=1e-4, atol=1e-4)


def test_the_loss_of_huge_margins_is_finite():
    loss, gradient = logistic_loss(np.array([[1e6, -1e6]]), np.zeros(2), np.array([1.0]))
    assert loss == pytest.approx(1e6)
    assert gradient.tolist() == [1e6]


def test_monsters_are_left_out():
    rng = np.random.default_rng(1)
    data = random_list(rng, sentences=20, most=10, empty=False)
    data.statistics[::3, 0] += 50  # overlong
    pairs = Pro().sample(data, 1)
    assert len(pairs)
    lengths = data.statistics[:, 0]
    assert np.abs(lengths[pairs[:, 0]] - lengths[pairs[:, 1]]).max() <= 10
    wild = Pro(length_difference=0).sample(data, 1)
    assert np.abs(lengths[wild[:, 0]] - lengths[wild[:, 1]]).max() > 10


def test_a_strong_pull_to_a_centre_ends_there():
    data = random_list(np.random.default_rng(4), sentences=20, most=10, empty=False)
    centre = np.array([3.0, -1.0, 2.0])
    tuned = Pro().fit(data, np.ones(3), seed=1, regulariser=L2(1e9, centre))
    np.testing.assert_allclose(tuned.weights, centre, atol=1e-3)


def test_no_pairs_is_an_error_that_says_what_to_do():
    data = random_list(np.random.default_rng(4), sentences=20, most=10, empty=False)
    with pytest.raises(TuneError, match="lower the threshold"):
        Pro(threshold=2.0).fit(data, np.ones(3), seed=1)
