"""Numbers of equal rows, and of equal pieces, are those of a plain dictionary."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from camber.arrays.distinct import number_pieces, number_rows
from camber.arrays.ragged import offsets_from

VALUES = st.sampled_from([0.0, -0.0, 1.0, math.nan, math.inf])


@given(st.integers(0, 3).flatmap(lambda width: st.lists(st.tuples(*[VALUES] * width), max_size=30)))
def test_equal_rows_have_the_same_number_and_the_first_of_each_is_known(rows):
    width = len(rows[0]) if rows else 2
    firsts, numbers = number_rows(np.array(rows).reshape(len(rows), width))
    seen: dict[str, int] = {}
    assert numbers.tolist() == [seen.setdefault(str(row), len(seen)) for row in rows]
    assert firsts.tolist() == [[str(row) for row in rows].index(row) for row in seen]


@given(st.lists(st.lists(st.sampled_from([-1, 0, 1, 2**40]), max_size=4), max_size=40))
def test_equal_pieces_have_the_same_number_and_no_others(pieces):
    flat = np.array([value for piece in pieces for value in piece], np.int64)
    numbers = number_pieces(flat, offsets_from(map(len, pieces)))
    seen: dict[tuple[int, ...], int] = {}
    assert numbers.tolist() == [seen.setdefault(tuple(piece), len(seen)) for piece in pieces]
