"""Coverage of a source sentence: which words are translated, and what the rest will cost.

Every distinct coverage of a sentence gets a number. Its row of `bits` has a bit for each source word (any sentence
length), and its first gap and the future cost of its gaps are computed once.
"""

from __future__ import annotations

import numpy as np

from camber.kernel import kernel
from camber.kernel.table import first_slot, mix, next_slot


@kernel
def future_costs(spans, option_first, option_estimate, future):
    """Fill ``future[i, j]``, the best estimate for source words i..j-1: one option, or the sum of two halves."""
    length, longest = spans.shape
    for i in range(length + 1):
        for j in range(length + 1):
            future[i, j] = 0.0 if i == j else -np.inf
    for i in range(length):
        for size in range(1, min(longest, length - i) + 1):
            p = spans[i, size - 1]
            if p >= 0 and option_first[p] < option_first[p + 1]:
                future[i, i + size] = option_estimate[option_first[p]]
    for size in range(2, length + 1):
        for i in range(length - size + 1):
            best = future[i, i + size]
            for cut in range(i + 1, i + size):
                best = max(best, future[i, cut] + future[cut, i + size])
            future[i, i + size] = best


@kernel
def covered(bits, coverage, position):
    """Say whether a source position is covered (uint64 words of 64 positions)."""
    return (bits[coverage, position >> 6] >> np.uint64(position & 63)) & np.uint64(1) != np.uint64(0)


@kernel
def is_free(bits, coverage, start, end):
    """Say whether no position of start..end-1 is covered."""
    free = True
    for position in range(start, end):
        free &= not covered(bits, coverage, position)
    return free


@kernel
def cover(bits, slots, count, gaps, cost, future, length, toll, coverage, start, end):
    """Return the id of `coverage` plus a span, and the new number of coverages (-1: the table is full).

    What is left costs its future cost, and `toll` for every covered word between two gaps, which is jumped over sooner
    or later.
    """
    words = bits.shape[1]
    if count >= len(bits) or 2 * count > len(slots):
        return 0, -1
    # write the new row at the end; keep it only if it is new
    for w in range(words):
        bits[count, w] = bits[coverage, w]
    for position in range(start, end):
        bits[count, position >> 6] |= np.uint64(1) << np.uint64(position & 63)
    h = np.int64(0)
    for w in range(words):
        h = mix(
            h ^ np.int64(bits[count, w] & np.uint64(0x7FFFFFFFFFFFFFFF)) ^ np.int64(bits[count, w] >> np.uint64(63))
        )
    slot = first_slot(slots, h)
    while slots[slot] >= 0:
        other = slots[slot]
        same = True
        for w in range(words):
            if bits[other, w] != bits[count, w]:
                same = False
                break
        if same:
            return other, count
        slot = next_slot(slots, slot)
    slots[slot] = count
    # first gap and future cost, once per coverage
    gap = gaps[coverage]
    while gap < length and covered(bits, count, gap):
        gap += 1
    gaps[count] = gap
    rest = 0.0
    position = gap
    while position < length:
        stop = position
        while stop < length and not covered(bits, count, stop):
            stop += 1
        rest += future[position, stop]
        position = stop
        while position < length and covered(bits, count, position):
            position += 1
        if position < length:
            rest -= toll * (position - stop)
    cost[count] = rest
    return count, count + 1
