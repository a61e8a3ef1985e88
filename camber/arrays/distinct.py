"""Equal rows of a matrix, or pieces of an array: which are the first of their kind, and which number each has."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from camber.arrays.types import I4, I8
from camber.kernel import kernel
from camber.kernel.table import empty_table, first_slot, mix, next_slot, same_run


def number_rows(values: npt.ArrayLike) -> tuple[I8, I4]:
    """Number the distinct rows of float64[n, width]: the first row of each number, and the number of each row.

    Rows are the same if they have the same numbers, NaN included; 0 and -0 differ.

    >>> firsts, numbers = number_rows([[1.0], [2.0], [1.0]])
    >>> firsts.tolist(), numbers.tolist()
    ([0, 1], [0, 1, 0])
    """
    dense = np.ascontiguousarray(values, np.float64)
    numbers, firsts = np.zeros(len(dense), np.int32), np.zeros(len(dense), np.int64)
    if not dense.shape[1]:
        return firsts[:1], numbers
    bits = np.where(np.isnan(dense), np.nan, dense).view(np.int64)  # one NaN for all
    count = _number_rows(bits.ravel(), dense.shape[1], empty_table(len(dense)), numbers, firsts)
    return firsts[:count], numbers


def number_pieces(values: npt.NDArray[np.integer], offsets: I8) -> I4:
    """Number the pieces of a ragged array by their content, in the order of their first occurrence: int32[pieces].

    >>> number_pieces(np.array([7, 8, 7, 7, 8]), np.array([0, 2, 3, 5])).tolist()
    [0, 1, 0]
    """
    flat = np.ascontiguousarray(values, np.int64)
    numbers, firsts = np.zeros(len(offsets) - 1, np.int32), np.zeros(len(offsets) - 1, np.int64)
    _number_pieces(flat, np.ascontiguousarray(offsets, np.int64), empty_table(len(numbers)), numbers, firsts)
    return numbers


@kernel
def _number_rows(bits, width, slots, numbers, firsts):
    """Number equal rows int64[n * width] alike; `slots` is an empty table for n keys; return how many differ."""
    count = 0
    for row in range(len(numbers)):
        key = np.int64(0)
        for place in range(row * width, (row + 1) * width):
            key = mix(key ^ bits[place])
        slot = first_slot(slots, key)
        while slots[slot] >= 0 and not same_run(bits, firsts[slots[slot]] * width, bits, row * width, width):
            slot = next_slot(slots, slot)
        if slots[slot] < 0:
            slots[slot] = count
            firsts[count] = row
            count += 1
        numbers[row] = slots[slot]
    return count


@kernel
def _number_pieces(values, offsets, slots, numbers, firsts):
    """Number equal pieces alike; `slots` is an empty table for as many keys as there are pieces."""
    count = 0
    for piece in range(len(numbers)):
        start = offsets[piece]
        size = offsets[piece + 1] - start
        key = size
        for place in range(start, start + size):
            key = mix(key ^ values[place])
        slot = first_slot(slots, mix(key))
        while slots[slot] >= 0:
            first = firsts[slots[slot]]
            if offsets[first + 1] - offsets[first] == size and same_run(values, offsets[first], values, start, size):
                break
            slot = next_slot(slots, slot)
        if slots[slot] < 0:
            slots[slot] = count
            firsts[count] = piece
            count += 1
        numbers[piece] = slots[slot]
