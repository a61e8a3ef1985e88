"""Penalties that hold curves to their lines."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import neighbours

from camber.bend.walk import OneWay, RandomWalk
from camber.errors import SettingsError
from camber.tune.descent import Coordinates, lbfgs

CHAINS = [(3, 7), (7, 8), (9, 9), (9, 14)]
SIZE = 15


def drawn(seed: int, strength: float) -> tuple[np.ndarray, RandomWalk, OneWay]:
    rng = np.random.default_rng(seed)
    inside = sum(end - first for first, end in CHAINS)
    walk = RandomWalk(strength, CHAINS, rng.uniform(0.01, 1.0, inside))
    lines = np.repeat([0, 1, 2, 1], [end - first for first, end in CHAINS])
    return rng.normal(size=SIZE), walk, OneWay(walk, 7.0, lines, rng.uniform(0.0, 0.5, inside))


def slope(function, point, step=1e-6):  # type: ignore[no-untyped-def]
    return np.array([(function(point + a) - function(point - a)) / (2 * step) for a in np.eye(len(point)) * step])


@given(st.integers(0, 2**32 - 1), st.floats(0.0, 10.0))
def test_a_walk_costs_the_sum_of_its_steps_and_its_gradient_is_exact(seed: int, strength: float) -> None:
    point, walk, _ = drawn(seed, strength)
    value, gradient = walk.value_and_gradient(point)
    assert value == pytest.approx(neighbours.walk(point, strength, CHAINS, walk.gaps), rel=1e-12)
    expected = slope(lambda w: neighbours.walk(w, strength, CHAINS, walk.gaps), point)
    assert gradient == pytest.approx(expected, rel=1e-5, abs=1e-3)
    # … and its ties are its curvature
    curvature = np.zeros((SIZE, SIZE))
    for tie in walk.ties():
        curvature[tie.chain, tie.chain] += np.diag(tie.bands[1]) + np.diag(tie.bands[0, 1:], 1)
        curvature[tie.chain, tie.chain] += np.diag(tie.bands[0, 1:], -1)
    assert 0.5 * point @ curvature @ point == pytest.approx(value, rel=1e-9, abs=1e-12)


@given(st.integers(0, 2**32 - 1))
def test_only_steps_against_the_line_cost_more_and_the_gradient_is_exact(seed: int) -> None:
    point, walk, one_way = drawn(seed, 2.0)

    def cost(weights: np.ndarray) -> float:
        more = neighbours.against_the_line(weights, 7.0, CHAINS, walk.gaps, one_way.lines, one_way.rises)
        return neighbours.walk(weights, 2.0, CHAINS, walk.gaps) + more

    value, gradient = one_way.value_and_gradient(point)
    assert value == pytest.approx(cost(point), rel=1e-12)
    assert gradient == pytest.approx(slope(cost, point), rel=1e-4, abs=2e-3)


@pytest.mark.parametrize("bins", [16, 256, 4096])
def test_one_strength_means_the_same_for_any_number_of_bins(bins: int) -> None:
    """A wave over all quantiles costs strength · ∫ (dδ/dq)² dq, however finely they are cut."""
    middles = (np.arange(bins) + 0.5) / bins
    wave = np.sin(2.0 * np.pi * middles)
    cost = RandomWalk(1.0, [(0, bins)], np.full(bins, 1.0 / bins)).value_and_gradient(wave)[0]
    assert cost == pytest.approx(0.5 * (2.0 * np.pi) ** 2, rel=0.15 if bins == 16 else 0.01)


def test_a_walk_of_thousands_of_bins_is_solved_in_few_steps() -> None:
    rng = np.random.default_rng(1)
    size = 4096
    target = np.cumsum(rng.standard_normal(size)) / 30.0
    walk = RandomWalk(10.0, [(0, size)], np.full(size, 1.0 / size))

    def objective(point: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = walk.value_and_gradient(point)
        away = point - target
        return value + 0.5 * float(away @ away), gradient + away

    seen = lbfgs(objective, np.zeros(size), Coordinates(np.ones(size), walk.ties()), 10)
    best = lbfgs(objective, np.zeros(size), np.ones(size), 5000)
    assert seen.value <= best.value * (1.0 + 1e-6)


def test_wrong_strengths_and_bins_without_values_are_told() -> None:
    with pytest.raises(SettingsError, match="strength of a random walk is -1"):
        RandomWalk(-1.0, [], np.zeros(0))
    with pytest.raises(SettingsError, match="without any distance"):
        RandomWalk(1.0, [(0, 2)], np.zeros(2))
    assert RandomWalk(1.0, [], np.zeros(0)).value_and_gradient(np.ones(3))[0] == 0.0
