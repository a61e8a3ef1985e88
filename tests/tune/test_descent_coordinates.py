"""Coordinates that know which weights are tied."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from camber.bend.neighbours import LinearNeighbours, second_differences
from camber.tune.descent import Coordinates, lbfgs


def curvature(scales, chains, tie):
    """Write the matrix down: diag(1 / scales²) + 2 tie AᵀA, row of A by row."""
    penalty = np.diag(np.asarray(scales) ** -2.0)
    for first, last in chains:
        for j in range(first + 1, last - 1):
            row = np.zeros(len(scales))
            row[[j - 1, j, j + 1]] = 0.5, -1.0, 0.5
            penalty += 2.0 * tie * np.outer(row, row)
    return penalty


@given(st.integers(0, 5), st.integers(0, 9), st.integers(0, 4), st.floats(0.0, 1e4), st.integers(0, 2**32 - 1))
def test_coordinates_turn_the_curvature_into_a_sphere(before, size, after, tie, seed):
    rng = np.random.default_rng(seed)
    total = before + size + after
    if not total:
        return
    scales, chains = rng.uniform(0.1, 3.0, total), [(before, before + size)]
    seen, matrix = Coordinates(scales, second_differences(chains, 2.0 * tie), 0.5), curvature(scales, chains, tie)
    point, slope = rng.standard_normal(total), rng.standard_normal(total)
    inside = seen.inside(point)
    np.testing.assert_allclose(seen.outside(inside), point, rtol=1e-6, atol=1e-6)
    assert inside @ inside == pytest.approx(point @ matrix @ point, rel=1e-9)
    # a gradient belongs to the same function: its product with a step is the same
    step = rng.standard_normal(total)
    assert seen.gradient(slope) @ seen.inside(step) == pytest.approx(slope @ step, rel=1e-6, abs=1e-6)


def test_a_stiff_chain_is_solved_in_few_steps():
    rng = np.random.default_rng(1)
    size, strength = 256, 1e6
    target, matrix = rng.standard_normal(size), None
    ties = LinearNeighbours(strength, [(0, size)])

    def objective(point):
        value, gradient = ties.value_and_gradient(point)
        away = point - target
        return value + 0.5 * float(away @ away), gradient + away

    matrix = curvature(np.ones(size), [(0, size)], strength)
    best = objective(np.linalg.solve(matrix, target))[0]
    start = np.linspace(-1.0, 1.0, size)
    assert lbfgs(objective, start, Coordinates(np.ones(size), ties.ties()), 20).value == pytest.approx(best)
    assert lbfgs(objective, start, np.ones(size), 20).value > 1.01 * best
