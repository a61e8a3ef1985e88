"""Stretches of arrays are sorted as Python's stable sort does it, and nothing beside them moves."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import sorting

from camber.kernel.sort import insert_falling, sort_falling, sort_rising

SCORES = st.one_of(st.integers(-3, 3).map(float), st.floats(allow_nan=False))


@st.composite
def stretches(draw, elements):
    values = draw(st.lists(elements, max_size=20))
    first, last = sorted(draw(st.tuples(*[st.integers(0, len(values))] * 2)))
    return values, first, last


@settings(deadline=None)
@given(stretches(st.integers(-5, 5)))
def test_a_stretch_of_keys_is_sorted(stretch):
    values, first, last = stretch
    array = np.array(values, np.int64)
    sort_rising(array, first, last)
    assert array.tolist() == sorting.sort_rising(values, first, last)


@settings(deadline=None)
@given(st.lists(SCORES, min_size=6, max_size=6), stretches(st.integers(0, 5)))
def test_indices_are_sorted_by_their_scores_and_equal_ones_keep_their_order(scores, stretch):
    items, first, last = stretch
    array = np.array(items, np.int64)
    sort_falling(array, first, last, np.array(scores))
    assert array.tolist() == sorting.sort_falling(items, first, last, scores)


@settings(deadline=None)
@given(st.lists(SCORES, max_size=20), st.integers(0, 3))
def test_inserting_one_after_another_sorts_and_equal_ones_keep_their_order(scores, first):
    array, items, twin = np.full(24, np.inf), np.full(24, -1, np.int64), []
    for item, score in enumerate(scores):
        insert_falling(array, items, first, first + item, score, item)
        twin = sorting.insert_falling(twin, score, item)
        last = first + item + 1
        assert list(zip(array[first:last].tolist(), items[first:last].tolist(), strict=True)) == twin
    assert (items[:first] == -1).all()
    assert (items[first + len(scores) :] == -1).all()
