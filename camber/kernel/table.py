"""An open-addressing hash table over one array of int64 keys.

The caller keeps values in arrays of its own, indexed by the slot. Capacity is a power of two; keys are not negative;
a free slot holds -1. Keep the table at most two thirds full.

    keys = empty_table(1000)            # at least 1000 keys fit
    slot = insert(keys, 42)             # where 42 is, or now is
    find(keys, 7)                       # -1: absent
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from camber.kernel.compile import kernel

EMPTY = -1


def capacity_for(count: int) -> int:
    """Return the power of two that holds `count` keys at most two thirds full.

    >>> capacity_for(6)
    16
    """
    return 1 << max(3, (count * 3 // 2).bit_length())


def empty_table(count: int) -> npt.NDArray[np.int64]:
    """Make a table for at least `count` keys."""
    return np.full(capacity_for(count), EMPTY, np.int64)


@kernel
def mix(key):
    """Scatter a 64-bit key (the finaliser of splitmix64): int64 → int64, not negative."""
    h = np.uint64(key)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64((h ^ (h >> np.uint64(31))) >> np.uint64(1))


@kernel
def find(keys, key):
    """Return the slot of `key`, or -1."""
    mask = len(keys) - 1
    slot = mix(key) & mask
    while keys[slot] != key:
        if keys[slot] == -1:
            return -1
        slot = (slot + 1) & mask
    return slot


@kernel
def insert(keys, key):
    """Return the slot of `key`, which is put there if it was absent."""
    mask = len(keys) - 1
    slot = mix(key) & mask
    while keys[slot] != key:
        if keys[slot] == -1:
            keys[slot] = key
            break
        slot = (slot + 1) & mask
    return slot
