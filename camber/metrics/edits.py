"""Edits with shifts: how many words must be inserted, deleted, replaced, or moved in blocks (Snover et al. 2006).

    edits(hypotheses, references, pairs)        # both as word numbers; pairs int64[n, 2] of their rows → int64[n]

What is counted is what sacreBLEU's TER counts, to the last edit: Tercom's greedy search, which moves one block after
the other to where that lowers the edit distance most, with the same limits. Blocks have at most 10 words and move at
most 50 places, edit distances stay in a band around the diagonal, and after 1,000 candidates no more are tried.

What makes it quick: a shift changes the words of one stretch. So the distance after a shift needs the table's rows of
that stretch alone: rows before it are those of the words as they were, and what comes behind it is told by a table
that was filled from the end.
"""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.types import F8, I4, I8
from camber.kernel import kernel
from camber.progress import each

#: Tercom's limits: words of a block, places that it moves, half the width of the band; and sacreBLEU's, of candidates
LONGEST, FARTHEST, BAND, MOST = 10, 50, 25, 1000
#: Pairs between two reports of how far the counting is.
_TOGETHER = 256
#: A cell outside the band.
_FAR = 1 << 29


class _Room(NamedTuple):
    """Work arrays for sentences of up to so many words."""

    words: I4  # [words]: the hypothesis, as it was shifted so far
    shifted: I4  # [words]
    low: I4  # [words + 1]: the first column of every row's band …
    high: I4  # … and the one after its last
    before: I4  # [words + 1, band]: the least edits up to a cell, column `low` first
    behind: I4  # [words + 1, band]: from a cell to the end
    row: I4  # [2, reference + 1]: two rows of a table for shifted words, column 0 first
    wrong: I4  # [words + 1]: errors among the first words of the hypothesis
    wrong_reference: I4  # [reference + 1]
    place: I4  # [reference]: the word of the hypothesis that belongs to one of the reference

    @classmethod
    def of(cls, words: int, reference: int, band: int) -> _Room:
        words, reference = words + 1, reference + 1
        return cls(
            np.empty(words, np.int32),
            np.empty(words, np.int32),
            np.empty(words, np.int32),
            np.empty(words, np.int32),
            np.empty((words, band), np.int32),
            np.empty((words, band), np.int32),
            np.empty((2, reference), np.int32),
            np.empty(words, np.int32),
            np.empty(reference, np.int32),
            np.empty(reference, np.int32),
        )


def edits(hypotheses: list[list[int]], references: list[list[int]], pairs: I8) -> I8:
    """Count the edits of pairs int64[n, 2] (hypothesis, reference) of rows of word numbers: int64[n].

    >>> edits([[3, 4, 1, 2]], [[1, 2, 3, 4]], np.array([[0, 0]])).tolist()  # one block moves
    [1]
    """
    ids, offsets = [], []
    for side in (hypotheses, references):
        offsets.append(offsets_from(map(len, side)))
        ids.append(np.fromiter(chain.from_iterable(side), np.int32, int(offsets[-1][-1])))
    pairs = np.ascontiguousarray(pairs, np.int64)
    words, columns = (np.diff(side)[pairs[:, k]] for k, side in enumerate(offsets))
    band = np.minimum(columns + 1, 2 * _half(columns / np.maximum(words, 1)) + 1)
    room = _Room.of(*(int(sizes.max(initial=0)) for sizes in (words, columns, band)))
    counts = np.empty(len(pairs), np.int64)
    blocks = range(0, len(pairs), _TOGETHER)
    for first in each(blocks, "count edits", len(pairs), "lines", lambda first: min(_TOGETHER, len(pairs) - first)):
        some = slice(first, first + _TOGETHER)
        _edits(ids[0], offsets[0], ids[1], offsets[1], pairs[some], room, counts[some])
    return counts


def _half(ratio: F8) -> I8:
    """Return half the width of the band, by reference words for each of the hypothesis."""
    return np.where(ratio > 2 * BAND, np.ceil(ratio / 2 + BAND), BAND).astype(np.int64)


