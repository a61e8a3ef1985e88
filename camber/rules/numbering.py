"""Numbers for phrases: equal sequences of ids get the same one."""

from __future__ import annotations

import numpy as np

from camber.arrays.types import I4, I8
from camber.kernel import kernel
from camber.kernel.table import empty_table, first_slot, mix, next_slot, same_run


def number_phrases(ids: I4, offsets: I8) -> tuple[I8, I8, I8]:
    """Number the distinct phrases ``ids[offsets[k]:offsets[k + 1]]`` by first use.

    Returns the number of every phrase, the first place of every number, and the hash table that finds them again.

    >>> [column.tolist() for column in number_phrases(np.array([7, 8, 7], np.int32), np.array([0, 1, 2, 3]))[:2]]
    [[0, 1, 0], [0, 1]]
    """
    size = len(offsets) - 1
    number, rows, slots = np.empty(size, np.int64), np.empty(size, np.int64), empty_table(size)
    count = look_up(ids, offsets, np.arange(size), slots, ids, offsets, rows, 0, True, number)
    return number, rows[:count].copy(), slots


@kernel
def look_up(ids, offsets, rows, slots, known_ids, known_offsets, known, count, learn, out):
    """Look up the phrases `rows`, -1 where they are new; with `learn`, new ones get the next number."""
    for k in range(len(rows)):
        a, size = offsets[rows[k]], offsets[rows[k] + 1] - offsets[rows[k]]
        key = np.int64(size)
        for t in range(a, a + size):
            key = mix(key + ids[t])
        slot = first_slot(slots, key)
        while slots[slot] >= 0:
            start, end = known_offsets[known[slots[slot]]], known_offsets[known[slots[slot]] + 1]
            if end - start == size and same_run(known_ids, start, ids, a, size):
                break
            slot = next_slot(slots, slot)
        if learn and slots[slot] < 0:
            known[count] = rows[k]
            slots[slot] = count
            count += 1
        out[k] = slots[slot]
    return count
