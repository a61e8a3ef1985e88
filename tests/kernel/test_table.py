"""The hash table over an array does what a dictionary does."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.splitmix import mix as naive_mix

from camber.kernel.table import EMPTY, capacity_for, empty_table, find, insert, mix

KEYS = st.lists(st.one_of(st.integers(0, 20), st.integers(0, 2**63 - 1)), max_size=60)


@settings(deadline=None)
@given(KEYS, KEYS)
def test_the_table_finds_what_a_dictionary_finds(keys, queries):
    table, slots = empty_table(max(1, len(set(keys)))), {}
    for key in keys:
        slot = insert(table, key)
        assert slots.setdefault(key, slot) == slot  # a key stays where it was put
    assert len(set(slots.values())) == len(slots)
    for query in [*keys, *queries]:
        assert find(table, query) == slots.get(query, -1)
    assert np.count_nonzero(table != EMPTY) == len(slots)


@settings(deadline=None)
@given(st.lists(st.integers(0, 7), max_size=8, unique=True))
def test_a_chain_of_collisions_wraps_around_the_end(keys):
    table = np.full(8, EMPTY, np.int64)
    slots = {key: insert(table, key) for key in keys[:7]}  # one slot stays free, or a search would not end
    assert all(find(table, key) == slot for key, slot in slots.items())


@settings(deadline=None)
@given(st.integers(0, 10**7))
def test_a_table_is_at_most_two_thirds_full_and_not_wasteful(count):
    capacity = capacity_for(count)
    assert capacity & (capacity - 1) == 0
    assert 3 * count <= 2 * capacity
    assert capacity <= max(8, 3 * count)


@settings(deadline=None)
@given(st.integers(-(2**63), 2**63 - 1))
def test_mixing_agrees_with_plain_python_and_is_not_negative(key):
    assert mix(np.int64(key)) == naive_mix(key) >= 0


def test_mixing_scatters_neighbours():
    low_bits = {int(mix(key)) & 1023 for key in range(1024)}
    assert len(low_bits) > 550  # 1024 (1 - 1/e) = 647 expected at random