@kernel
def _edits(ids, offsets, reference_ids, reference_offsets, pairs, room, counts):
    for p in range(len(pairs)):
        h, r = pairs[p, 0], pairs[p, 1]
        size = offsets[h + 1] - offsets[h]
        for i in range(size):
            room.words[i] = ids[offsets[h] + i]
        reference = reference_ids[reference_offsets[r] : reference_offsets[r + 1]]
        counts[p] = size if len(reference) == 0 else _count(room, size, reference)


@kernel
def _count(room, size, reference):
    """Shift blocks as long as that helps; return the shifts and the edit distance that is left."""
    _set_band(room, size, len(reference))
    shifts = 0
    tried = 0
    distance = _fill_before(room, size, reference)
    while True:
        _fill_behind(room, size, reference)
        _trace(room, size, reference)
        left, start, length, target, tried = _best_shift(room, size, reference, distance, tried)
        if tried >= MOST or left >= distance:
            return shifts + distance
        _shift(room.words, size, start, length, target, room.shifted)
        for i in range(size):
            room.words[i] = room.shifted[i]
        shifts += 1
        distance = _fill_before(room, size, reference)


@kernel
def _set_band(room, size, columns):
    """Set which columns of every row are looked at; row 0 is the number of the column everywhere, and not kept."""
    ratio = columns / size if size > 0 else 1.0
    half = BAND
    if half < ratio / 2:
        half = int(np.ceil(ratio / 2 + BAND))
    for i in range(1, size + 1):
        middle = np.int64(np.floor(i * ratio))
        room.low[i] = max(0, middle - half)
        room.high[i] = columns + 1 if i == size else min(columns + 1, middle + half)
    room.low[0] = 0
    room.high[0] = columns + 1


@kernel
def _fill_before(room, size, reference):
    """Fill the table of edit distances row by row, and return that of the whole sentences."""
    columns = len(reference)
    if size == 0:
        return np.int64(columns)
    for i in range(1, size + 1):
        low, high, above_low, above_high = room.low[i], room.high[i], room.low[i - 1], room.high[i - 1]
        word = room.words[i - 1]
        left = _FAR
        for j in range(low, high):
            best = left + 1
            if i == 1:
                best = min(best, j + 1)
                if j > 0:
                    best = min(best, j - 1 + (word != reference[j - 1]))
            else:
                if above_low <= j < above_high:
                    best = min(best, room.before[i - 1, j - above_low] + 1)
                if above_low < j <= above_high:
                    best = min(best, room.before[i - 1, j - 1 - above_low] + (word != reference[j - 1]))
            left = min(best, _FAR)
            room.before[i, j - low] = left
    return np.int64(room.before[size, columns - room.low[size]])


@kernel
def _fill_behind(room, size, reference):
    """Fill the table of what the rest costs, from the last row up to the second."""
    columns = len(reference)
    for i in range(size, 0, -1):
        low, high = room.low[i], room.high[i]
        below_low, below_high = (room.low[i + 1], room.high[i + 1]) if i < size else (0, 0)
        right = _FAR
        for j in range(high - 1, low - 1, -1):
            best = right + 1
            if i == size:
                best = columns - j
            else:
                if below_low <= j < below_high:
                    best = min(best, room.behind[i + 1, j - below_low] + 1)
                if j < columns and below_low <= j + 1 < below_high:
                    cost = np.int64(room.words[i] != reference[j])
                    best = min(best, room.behind[i + 1, j + 1 - below_low] + cost)
            right = min(best, _FAR)
            room.behind[i, j - low] = right


@kernel
def _cell(room, i, j):
    """Return the edit distance of the first `i` and `j` words."""
    if i == 0:
        return np.int64(j)
    if j < room.low[i] or j >= room.high[i]:
        return _FAR
    return np.int64(room.before[i, j - room.low[i]])


