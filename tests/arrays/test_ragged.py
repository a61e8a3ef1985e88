"""Ragged arrays: sorting and gathering pieces of different lengths."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import camber.arrays.ragged
from camber.arrays.ragged import cut, offsets_from, ranks, sort_keys, take_ragged

pieces = st.lists(st.lists(st.integers(1, 3) | st.integers(1, 1 << 30), max_size=6), max_size=12)


def flat(rows):
    return np.array([x for row in rows for x in row], np.int64), offsets_from(
        np.array([len(r) for r in rows], np.int64)
    )


@settings(max_examples=150, deadline=None)
@given(pieces, st.integers(0, 1 << 30))
def test_keys_sort_like_the_sequences_themselves(rows, end):
    keys = sort_keys(*flat(rows), end=end)
    distinct = sorted({(*row, end) for row in rows})
    assert ranks(keys).tolist() == [distinct.index((*row, end)) for row in rows]


@settings(max_examples=60, deadline=None)
@given(st.data(), pieces.filter(bool), st.integers(1, 5))
def test_gathering_does_not_depend_on_the_size_of_blocks(data, rows, block):
    values, offsets = flat(rows)
    picks = np.array(data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=12)), np.int64)
    before = camber.arrays.ragged._BLOCK
    camber.arrays.ragged._BLOCK = block
    try:
        taken, bounds = take_ragged(values, offsets, picks)
    finally:
        camber.arrays.ragged._BLOCK = before
    assert [taken[a:b].tolist() for a, b in itertools.pairwise(bounds)] == [rows[pick] for pick in picks]


def test_rows_of_a_matrix_are_gathered_too():
    matrix = np.arange(10, dtype=np.uint8).reshape(5, 2)
    taken, bounds = cut(matrix, np.array([3, 0]), np.array([2, 1]))
    assert taken.tolist() == [[6, 7], [8, 9], [0, 1]]
    assert (taken.dtype, bounds.tolist()) == (np.uint8, [0, 2, 3])
