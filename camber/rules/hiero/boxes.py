"""The rules that one occurrence of a source pattern gives.

A pattern begins and ends with a word and may have gaps. A *box* is a source span with the target span that its links
cover; it is *closed* if no link leaves it. A rule is a closed box in which every gap is a closed box too. Spans are
tight: their outermost words are linked. (Chiang 2007, sec. 3; which boxes are tried at an occurrence: Lopez 2008.) On
the target side, words without links may join a box afterwards, where it ends in a word: beside a gap, they join what
fills it.

From every occurrence come at most four rules: the pattern alone, with a non-terminal on its left, on its right, on both
sides. Of all spans that an outer non-terminal could have, the shortest is taken. A pattern that is no closed box by
itself may still become one through outer non-terminals, if they leave its target span as it is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from camber.kernel import kernel, kernel_inlined
from camber.rules.hiero.index import HEAD

#: How a pattern is extended by outer non-terminals.
ALONE, LEFT, RIGHT, BOTH = 0, 1, 2, 3

#: Where the target span of a gap is kept: before the pattern, the gaps inside, behind the pattern.
BEFORE, INSIDE, BEHIND = 0, 1, 7


class Limits(NamedTuple):
    """What rules may be like: see `HieroSettings`."""

    max_span: int
    max_symbols: int
    max_nonterminals: int
    min_gap: int
    samples: int
    loose: int  # how many target words without links may join a rule at an edge


@kernel
def cover(blocks, low, high):
    """Return the span that the links of the words low:high cover on the other side; -1, -1 if they have none."""
    covered_low, covered_high = np.int64(-1), np.int64(-1)
    for at in range(low, high):
        span = np.int64(blocks[at])
        if span >= 0:
            if covered_low < 0 or (span & 0xFFFF) < covered_low:
                covered_low = span & 0xFFFF
            if (span >> 16) > covered_high:
                covered_high = span >> 16
    return covered_low, covered_high


@kernel
def close(blocks, source, target, low, high, grow_left, grow_right, keep_target, max_span):
    """Return the smallest closed box around the source words low:high: found?, its source and its target span.

    `source` and `target` are where the words of both sides begin in `blocks` (see `Columns`); other positions count
    from there. With `keep_target` the box must have the target span of low:high.
    """
    box_low, box_high, seen_low, seen_high = low, high, -1, -1
    while True:
        target_low, target_high = cover(blocks, source + box_low, source + box_high)
        if target_low == seen_low and target_high == seen_high:
            return target_low >= 0, box_low, box_high, target_low, target_high
        if target_high - target_low > max_span or (keep_target and seen_low >= 0):
            return False, box_low, box_high, target_low, target_high
        seen_low, seen_high = target_low, target_high
        back_low, back_high = cover(blocks, target + target_low, target + target_high)
        back_low, back_high = min(back_low, box_low), max(back_high, box_high)
        if back_low == box_low and back_high == box_high:
            return True, box_low, box_high, target_low, target_high
        if (
            back_high - back_low > max_span
            or (back_low < low and not grow_left)
            or (back_high > high and not grow_right)
        ):
            return False, box_low, box_high, target_low, target_high
        box_low, box_high = back_low, back_high


@kernel
def closed_gap(blocks, source, target, low, high, max_span, gaps, slot):
    """Say whether low:high is a closed box by itself, and keep its target span at ``gaps[slot]``."""
    target_low, target_high = cover(blocks, source + low, source + high)
    back_low, back_high = cover(blocks, target + target_low, target + target_high)
    gaps[slot, 0] = target_low
    gaps[slot, 1] = target_high
    return target_low >= 0 and target_high - target_low <= max_span and back_low >= low and back_high <= high


@kernel_inlined
def loosen(blocks, block, low, high, most_before, most_behind):
    """Return the longest target span around low:high that has no more links: where it may begin, where it may end.

    At most so many words join it before and behind.
    """
    length = np.int64(blocks[block + 2])
    target = block + HEAD + np.int64(blocks[block + 1])
    least, most = max(0, low - most_before), min(length, high + most_behind)
    while low > least and blocks[target + low - 1] < 0:
        low -= 1
    while high < most and blocks[target + high] < 0:
        high += 1
    return low, high


@kernel
def find_boxes(blocks, block, chunks, count, symbols, wanted, limits, gaps, boxes):
    """Find the rules at one occurrence; return how many.

    `chunks` int64[count, 2]: position in the sentence and length of every contiguous part of the pattern. `wanted` has
    the bit ``1 << extension`` for every extension of interest.
    Fills ``boxes[n] = (extension, target low, target high, target span of the gap before, of the gap behind)``
    and the target spans of the gaps inside in `gaps`.
    """
    source, length = block + HEAD, np.int64(blocks[block + 1])
    target = source + length
    if not _has_links(blocks, source, chunks, count):
        return 0
    low = chunks[0, 0]
    high = chunks[count - 1, 0] + chunks[count - 1, 1]
    # a pattern that is no box by itself may become one, if its target span stays
    closed, box_low, box_high, target_low, target_high = close(
        blocks, source, target, low, high, True, True, True, limits.max_span
    )
    extension = (LEFT if box_low < low else 0) + (RIGHT if box_high > high else 0)
    if not closed or not _allowed(extension, count, symbols, limits):
        return 0
    for k in range(count - 1):
        begin, end = chunks[k, 0] + chunks[k, 1], chunks[k + 1, 0]
        if not closed_gap(blocks, source, target, begin, end, limits.max_span, gaps, np.int64(INSIDE + k)):
            return 0
    if not _closed_outside(blocks, source, target, low, high, box_low, box_high, limits, gaps):
        return 0
    size = 0
    if wanted >> extension & 1 == 1 and blocks[source + box_low] >= 0 and blocks[source + box_high - 1] >= 0:
        size = _keep(boxes, size, extension, target_low, target_high, gaps)
    # an outer non-terminal covers at least min_gap words and begins or ends with a linked one
    longer_low, longer_high = low - limits.min_gap, high + limits.min_gap
    while longer_low >= 0 and blocks[source + longer_low] < 0:
        longer_low -= 1
    while longer_high <= length and blocks[source + longer_high - 1] < 0:
        longer_high += 1
    for step in range(LEFT, BOTH + 1):  # the box longer on the left, on the right, on both sides
        if extension & step != 0 or wanted >> (extension | step) & 1 == 0:
            continue
        begin, end = longer_low if step & LEFT else box_low, longer_high if step & RIGHT else box_high
        if (
            begin < 0
            or end > length
            or end - begin > limits.max_span
            or blocks[source + begin] < 0
            or blocks[source + end - 1] < 0
            or not _allowed(extension | step, count, symbols, limits)
        ):
            continue
        closed, new_low, new_high, target_low, target_high = close(
            blocks, source, target, begin, end, step & LEFT != 0, step & RIGHT != 0, False, limits.max_span
        )
        if closed and _closed_outside(blocks, source, target, low, high, new_low, new_high, limits, gaps):
            size = _keep(boxes, size, extension | step, target_low, target_high, gaps)
    return size


@kernel_inlined
def _has_links(blocks, source, chunks, count):
    """Say whether some word of the pattern is linked, and the first and the last word of every gap."""
    linked = False
    for k in range(count):
        begin, end = source + chunks[k, 0], source + chunks[k, 0] + chunks[k, 1]
        if k + 1 < count and (blocks[end] < 0 or blocks[source + chunks[k + 1, 0] - 1] < 0):
            return False
        for at in range(begin, end):
            if blocks[at] >= 0:
                linked = True
    return linked


@kernel
def _allowed(extension, count, symbols, limits):
    """Say whether a rule may have so many symbols and non-terminals."""
    outer = (extension & LEFT) + (extension >> 1)
    return count - 1 + outer <= limits.max_nonterminals and symbols + outer <= limits.max_symbols


@kernel_inlined
def _closed_outside(blocks, source, target, low, high, box_low, box_high, limits, gaps):
    """Say whether what a box has before and behind low:high are closed boxes; keep their target spans."""
    if box_low < low and not (
        low - box_low >= limits.min_gap
        and blocks[source + low - 1] >= 0
        and blocks[source + box_low] >= 0
        and closed_gap(blocks, source, target, box_low, low, limits.max_span, gaps, np.int64(BEFORE))
    ):
        return False
    return box_high == high or (
        box_high - high >= limits.min_gap
        and blocks[source + high] >= 0
        and blocks[source + box_high - 1] >= 0
        and closed_gap(blocks, source, target, high, box_high, limits.max_span, gaps, np.int64(BEHIND))
    )


@kernel
def _keep(boxes, size, extension, target_low, target_high, gaps):
    """Write the rule number `size`; return the new number of rules."""
    boxes[size, 0] = extension
    boxes[size, 1] = target_low
    boxes[size, 2] = target_high
    for k in range(2):
        boxes[size, 3 + k] = gaps[BEFORE, k]
        boxes[size, 5 + k] = gaps[BEHIND, k]
    return size + 1
