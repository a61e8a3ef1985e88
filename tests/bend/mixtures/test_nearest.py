"""Nearest neighbours are the nearest: not nearly, whatever the scale."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import mixtures as naive

from camber.bend.mixtures.nearest import Neighbours
from camber.engine import Threads
from camber.errors import CamberError, SettingsError


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    points=st.integers(1, 300),
    features=st.integers(1, 7),
    count=st.integers(1, 9),
    scale=st.sampled_from([1e-3, 1.0, 1e5, 1e30]),
    far=st.sampled_from([0.0, 1.0, 1e7]),
)
def test_they_are_those_of_the_definition(seed, points, features, count, scale, far) -> None:
    rng = np.random.default_rng(seed)
    table = scale * (far + rng.normal(size=(points, features)))
    queries = scale * (far + 2.0 * rng.normal(size=(5, features)))
    count = min(count, points)
    distances, numbers = Neighbours.of(table).nearest(queries, count, engine=Threads(1))
    for query, squares, which in zip(queries, distances, numbers, strict=True):
        expected = naive.nearest(query.tolist(), table.tolist(), count)
        assert which.tolist() == [number for _, number in expected]
        np.testing.assert_allclose(squares, [square for square, _ in expected], rtol=1e-6)


def test_equally_near_points_come_by_their_numbers() -> None:
    near = Neighbours.of(np.repeat([[0.0, 1.0], [5.0, 5.0]], 100, axis=0))
    numbers = near.nearest(np.zeros((2, 2)), 5)[1]
    assert numbers.tolist() == [[0, 1, 2, 3, 4]] * 2


def test_none_of_many_is_missed() -> None:
    rng = np.random.default_rng(1)
    centres = rng.normal(size=(300, 11)) @ rng.normal(size=(11, 11))
    table = centres[rng.integers(0, 300, 20_000)] + 0.1 * rng.normal(size=(20_000, 11))
    queries = table[:200] + 0.05 * rng.normal(size=(200, 11))
    numbers = Neighbours.of(table).nearest(queries, 16)[1]
    for query, which in zip(queries, numbers, strict=True):
        assert which.tolist() == np.argsort(((table - query) ** 2).sum(1), kind="stable")[:16].tolist()


def test_the_same_bytes_on_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("camber.bend.mixtures.nearest._PIECE", 50)
    table = np.random.default_rng(1).normal(size=(1000, 4))
    near = Neighbours.of(table)
    one, three = (near.nearest(table[:330], 3, engine=Threads(n)) for n in (1, 3))
    assert one[0].tobytes() == three[0].tobytes()
    assert one[1].tobytes() == three[1].tobytes()


def test_bad_input_is_refused() -> None:
    near = Neighbours.of(np.zeros((3, 2)))
    with pytest.raises(SettingsError, match="4 nearest of 3 points"):
        near.nearest(np.zeros((1, 2)), 4)
    with pytest.raises(CamberError, match="point 0"):
        near.nearest(np.full((1, 2), np.nan), 1)
    assert near.nearest(np.zeros((0, 2)), 1)[1].shape == (0, 1)
