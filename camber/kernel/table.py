"""Open-addressing hash tables over arrays. Capacity is a power of two; a free slot holds -1; at most two thirds full.

A table of int64 keys that are not negative; the caller keeps values in arrays of its own, indexed by the slot:

    keys = empty_table(1000)            # at least 1000 keys fit
    slot = insert(keys, 42)             # where 42 is, or now is
    find(keys, 7)                       # -1: absent

A table of records with a field `key`, so that a key and its values share a line of the processor's cache:

    slot = record_slot(records, key)    # where the key is, or where it belongs

A table of numbers of things that are kept elsewhere, which only the caller can compare:

    slot = first_slot(slots, hashed)    # hashed: any int64 whose low bits are scattered, as by `mix`
    while slots[slot] >= 0 and not same(slots[slot]):
        slot = next_slot(slots, slot)
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
def first_slot(table, hashed):
    """Return the slot where a search begins."""
    return hashed & (len(table) - 1)


@kernel
def next_slot(table, slot):
    """Return the slot where a search goes on if something else is in `slot`."""
    return (slot + 1) & (len(table) - 1)


@kernel
def find(keys, key):
    """Return the slot of `key`, or -1."""
    slot = first_slot(keys, mix(key))
    while keys[slot] != key:
        if keys[slot] == -1:
            return -1
        slot = next_slot(keys, slot)
    return slot


@kernel
def insert(keys, key):
    """Return the slot of `key`, which is put there if it was absent."""
    slot = first_slot(keys, mix(key))
    while keys[slot] != key:
        if keys[slot] == -1:
            keys[slot] = key
            break
        slot = next_slot(keys, slot)
    return slot


@kernel
def record_slot(records, key):
    """Return the slot of the record with this `key`, or the free slot where it belongs."""
    slot = first_slot(records, mix(key))
    while records[slot]["key"] != key and records[slot]["key"] != -1:
        slot = next_slot(records, slot)
    return slot


@kernel
def clear(slots):
    """Make every slot free."""
    for slot in range(len(slots)):
        slots[slot] = -1


@kernel
def same_run(left, at, right, place, size):
    """Say whether ``left[at : at + size]`` equals ``right[place : place + size]``."""
    same = 0
    while same < size and left[at + same] == right[place + same]:
        same += 1
    return same == size
