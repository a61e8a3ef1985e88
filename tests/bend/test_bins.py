"""Uniform-population bins."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.binning import bin_of, bins_of
from naive.binning import ideal_size as naive_ideal_size

from camber.bend.bins import Bins, ideal_size
from camber.errors import CamberError, SettingsError

FREQUENCIES = st.lists(st.one_of(st.integers(1, 6), st.integers(1, 500)), min_size=1, max_size=60)
BITS = st.integers(0, 6)


def expanded(frequencies):
    return np.repeat(np.arange(len(frequencies), dtype=float), frequencies)


@given(FREQUENCIES, st.integers(1, 64))
@settings(deadline=None, max_examples=300)
def test_the_ideal_size_is_where_the_papers_iteration_ends(frequencies, bins):
    if bins > len(frequencies):
        return
    size = Fraction(*ideal_size(frequencies, bins))
    assert sum(min(Fraction(f), size) for f in frequencies) == bins * size
    if bins < len(frequencies):  # with as many bins as values the iteration nears the least frequency ever more slowly
        assert size == naive_ideal_size(frequencies, bins)


@given(FREQUENCIES, BITS, st.integers(0, 99))
@settings(deadline=None, max_examples=300)
def test_bins_are_those_of_algorithm_1(frequencies, bits, seed):
    values = np.random.default_rng(seed).permutation(expanded(frequencies))
    bins = Bins.make(values, bits)
    number = min(2**bits, len(frequencies))
    own = [[i + 1] for i in range(number)]
    expected = own if number == len(frequencies) else bins_of(frequencies, number)
    assert bins.lows.tolist() == [b[0] - 1 for b in expected]
    assert bins.highs.tolist() == [b[-1] - 1 for b in expected]
    assert bins.populations.tolist() == [sum(frequencies[i - 1] for i in b) for b in expected]
    assert [i for b in expected for i in b] == list(range(1, len(frequencies) + 1))


@given(FREQUENCIES, BITS, st.sampled_from(["log", "cube", "shift", "ranks"]), st.integers(0, 99))
@settings(deadline=None, max_examples=200)
def test_bins_are_unchanged_by_any_increasing_transform(frequencies, bits, kind, seed):
    rng = np.random.default_rng(seed)
    values = np.repeat(np.cumsum(rng.random(len(frequencies)) + 0.01), frequencies)
    transform = {
        "log": np.log,
        "cube": lambda x: x**3 - 7.0,
        "shift": lambda x: 1e3 * x - 5.0,
        "ranks": lambda x: np.unique(x, return_inverse=True)[1],
    }[kind]
    before, after = Bins.make(values, bits), Bins.make(transform(values), bits)
    assert before.of(values).tolist() == after.of(transform(values)).tolist()
    assert before.populations.tolist() == after.populations.tolist()


@given(FREQUENCIES, BITS)
@settings(deadline=None, max_examples=200)
def test_all_decreasing_transforms_give_one_partition_of_as_many_bins(frequencies, bits):
    # The greedy pass goes upwards, so that it may cut mirrored values elsewhere (see the next test).
    values = expanded(frequencies)
    mirrored, curved = -values, np.exp(-0.1 * values)
    before, after, other = (Bins.make(x, bits) for x in (values, mirrored, curved))
    assert len(before) == len(after)
    assert after.of(mirrored).tolist() == other.of(curved).tolist()


def test_a_decreasing_transform_may_cut_elsewhere():
    values = expanded([1, 2, 1])
    assert Bins.make(values, 1).of(values).tolist() == [0, 1, 1, 1]
    assert Bins.make(-values, 1).of(-values).tolist() == [1, 1, 1, 0]
    # No way to make two bins is the same for {-1, 0, 1} and its mirror image, which are the same values.
    for partition in ({(-1,), (0, 1)}, {(-1, 0), (1,)}):
        assert {tuple(sorted(-x for x in part)) for part in partition} != partition


@given(FREQUENCIES, BITS)
@settings(deadline=None, max_examples=200)
def test_no_bin_is_empty_no_value_is_in_two_and_there_are_no_more_than_2_to_the_bits(frequencies, bits):
    values = expanded(frequencies)
    bins = Bins.make(values, bits)
    assert len(bins) == min(2**bits, len(frequencies))
    populations = Counter(bins.of(values).tolist())
    assert sorted(populations) == list(range(len(bins)))
    assert [populations[j] for j in range(len(bins))] == bins.populations.tolist()
    assert (bins.lows <= bins.highs).all()
    assert (bins.highs[:-1] < bins.lows[1:]).all()


def test_enough_bins_give_every_value_its_own():
    bins = Bins.make([3.0, 1.0, 1.0, 1.0, 2.0], bits=4)
    assert bins.lows.tolist() == bins.highs.tolist() == [1.0, 2.0, 3.0]
    assert bins.populations.tolist() == [3, 1, 1]


def test_a_very_frequent_value_fills_one_bin_and_does_not_starve_the_others():
    bins = Bins.make(np.repeat([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [10**6, 1, 1, 1, 1, 1, 1]), bits=2)
    assert bins.populations.tolist() == [10**6, 2, 2, 2]


def test_counts_of_any_size_are_cut_alike():
    rare = [1] * 200
    expected = Bins.make(np.arange(201), 6, [10**6, *rare]).populations.tolist()
    assert max(expected[1:]) == 4
    assert Bins.make(np.arange(201), 6, [2**58, *rare]).populations.tolist() == [2**58, *expected[1:]]


@given(
    st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 9)), max_size=40),
    BITS,
)
@settings(deadline=None, max_examples=200)
def test_counts_stand_for_repeats(pairs, bits):
    values = np.array([float(v) for v, _ in pairs])
    counts = np.array([c for _, c in pairs], np.int64)
    a, b = Bins.make(values, bits, counts), Bins.make(np.repeat(values, counts), bits)
    assert a.lows.tolist() == b.lows.tolist()
    assert a.highs.tolist() == b.highs.tolist()
    assert a.populations.tolist() == b.populations.tolist()


@given(
    st.lists(st.floats(allow_nan=True), max_size=30),
    BITS,
    st.lists(st.floats(allow_nan=True), max_size=30),
)
@settings(deadline=None, max_examples=200)
def test_an_unseen_value_is_in_the_bin_whose_range_holds_it_and_an_absent_one_in_none(seen, bits, asked):
    bins = Bins.make(seen, bits)
    with np.errstate(over="ignore"):
        edges = [x for low in bins.lows for x in (low, np.nextafter(low, -np.inf), np.nextafter(low, np.inf))]
    for value in [*asked, *edges, 0.0, -0.0]:
        assert bins.of(value) == bin_of(bins.lows.tolist(), value)


def test_a_feature_that_is_always_absent_has_no_bins():
    bins = Bins.make([np.nan, np.nan], 4)
    assert len(bins) == 0
    assert bins.of([1.0, np.nan]).tolist() == [-1, -1]


def test_both_zeros_are_one_value():
    assert len(Bins.make([0.0, -0.0], 4)) == len(Bins.make([0.0, -0.0], 4, [1, 2])) == 1


def test_wrong_settings_are_told():
    with pytest.raises(SettingsError, match="31 bits"):
        Bins.make([1.0], 31)
    with pytest.raises(CamberError, match="2 counts for 1"):
        Bins.make([1.0], 3, [1, 2])
    with pytest.raises(CamberError, match="whole numbers"):
        Bins.make([1.0], 3, [0.5])
    with pytest.raises(CamberError, match="must rise"):
        Bins(np.array([1.0, 1.0]), np.array([1.0, 1.0]), np.array([1, 1]))


def test_bins_of_negative_populations_are_refused():
    assert Bins(np.array([1.0, 2.0]), np.array([1.0, 3.0]), np.array([0, 5])).populations.tolist() == [0, 5]
    for populations in ([-1, 5], [5, -1], [5, -(2**62)]):
        with pytest.raises(CamberError, match="negative"):
            Bins(np.array([1.0, 2.0]), np.array([1.0, 3.0]), np.array(populations))
