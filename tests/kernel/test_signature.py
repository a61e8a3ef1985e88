"""Types of arguments: as fine as the compiler's, and the same text in every process."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import typeof

from camber.kernel.signature import UnknownTypeError, described, types_of


class Pair(NamedTuple):
    left: Any
    right: Any


class Couple(NamedTuple):
    left: Any
    right: Any


RECORD = np.dtype([("key", np.int64), ("value", np.float32)])
OTHER = np.dtype([("key", np.int64), ("weight", np.float32)])
ALIGNED = np.dtype([("key", np.int64), ("value", np.float32)], align=True)
NESTED = np.dtype([("key", np.int64), ("inner", RECORD, (2,))])


def frozen(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    array.flags.writeable = False
    return array


def unaligned(dtype: Any) -> np.ndarray[Any, Any]:
    return np.zeros(8 * 4 + 1, np.uint8)[1:].view(dtype)


#: everything that a kernel is called with, and what looks like it
VALUES: tuple[Any, ...] = (
    *(True, 3, -(2**63), 1.5, None, np.bool_(1), np.int64(3), np.int8(3), np.uint64(3), np.float64(1), np.float32(1)),
    *(np.zeros(3, kind) for kind in (np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float32, np.float64, bool)),
    *(np.zeros(3, kind) for kind in (RECORD, OTHER, ALIGNED, NESTED)),
    *(np.zeros((3, 2)), np.zeros((3, 2)).T, np.zeros((4, 4))[::2, ::2], np.zeros((1, 2)), np.zeros((2, 1, 2))),
    *(np.zeros(0), np.zeros((0, 2)), np.zeros(6)[::2], np.zeros(()), np.zeros(1)[::-1], np.zeros((1, 1)).T),
    *(frozen(np.zeros(3)), frozen(np.zeros((3, 2)).T), unaligned(np.float64), unaligned(RECORD.descr[0][1])),
    *((), (1,), (1.5,), (1, 2.5), (np.zeros(3), 2), Pair(1, 2), Couple(1, 2), Pair(1, 2.0), Pair(Pair(1, 2), None)),
    *(Pair(np.zeros(3), np.zeros(3)), Pair(np.zeros(3), np.zeros(3, np.int64)), ((1, 2), 3), (1, (2, 3))),
)


@pytest.mark.parametrize("left", VALUES, ids=lambda value: f"{type(value).__name__}")
def test_types_are_equal_where_those_of_the_compiler_are(left: Any) -> None:
    for right in VALUES:
        same = types_of((left,)) == types_of((right,))
        assert same == (typeof(left) == typeof(right)), (left, right)
        assert same == (described(types_of((left,))) == described(types_of((right,))))
        if same:
            assert hash(types_of((left,))) == hash(types_of((right,)))


@given(st.lists(st.sampled_from(VALUES), max_size=4), st.lists(st.sampled_from(VALUES), max_size=4))
def test_arguments_are_of_equal_types_where_each_of_them_is(left: list[Any], right: list[Any]) -> None:
    same = types_of(tuple(left)) == types_of(tuple(right))
    assert same == (tuple(map(typeof, left)) == tuple(map(typeof, right)))
    assert same == (described(types_of(tuple(left))) == described(types_of(tuple(right))))


def test_a_text_says_all_that_code_depends_on() -> None:
    assert described(types_of((np.zeros(3), 7, Pair(None, 1.5)))) == (
        f"dtype('float64')[1, 1025] int64 {__name__}.Pair<left, right>(none float64)"
    )


def test_an_array_in_a_file_is_an_array(tmp_path: Any) -> None:
    mapped = np.memmap(tmp_path / "file", np.int64, "w+", shape=(3,))
    assert types_of((mapped,)) == types_of((np.zeros(3, np.int64),))
    assert typeof(mapped) == typeof(np.zeros(3, np.int64))


@pytest.mark.parametrize("value", ["text", 3j, [1], {1: 2}, print, np.ma.zeros(3)])
def test_other_classes_are_not_known(value: Any) -> None:
    with pytest.raises(UnknownTypeError):
        types_of((1, value))
