"""The rules that one occurrence of a source pattern gives.

A pattern begins and ends with a word and may have gaps. A *box* is a source span with the target span that its links
cover; it is *closed* if no link leaves it. A rule is a closed box in which every gap is a closed box too. Spans are
tight: their outermost words are linked. (Chiang 2007, sec. 3; which boxes are tried at an occurrence: Lopez 2008.)

From every occurrence come at most four rules: the pattern alone, with a non-terminal on its left, on its right, on both
sides. Of all spans that an outer non-terminal could have, the shortest is taken. A pattern that is no closed box by
itself may still become one through outer non-terminals, if they leave its target span as it is.
"""

from __future__ import annotations

from camber.kernel import kernel

#: How a pattern is extended by outer non-terminals.
ALONE, LEFT, RIGHT, BOTH = 0, 1, 2, 3

#: Where the target span of a gap is kept: before the pattern, the gaps inside, behind the pattern.
BEFORE, INSIDE, BEHIND = 0, 1, 7


@kernel
def cover(first, last, low, high):
    """Return the span that the links of the words low:high cover on the other side; -1, -1 if they have none."""
    covered_low, covered_high = -1, -1
    for at in range(low, high):
        if first[at] >= 0:
            if covered_low < 0 or first[at] < covered_low:
                covered_low = first[at]
            if last[at] >= covered_high:
                covered_high = last[at] + 1
    return covered_low, covered_high


@kernel
def close(corpus, source, target, low, high, grow_left, grow_right, keep_target, max_span):
    """Return the smallest closed box around the source words low:high: found?, its source and its target span.

    `source` and `target` are where the sentences begin; all other positions count from there. With `keep_target` the
    box must have the target span of low:high.
    """
    target_low, target_high = cover(corpus.first, corpus.last, source + low, source + high)
    box_low, box_high = low, high
    if target_low < 0 or target_high - target_low > max_span:
        return False, box_low, box_high, target_low, target_high
    seen_low, seen_high = target_low, target_low  # the target words whose links were followed
    while True:
        a, b = cover(corpus.target_first, corpus.target_last, target + target_low, target + seen_low)
        c, d = cover(corpus.target_first, corpus.target_last, target + seen_high, target + target_high)
        seen_low, seen_high = target_low, target_high
        new_low, new_high = box_low, box_high
        if a >= 0:
            new_low, new_high = min(new_low, a), max(new_high, b)
        if c >= 0:
            new_low, new_high = min(new_low, c), max(new_high, d)
        if new_low == box_low and new_high == box_high:
            return True, box_low, box_high, target_low, target_high
        if new_high - new_low > max_span or (new_low < low and not grow_left) or (new_high > high and not grow_right):
            return False, box_low, box_high, target_low, target_high
        a, b = cover(corpus.first, corpus.last, source + new_low, source + box_low)
        c, d = cover(corpus.first, corpus.last, source + box_high, source + new_high)
        box_low, box_high = new_low, new_high
        if a >= 0:
            target_low, target_high = min(target_low, a), max(target_high, b)
        if c >= 0:
            target_low, target_high = min(target_low, c), max(target_high, d)
        if target_low == seen_low and target_high == seen_high:
            return True, box_low, box_high, target_low, target_high
        if keep_target or target_high - target_low > max_span:
            return False, box_low, box_high, target_low, target_high


@kernel
def closed_gap(corpus, source, target, low, high, max_span, gaps, slot):
    """Say whether low:high is a closed box by itself, and keep its target span at ``gaps[slot]``."""
    found, _, _, target_low, target_high = close(corpus, source, target, low, high, False, False, True, max_span)
    gaps[slot, 0] = target_low
    gaps[slot, 1] = target_high
    return found


