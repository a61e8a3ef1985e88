"""Mixtures: posteriors are those of the definition, truncated as promised, on any engine."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import mixtures as naive

from camber.bend.mixtures.blocks import LOST, exponential
from camber.bend.mixtures.leaves import spatial_order
from camber.bend.mixtures.mixture import Mixture
from camber.engine import Threads
from camber.errors import CamberError, SettingsError


def random_mixture(rng: np.random.Generator, kernels: int, features: int, *, shared: bool = False) -> Mixture:
    return Mixture(
        rng.normal(size=(kernels, features)),
        rng.uniform(0.05, 1.0, (1 if shared else kernels, features)),
        np.log(rng.dirichlet(np.ones(kernels))),
        rng.integers(-1, 4, kernels),
    )


def twin(mixture: Mixture, point: np.ndarray, bandwidth: float, owner: int) -> list[float]:
    assert mixture.owners is not None
    variances = np.broadcast_to(mixture.variances, mixture.means.shape).tolist()
    own = {k for k, whose in enumerate(mixture.owners) if whose == owner >= 0}
    return naive.posteriors(
        point.tolist(), mixture.means.tolist(), variances, mixture.log_priors.tolist(), bandwidth, own
    )[0]


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    kernels=st.integers(1, 150),
    features=st.integers(1, 6),
    points=st.integers(1, 40),
    shared=st.booleans(),
    bandwidth=st.sampled_from([0.1, 0.5, 1.0, 4.0]),
    mass=st.sampled_from([0.5, 0.99, 1.0]),
    most=st.sampled_from([1, 3, 1000]),
    scale=st.sampled_from([1.0, 30.0, 1e6]),
)
def test_posteriors_are_those_of_the_definition(seed, kernels, features, points, shared, bandwidth, mass, most, scale):
    rng = np.random.default_rng(seed)
    mixture = random_mixture(rng, kernels, features, shared=shared)
    rows = scale * rng.normal(size=(points, features))
    owners = rng.integers(-1, 4, points)
    sparse, dropped = mixture.posteriors(
        rows, bandwidth=bandwidth, mass=mass, most=most, owners=owners, engine=Threads(1)
    )
    assert len(sparse) == points
    assert sparse.width == kernels
    for r in range(points):
        shares = twin(mixture, rows[r], bandwidth, int(owners[r]))
        columns = sparse.columns[sparse.offsets[r] : sparse.offsets[r + 1]]
        values = sparse.values[sparse.offsets[r] : sparse.offsets[r + 1]]
        assert (np.diff(columns) > 0).all()
        tolerance = 2e-3 if scale > 100 else 2.0 * LOST  # far away, a log density is a large number
        np.testing.assert_allclose(values, np.array(shares)[columns], rtol=tolerance, atol=1e-9)
        kept = naive.truncated(shares, mass, most)
        held, wanted = sum(shares[k] for k in columns), sum(kept.values())
        assert len(columns) <= min(most, kernels)
        assert held == pytest.approx(wanted, abs=tolerance)
        if kept:
            exact = 1.0 - held
            assert exact - tolerance * exact - 1e-9 <= dropped[r] <= exact + tolerance + 1e-9
            if mass < 1.0 and scale == 1.0:
                assert len(columns) == len(kept)
        else:
            assert len(columns) == 0
            assert dropped[r] == 0.0


def clustered(points: int, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(points // 20 + 1, 11)) @ rng.normal(size=(11, 11))
    return centres[rng.integers(0, len(centres), points)] + 0.2 * rng.normal(size=(points, 11))


def dense(mixture: Mixture, points: np.ndarray, bandwidth: float) -> np.ndarray:
    variances = bandwidth**2 * mixture.variances
    logs = mixture.log_priors - 0.5 * np.log(variances).sum(1)
    logs = logs - 0.5 * ((points[:, None] - mixture.means) ** 2 / variances).sum(2)
    shares = np.exp(logs - logs.max(1, keepdims=True))
    return shares / shares.sum(1, keepdims=True)


@pytest.mark.parametrize("bandwidth", [0.25, 1.0])
def test_leaving_kernels_out_costs_less_than_is_promised(bandwidth: float) -> None:
    points = clustered(3000)
    mixture = Mixture(points[::2].copy(), points.var(0)[None], np.log(np.full(1500, 1 / 1500)))
    sparse, dropped = mixture.posteriors(points, bandwidth=bandwidth, mass=1.0, most=1500)
    exact = dense(mixture, points, bandwidth)
    assert np.abs(sparse.dense() - exact).max() < LOST
    missing = np.where(sparse.dense() > 0, 0.0, exact).sum(1)
    assert (missing <= dropped + 1e-12).all()
    assert (dropped < 2.0 * LOST).all()


@pytest.mark.parametrize("count", [1, 2, 5])
def test_posteriors_are_the_same_bytes_on_any_number_of_threads(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("camber.bend.mixtures.posteriors._PIECE", 96)
    points = clustered(1000)
    mixture = Mixture(points[:300].copy(), points.var(0)[None], np.log(np.full(300, 1 / 300)), np.arange(300) // 2)
    owners = np.arange(1000) // 4
    one, many = (mixture.posteriors(points, bandwidth=0.3, owners=owners, engine=Threads(n)) for n in (1, count))
    assert one.sparse.columns.tobytes() == many.sparse.columns.tobytes()
    assert one.sparse.values.tobytes() == many.sparse.values.tobytes()
    assert one.sparse.offsets.tobytes() == many.sparse.offsets.tobytes()
    assert one.dropped.tobytes() == many.dropped.tobytes()


def test_kernels_without_a_prior_are_never_used() -> None:
    mixture = Mixture(np.array([[0.0], [1.0]]), np.ones((1, 1)), np.array([0.0, -np.inf]))
    sparse, dropped = mixture.posteriors(np.array([[1.0]]))
    assert sparse.dense().tolist() == [[1.0, 0.0]]
    assert dropped[0] < LOST
    nothing = Mixture(mixture.means, mixture.variances, np.full(2, -np.inf)).posteriors(np.array([[1.0]]))
    assert nothing.sparse.dense().tolist() == [[0.0, 0.0]]


def test_equal_kernels_are_kept_in_their_order() -> None:
    mixture = Mixture(np.zeros((200, 2)), np.ones((1, 2)), np.full(200, -np.log(200)))
    sparse, dropped = mixture.posteriors(np.ones((3, 2)), most=5)
    assert sparse.columns.reshape(3, 5).tolist() == [[0, 1, 2, 3, 4]] * 3
    assert dropped == pytest.approx(195 / 200)


def test_no_points_are_no_rows() -> None:
    mixture = Mixture(np.zeros((2, 2)), np.ones((1, 2)), np.zeros(2))
    sparse, dropped = mixture.posteriors(np.zeros((0, 2)))
    assert (len(sparse), len(dropped)) == (0, 0)


def test_bad_input_is_refused() -> None:
    mixture = Mixture(np.zeros((2, 2)), np.ones((1, 2)), np.zeros(2))
    with pytest.raises(CamberError, match="point 1 has a feature that is no number"):
        mixture.posteriors(np.array([[0.0, 0.0], [np.nan, 0.0]]))
    with pytest.raises(CamberError, match="far too large"):
        mixture.posteriors(np.array([[0.0, 1e200]]))
    with pytest.raises(CamberError, match=r"expected \[points, 2\]"):
        mixture.posteriors(np.zeros((3, 1)))
    with pytest.raises(CamberError, match="1 owners for 2 points"):
        mixture.posteriors(np.zeros((2, 2)), owners=np.zeros(1, np.int64))
    for wrong in ({"bandwidth": 0.0}, {"bandwidth": np.nan}, {"mass": 0.0}, {"mass": 1.5}, {"most": 0}):
        with pytest.raises(SettingsError):
            mixture.posteriors(np.zeros((1, 2)), **wrong)
    with pytest.raises(CamberError, match="not above 0"):
        Mixture(np.zeros((2, 2)), np.zeros((1, 2)), np.zeros(2))
    with pytest.raises(CamberError, match="no number"):
        Mixture(np.zeros((2, 2)), np.ones((1, 2)), np.array([0.0, np.nan]))
    with pytest.raises(CamberError, match="at least"):
        Mixture(np.zeros((0, 2)), np.ones((1, 2)), np.zeros(0))


@settings(max_examples=50, deadline=None)
@given(value=st.floats(-699.0, 1e-9))
def test_exponentials_have_twelve_digits(value: float) -> None:
    assert exponential(value) == pytest.approx(np.exp(value), rel=1e-12)


def test_the_exponential_of_very_little_is_nothing() -> None:
    assert exponential(-701.0) == exponential(-np.inf) == 0.0


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 1000), count=st.integers(1, 300), size=st.integers(1, 20), distinct=st.integers(1, 5))
def test_a_spatial_order_halves_at_every_level(seed: int, count: int, size: int, distinct: int) -> None:
    points = np.random.default_rng(seed).integers(0, distinct, (count, 2)).astype(np.float64)
    order = spatial_order(points, size)
    assert sorted(order.tolist()) == list(range(count))

    def halved(first: int, last: int) -> None:
        if last - first <= size:
            return
        middle = first + (last - first + size - 1) // size // 2 * size
        left, right = points[order[first:middle]], points[order[middle:last]]
        assert any(left[:, f].max() <= right[:, f].min() for f in range(2))
        halved(first, middle)
        halved(middle, last)

    halved(0, count)
