"""Coverage and future costs against plain integers and recursion; the cuts of long sentences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.source_coverage import first_gap, future_cost, jumped_over, rest_cost

from camber.decode.phrase.coverage import cover, future_costs, is_free
from camber.decode.windows import cut_points
from camber.kernel.table import capacity_for


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 7), st.integers(1, 4), st.integers(0, 10**6))
def test_future_costs_equal_the_recursion(length, longest, seed):
    rng = np.random.default_rng(seed)
    spans = np.full((length, longest), -1, np.int64)
    first, estimate, costs = [0], [], {}
    for i in range(length):
        for size in range(1, min(longest, length - i) + 1):
            if rng.random() < 0.7:
                spans[i, size - 1] = len(first) - 1
                values = sorted(rng.normal(-5, 3, rng.integers(0, 3)), reverse=True)
                estimate += values
                first.append(len(estimate))
                if values:
                    costs[i, i + size] = values[0]
    future = np.full((length + 2, length + 2), np.nan)
    future_costs(spans, np.array(first), np.array(estimate, np.float64), future)
    for i in range(length + 1):
        for j in range(i, length + 1):
            assert future[i, j] == pytest.approx(future_cost(costs, i, j))


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 200), st.integers(0, 10**6))
def test_coverages_are_sets_of_positions(length, seed):
    rng = np.random.default_rng(seed)
    rows = 300
    bits = np.zeros((rows, length // 64 + 1), np.uint64)
    slots = np.full(capacity_for(2 * rows), -1, np.int64)
    gaps, cost = np.zeros(rows, np.int64), np.zeros(rows)
    future = -rng.random((length + 1, length + 1))
    known, count, toll = [0], 1, float(rng.random())
    for _ in range(200):
        old = int(rng.integers(len(known)))
        start = int(rng.integers(length))
        end = min(length, start + int(rng.integers(1, 8)))
        span = (1 << end) - (1 << start)
        free = is_free(bits, old, start, end)
        assert free == (known[old] & span == 0)
        if not free:
            continue
        covered, count = cover(bits, slots, count, gaps, cost, future, length, toll, old, start, end)
        new = known[old] | span
        if covered == len(known):
            assert new not in known[1:]
            known.append(new)
        assert known[covered] == new
        assert count == len(known)
        assert gaps[covered] == first_gap(new, length)
        expected = rest_cost(new, length, lambda i, j: future[i, j]) - toll * jumped_over(new, length)
        assert cost[covered] == pytest.approx(expected)


def test_a_full_table_of_coverages_says_so():
    bits = np.zeros((1, 1), np.uint64)
    slots = np.full(8, -1, np.int64)
    _, count = cover(bits, slots, 1, np.zeros(1, np.int64), np.zeros(1), np.zeros((4, 4)), 3, 0.0, 0, 0, 1)
    assert count == -1


@given(st.lists(st.sampled_from(["a", ",", ".", "b", "c", "d"]), max_size=120), st.integers(10, 40))
def test_windows_cover_the_sentence_and_are_not_too_long(words, window):
    cuts = cut_points(words, window)
    assert cuts[0] == 0
    assert cuts[-1] == len(words)
    sizes = np.diff(cuts)
    assert (sizes <= window).all()
    assert (sizes[:-1] >= window // 2).all()
    for cut in cuts[1:-1]:
        assert words[cut - 1] in ",." or not set(words[cut - window // 2 : cut]) & {",", "."}


def test_windows_end_after_the_last_full_stop_that_fits():
    words = ["a", ".", "b", ",", "c", ".", "d", ",", "e", "f", "g"]
    assert cut_points(words, 10) == [0, 6, 11]
