"""Words by their bytes: where a word ends, and which number it has, eight bytes at a time.

A word has a *key* of 64 bits. Most words are shorter than eight bytes: their key is these bytes and how many they are:
it says all. A longer word's key is a hash; where it is found, the bytes are compared.

    table, spans = word_table(count), np.zeros((count, 2), np.int64)    # spans: first byte, and the one after the last
    end = word_end(data, at, ANY_BLANK)
    slot = spelled_slot(table, spans, known, data, at, end)             # known[spans[n, 0] : spans[n, 1]] is word n
    table[slot]["word"]                                                 # its number; -1: this is where it belongs
"""

from __future__ import annotations

import numpy as np

from camber.arrays.types import Records
from camber.kernel import kernel_inlined
from camber.kernel.table import capacity_for, first_slot, mix, next_slot, same_run

#: One word of a table.
SPELLED = np.dtype([("key", "u8"), ("word", "i8")])
#: What ends a word: any blank of ASCII; a space, a tab, a line feed or a carriage return; the same, but of the latter
#: only one at the end of a line, as in an ARPA file.
ANY_BLANK, IN_LINE, BETWEEN_FIELDS = 0, 1, 2

_LONG = np.uint64(1 << 63)  # the mark of the key of a long word
_EACH = np.uint64(0x0101010101010101)
_HIGH = np.uint64(0x8080808080808080)
_LINE_FEEDS = np.uint64(0x0A0A0A0A0A0A0A0A)
_ODD = np.uint64(0x9E3779B97F4A7C15)
_ZERO, _ONE, _SEVEN, _EIGHT = np.uint64(0), np.uint64(1), np.uint64(7), np.uint64(8)
_32, _33, _56, _255 = np.uint64(32), np.uint64(33), np.uint64(56), np.uint64(255)


def word_table(count: int) -> Records:
    """Make a table for so many words."""
    table = np.zeros(
        2 * capacity_for(count), SPELLED
    )  # at most a third full: a word that is not there ends a search soon
    table["word"] = -1
    return table


@kernel_inlined
def eight_bytes(data, at):
    """Return the eight bytes from `at` on, the first one lowest; behind the data there are line feeds."""
    if at + 8 <= len(data):
        # the compiler makes one load of this
        return (
            np.uint64(data[np.uint64(at)])
            | np.uint64(data[np.uint64(at + 1)]) << np.uint64(8)
            | np.uint64(data[np.uint64(at + 2)]) << np.uint64(16)
            | np.uint64(data[np.uint64(at + 3)]) << np.uint64(24)
            | np.uint64(data[np.uint64(at + 4)]) << np.uint64(32)
            | np.uint64(data[np.uint64(at + 5)]) << np.uint64(40)
            | np.uint64(data[np.uint64(at + 6)]) << np.uint64(48)
            | np.uint64(data[np.uint64(at + 7)]) << np.uint64(56)
        )
    found = _LINE_FEEDS
    for place in range(len(data) - 1, at - 1, -1):
        found = found << _EIGHT | np.uint64(data[place])
    return found


@kernel_inlined
def word_end(data, at, ends):
    """Return the place after the word that begins at `at`; `ends` says what ends it."""
    while True:
        eight = eight_bytes(data, at)
        # the high bit of bytes that are at most 32; above the lowest of these, some that are 33 have it, too
        low = (eight - _33 * _EACH) & ~eight & _HIGH
        while low != _ZERO:
            bit = low & (_ZERO - low)
            before = (((bit - _ONE) & _EACH) * _EACH >> _56) - _ONE  # bytes below that bit
            byte = eight >> (before << np.uint64(3)) & _255
            end = at + np.int64(before)
            if byte == _32 or (
                np.uint64(9) <= byte <= np.uint64(13) and (ends == ANY_BLANK or _splits(data, end, byte, ends))
            ):
                return end
            low ^= bit
        at += 8


@kernel_inlined
def _splits(data, at, byte, ends):
    """Say whether a control character stands between words, or ends their line."""
    if byte <= np.uint64(10):
        return True
    return byte == np.uint64(13) and (ends == IN_LINE or at + 1 >= len(data) or data[at + 1] == 10)


@kernel_inlined
def _key(data, first, end):
    size = np.uint64(end - first)
    if size < _EIGHT:
        bits = size << np.uint64(3)
        return eight_bytes(data, first) & ((_ONE << bits) - _ONE) | size << _56
    key = size
    at = first
    while at < end - 8:
        key = _stirred(key ^ eight_bytes(data, at))
        at += 8
    return _stirred(key ^ eight_bytes(data, end - 8)) | _LONG


@kernel_inlined
def _stirred(key):
    key *= _ODD
    return key ^ key >> _32


@kernel_inlined
def spelled_slot(table, spans, known, data, first, end):
    """Return the slot of the word ``data[first:end]``, or the free slot where it belongs."""
    key = _key(data, first, end)
    slot = first_slot(table, mix(key))
    while True:
        record = table[np.uint64(slot)]
        word = record["word"]
        if word < 0:
            break
        if record["key"] == key and (
            key < _LONG
            or (
                spans[word, 1] - spans[word, 0] == end - first
                and same_run(known, spans[word, 0], data, first, end - first)
            )
        ):
            break
        slot = next_slot(table, slot)
    return slot


@kernel_inlined
def set_spelled(table, spans, slot, word, data, first, end):
    """Put a new word into the slot that :func:`spelled_slot` found for it."""
    table[slot]["key"] = _key(data, first, end)
    table[slot]["word"] = word
    spans[word, 0] = first
    spans[word, 1] = end