@kernel
def _trace(room, size, reference):
    """Walk back through the table: which words are wrong, and which word each one of the reference belongs to.

    Where ways are equally short, a word is kept or replaced rather than deleted, deleted rather than inserted.
    """
    columns = len(reference)
    i, j = np.int64(size), np.int64(columns)
    while i > 0 or j > 0:
        here = _cell(room, i, j)
        if i > 0 and j > 0:
            cost = np.int64(room.words[i - 1] != reference[j - 1])
            if _cell(room, i - 1, j - 1) + cost == here:
                i -= 1
                j -= 1
                room.wrong[i + 1] = cost
                room.wrong_reference[j + 1] = cost
                room.place[j] = i
                continue
        if i > 0 and _cell(room, i - 1, j) + 1 == here:
            i -= 1
            room.wrong[i + 1] = 1
        else:
            j -= 1
            room.wrong_reference[j + 1] = 1
            room.place[j] = i - 1
    room.wrong[0] = room.wrong_reference[0] = 0
    for k in range(size):
        room.wrong[k + 1] += room.wrong[k]
    for k in range(columns):
        room.wrong_reference[k + 1] += room.wrong_reference[k]


@kernel
def _best_shift(room, size, reference, distance, tried):
    """Return the edit distance after the best shift, its block, its target, and how many candidates were tried.

    Of shifts that are as good, the longest block wins, then the first, then the first target.
    """
    columns = len(reference)
    best, best_start, best_length, best_target = _FAR, 0, 0, 0
    for start in range(size):
        for at in range(max(0, start - FARTHEST), min(columns, start + FARTHEST + 1)):
            length = 0
            while length < LONGEST and start + length < size and at + length < columns:
                if room.words[start + length] != reference[at + length]:
                    break
                length += 1
                if room.wrong[start + length] == room.wrong[start]:
                    continue  # no word of the block is wrong where it is
                if room.wrong_reference[at + length] == room.wrong_reference[at]:
                    continue  # nor is anything wrong where it would go
                if start <= room.place[at] < start + length:
                    continue  # it is there already
                before = -1
                for k in range(at - 1, at + length):
                    target = 0 if k < 0 else int(room.place[k]) + 1
                    if target == before:
                        continue
                    before = target
                    tried += 1
                    as_good = length > best_length
                    as_good |= length == best_length and start == best_start and target < best_target
                    least = min(best if as_good else best - 1, distance - 1)  # what it must come down to
                    found = _after(room, size, reference, start, length, target, least)
                    if found <= least:
                        best, best_start, best_length, best_target = found, start, length, target
                if tried >= MOST:
                    return best, best_start, best_length, best_target, tried
    return best, best_start, best_length, best_target, tried


@kernel
def _shift(words, size, start, length, target, shifted):
    """Write the words with a block moved; return the first word that changes and the one after the last."""
    if target < start:
        first, cut, last = target, start, start + length
    elif target > start + length:
        first, cut, last = start, start + length, target
    else:  # a target inside the block counts from behind it
        first, cut, last = start, start + length, min(size, length + target)
    at = first
    for i in range(cut, last):
        shifted[at] = words[i]
        at += 1
    for i in range(first, cut):
        shifted[at] = words[i]
        at += 1
    for i in range(first):
        shifted[i] = words[i]
    for i in range(last, size):
        shifted[i] = words[i]
    return first, last


@kernel
def _after(room, size, reference, start, length, target, least):
    """Return the edit distance after a shift, or something above `least` as soon as it must be above."""
    first, last = _shift(room.words, size, start, length, target, room.shifted)
    columns = len(reference)
    now = 0
    for i in range(first + 1, last + 1):
        low, high = room.low[i], room.high[i]
        above_low, above_high = room.low[i - 1], room.high[i - 1]
        word = room.shifted[i - 1]
        left = _FAR
        lowest = _FAR
        row, above = room.row[now], room.row[1 - now]
        for j in range(low, high):
            best = left + 1
            if i == first + 1:
                best = min(best, _cell(room, i - 1, j) + 1)
                if j > 0:
                    best = min(best, _cell(room, i - 1, j - 1) + (word != reference[j - 1]))
            else:
                if above_low <= j < above_high:
                    best = min(best, above[j] + 1)
                if above_low < j <= above_high:
                    best = min(best, above[j - 1] + (word != reference[j - 1]))
            left = min(best, _FAR)
            row[j] = left
            lowest = min(lowest, left + abs((size - i) - (columns - j)))
        if lowest > least:
            return lowest
        now = 1 - now
    final = _FAR
    row = room.row[1 - now]
    for j in range(room.low[last], room.high[last]):
        final = min(final, row[j] + room.behind[last, j - room.low[last]])
    return final
