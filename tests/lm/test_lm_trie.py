"""N-grams are found among shorter ones, in whatever order they are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import ngram_rows

from camber.lm.trie import DuplicateNgramError, _find, _index

WORD = st.integers(0, 4)


def columns(rows, width):
    return np.array(rows, np.int32).reshape(-1, width)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(WORD, WORD), unique=True),
    st.lists(st.tuples(WORD, WORD, WORD)),
    st.integers(0, 1),
    st.booleans(),
)
def test_rows_are_found_by_their_words(known, rows, shift, ordered):
    if ordered:
        known, rows = sorted(known), sorted(rows, key=lambda row: row[shift:])
    table = _index(columns(known, 2), 2)
    found = _find(columns(rows, 3), shift, columns(known, 2), table)
    assert found.tolist() == ngram_rows.find(rows, shift, known)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(WORD, WORD), max_size=12))
def test_the_first_row_that_repeats_another_is_named(rows):
    if (repeat := ngram_rows.first_repeat(rows)) < 0:
        _index(columns(rows, 2), 2)
        return
    with pytest.raises(DuplicateNgramError) as caught:
        _index(columns(rows, 2), 2)
    assert caught.value.row == repeat