@kernel
def find_boxes(corpus, chunks, count, symbols, wanted, limits, gaps, boxes):
    """Find the rules at one occurrence; return how many.

    `chunks` int64[count, 2]: position and length of every contiguous part of the pattern. `wanted` has the bit
    ``1 << extension`` for every extension of interest. `limits`: max_span, max_symbols, max_nonterminals, min_gap.
    Fills ``boxes[n] = (extension, target low, target high, target span of the gap before, of the gap behind)`` and
    the target spans of the gaps inside in `gaps`.
    """
    max_span, max_symbols, max_nonterminals, min_gap = limits[0], limits[1], limits[2], limits[3]
    sentence = corpus.sentence[chunks[0, 0]]
    source, target = corpus.starts[sentence], corpus.target_starts[sentence]
    length = corpus.starts[sentence + 1] - source
    first = corpus.first
    linked = False
    for k in range(count):
        begin, end = chunks[k, 0], chunks[k, 0] + chunks[k, 1]
        if k + 1 < count and (first[end] < 0 or first[chunks[k + 1, 0] - 1] < 0):
            return 0
        for at in range(begin, end):
            if first[at] >= 0:
                linked = True
    if not linked:
        return 0
    low = chunks[0, 0] - source
    high = chunks[count - 1, 0] + chunks[count - 1, 1] - source
    found, box_low, box_high, target_low, target_high = close(
        corpus, source, target, low, high, True, True, True, max_span
    )
    if not found:
        return 0
    left, right = box_low < low, box_high > high
    outer = (1 if left else 0) + (1 if right else 0)
    nonterminals = count - 1 + outer
    if nonterminals > max_nonterminals or symbols + outer > max_symbols:
        return 0
    if left and (low - box_low < min_gap or first[source + low - 1] < 0 or first[source + box_low] < 0):
        return 0
    if right and (box_high - high < min_gap or first[source + high] < 0 or first[source + box_high - 1] < 0):
        return 0
    for k in range(count - 1):
        begin, end = chunks[k, 0] + chunks[k, 1] - source, chunks[k + 1, 0] - source
        if not closed_gap(corpus, source, target, begin, end, max_span, gaps, INSIDE + k):
            return 0
    if left and not closed_gap(corpus, source, target, box_low, low, max_span, gaps, BEFORE):
        return 0
    if right and not closed_gap(corpus, source, target, high, box_high, max_span, gaps, BEHIND):
        return 0
    tight_low, tight_high = left or first[source + low] >= 0, right or first[source + high - 1] >= 0
    size = 0
    extension = (LEFT if left else 0) + (RIGHT if right else 0)
    if tight_low and tight_high and wanted >> extension & 1:
        size = _keep(boxes, size, extension, target_low, target_high, gaps)

    if nonterminals == max_nonterminals or symbols + outer == max_symbols or box_high - box_low + min_gap > max_span:
        return size
    longer_low, longer_high = low - min_gap, high + min_gap
    may_left = not left and longer_low >= 0 and first[source + low - 1] >= 0
    may_right = not right and longer_high <= length and first[source + high] >= 0
    while may_left and first[source + longer_low] < 0:
        longer_low -= 1
        may_left = longer_low >= 0
    while may_right and first[source + longer_high - 1] < 0:
        longer_high += 1
        may_right = longer_high <= length
    if may_left and tight_high and wanted >> (extension + LEFT) & 1 and box_high - longer_low <= max_span:
        found, new_low, _, target_low, target_high = close(
            corpus, source, target, longer_low, box_high, True, False, False, max_span
        )
        if found and closed_gap(corpus, source, target, new_low, low, max_span, gaps, BEFORE):
            size = _keep(boxes, size, extension + LEFT, target_low, target_high, gaps)
    if may_right and tight_low and wanted >> (extension + RIGHT) & 1 and longer_high - box_low <= max_span:
        found, _, new_high, target_low, target_high = close(
            corpus, source, target, box_low, longer_high, False, True, False, max_span
        )
        # `gaps` before the pattern may have been overwritten, but then the pattern had no non-terminal there
        if found and closed_gap(corpus, source, target, high, new_high, max_span, gaps, BEHIND):
            size = _keep(boxes, size, extension + RIGHT, target_low, target_high, gaps)
    if (
        extension == ALONE
        and may_left
        and may_right
        and wanted >> BOTH & 1
        and nonterminals + 2 <= max_nonterminals
        and symbols + 2 <= max_symbols
        and longer_high - longer_low <= max_span
    ):
        found, new_low, new_high, target_low, target_high = close(
            corpus, source, target, longer_low, longer_high, True, True, False, max_span
        )
        if (
            found
            and closed_gap(corpus, source, target, new_low, low, max_span, gaps, BEFORE)
            and closed_gap(corpus, source, target, high, new_high, max_span, gaps, BEHIND)
        ):
            size = _keep(boxes, size, BOTH, target_low, target_high, gaps)
    return size


@kernel
def _keep(boxes, size, extension, target_low, target_high, gaps):
    boxes[size, 0] = extension
    boxes[size, 1] = target_low
    boxes[size, 2] = target_high
    boxes[size, 3] = gaps[BEFORE, 0]
    boxes[size, 4] = gaps[BEFORE, 1]
    boxes[size, 5] = gaps[BEHIND, 0]
    boxes[size, 6] = gaps[BEHIND, 1]
    return size + 1
