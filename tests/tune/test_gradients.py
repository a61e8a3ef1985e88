"""Gradients of smooth objectives against finite differences, and the two descents."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys.tuning_lists import random_list

from camber.errors import SettingsError, TuneError
from camber.metrics import ChrF
from camber.tune import ExpectedBleu
from camber.tune.descent import lbfgs, rprop
from camber.tune.expected import entropy, log_bleu, log_brevity
from camber.tune.likelihood import oracle_loss
from camber.tune.posterior import Posterior
from camber.tune.regularise import L2, Sum


def slope(function, point, step=1e-6):
    """Central differences."""
    slopes = []
    for axis in np.eye(len(point)) * step:
        slopes.append((function(point + axis) - function(point - axis)) / (2 * step))
    return np.array(slopes)


@given(
    st.integers(0, 10**6),
    st.sampled_from([0.3, 1.0, 4.0]),
    st.sampled_from([1.0, 30.0]),
    st.sampled_from([0.0, 2.0]),
    st.sampled_from([0.0, 0.5, -0.5]),
    st.sampled_from(["sigmoid", "capped"]),
    st.booleans(),
)
@settings(deadline=None, max_examples=120)
def test_the_gradient_of_expected_bleu(seed, scale, steepness, variance, weight, brevity, ties):
    rng = np.random.default_rng(seed)
    data = random_list(rng, sentences=5, most=4, whole=ties)
    object.__setattr__(data, "fixed", np.array([False, seed % 2 == 0, False]))
    start = np.zeros(3) if ties else rng.standard_normal(3)  # with all scores equal, too
    tuner = ExpectedBleu(scale=scale, steepness=steepness, variance=variance, entropy=weight, brevity=brevity)
    objective = tuner.objective(data, start, L2(0.7, np.ones(len(data.free))))
    point = start[data.free]
    value, gradient = objective(point)
    assert math.isfinite(value)
    np.testing.assert_allclose(gradient, slope(lambda w: objective(w)[0], point), rtol=1e-4, atol=1e-6)


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=40)
def test_expected_bleu_is_that_of_expected_counts(seed):
    rng = np.random.default_rng(seed)
    data = random_list(rng, sentences=4, most=4)
    if not data.hypotheses:
        return
    weights, scale = rng.standard_normal(3), 1.5
    sums = np.zeros(10)
    spread = 0.0
    for s in range(len(data)):
        group = range(*data.sentence_offsets[s : s + 2].tolist())
        odds = [math.exp(scale * float(data.features[h] @ weights)) for h in group]
        for h, odd in zip(group, odds, strict=True):
            p = odd / sum(odds)
            sums += p * data.statistics[h]
            spread -= p * math.log(p) / len(data)
    posterior = Posterior(data, weights)
    posterior.update(scale, weights)
    np.testing.assert_allclose(posterior.expected(data.statistics), sums)
    assert entropy(posterior)[0] == pytest.approx(spread)
    if (sums[2:6] > 1e-6).all():
        length, reference = sums[0], sums[1]
        gate = 1 / (1 + math.exp(-20.0 * (1 - length / reference)))
        expected = np.log(sums[2:6] / sums[6:]).mean() + gate * (1 - reference / length)
        assert log_bleu(sums, 4, 20.0)[0] == pytest.approx(expected)


@given(st.floats(0.3, 3.0), st.sampled_from([1.0, 16.0, 100.0, 1e4]), st.sampled_from([11.0, 27_000.0]))
def test_the_capped_penalty_is_never_a_bonus_and_the_printed_one_hardly(ratio, steepness, reference):
    hard = min(0.0, 1.0 - 1.0 / ratio)
    capped, longer, _ = log_brevity(ratio * reference, reference, steepness, "capped")
    assert hard - math.log(2.0) / steepness - 1e-12 <= capped <= 0.0
    assert longer >= 0.0  # a longer text is never punished for it
    printed, _, _ = log_brevity(ratio * reference, reference, steepness, "sigmoid")
    assert printed <= 0.279 / steepness


def test_the_printed_penalty_is_a_bonus_above_the_reference_length():
    """The figures of a slope per word, for references of 12 words: what the bound above is about."""
    lengths = np.linspace(12.0, 24.0, 2001)
    for slope_per_word, bonus in ((1.0, 0.021), (16.0, 0.0014)):
        gains = [log_brevity(length, 12.0, 12.0 * slope_per_word, "sigmoid")[0] for length in lengths]
        assert max(gains) == pytest.approx(bonus, rel=0.05)


@pytest.mark.parametrize("brevity", ["sigmoid", "capped"])
@pytest.mark.parametrize("length", [80.0, 99.0, 100.0, 101.0, 130.0])
def test_the_derivatives_of_the_brevity_penalty_in_both_lengths(brevity, length):
    point = np.array([length, 100.0])
    _, *exact = log_brevity(*point, 60.0, brevity)
    np.testing.assert_allclose(exact, slope(lambda p: log_brevity(*p, 60.0, brevity)[0], point, 1e-5), atol=1e-7)


def test_the_penalty_counts_as_much_as_the_precisions_whatever_the_number_of_sentences():
    """The printed gradient has 1/T in one of the two only: the same list twice over would have another direction."""
    data = random_list(np.random.default_rng(3), sentences=6, empty=False)
    rows = np.tile(np.arange(data.hypotheses), 2)
    offsets = np.concatenate([data.sentence_offsets, data.sentence_offsets[1:] + data.hypotheses])
    twice = data.take(rows, offsets)
    start = np.array([0.3, -0.2, 0.5])
    for brevity in ("sigmoid", "capped"):
        tuner = ExpectedBleu(brevity=brevity, entropy=0.1, variance=3.0)
        once, again = (tuner.objective(some, start)(start) for some in (data, twice))
        assert once[0] == pytest.approx(again[0])
        np.testing.assert_allclose(once[1], again[1])


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=40)
def test_with_a_large_scale_expected_bleu_is_bleu(seed):
    rng = np.random.default_rng(seed)
    data = random_list(rng, sentences=6, most=5, empty=False)
    weights = rng.standard_normal(3)
    posterior = Posterior(data, weights)
    posterior.update(1e6, weights)
    sums = data.sums_of(data.one_best(weights))
    np.testing.assert_allclose(posterior.expected(data.statistics), sums, atol=1e-6)
    if (sums[2:6] > 0).all() and abs(sums[0] / sums[1] - 1) > 1e-9:
        assert 100 * math.exp(log_bleu(sums, 4, 1e6)[0]) == pytest.approx(data.corpus_score(weights))


@given(st.integers(0, 10**6), st.booleans())
@settings(deadline=None, max_examples=40)
def test_the_gradient_of_the_oracles_likelihood(seed, ties):
    rng = np.random.default_rng(seed)
    data = random_list(rng, sentences=5, most=4, whole=ties)
    point = np.zeros(3) if ties else rng.standard_normal(3)
    posterior, oracle = Posterior(data, point), data.oracle()
    loss, gradient = oracle_loss(posterior, oracle, point, 2.0)
    assert loss >= 0.0
    differences = slope(lambda w: oracle_loss(posterior, oracle, w, 2.0)[0], point)
    np.testing.assert_allclose(gradient, differences, rtol=1e-4, atol=1e-5)


def test_expected_bleu_needs_bleu():
    data = random_list(np.random.default_rng(1), sentences=5, empty=False)
    object.__setattr__(data, "metric", ChrF())
    with pytest.raises(TuneError, match="not of chrF2"):
        ExpectedBleu().fit(data, np.ones(3), seed=1)


def test_regularisers_add_up():
    one, other = L2(2.0), L2(3.0, np.array([1.0, -1.0]))
    point = np.array([0.5, 2.0])
    value, gradient = Sum((one, other)).value_and_gradient(point)
    assert value == pytest.approx(one.value_and_gradient(point)[0] + other.value_and_gradient(point)[0])
    np.testing.assert_allclose(gradient, slope(lambda w: Sum((one, other)).value_and_gradient(w)[0], point), atol=1e-6)
    with pytest.raises(SettingsError, match="at least 0"):
        L2(-1.0)


def test_both_descents_find_the_minimum_of_a_bowl():
    centre, widths = np.array([3.0, -2.0, 0.5]), np.array([1.0, 10.0, 0.1])

    def bowl(point):
        return float((widths * (point - centre) ** 2).sum()), 2 * widths * (point - centre)

    for found in (
        lbfgs(bowl, np.zeros(3)),
        lbfgs(bowl, np.zeros(3), widths),
        rprop(bowl, np.zeros(3), np.ones(3), 500, patience=50),
    ):
        np.testing.assert_allclose(found.point, centre, atol=1e-2)
        assert found.moved
    assert lbfgs(bowl, centre).moved  # it was there already, and the function does depend on the point
    assert not lbfgs(lambda point: (1.0, np.zeros(3)), centre).moved
