"""The hash table over an array does what a dictionary does."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.splitmix import mix as naive_mix

from camber.kernel import kernel
from camber.kernel.table import (
    EMPTY,
    capacity_for,
    clear,
    empty_table,
    find,
    first_slot,
    insert,
    mix,
    next_slot,
    record_slot,
    same_run,
)

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


@settings(deadline=None)
@given(KEYS, KEYS)
def test_a_table_of_records_finds_what_a_dictionary_finds(keys, queries):
    records = np.zeros(capacity_for(max(1, len(set(keys)))), [("key", np.int64), ("value", np.int64)])
    records["key"] = EMPTY
    values = {}
    for value, key in enumerate(keys):
        slot = record_slot(records, key)
        assert records[slot]["key"] == (key if key in values else EMPTY)
        records[slot] = key, value
        values[key] = value
    for query in [*keys, *queries]:
        slot = record_slot(records, query)
        assert (int(records[slot]["key"]), int(records[slot]["value"])) == (
            (query, values[query]) if query in values else (EMPTY, 0)
        )


@kernel
def number_runs(words, starts, sizes, slots, numbers):
    """Number equal runs of words alike, as the callers of `first_slot` and `next_slot` do."""
    for run in range(len(starts)):
        hashed = np.int64(sizes[run])
        for at in range(starts[run], starts[run] + sizes[run]):
            hashed = mix(hashed + words[at])
        slot = first_slot(slots, hashed)
        while slots[slot] >= 0:
            other = slots[slot]
            if sizes[other] == sizes[run] and same_run(words, starts[other], words, starts[run], sizes[run]):
                break
            slot = next_slot(slots, slot)
        if slots[slot] < 0:
            slots[slot] = run
        numbers[run] = slots[slot]


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 2), max_size=3), max_size=30))
def test_a_table_of_numbers_tells_apart_what_a_dictionary_tells_apart(runs):
    sizes = np.array([len(run) for run in runs], np.int64)
    words = np.array([word for run in runs for word in run], np.int64)
    slots, numbers = empty_table(len(runs)), np.full(len(runs), -2, np.int64)
    number_runs(words, np.cumsum(sizes) - sizes, sizes, slots, numbers)
    first = {}
    assert numbers.tolist() == [first.setdefault(tuple(run), number) for number, run in enumerate(runs)]
    clear(slots)
    assert np.array_equal(slots, empty_table(len(runs)))


@settings(deadline=None)
@given(st.integers(0, 2**63 - 1), st.integers(3, 12))
def test_a_search_goes_round_all_slots_and_comes_back(hashed, bits):
    table = np.full(1 << bits, EMPTY, np.int64)
    begin = slot = first_slot(table, hashed)
    seen = set()
    while slot not in seen:
        seen.add(slot)
        slot = next_slot(table, slot)
    assert slot == begin
    assert seen == set(range(1 << bits))
