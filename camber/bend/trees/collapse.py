"""Equal parts as one row: exact, because a tree cannot tell them apart.

To least squares a row is the number of its parts and the sum of their targets. Parts point to a table already, so two
are equal if they have the same row of it and the same features in context.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from camber.arrays.types import I4, I8
from camber.features.parts import Parts
from camber.kernel import kernel
from camber.kernel.table import capacity_for, first_slot, mix, next_slot


class Collapsed(NamedTuple):
    """Which parts are equal; numbers are in the order of first use."""

    firsts: I8  # [distinct] the first part of each number
    numbers: I4  # [parts]
    counts: I8  # [distinct] parts of each number


def collapse(parts: Parts) -> Collapsed:
    """Number the distinct parts; NaN equals NaN, and 0 differs from -0.

    >>> from camber.features.feature import Feature
    >>> parts = Parts.of_dense((Feature("p", "probability", "rule"), Feature("lm", "number", "context")),
    ...                        [[0.5, -1.0], [0.5, -2.0], [0.5, -1.0]])
    >>> collapse(parts).numbers.tolist()
    [0, 1, 0]
    """
    count = len(parts)
    numbers = np.empty(count, np.int32)
    firsts = np.empty(1024, np.int64)
    if parts.context.shape[1] == 0:
        used = np.full(len(parts.table), -1, np.int32)
        firsts = np.empty(len(parts.table), np.int64)
        distinct = _number_rows(parts.rows, used, numbers, firsts)
    else:
        slots = np.full(capacity_for(1024), -1, np.int32)
        distinct = done = 0
        context = parts.context.view(np.int64)
        while done < count:  # the table starts small: most lists have few distinct parts
            distinct, done = _number_parts(parts.rows, context, parts.context, slots, numbers, firsts, distinct, done)
            if done < count:
                firsts = np.concatenate([firsts, np.empty(len(firsts), np.int64)])
                slots = np.full(2 * len(slots), -1, np.int32)
                _rehash(parts.rows, context, parts.context, slots, firsts, distinct)
    counts = np.zeros(distinct, np.int64)
    _count(numbers, counts)
    return Collapsed(firsts[:distinct].copy(), numbers, counts)


@kernel
def _number_rows(rows, used, numbers, firsts):
    distinct = 0
    for part in range(len(rows)):
        row = rows[part]
        if used[row] < 0:
            used[row] = distinct
            firsts[distinct] = part
            distinct += 1
        numbers[part] = used[row]
    return distinct


@kernel
def _hash_of(rows, bits, values, part):
    key = mix(np.int64(rows[part]))
    for column in range(bits.shape[1]):
        number = bits[part, column] if values[part, column] == values[part, column] else -1  # one NaN for all
        key = mix(key ^ number)
    return key


@kernel
def _same(rows, bits, values, one, two):
    if rows[one] != rows[two]:
        return False
    for column in range(bits.shape[1]):
        if bits[one, column] != bits[two, column] and (
            values[one, column] == values[one, column] or values[two, column] == values[two, column]
        ):
            return False
    return True


@kernel
def _number_parts(rows, bits, values, slots, numbers, firsts, distinct, done):
    """Number parts from `done` on until all are, or until `firsts` is full; return how many differ and are done."""
    for part in range(done, len(rows)):
        slot = first_slot(slots, _hash_of(rows, bits, values, part))
        while slots[slot] >= 0 and not _same(rows, bits, values, firsts[slots[slot]], part):
            slot = next_slot(slots, slot)
        if slots[slot] < 0:
            if distinct == len(firsts):
                return distinct, part
            slots[slot] = distinct
            firsts[distinct] = part
            distinct += 1
        numbers[part] = slots[slot]
    return distinct, len(rows)


@kernel
def _rehash(rows, bits, values, slots, firsts, distinct):
    for number in range(distinct):
        slot = first_slot(slots, _hash_of(rows, bits, values, firsts[number]))
        while slots[slot] >= 0:
            slot = next_slot(slots, slot)
        slots[slot] = number


@kernel
def _count(numbers, counts):
    for part in range(len(numbers)):
        counts[numbers[part]] += 1
