"""EM: a round is the textbook's, likelihood never falls, the same bytes on any engine."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import mixtures as naive

from camber.bend.mixtures.blocks import LOST
from camber.bend.mixtures.em import EmSettings, fit_mixture, maximise, split
from camber.bend.mixtures.expectation import expect
from camber.bend.mixtures.mixture import Mixture
from camber.engine import Threads
from camber.errors import CamberError, SettingsError


def start(points: np.ndarray, kernels: int, seed: int = 1) -> Mixture:
    rng = np.random.default_rng(seed)
    means = points[rng.choice(len(points), kernels, replace=False)]
    variances = np.broadcast_to(points.var(0) + 0.01, means.shape) * rng.uniform(0.2, 1.0, means.shape)
    return Mixture(means.copy(), variances, np.log(rng.dirichlet(np.full(kernels, 5.0))))


def clusters(points: int, features: int = 5, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres = 3.0 * rng.normal(size=(12, features))
    return 100.0 + centres[rng.integers(0, 12, points)] + rng.normal(size=(points, features))


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    kernels=st.integers(1, 9),
    features=st.integers(1, 5),
    points=st.integers(10, 40),
    far=st.sampled_from([0.0, 1e4]),
)
def test_a_round_is_the_textbooks(seed: int, kernels: int, features: int, points: int, far: float) -> None:
    rows = far + np.random.default_rng(seed).normal(size=(points, features))
    mixture, floors = start(rows, kernels, seed), np.full(features, 0.02)
    sums = expect(mixture, rows, engine=Threads(1))
    new = maximise(mixture, sums, floors)
    means, variances, priors, log_likelihood = naive.em_round(
        rows.tolist(), mixture.means.tolist(), mixture.variances.tolist(), mixture.log_priors.tolist(), floors.tolist()
    )
    assert sums.log_likelihood == pytest.approx(log_likelihood, rel=1e-6, abs=LOST * points)
    np.testing.assert_allclose(np.exp(new.log_priors), priors, rtol=1e-4, atol=LOST)
    np.testing.assert_allclose(new.means, means, rtol=1e-6, atol=1e-4)
    np.testing.assert_allclose(new.variances, variances, rtol=1e-3, atol=1e-4)


def test_a_round_of_many_kernels_is_the_dense_one() -> None:
    points = clusters(3000)
    mixture = start(points, 700)
    sums = expect(mixture, points)
    logs = mixture.log_priors - 0.5 * np.log(2 * np.pi * mixture.variances).sum(1)
    logs = logs - 0.5 * ((points[:, None] - mixture.means) ** 2 / mixture.variances).sum(2)
    top = logs.max(1, keepdims=True)
    shares = np.exp(logs - top)
    log_likelihood = (top[:, 0] + np.log(shares.sum(1))).sum()
    shares /= shares.sum(1, keepdims=True)
    assert log_likelihood - LOST * len(points) < sums.log_likelihood <= log_likelihood + 1e-6
    np.testing.assert_allclose(sums.masses, shares.sum(0), atol=LOST * len(points), rtol=1e-6)
    used = sums.masses > 0.1
    exact = (shares.T @ points / shares.sum(0)[:, None])[used]
    np.testing.assert_allclose(sums.means[used], exact, atol=1e-3)


def test_rounds_are_those_of_scikit_learn() -> None:
    library = pytest.importorskip("sklearn.mixture", reason="scikit-learn is absent")
    points = clusters(2000)
    mixture = start(points, 20)
    peer = library.GaussianMixture(
        20,
        covariance_type="diag",
        reg_covar=0.0,
        tol=0.0,
        max_iter=5,
        weights_init=np.exp(mixture.log_priors),
        means_init=mixture.means,
        precisions_init=1.0 / mixture.variances,
    )
    with pytest.warns(Warning, match="did not converge"):
        peer.fit(points)
    for _ in range(5):
        mixture = maximise(mixture, expect(mixture, points), np.full(5, 1e-9))
    np.testing.assert_allclose(mixture.means, peer.means_, atol=1e-4)
    np.testing.assert_allclose(mixture.variances, peer.covariances_, rtol=1e-3)
    np.testing.assert_allclose(np.exp(mixture.log_priors), peer.weights_, rtol=1e-4)


@pytest.mark.parametrize("floor", [1e-6, 0.05])
def test_likelihood_never_falls_between_splits(floor: float) -> None:
    points = clusters(1500)
    fitted = fit_mixture(points, 64, EmSettings(iterations=12, gain=0.0, floor=floor))
    assert len(fitted.rounds) > 30
    for before, after in zip(fitted.rounds[:-1], fitted.rounds[1:], strict=True):
        if before.kernels == after.kernels:
            assert after.log_likelihood >= before.log_likelihood - LOST
    assert fitted.rounds[-1].log_likelihood > fitted.rounds[0].log_likelihood + 1.0


def test_kernels_find_the_clusters() -> None:
    rng = np.random.default_rng(3)
    centres = np.array([[0.0, 0.0], [6.0, 20.0], [14.0, 3.0], [20.0, 30.0]])
    points = centres[rng.integers(0, 4, 2000)] + rng.normal(size=(2000, 2)) * [0.5, 0.8]
    mixture = fit_mixture(points, 4, EmSettings(iterations=50)).mixture
    np.testing.assert_allclose(mixture.means[np.argsort(mixture.means[:, 0])], centres, atol=0.1)
    np.testing.assert_allclose(mixture.variances, np.broadcast_to([0.25, 0.64], (4, 2)), rtol=0.2)


@pytest.mark.parametrize("kernels", [1, 5, 32, 100])
def test_as_many_kernels_as_asked_for(kernels: int) -> None:
    mixture = fit_mixture(clusters(400), kernels, EmSettings(iterations=2)).mixture
    assert len(mixture) == kernels
    assert np.exp(mixture.log_priors).sum() == pytest.approx(1.0)


def test_the_same_seed_gives_the_same_bytes_on_any_number_of_threads() -> None:
    points = clusters(3000)
    one, three = (fit_mixture(points, 64, EmSettings(iterations=2), engine=Threads(n)).mixture for n in (1, 3))
    assert one.means.tobytes() == three.means.tobytes()
    assert one.variances.tobytes() == three.variances.tobytes()
    assert one.log_priors.tobytes() == three.log_priors.tobytes()
    other = fit_mixture(points, 64, EmSettings(iterations=2), seed=2).mixture
    assert other.means.tobytes() != one.means.tobytes()


def test_variances_stay_above_the_floor_and_constant_features_do_no_harm() -> None:
    points = np.repeat(np.array([[0.0, 7.0], [1.0, 7.0], [3.0, 7.0]]), 10, axis=0)
    fitted = fit_mixture(points, 8, EmSettings(floor=0.01))
    assert np.isfinite(fitted.mixture.means).all()
    assert (fitted.mixture.variances[:, 0] >= 0.01 * points[:, 0].var()).all()
    assert fitted.mixture.means[:, 1] == pytest.approx(7.0)
    kept = fitted.mixture.posteriors(points)
    assert kept.sparse.dense().sum(1) == pytest.approx(1.0, abs=0.011)


def test_an_empty_kernel_stays_where_it_is_and_is_dropped() -> None:
    points = clusters(500)
    near = start(points, 3)
    mixture = Mixture(
        np.concatenate([near.means, np.full((1, 5), -1e6)]),
        np.concatenate([near.variances, np.ones((1, 5))]),
        np.log(np.full(4, 0.25)),
    )
    new = maximise(mixture, expect(mixture, points), np.full(5, 1e-3))
    assert new.means[3].tolist() == mixture.means[3].tolist()
    assert new.log_priors[3] == -np.inf
    assert np.exp(new.log_priors).sum() == pytest.approx(1.0)
    again = maximise(new, expect(new, points), np.full(5, 1e-3))
    assert np.isfinite(again.means).all()


def test_the_heaviest_kernels_are_split_first() -> None:
    mixture = Mixture(np.array([[0.0], [5.0]]), np.array([[1.0], [4.0]]), np.log([0.25, 0.75]))
    halves = split(mixture, 3, 0.5, np.random.default_rng(1))
    assert sorted(halves.means[:, 0].tolist()) == [0.0, 4.0, 6.0]
    assert np.exp(halves.log_priors).round(3).tolist() == [0.25, 0.375, 0.375]
    assert halves.variances[:, 0].tolist() == [1.0, 4.0, 4.0]


def test_bad_input_is_refused() -> None:
    with pytest.raises(SettingsError, match="5 kernels for 3 points"):
        fit_mixture(np.zeros((3, 1)), 5)
    with pytest.raises(CamberError, match="point 2"):
        fit_mixture(np.array([[0.0], [1.0], [np.nan]]), 2)
    with pytest.raises(SettingsError):
        EmSettings(iterations=0)
