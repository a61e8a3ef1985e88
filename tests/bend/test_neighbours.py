"""Regularisers that tie the weights of neighbouring bins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import neighbours

from camber.bend.neighbours import LinearNeighbours, MonotoneNeighbours
from camber.errors import SettingsError
from camber.tune.descent import lbfgs

CHAINS = [(0, 5), (5, 6), (7, 9), (9, 16)]
# few distinct numbers, so that ties and plateaus are common
WEIGHTS = st.lists(
    st.one_of(st.sampled_from([0.0, 1.0, -1.0, 0.5]), st.floats(-3.0, 3.0).map(lambda x: round(x, 3))),
    min_size=17,
    max_size=17,
)
GAMMAS = st.sampled_from([0.3, 0.5, 1.0, 2.0, 3.7])


def slope(function, point, step=1e-6):
    return np.array([(function(point + a) - function(point - a)) / (2 * step) for a in np.eye(len(point)) * step])


@given(WEIGHTS, st.floats(0.0, 10.0))
@settings(deadline=None, max_examples=200)
def test_the_linear_penalty_is_the_sum_of_its_terms_and_its_gradient_is_exact(weights, strength):
    point = np.array(weights)
    penalty = LinearNeighbours(strength, CHAINS)
    value, gradient = penalty.value_and_gradient(point)
    assert value == pytest.approx(neighbours.linear(weights, strength, CHAINS), rel=1e-12, abs=1e-12)
    assert gradient == pytest.approx(slope(lambda w: neighbours.linear(w, strength, CHAINS), point), abs=1e-5)


@pytest.mark.slow
@given(WEIGHTS, st.floats(0.0, 10.0), GAMMAS)
@settings(deadline=None, max_examples=300)
def test_the_monotone_penalty_is_the_sum_of_its_terms_and_its_gradient_is_exact(weights, strength, gamma):
    # The penalty is continuously differentiable, at ties and plateaus too, so central differences hold everywhere; near
    # a plateau the second derivatives are not continuous, so the error of a difference is of the order of its step.
    point = np.array(weights)
    penalty = MonotoneNeighbours(strength, gamma, CHAINS)
    value, gradient = penalty.value_and_gradient(point)
    assert value == pytest.approx(neighbours.monotone(weights, strength, gamma, CHAINS), rel=1e-10, abs=1e-10)
    measured = slope(lambda w: neighbours.monotone(w, strength, gamma, CHAINS), point)
    assert gradient == pytest.approx(measured, rel=1e-4, abs=2e-4)


@pytest.mark.parametrize("gamma", [0.3, 0.5, 1.0, 2.0, 5.0])
@pytest.mark.parametrize(
    "triple",
    [
        (1.0, 1.0, 1.0),  # a plateau
        (1.0, 3.0, 1.0),  # off a plateau
        (1.0, 1.0, 2.0),  # equal to one neighbour
        (1.0, 2.0, 2.0),
        (1.0, 1.5, 2.0),  # exactly in the middle
        (1.0, 1.5, 2.0 - 1e-14),
        (1.0, 1.0 + 1e-13, 1.0 + 2e-13),
        (1.0, 3.0, 1.0 + 1e-300),
        (0.0, 1e-200, 1e-320),
        (0.0, 5e-324, 0.0),
        (0.0, 1e150, 1e-150),
    ],
)
def test_value_and_gradient_are_finite_and_continuous_at_ties(triple, gamma):
    penalty = MonotoneNeighbours(3.0, gamma, [(0, 3)])
    point = np.array(triple)
    with np.errstate(all="raise", under="ignore"):
        value, gradient = penalty.value_and_gradient(point)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()
    scale = max(1.0, np.abs(point).max())
    for step in (1e-6, 1e-8):
        for direction in np.vstack([np.eye(3), -np.eye(3), [[1, 1, -1], [-1, 2, 1]]]) * step:
            near, near_gradient = penalty.value_and_gradient(point + direction)
            # one-sided: the rise over a short step is what the gradient says
            assert near - value == pytest.approx(gradient @ direction, abs=200 * step**2 + 1e-14 * scale**2)
            if gamma >= 0.5:
                assert near_gradient == pytest.approx(gradient, abs=200 * step + 1e-14 * scale)


def test_on_a_plateau_there_is_no_penalty_and_no_pull():
    value, gradient = MonotoneNeighbours(5.0, 2.0, [(0, 4)]).value_and_gradient(np.full(4, 0.7))
    assert value == 0.0
    assert gradient.tolist() == [0.0] * 4


def test_off_equal_neighbours_the_damping_is_1():
    weights = np.array([1.0, 3.0, 1.0])
    linear = LinearNeighbours(5.0, [(0, 3)]).value_and_gradient(weights)
    monotone = MonotoneNeighbours(5.0, 2.0, [(0, 3)]).value_and_gradient(weights)
    assert monotone[0] == linear[0] == 20.0
    assert monotone[1].tolist() == linear[1].tolist()


def test_a_monotone_curve_costs_little_and_a_zigzag_much():
    penalty = MonotoneNeighbours(1.0, 2.0, [(0, 10)])
    curve = np.log(np.arange(1.0, 11.0))
    zigzag = curve[[0, 2, 1, 4, 3, 6, 5, 8, 7, 9]]
    assert penalty.value_and_gradient(curve)[0] < 1e-3
    assert penalty.value_and_gradient(zigzag)[0] > 0.1


@pytest.mark.parametrize("make", [lambda c: LinearNeighbours(2.0, c), lambda c: MonotoneNeighbours(2.0, 2.0, c)])
def test_nothing_is_compared_across_chains_and_short_chains_cost_nothing(make):
    rng = np.random.default_rng(1)
    weights = rng.normal(size=9)
    assert make([(0, 2), (2, 3), (3, 5), (5, 5)]).value_and_gradient(weights)[0] == 0.0
    assert not make([]).value_and_gradient(weights)[1].any()
    both, gradient = make([(0, 4), (4, 9)]).value_and_gradient(weights)
    first, second = make([(0, 4)]).value_and_gradient(weights), make([(4, 9)]).value_and_gradient(weights)
    assert both == pytest.approx(first[0] + second[0])
    assert gradient == pytest.approx(first[1] + second[1])


def test_a_strong_monotone_penalty_leaves_a_monotone_curve():
    # noisy points of a logarithm: as the strength grows, what is left is monotone but not straight
    rng = np.random.default_rng(3)
    target = np.log(np.arange(1.0, 13.0)) + 0.4 * rng.normal(size=12)
    assert (np.diff(target) < 0.0).any()
    penalty = MonotoneNeighbours(1e4, 2.0, [(0, 12)])

    def loss(weights):
        value, gradient = penalty.value_and_gradient(weights)
        return value + float((weights - target) @ (weights - target)), gradient + 2.0 * (weights - target)

    weights = lbfgs(loss, np.zeros(12), steps=5000, tolerance=1e-14).point
    assert (np.diff(weights) > -0.05).all()
    assert np.ptp(weights) > 1.0


def test_wrong_settings_are_told():
    with pytest.raises(SettingsError, match="strength of LNR is -1"):
        LinearNeighbours(-1, [])
    with pytest.raises(SettingsError, match="gamma of MNR is 0"):
        MonotoneNeighbours(1.0, 0.0, [])
    with pytest.raises(SettingsError, match="do not overlap"):
        LinearNeighbours(1.0, [(0, 4), (3, 7)])
    with pytest.raises(SettingsError, match="reaches weight 3, but there are 2"):
        LinearNeighbours(1.0, [(0, 4)]).value_and_gradient(np.zeros(2))


def test_the_same_curve_is_tied_less_with_more_bins():
    """Differences of neighbours shrink with the bins, so that a strength belongs to a number of bins."""
    few, many = (np.sin(6.0 * (np.arange(bins) + 0.5) / bins) for bins in (16, 256))
    linear = [LinearNeighbours(1.0, [(0, len(w))]).value_and_gradient(w)[0] for w in (few, many)]
    monotone = [MonotoneNeighbours(1.0, chains=[(0, len(w))]).value_and_gradient(w)[0] for w in (few, many)]
    assert linear[0] / linear[1] == pytest.approx(3893, rel=1e-3)
    assert monotone[0] / monotone[1] == pytest.approx(87292, rel=1e-3)
