"""The shape of a learnt response: direction, violations, and the fitted log curve."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from camber.bend.response import Response
from camber.errors import CamberError


def points(values, at=None, populations=None, feature="f") -> Response:
    """A response whose bins hold one value each."""
    places = np.arange(1.0, len(values) + 1) if at is None else np.asarray(at, float)
    return Response(feature, places, places, [3] * len(values) if populations is None else populations, values)


def test_a_line_is_told_from_a_curve() -> None:
    lows, highs, often = [1.0, 3.0, 8.0], [2.0, 4.0, 9.0], [1, 1, 1]
    assert Response("p", lows, highs, often, [1.5, 3.5, 8.5]).straight
    assert not Response("p", lows, highs, often, [1.5, 3.6, 8.5]).straight
    assert not Response("p", lows, highs, often, [1.0, 1.0, 1.0]).straight  # flat: nothing was learnt
    assert not Response("p", lows[:2], highs[:2], often[:2], [1.5, 3.5]).straight  # two points always are


def test_a_monotone_response_has_a_direction_and_no_violations() -> None:
    assert points([1, 2, 2, 5]).direction == 1
    assert points([5, 2, 2, 1]).direction == -1
    assert not points([1, 2, 2, 5]).violations.any()
    assert not points([5, 2, 2, 1]).violations.any()


def test_a_flat_response_and_a_single_bin_have_no_direction() -> None:
    for response in (points([0.3, 0.3, 0.3]), points([7.0])):
        assert response.direction == 0
        assert not response.violations.any()


def test_bins_that_go_back_are_violations_and_noise_is_not() -> None:
    assert points([0, 1, 0.5, 2, 1.9, 3]).violations.tolist() == [False, False, True, False, True, False]
    assert points([3, 1.9, 2, 1]).violations.tolist() == [False, False, True, False]
    assert not points([0, 1, 1 - 1e-9, 2]).violations.any()


def test_a_crowded_end_outweighs_a_rare_one() -> None:
    assert points([0, 1, 2, 3, -1], populations=[10, 10, 10, 10, 1]).direction == 1


@given(arrays(np.float64, st.integers(2, 12), elements=st.floats(-5, 5, width=16)))
def test_turning_the_response_over_turns_the_direction_and_keeps_the_sum_of_steps(values: np.ndarray) -> None:
    one, other = points(values), points(-values)
    assert (one.direction == 0) == (other.direction == 0)
    # only a response that leans neither way is taken as rising both times
    if one.direction == -other.direction:
        assert one.violations.tolist() == other.violations.tolist()


@given(
    st.floats(-3, 3),
    st.floats(-3, 3),
    st.lists(st.tuples(st.floats(1e-6, 1e6), st.integers(1, 1000)), min_size=2, max_size=20, unique_by=lambda x: x[0]),
)
def test_the_log_curve_is_the_weighted_least_squares_fit(level: float, slope: float, made: list) -> None:
    at, populations = map(np.array, zip(*sorted(made), strict=True))
    noise = np.sin(np.arange(len(at)) * 7.0)
    response = points(level + slope * np.log(at) + noise, at, populations)
    if np.ptp(np.log(at)) < 1e-3:
        return
    curve = response.log_curve
    assert curve is not None
    # np.polyfit weighs residuals before they are squared
    expected = np.polyfit(np.log(at), response.values, 1, w=np.sqrt(populations))
    assert np.allclose([curve.slope, curve.level], expected, rtol=1e-6, atol=1e-6)


def test_a_log_shaped_response_is_explained_in_full() -> None:
    at = np.array([0.001, 0.01, 0.2, 1.0])
    curve = points(0.5 + 0.25 * np.log(at), at).log_curve
    assert curve is not None
    assert curve.level == pytest.approx(0.5)
    assert curve.slope == pytest.approx(0.25)
    assert curve.explained == pytest.approx(1.0)
    assert curve([1.0])[0] == pytest.approx(0.5)


def test_only_positive_values_are_fitted() -> None:
    at = np.array([-4.0, 0.0, 1.0, 2.0, 4.0])
    curve = points([9.0, 9.0, *np.log(at[2:])], at).log_curve
    assert curve is not None
    assert (curve.bins, curve.slope) == (3, pytest.approx(1.0))


@pytest.mark.parametrize(
    ("response", "why"),
    [
        (points([1, 2, 3], [-3, -2, 0]), "no positive values"),
        (points([1, 2], [0, 4]), "one bin only"),
        (points([1]), "one bin only"),
        (points([1, 2], [1, 2], [0, 0]), "no population"),
        (points([1, 2], [1, 1 + 1e-15]), "too close"),
    ],
)
def test_where_no_log_curve_can_be_fitted_it_says_why(response: Response, why: str) -> None:
    assert response.log_curve is None
    assert why in response.no_log_curve


def test_a_flat_response_has_a_flat_curve_that_explains_nothing() -> None:
    curve = points([0.1] * 5).log_curve
    assert curve is not None
    assert curve.explained is None
    assert curve.slope == pytest.approx(0.0, abs=1e-15)


def test_bins_stand_in_the_middle_of_their_range() -> None:
    response = Response("f", [-4, 0, 1, 9], [-2, 0.5, 4, 9], [1] * 4, [0] * 4)
    assert response.positions.tolist() == [-3, 0.25, 2, 9]


@given(arrays(np.float64, 4, elements=st.floats(-1e300, 1e300)), arrays(np.float64, 2, elements=st.floats(-1e9, 1e9)))
def test_rows_give_the_same_response_again(edges: np.ndarray, values: np.ndarray) -> None:
    edges.sort()
    one = Response("a", edges[[0, 2]], edges[[1, 3]], [0, 2**40], values)
    other = points([1.0, 2.0], feature="b")
    again = Response.from_rows([*one.to_rows(), *other.to_rows()])
    assert [item.feature for item in again] == ["a", "b"]
    for before, after in zip((one, other), again, strict=True):
        for name in ("lows", "highs", "populations", "values"):
            assert np.array_equal(getattr(before, name), getattr(after, name))


@pytest.mark.parametrize("row", [["f", "0", "1"], ["f", "0", "x", "1", "1", "1"], ["f", "1", "1", "1", "1", "1"]])
def test_bad_rows_are_refused(row: list[str]) -> None:
    with pytest.raises(CamberError):
        Response.from_rows([row])


@pytest.mark.parametrize(
    ("lows", "highs", "populations", "values"),
    [
        ([0, 1], [0, 1], [1, 1], [0]),
        ([], [], [], []),
        ([0, 1], [0, float("inf")], [1, 1], [0, 0]),
        ([0, 1], [0, 1], [1, 1], [0, float("nan")]),
        ([0, 1], [2, 3], [1, 1], [0, 0]),
        ([1], [0], [1], [0]),
        ([0], [0], [-1], [0]),
    ],
)
def test_what_is_no_response_is_refused(lows: list, highs: list, populations: list, values: list) -> None:
    with pytest.raises(CamberError, match="response of f"):
        Response("f", lows, highs, populations, values)
