"""Finding bins inside kernels."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from naive.bent_scores import scores
from naive.binning import bin_of

from camber.bend.bins import Bins
from camber.bend.lookup import Lookup
from camber.errors import CamberError

NUMBERS = st.one_of(
    st.floats(allow_nan=False),
    st.floats(0.0, 1.0),
    st.floats(-20.0, 0.0),
    st.floats(-3.0, 3.0),
    st.integers(-9, 9).map(float),
)


def bins_with(lows):
    edges = np.unique(np.array(lows, float) + 0.0)
    return Bins(edges, edges, np.ones(len(edges), np.int64))


def probes(lows, more):
    """The edges, their neighbours, both zeros, infinities, NaN."""
    near = [0.0, -0.0, 5e-324, -5e-324, 1.8e308, -1.8e308, np.inf, -np.inf, np.nan, *more]
    with np.errstate(over="ignore"):
        for low in lows:
            near += [low, np.nextafter(low, np.inf), np.nextafter(low, -np.inf)]
    return np.array(near)


@pytest.mark.slow
@given(st.lists(st.lists(NUMBERS, max_size=40), min_size=1, max_size=4), st.lists(NUMBERS, max_size=20))
@example([[-1.7e308, 1.7e308, 3.0], [-np.inf, np.inf], [5e-324, 1e-323, 1e-322]], [])
@settings(deadline=None, max_examples=300)
def test_a_lookup_is_exact_at_every_edge(features, more):
    lookup = Lookup.of([bins_with(lows) for lows in features])
    for number, lows in enumerate(features):
        bins = bins_with(lows)
        values = probes(lows, more)
        places = lookup.find(number, values)
        assert places.tolist() == [bin_of(bins.lows.tolist(), value) for value in values.tolist()]
        assert places.tolist() == bins.of(values).tolist()
        if len(bins):
            there = values[~np.isnan(values)]
            expected = np.maximum(np.searchsorted(bins.lows, there, side="right") - 1, 0)
            assert places[~np.isnan(values)].tolist() == expected.tolist()


@pytest.mark.parametrize("bits", [4, 8, 12])
@pytest.mark.parametrize("kind", ["probability", "log", "both signs", "counts", "one far away"])
def test_a_lookup_agrees_with_a_binary_search_on_many_values(bits, kind):
    rng = np.random.default_rng(bits)
    draw = rng.random(20_000)
    values = {
        "probability": draw**6,
        "log": np.append(np.log(draw), 0.0),
        "both signs": rng.normal(size=20_000),
        "counts": np.floor(1.0 / (draw + 1e-6)),
        "one far away": np.append(draw, 1e30),
    }[kind]
    bins = Bins.make(values, bits)
    asked = np.concatenate([values, np.nextafter(values, 1.0), bins.lows, rng.normal(size=1000)])
    assert np.array_equal(Lookup.of([bins]).find(0, asked), bins.of(asked))


@given(st.integers(0, 10**6), st.integers(0, 30), st.integers(1, 5))
@settings(deadline=None, max_examples=100)
def test_a_rule_is_worth_its_linear_features_and_its_bins(seed, rules, width):
    rng = np.random.default_rng(seed)
    features = np.where(rng.random((rules, width)) < 0.2, np.nan, rng.integers(-4, 5, (rules, width)) / 2)
    columns = np.flatnonzero(rng.random(width) < 0.6)
    all_bins = [bins_with(rng.integers(-4, 5, rng.integers(0, 6)) / 2) for _ in columns]
    worth = [rng.normal(size=len(bins)) for bins in all_bins]
    weights = rng.normal(size=width)
    weights[columns] *= rng.random(len(columns)) < 0.3  # most bent features have no linear share
    lookup = Lookup.of(all_bins)
    found = lookup.score(features, columns, np.concatenate([np.empty(0), *worth]), weights)
    naive = scores(
        features.tolist(),
        weights.tolist(),
        [(c, b.lows.tolist(), w.tolist()) for c, b, w in zip(columns.tolist(), all_bins, worth, strict=True)],
    )
    assert found == pytest.approx(naive, abs=1e-12)


def test_wrong_shapes_are_told():
    lookup = Lookup.of([bins_with([0.0, 1.0])])
    with pytest.raises(CamberError, match="no bent feature 1"):
        lookup.find(1, [0.0])
    with pytest.raises(CamberError, match="2 weights"):
        lookup.score(np.zeros((3, 1)), [0], [0.0, 1.0], [1.0, 2.0])
    with pytest.raises(CamberError, match="1 columns within 1"):
        lookup.score(np.zeros((3, 1)), [1], [0.0, 1.0], [1.0])
    with pytest.raises(CamberError, match="1 values for 2 bins"):
        lookup.score(np.zeros((3, 1)), [0], [0.0], [1.0])
