"""Counting n-grams of all orders, order by order, as the levels of a trie.

The n-grams of an order are numbered in the order of their first occurrence. For every place of the text there is the
number of the n-gram that begins there; the numbers at a place and at the next one, and a last word, are then all that
tells longer n-grams apart. Long texts are gone through in parts, each of which looks at the n-grams of some hash values
alone: a part needs a table for its own n-grams only, and parts can be counted anywhere. What a part finds is, for every
place, where its n-gram occurs first; numbers and counts follow from that, and are the same for any number of parts.
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from camber.arrays.scratch import UNLIMITED, Scratch
from camber.arrays.types import I4, Array, Bools
from camber.engine import LOCAL, Engine
from camber.errors import CamberError
from camber.kernel import kernel, kernel_inlined
from camber.kernel.table import capacity_for, mix, record_slot
from camber.lm.trie import BEGIN, END
from camber.progress import each

#: A table of n-grams by prefix and last word (-1: a free slot)
ENTRY = np.dtype([("key", "i8"), ("gram", "i8")])
#: places of the text of one part, and how many parts there are at most
_PART, _MOST_PARTS = 1 << 23, 256
#: n-grams that a table has room for at first
_ROOM = 1 << 12
#: the most that 32 bits can number
_MOST = 2**31 - 1


@dataclass
class Level:
    """The n-grams of one order, in the order of their first occurrence (unigrams: by word)."""

    prefix: I4  # the n-gram without its last word, by its number in the trie
    word: I4  # its last word
    suffix: I4  # the n-gram without its first word
    adjusted: I4  # the adjusted count
    dropped: Bools  # which ones are seen at most so often as the order's threshold says; empty if there is none


def count_ngrams(
    tokens: I4,
    words: int,
    thresholds: Sequence[int],
    engine: Engine = LOCAL,
    scratch: Scratch = UNLIMITED,
) -> list[Level]:
    """Count the n-grams of all orders, as many as there are thresholds.

    The adjusted count of an n-gram is how often it occurs, if it has the highest order or begins with `<s>`; otherwise,
    how many different words precede it.
    """
    order = len(thresholds)
    if len(tokens) * (order - 1) + words > _MOST * order or len(tokens) > _MOST:
        raise CamberError(f"{len(tokens):,} words are too many for a language model; give it less text")
    count: I4 = np.bincount(tokens, minlength=words).astype(np.int32)
    count[BEGIN] = 0  # <s> is never predicted
    zeros, types = np.zeros(words, np.int32), np.zeros(words, np.int32)
    levels = [Level(zeros, np.arange(words, dtype=np.int32), zeros, count, _at_most(count, thresholds[0]))]
    grams: I4 = scratch.empty((len(tokens),), np.int32)  # which n-gram begins at a token; -1 where none fits
    grams[:] = tokens
    start = 1
    for n in each(range(2, order + 1), "count n-grams", unit="orders"):
        fits, again = _room(tokens, grams, n, count)
        prefix, word, suffix = (scratch.empty((fits,), np.int32) for _ in range(3))
        new = _Columns(prefix, word, suffix, scratch.empty((fits,), np.int32))
        shorter = _Shorter(count, types, start)
        parts = _parts(len(tokens), again, scratch)
        if parts == 1:
            size = _count_whole(tokens, grams, n, words, shorter, new)
        else:
            first = _first_places(_Text(tokens, grams, n, words, count, parts), engine, scratch)
            size = _number_level(tokens, grams, n, shorter, first, new)
        _adjust(count, types)  # what was counted before is complete now
        start += len(levels[-1].word)
        count, types = new.count[:size], scratch.zeros((size,), np.int32)
        dropped = _at_most(count, thresholds[n - 1])
        levels.append(Level(prefix[:size], word[:size], suffix[:size], count, dropped))
    return levels


def _at_most(count: I4, threshold: int) -> Bools:
    return count <= threshold if threshold else np.zeros(0, bool)


def _parts(tokens: int, again: int, scratch: Scratch) -> int:
    """Return in how many parts a text is gone through."""
    needed = -(-capacity_for(again) * ENTRY.itemsize // scratch.share(8))
    return min(max(1 + tokens // _PART, needed), _MOST_PARTS)


def _table(count: int) -> Array:
    # memory of its own, all of which is given back with the table; what malloc gave, it may keep
    table: Array = np.frombuffer(mmap.mmap(-1, capacity_for(count) * ENTRY.itemsize), ENTRY)
    table["key"] = -1
    return table


def _count_whole(tokens: I4, grams: I4, n: int, words: int, shorter: _Shorter, new: _Columns) -> int:
    """Count the n-grams of a text that is not in parts, in a table that grows with them; return how many there are."""
    table = _table(0)
    place = size = taken = 0
    while place < len(tokens):
        smaller, table = table, _table(max(_ROOM, 2 * int(taken)))
        _enter_again(smaller, table)
        place, size, taken = _count_level(
            tokens, grams, n, words, shorter, table, new, int(place), int(size), int(taken)
        )
    return int(size)


class _Shorter(NamedTuple):
    """What is counted of the n-grams that are one word shorter."""

    count: Array  # int32[n-grams]
    types: Array  # int32[n-grams]: different words before each
    start: int  # the number of the first of them in the trie


class _Columns(NamedTuple):
    """The columns of a level, with room for more."""

    prefix: Array
    word: Array
    suffix: Array
    count: Array


class _Text(NamedTuple):
    """What finding the first places of n-grams needs."""

    tokens: Array  # int32[tokens]
    grams: Array  # int32[tokens]
    n: int
    words: int
    shorter_count: Array  # int32[shorter n-grams]
    parts: int


@kernel_inlined
def _ends(tokens, grams, n, place):
    """Say whether no n-gram of n words begins at a place."""
    return grams[place] < 0 or grams[place + 1] < 0 or (n == 2 and tokens[place] == END)


@kernel
def _room(tokens, grams, n, count):
    """Return at how many places there is an n-gram, and at how many of them it may have been seen before."""
    fits = again = 0
    for place in range(len(tokens) - 1):
        if not _ends(tokens, grams, n, place):
            fits += 1
            again += count[grams[place]] != 1 and count[grams[place + 1]] != 1
    return fits, again


@kernel
def _count_level(tokens, grams, n, words, shorter, table, new, start, size, taken):
    """Count the n-grams from place `start` on, given which (n - 1)-gram begins at each token.

    `grams` is brought up to date for the next order. Return where this ends, how many different n-grams there are by
    then, and how many of them the table has: it ends where the table has no more room, or behind the text.
    """
    most = 2 * len(table) // 3
    for place in range(start, len(tokens) - 1):
        if _ends(tokens, grams, n, place):
            grams[place] = -1
            continue
        head, tail = np.int64(grams[place]), np.int64(grams[place + 1])
        last = np.int64(tokens[place + n - 1])
        # an n-gram around one that occurs once occurs once: no need to look (<s>, whose count is 0, is often there)
        if shorter.count[head] != 1 and shorter.count[tail] != 1:
            key = head * words + last
            slot = record_slot(table, key)
            if table[slot]["key"] == key:
                gram = table[slot]["gram"]
                new.count[gram] += 1
                grams[place] = gram
                continue
            if taken == most:
                return place, size, taken
            table[slot]["key"] = key
            table[slot]["gram"] = size
            taken += 1
        _add(shorter, new, size, head, tail, last)
        grams[place] = size
        size += 1
    grams[len(tokens) - 1] = -1
    return len(tokens), size, taken


@kernel
def _enter_again(smaller, table):
    """Put the n-grams of a table into a larger one."""
    for slot in range(len(smaller)):
        key = smaller[slot]["key"]
        if key >= 0:
            place = record_slot(table, key)
            table[place]["key"] = key
            table[place]["gram"] = smaller[slot]["gram"]


@kernel_inlined
def _add(shorter, new, size, head, tail, last):
    """Put a new n-gram behind the others."""
    new.prefix[size] = shorter.start + head
    new.suffix[size] = shorter.start + tail
    new.word[size] = last
    new.count[size] = 1
    shorter.types[tail] += 1


def _first_places(text: _Text, engine: Engine, scratch: Scratch) -> I4:
    """Return where the n-gram of every place occurs first, int32[tokens]; -1: here, or there is none."""
    first: I4 = scratch.empty((len(text.tokens),), np.int32)
    first[:] = -1
    for places, firsts in engine.map(_repeats, text, range(text.parts)):
        _scatter(places, firsts, first)
    return first


def _repeats(text: _Text, part: int) -> tuple[I4, I4]:
    """Return the places where n-grams of a part occur again, and where each of these occurs first."""
    size = _repeats_of_part(text, part, _table(0), False, np.zeros(0, np.int32), np.zeros(0, np.int32))
    places, firsts = np.empty(size, np.int32), np.empty(size, np.int32)
    count = _repeats_of_part(text, part, _table(size), True, places, firsts)
    return places[:count].copy(), firsts[:count].copy()


@kernel
def _repeats_of_part(text, part, table, look, places, firsts):
    """Fill places and firsts, return how many there are; without `look`, how many n-grams there are at most."""
    count = 0
    tokens, grams = text.tokens, text.grams
    for place in range(len(tokens) - 1):
        if _ends(tokens, grams, text.n, place):
            continue
        head = np.int64(grams[place])
        if text.shorter_count[head] == 1 or text.shorter_count[grams[place + 1]] == 1:
            continue
        key = head * text.words + np.int64(tokens[place + text.n - 1])
        if (mix(key) >> 32) % text.parts != part:  # other bits than those that say where it is in the table
            continue
        if not look:
            count += 1
            continue
        slot = record_slot(table, key)
        if table[slot]["key"] == key:
            places[count] = place
            firsts[count] = table[slot]["gram"]
            count += 1
        else:
            table[slot]["key"] = key
            table[slot]["gram"] = place
    return count


@kernel
def _scatter(places, values, out):
    for item in range(len(places)):
        out[places[item]] = values[item]


@kernel
def _number_level(tokens, grams, n, shorter, first, new):
    """Do what `_count_level` does, given where the n-gram of each place occurs first."""
    size = 0
    for place in range(len(tokens) - 1):
        if _ends(tokens, grams, n, place):
            grams[place] = -1
        elif first[place] >= 0:
            gram = grams[first[place]]
            new.count[gram] += 1
            grams[place] = gram
        else:
            _add(shorter, new, size, np.int64(grams[place]), np.int64(grams[place + 1]), tokens[place + n - 1])
            grams[place] = size
            size += 1
    grams[len(tokens) - 1] = -1
    return size


@kernel
def _adjust(count, types):
    """Turn counts of n-grams that are not the longest into adjusted ones; only <s> has nothing before it."""
    for gram in range(len(count)):
        if types[gram] > 0:
            count[gram] = types[gram]
