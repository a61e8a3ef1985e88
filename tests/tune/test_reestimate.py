"""Kernels of a mixture, moved by the gradient of the objective."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import mixture_gradient
from toys.tuning_lists import random_list

from camber.bend.mixtures.blocks import LOST
from camber.bend.mixtures.mixture import Mixture
from camber.bend.mixtures.reestimate import KeptPosteriors
from camber.engine import Threads
from camber.errors import CamberError
from camber.tune import ExpectedBleu
from camber.tune.reestimate import Kept, ReestimateSettings, _Places, _Task, reestimated


def mixture_of(rng: Any, kernels: int = 5, features: int = 3, one: bool = False, owned: bool = False) -> Mixture:
    return Mixture(
        rng.standard_normal((kernels, features)),
        rng.uniform(0.3, 2.0, (1 if one else kernels, features)),
        np.log(rng.dirichlet(np.ones(kernels))),
        rng.integers(0, 3, kernels) if owned else None,
    )


@given(st.integers(0, 10**6), st.booleans(), st.booleans(), st.sampled_from([0.5, 1.0, 2.0]))
@settings(deadline=None, max_examples=60)
def test_gradients_are_those_of_the_textbook_with_all_cross_terms(seed, one, owned, bandwidth):
    rng = np.random.default_rng(seed)
    mixture = mixture_of(rng, one=one, owned=owned)
    points, weights, slopes = rng.standard_normal((8, 3)), rng.standard_normal(5), rng.standard_normal(8)
    owners = rng.integers(-1, 3, 8) if owned else None
    kept = KeptPosteriors(
        points, mixture.posteriors(points, mass=1.0, bandwidth=bandwidth, owners=owners), bandwidth=bandwidth
    )
    kept.update(mixture)
    gradient = kept.gradient(weights, slopes)
    wide = (mixture.variances * bandwidth**2).tolist()
    arguments: Any = (mixture.means.tolist(), wide, mixture.log_priors.tolist())
    rows = [slice(a, b) for a, b in pairwise(kept.offsets.tolist())]
    left_out = [sorted(set(range(5)) - set(kept.columns[row].tolist())) for row in rows]
    for place, row in enumerate(rows):
        if row.start < row.stop:
            expected = np.array(mixture_gradient.posteriors(points[place].tolist(), *arguments, left_out[place]))
            np.testing.assert_allclose(kept.values[row], expected[kept.columns[row]], rtol=2 * LOST)
            if owners is not None and mixture.owners is not None:
                assert not ((mixture.owners[kept.columns[row]] == owners[place]) & (owners[place] >= 0)).any()
    some = [place for place, row in enumerate(rows) if row.start < row.stop]
    textbook = mixture_gradient.gradient(
        points[some].tolist(), *arguments, weights.tolist(), slopes[some].tolist(), [left_out[place] for place in some]
    )
    for ours, theirs in zip(gradient, textbook, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)


@given(
    st.integers(0, 10**6), st.booleans(), st.booleans(), st.sampled_from([0.5, 1.0, 2.0]),
    st.sampled_from([(1.0, 256), (0.8, 256), (0.99, 2)]),
)  # fmt: skip
@settings(deadline=None, max_examples=60)
def test_gradients_are_finite_differences_also_of_truncated_posteriors(seed, one, owned, bandwidth, cut):
    rng = np.random.default_rng(seed)
    mixture = mixture_of(rng, one=one, owned=owned)
    points, weights, slopes = rng.standard_normal((8, 3)), rng.standard_normal(5), rng.standard_normal(8)
    owners = rng.integers(-1, 3, 8) if owned else None
    found = mixture.posteriors(points, mass=cut[0], most=cut[1], bandwidth=bandwidth, owners=owners)
    kept = KeptPosteriors(points, found, bandwidth)
    kept.update(mixture)
    np.testing.assert_allclose(kept.values, found.sparse.values, atol=1e-6)  # what they are before anything moved
    gradient = kept.gradient(weights, slopes)

    def value(means: Any, logs: Any, priors: Any) -> float:
        kept.update(replace(mixture, means=means, variances=np.exp(logs), log_priors=priors))
        return float(slopes @ kept.scores(weights))

    point = [mixture.means, np.log(mixture.variances), mixture.log_priors]
    for which, exact in enumerate(gradient):
        for place in np.ndindex(exact.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = [array.copy() for array in point]
                moved[which][place] += step
                ends.append(value(*moved))
            assert exact[place] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-4, abs=1e-7)
    kept.update(mixture)
    for m, unit in enumerate(np.eye(5)):
        assert kept.in_weights(slopes)[m] == pytest.approx(float(slopes @ kept.scores(unit)))


def task_of(seed: int, one: bool, **more: Any) -> tuple[_Task, Mixture, Any]:
    rng = np.random.default_rng(seed)
    data = random_list(rng, sentences=6, most=5, empty=False)
    object.__setattr__(data, "fixed", np.array([False, seed % 2 == 0, False]))
    mixture = mixture_of(rng, one=one)
    points = data.features + 0.1 * rng.standard_normal(data.features.shape)
    weights = rng.standard_normal(8)
    tuner = ExpectedBleu(entropy=0.1, variance=2.0, scale=1.5)
    kept = Kept(bandwidth=0.8, mass=0.9)
    return _Task(data, points, tuner, ReestimateSettings(**more), kept, Threads(1)), mixture, weights


@given(st.integers(0, 10**6), st.booleans())
@settings(deadline=None, max_examples=25)
def test_the_gradient_of_the_whole_objective(seed, one):
    """Kernels and weights at once, through the posteriors, the list's probabilities and BLEU."""
    task, mixture, weights = task_of(seed, one, weights=True)
    posteriors = task.posteriors(mixture)
    at = _Places.of(mixture, task._tuned(weights), task.settings, 0.8)
    objective = task.objective(mixture, weights, posteriors, at)
    _, gradient = objective(at.start)
    differences = [
        (objective(at.start + axis)[0] - objective(at.start - axis)[0]) / 2e-6 for axis in 1e-6 * np.eye(len(at.start))
    ]
    np.testing.assert_allclose(gradient, differences, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("method", ["rprop", "lbfgs"])
@pytest.mark.parametrize(
    "moving",
    [
        {"variances": False, "priors": False},
        {"means": False, "priors": False},
        {"means": False, "variances": False},
        {},
        {"weights": True},
    ],
)
def test_the_objective_rises_and_what_is_not_moved_stays(method: str, moving: dict[str, bool]) -> None:
    rng = np.random.default_rng(3)
    data = random_list(rng, sentences=30, most=8, empty=False)
    mixture, weights = mixture_of(rng, kernels=8), rng.standard_normal(11)
    chosen = ReestimateSettings(**moving)
    moved = reestimated(mixture, data, data.features, weights, ExpectedBleu(method=method), chosen, Kept(mass=0.95))
    assert len(moved.objectives) > 1
    assert list(moved.objectives) == sorted(moved.objectives)
    assert moved.objectives[-1] > moved.objectives[0] + 1e-3
    for name, same in (
        ("means", np.array_equal(moved.mixture.means, mixture.means)),
        ("variances", np.array_equal(moved.mixture.variances, mixture.variances)),
        ("priors", np.array_equal(moved.mixture.log_priors, mixture.log_priors)),
        ("weights", np.array_equal(moved.weights, weights)),
    ):
        assert same != getattr(chosen, name)
    assert (moved.mixture.variances > 0).all()
    assert np.logaddexp.reduce(moved.mixture.log_priors) == pytest.approx(0.0, abs=1e-9)


def test_one_thread_and_two_give_the_same_bytes_and_a_kernel_without_prior_stays() -> None:
    rng = np.random.default_rng(4)
    data = random_list(rng, sentences=40, most=8, empty=False)
    mixture, weights = mixture_of(rng, kernels=8), rng.standard_normal(11)
    mixture = replace(mixture, log_priors=np.append(mixture.log_priors[:-1], -np.inf))
    one, two = (
        reestimated(mixture, data, data.features, weights, engine=Threads(threads)).mixture for threads in (1, 2)
    )
    for name in ("means", "variances", "log_priors"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()
    assert one.log_priors[-1] == -np.inf
    np.testing.assert_array_equal(one.means[-1], mixture.means[-1])


def test_what_cannot_be_reestimated_is_told() -> None:
    rng = np.random.default_rng(5)
    data, mixture = random_list(rng, empty=False), mixture_of(rng)
    with pytest.raises(CamberError, match="3 points for a list of"):
        reestimated(mixture, data, np.zeros((3, 3)), np.zeros(8))
    with pytest.raises(CamberError, match="7 weights for 3 features and 5 kernels"):
        reestimated(mixture, data, data.features, np.zeros(7))
    nothing = ReestimateSettings(means=False, variances=False, priors=False)
    with pytest.raises(CamberError, match="nothing of the kernels is to be moved"):
        reestimated(mixture, data, data.features, np.ones(8), settings=nothing)
