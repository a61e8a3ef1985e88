"""Expected BLEU near the weights that tuning began with."""

from __future__ import annotations

import statistics

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from toys.tuning_lists import random_list

from camber.engine import Threads
from camber.tune import ExpectedBleu, HeldBleu, TuningData
from camber.tune.descent import LATELY, lbfgs
from camber.tune.held import SPREADS, sized
from camber.tune.loop import refitted
from camber.tune.regularise import L2, Home


def inside(data: TuningData, column: np.ndarray) -> float:
    """Return the standard deviation of a column around the means of its sentences, plainly."""
    around = []
    for first, last in zip(data.sentence_offsets, data.sentence_offsets[1:], strict=False):
        own = column[first:last].tolist()
        around += [value - statistics.fmean(own) for value in own]
    return float(np.sqrt(statistics.fmean(value * value for value in around)))


@given(st.integers(0, 10**6), st.sampled_from([0.0, 1.0, 50.0]))
@settings(deadline=None, max_examples=40)
def test_the_prior_is_that_of_the_formula_and_its_gradient_that_of_differences(seed, held):
    rng = np.random.default_rng(seed)
    data = random_list(rng, sentences=6, most=5, empty=False)
    start, point = rng.standard_normal(3), rng.standard_normal(3)
    assume(all(inside(data, column) > 1e-6 for column in data.features.T))
    own = inside(data, data.features @ start)
    home = start * np.clip(own, *SPREADS) / own
    np.testing.assert_allclose(sized(data, start), home)
    other = L2(0.3)
    held_value, gradient = HeldBleu(held=held).objective(data, start, other)(point)
    plain = ExpectedBleu().objective(data, start, other)(point)[0]
    away = [inside(data, column) * (w - c) for column, w, c in zip(data.features.T, point, home, strict=True)]
    assert held_value - plain == pytest.approx(held / (2 * len(data)) * sum(a * a for a in away), abs=1e-12)
    for axis in np.eye(3) * 1e-6:
        high, low = (HeldBleu(held=held).objective(data, start, other)(point + a)[0] for a in (axis, -axis))
        assert gradient @ axis * 2 == pytest.approx(high - low, rel=1e-3, abs=1e-10)


def test_features_of_other_units_come_to_the_same_scores():
    rng = np.random.default_rng(4)
    data, start, units = random_list(rng, sentences=40, most=8, empty=False), np.ones(3), np.array([1.0, 1000.0, 0.01])
    other = TuningData(
        data.names, data.features * units, data.sentence_offsets, data.statistics, data.metric, data.fixed, data.missing
    )
    one, two = HeldBleu().fit(data, start, seed=1), HeldBleu().fit(other, start / units, seed=1)
    np.testing.assert_allclose(one.weights, two.weights * units, rtol=1e-3, atol=1e-3)
    assert one.objective == pytest.approx(two.objective, rel=1e-6)


def test_weights_are_the_nearer_to_where_they_began_the_more_they_are_held():
    data, start = random_list(np.random.default_rng(6), sentences=40, most=8, empty=False), np.array([0.5, -0.5, 1.0])
    home = sized(data, start)
    far = [np.abs(HeldBleu(held=held).fit(data, start, seed=1).weights - home).sum() for held in (0.01, 1.0, 100.0)]
    assert far[0] > far[1] > far[2] > 0.0


def test_luck_does_not_make_weights_grow():
    """Statistics that no feature explains: without a prior, single hypotheses are picked by huge weights."""
    rng = np.random.default_rng(7)
    data = random_list(rng, sentences=25, most=10, features=8, empty=False)
    start = np.full(8, 0.5)
    free, held = (tuner.fit(data, start, seed=1).weights for tuner in (ExpectedBleu(steps=1000), HeldBleu()))
    spreads = [data.spread(data.scores(weights)) for weights in (free, held)]
    assert spreads[0] > 10.0
    assert spreads[1] < 1.5 * max(SPREADS)


def test_weights_of_any_scale_are_as_good_a_beginning():
    data, start = random_list(np.random.default_rng(8), sentences=30, most=8, empty=False), np.array([0.5, 1.0, -0.3])
    assert SPREADS[0] < data.spread(data.scores(start)) < SPREADS[1]
    sharp, flat = sized(data, 1e6 * start), sized(data, 1e-6 * start)
    for weights, spread in ((sharp, SPREADS[1]), (flat, SPREADS[0]), (sized(data, start), None)):
        assert data.spread(data.scores(weights)) == pytest.approx(spread or data.spread(data.scores(start)))
    assert not sized(data, np.zeros(3)).any()


def test_a_round_starts_where_tuning_began_if_the_tuner_wants_that():
    data = random_list(np.random.default_rng(9), sentences=30, most=8, empty=False)
    home, last = np.array([0.5, 0.5, 0.5]), np.array([5.0, -3.0, 1.0])
    one = Threads(1)
    for tuner, start in ((HeldBleu(), home), (ExpectedBleu(), last)):
        fitted = refitted(tuner, data, last, seed=1, engine=one, home=home)
        assert fitted.tobytes() == tuner.fit(data, start, seed=1, engine=one).weights.tobytes()


def test_home_is_a_penalty_with_its_derivative():
    home, point = Home(3.0, np.array([1.0, 0.0]), np.array([2.0, 5.0])), np.array([0.5, -0.25])
    value, gradient = home.value_and_gradient(point)
    assert value == pytest.approx(1.5 * (1.0 + 1.25**2))
    for axis in np.eye(2) * 1e-6:
        slope = home.value_and_gradient(point + axis)[0] - home.value_and_gradient(point - axis)[0]
        assert gradient @ axis * 2 == pytest.approx(slope, rel=1e-6)


def test_a_descent_ends_when_steps_hardly_gain_anything_together():
    def valley(point):
        """Rosenbrock's: L-BFGS follows its floor slowly."""
        x, y = point[::2], point[1::2]
        slope = np.empty_like(point)
        slope[::2], slope[1::2] = -400.0 * x * (y - x * x) - 2.0 * (1.0 - x), 200.0 * (y - x * x)
        return float((100.0 * (y - x * x) ** 2 + (1.0 - x) ** 2).sum()), slope

    start = np.linspace(-3.0, 2.0, 40)
    whole, early = lbfgs(valley, start, steps=500), lbfgs(valley, start, steps=500, slow=5.0)
    assert LATELY < early.steps < whole.steps
    rest = lbfgs(valley, early.point, steps=LATELY)
    assert rest.value < early.value < valley(start)[0]
