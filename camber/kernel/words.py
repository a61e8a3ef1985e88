"""The distinct words of a text, numbered in a hash table that compares their bytes where they stand.

`spans` int64[words, 3] has the first byte of every word, the byte after its last, and its hash; `slots` is a table of
word numbers (see `table`). The hash is taken byte by byte, so that whoever looks for the end of a word can do both:

    hashed = with_byte(hashed, data[at])                                # for each byte, from NOTHING on
    slot = word_slot(data, first, last, hashed, slots, spans)           # where data[first:last] is, or where it belongs
    if slots[slot] < 0:
        set_word(slots, slot, spans, number, first, last, hashed)
"""

from __future__ import annotations

import numpy as np

from camber.kernel.compile import kernel, kernel_inlined
from camber.kernel.table import first_slot, next_slot, same_run

#: The hash of no bytes.
NOTHING = 1469598103934665603


@kernel
def with_byte(hashed, byte):
    """Return the hash of a text and one more byte (FNV-1a)."""
    return (hashed ^ np.int64(byte)) * np.int64(1099511628211)


@kernel
def _home(slots, hashed):
    return first_slot(slots, hashed ^ (hashed >> 29))  # the low bits of the hash alone know too little of the last byte


@kernel
def word_slot(data, first, last, hashed, slots, spans):
    """Return the slot of the word ``data[first:last]`` with this hash, or the free slot where it belongs."""
    slot = _home(slots, hashed)
    while slots[slot] >= 0:
        word = slots[slot]
        start = spans[word, 0]
        if (
            spans[word, 2] == hashed
            and spans[word, 1] - start == last - first
            and same_run(data, start, data, first, last - first)
        ):
            break
        slot = next_slot(slots, slot)
    return slot


@kernel_inlined
def set_word(slots, slot, spans, word, first, last, hashed):
    """Put a new word into the slot that :func:`word_slot` found for it."""
    slots[slot] = word
    spans[word, 0] = first
    spans[word, 1] = last
    spans[word, 2] = hashed


@kernel
def rehash(slots, spans, words):
    """Fill an empty table with the first `words` of `spans`."""
    for word in range(words):
        slot = _home(slots, spans[word, 2])
        while slots[slot] >= 0:
            slot = next_slot(slots, slot)
        slots[slot] = word
