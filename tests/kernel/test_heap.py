"""The heap over arrays pops in the order of a sorted list."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.priority_queue import PriorityQueue

from camber.kernel.heap import pop, push

ENTRY = st.tuples(st.one_of(st.integers(-3, 3).map(float), st.floats(allow_nan=False)), st.integers(0, 5))


@settings(deadline=None)
@given(st.lists(st.one_of(ENTRY, st.none()), max_size=60))
def test_pushes_and_pops_in_any_order_agree_with_a_sorted_list(steps):
    scores, items, size = np.zeros(64), np.zeros(64, np.int64), 0
    twin = PriorityQueue()
    for step in steps:
        if step is not None:
            size = push(scores, items, size, step[0], step[1])
            twin.push(*step)
        elif size:
            score, item, size = pop(scores, items, size)
            assert (score, item) == twin.pop()
    while size:
        score, item, size = pop(scores, items, size)
        assert (score, item) == twin.pop()
    assert not twin.entries


def test_equal_scores_leave_by_the_smaller_item_whatever_the_order_of_arrival():
    for order in ([3, 1, 2], [1, 2, 3], [2, 3, 1]):
        scores, items, size = np.zeros(8), np.zeros(8, np.int64), 0
        for item in order:
            size = push(scores, items, size, -np.inf, item)
        left = []
        while size:
            _, item, size = pop(scores, items, size)
            left.append(item)
        assert left == [1, 2, 3]
