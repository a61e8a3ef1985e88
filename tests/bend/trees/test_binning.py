"""Codes say the same as comparisons with edges, whatever the values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from camber.bend.trees.binning import ABSENT, MOST_BINS, SAMPLE, edges_of, encode
from camber.bend.trees.rows import Rows
from camber.errors import SettingsError
from camber.features.feature import Feature

NUMBERS = st.floats(-1e9, 1e9, width=32) | st.integers(-3, 3).map(float)


@given(st.lists(NUMBERS, min_size=1, max_size=60), st.integers(2, 20))
def test_a_code_is_the_number_of_edges_at_or_below_a_value(values: list[float], most: int) -> None:
    edges = edges_of(np.array(values), None, most)
    assert len(edges) < most
    assert (np.diff(edges) > 0).all()
    asked = np.array([*values, *edges, -np.inf, np.inf, np.nan])
    codes = encode(asked.reshape(-1, 1), [edges])[0]
    expected = [ABSENT if value != value else sum(edge <= value for edge in edges) for value in asked.tolist()]
    assert codes.tolist() == expected


@given(st.lists(NUMBERS, min_size=1, max_size=40))
def test_every_value_has_a_bin_of_its_own_if_there_are_enough(values: list[float]) -> None:
    edges = edges_of(np.array(values))
    codes = encode(np.array(values).reshape(-1, 1), [edges])[0]
    assert len(set(codes.tolist())) == len(set(values))


def test_neighbouring_numbers_are_told_apart() -> None:
    values = np.array([1.0, np.nextafter(1.0, 2.0)])
    assert encode(values.reshape(-1, 1), [edges_of(values)]).tolist() == [[0, 1]]


def test_bins_have_about_the_same_population() -> None:
    values = np.random.default_rng(1).lognormal(size=100_000)
    edges = edges_of(values)
    assert len(edges) == MOST_BINS - 1
    sizes = np.bincount(encode(values.reshape(-1, 1), [edges])[0])
    assert sizes.min() > 380
    assert sizes.max() < 405


def test_edges_of_many_rows_come_from_a_sample_and_are_always_the_same() -> None:
    values = np.random.default_rng(2).normal(size=(SAMPLE + 5000, 1))
    one, two = (Rows.of_dense((Feature("x"),), values) for _ in range(2))
    assert np.array_equal(one.edges[0], two.edges[0])
    sizes = np.bincount(one.codes[0])
    assert sizes.min() > 0.75 * sizes.mean()


def test_a_monotone_transform_of_a_feature_leaves_codes_unchanged() -> None:
    values = np.random.default_rng(3).uniform(0.01, 1.0, size=(3000, 1))
    features = (Feature("x"),)
    assert np.array_equal(Rows.of_dense(features, values).codes, Rows.of_dense(features, np.log(values)).codes)


def test_more_bins_than_codes_are_refused() -> None:
    with pytest.raises(SettingsError, match="expected 1 to 255"):
        edges_of(np.zeros(1), None, 256)
