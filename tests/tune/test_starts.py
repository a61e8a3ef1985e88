"""Fits from the vertices of the hypercube."""

from __future__ import annotations

import numpy as np
import pytest
from toys.tuning_lists import random_list

from camber.engine import Threads
from camber.errors import SettingsError
from camber.tune import ExpectedBleu, Likelihood, Mert
from camber.tune.starts import fit_from_vertices, vertices


@pytest.mark.parametrize(("dimensions", "most"), [(1, 256), (3, 8), (3, 7), (11, 256), (11, 2048), (60, 50)])
def test_vertices_are_different_and_all_of_them_where_that_is_allowed(dimensions: int, most: int) -> None:
    cube = vertices(dimensions, most, seed=3)
    assert set(np.unique(cube)) <= {0.0, 1.0}
    assert len(np.unique(cube, axis=0)) == len(cube) == min(most, 2**dimensions)
    assert cube.tobytes() == vertices(dimensions, most, seed=3).tobytes()
    if most < 2**dimensions:
        assert cube.tobytes() != vertices(dimensions, most, seed=4).tobytes()


def test_drawn_vertices_are_spread_evenly() -> None:
    often = sum(vertices(8, 100, seed).sum(0) for seed in range(40)) / 4000
    assert np.abs(often - 0.5).max() < 0.03


def test_nonsense_is_refused() -> None:
    with pytest.raises(SettingsError, match="0 vertices in 3 dimensions"):
        vertices(3, 0)


@pytest.mark.parametrize("tuner", [ExpectedBleu(), ExpectedBleu(method="lbfgs"), Likelihood(), Mert(restarts=2)])
def test_every_start_is_fitted_as_it_would_be_alone_on_any_number_of_threads(tuner: object) -> None:
    data = random_list(np.random.default_rng(2), sentences=20, empty=False)
    object.__setattr__(data, "fixed", np.array([False, True, False]))
    one, two = (
        fit_from_vertices(data, tuner, sizes=[1.0, 2.0], fixed=0.3, engine=Threads(threads))  # type: ignore[arg-type]
        for threads in (1, 2)
    )
    assert len(one) == 4
    assert one.starts.tolist() == [[0, 0.3, 0], [0, 0.3, 2], [1, 0.3, 0], [1, 0.3, 2]]
    assert one.weights.tobytes() == two.weights.tobytes()
    for start, weights, metric in zip(one.starts, one.weights, one.metrics, strict=True):
        alone = tuner.fit(data, start, seed=1)  # type: ignore[attr-defined]
        np.testing.assert_array_equal(alone.weights, weights)
        assert alone.metric == metric == data.corpus_score(weights)
    np.testing.assert_array_equal(one.metrics_on(data), one.metrics)


def test_a_start_that_cannot_be_bettered_stays() -> None:
    data = random_list(np.random.default_rng(2), sentences=20, empty=False)
    flat = data.take(np.arange(data.hypotheses), data.sentence_offsets)
    flat.statistics[:] = flat.statistics[0]
    flat.statistics[0, 0] += 1e-9  # they differ, or there would be nothing to tune
    fits = fit_from_vertices(flat, Mert(restarts=1), most=3)
    np.testing.assert_array_equal(fits.weights, fits.starts)
    assert np.isnan(fits.objectives).all()
