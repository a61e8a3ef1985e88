"""The plane of two features: the mean over all others, and the pair that explains most."""

from __future__ import annotations

import numpy as np
import pytest

from camber.bend.mixtures import plane as module
from camber.bend.mixtures.bend import MixtureBend
from camber.bend.mixtures.mixture import Mixture
from camber.bend.mixtures.plane import plane_of, planes_of
from camber.errors import CamberError
from camber.features.feature import Feature


def made(kernels: int, features: int, seed: int = 1) -> tuple[MixtureBend, np.ndarray]:
    rng = np.random.default_rng(seed)
    mixture = Mixture(
        rng.normal(size=(kernels, features)),
        rng.uniform(0.3, 1.0, (kernels, features)),
        np.log(rng.dirichlet(np.ones(kernels))),
    )
    inputs = tuple(Feature(f"f{k}") for k in range(features))
    scale = rng.uniform(0.5, 4.0, features)
    bend = MixtureBend(inputs, mixture, rng.normal(size=features), scale, bandwidth=0.8, mass=1.0, most=1000)
    return bend, rng.normal(size=kernels)


def test_it_is_the_mean_over_the_third_feature_by_the_density_of_the_mixture() -> None:
    bend, weights = made(6, 3)
    plane = plane_of(bend, weights, ["f0", "f2"])
    at = [int(name[1]) for name in plane.features]
    rng = np.random.default_rng(2)
    ends = np.linspace(-9.0, 9.0, 4001)  # of the third feature, in standard deviations
    for x, y in rng.normal(size=(5, 2)).tolist():
        points = np.zeros((len(ends), 3))
        points[:, at], points[:, 1] = (x, y), ends
        away = (points[:, None, :] - bend.kernels.means) ** 2 / (bend.bandwidth**2 * bend.kernels.variances)
        densities = np.exp(bend.kernels.log_priors - 0.5 * away.sum(2) - 0.5 * np.log(bend.kernels.variances).sum(1))
        added = densities @ (weights - weights.mean()) / densities.sum(1)
        expected = (added * densities.sum(1)).sum() / densities.sum()
        raw = [value * bend.scale[k] + bend.centre[k] for k, value in zip(at, (x, y), strict=True)]
        found, _ = plane.at(np.array(raw[:1]), np.array(raw[1:]))
        assert found[0] == pytest.approx(expected, abs=1e-6)


def planted(features: int = 5) -> tuple[MixtureBend, np.ndarray]:
    """Make kernels in the corners of all features whose weights tell f1 and f3 apart, but only together."""
    corners = np.array(np.meshgrid(*[[-1.0, 1.0]] * features)).reshape(features, -1).T
    mixture = Mixture(corners, np.full((1, features), 0.2), np.full(len(corners), -np.log(len(corners))))
    inputs = tuple(Feature(f"f{k}") for k in range(features))
    bend = MixtureBend(inputs, mixture, np.zeros(features), np.ones(features), mass=1.0, most=1000)
    return bend, corners[:, 1] * corners[:, 3]


def test_the_pair_that_matters_is_found_even_if_neither_matters_alone() -> None:
    first, second, *_ = planes_of(*planted())
    assert set(first.features) == {"f1", "f3"}
    assert first.explained > 0.95
    assert second.explained < 0.1


def test_features_can_be_asked_for() -> None:
    bend, weights = planted()
    assert set(plane_of(bend, weights, ["f0", "f4"]).features) == {"f0", "f4"}
    assert set(plane_of(bend, weights, ["f3"]).features) == {"f1", "f3"}
    with pytest.raises(CamberError, match="no feature g in this model; known: f0, f1"):
        plane_of(bend, weights, ["g"])
    with pytest.raises(CamberError, match="a map has two features, not 3"):
        plane_of(bend, weights, ["f0", "f1", "f2"])


def test_one_feature_makes_no_map() -> None:
    with pytest.raises(CamberError, match="a map has two features, not 1"):
        plane_of(*made(3, 1))


def test_a_sample_of_many_kernels_gives_about_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    means = rng.uniform(-2.0, 2.0, (3000, 3))
    mixture = Mixture(means, np.full((1, 3), 0.1), np.full(3000, -np.log(3000.0)))
    inputs = tuple(Feature(name) for name in "abc")
    bend = MixtureBend(inputs, mixture, np.zeros(3), np.ones(3))
    weights = 4.0 * np.exp(-((means[:, :2] - 0.5) ** 2).sum(1))
    whole = plane_of(bend, weights)
    monkeypatch.setattr(module, "MOST_KERNELS", 1500)
    sample = plane_of(bend, weights)
    assert set(sample.features) == set(whole.features) == {"a", "b"}
    assert len(sample.kernels) == 1500
    x, y = np.meshgrid([-1.0, 0.5, 1.5], [-1.0, 0.5, 1.5])
    order = [sample.features.index(name) for name in whole.features]
    grid = [x.ravel(), y.ravel()]
    one, two = whole.at(*grid)[0], sample.at(*[grid[k] for k in order])[0]
    np.testing.assert_allclose(one, two, atol=0.3)


def test_the_range_is_that_of_the_hypotheses() -> None:
    rng = np.random.default_rng(1)
    points = rng.normal(0.0, [1.0, 3.0], (2000, 2))
    mixture = Mixture(points, points.var(0)[None], np.full(2000, -np.log(2000.0)))
    bend = MixtureBend((Feature("a"), Feature("b")), mixture, np.zeros(2), np.ones(2), bandwidth=1.0)
    plane = plane_of(bend, rng.normal(size=2000), ["a", "b"])
    for name, deviation in (("a", 1.0), ("b", 3.0)):
        low, high = plane.middle_range(plane.features.index(name))
        assert low == pytest.approx(-2.6 * deviation, abs=0.5 * deviation)
        assert high == pytest.approx(2.6 * deviation, abs=0.5 * deviation)
