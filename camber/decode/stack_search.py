"""Stack decoding with cube pruning, for one sentence.

A stack holds the hypotheses that cover the same number of source words. Those that agree in coverage and in the last
source phrase form a *group*; a group and a free span make an *edge*, a grid of (hypothesis, option) cells whose sides
are sorted: what distortion, orientation and future cost add is the same for the whole grid. The cells of all edges into
a stack wait in one queue; the best are taken until the pop limit is reached. The language model is asked only when a
cell comes to the front of the queue: until then its score is an estimate.

Two hypotheses are recombined when nothing that follows can tell them apart: the same coverage, the same end of the last
phrase, the same start if a swap with it is still possible, the same forward reordering scores, the same language model
states. The loser stays as an alternative (`alt`) for the n-best list.
"""

from __future__ import annotations

import numpy as np

from camber.kernel import kernel
from camber.kernel.heap import pop, push
from camber.kernel.table import mix
from camber.lm.ngrams import step

HYPOTHESIS = np.dtype(
    [
        ("score", np.float64),  # of the derivation so far
        ("total", np.float64),  # with the future cost of what is not covered
        ("back", np.int32),  # hypothesis that was extended, -1 at the start
        ("alt", np.int32),  # next worse-or-other hypothesis in the same state, -1 at the end
        ("option", np.int32),
        ("coverage", np.int32),
        ("begin", np.int32),  # source span of the last phrase: begin ..
        ("end", np.int32),  # .. to end (exclusive)
        ("swap", np.int32),  # = begin while a swap with the last phrase is possible, else -1
    ]
)
GROUP = np.dtype(
    [
        ("coverage", np.int64),
        ("swap", np.int64),
        ("end", np.int64),
        ("first", np.int64),  # rows first .. first + count
        ("count", np.int64),
    ]
)
EDGE = np.dtype(
    [
        ("constant", np.float64),  # distortion and future cost: the same for every cell
        ("row", np.int64),  # first row
        ("rows", np.int64),
        ("column", np.int64),  # first option
        ("columns", np.int64),
        ("start", np.int64),
        ("end", np.int64),
        ("coverage", np.int64),
        ("orientation", np.int64),
    ]
)
CELL = np.dtype(
    [
        ("score", np.float64),  # exact once `known`
        ("hint", np.float64),  # what the language model added to the estimate in the cell before
        ("edge", np.int32),
        ("row", np.int32),
        ("column", np.int32),
        ("known", np.int32),
    ]
)

#: what the kernel returns instead of a hypothesis when a work array was too small
HYPOTHESES_FULL, COVERAGES_FULL, EDGES_FULL, CELLS_FULL, GROUPS_FULL = -1, -2, -3, -4, -5

MONOTONE, SWAP, DISCONTINUOUS = 0, 1, 2


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
def _covered(bits, coverage, position):
    """Say whether a source position is covered (uint64 words of 64 positions)."""
    return (bits[coverage, position >> 6] >> np.uint64(position & 63)) & np.uint64(1) != np.uint64(0)


@kernel
def _free(bits, coverage, start, end):
    """Say whether no position of start..end-1 is covered."""
    for position in range(start, end):
        if _covered(bits, coverage, position):
            return False
    return True


@kernel
def _cover(bits, slots, count, gaps, cost, future, length, coverage, start, end):
    """Return the id of `coverage` plus a span, and the new number of coverages (-1: the table is full)."""
    words = bits.shape[1]
    if count >= len(bits):
        return 0, -1
    # write the new row at the end; keep it only if it is new
    for w in range(words):
        bits[count, w] = bits[coverage, w]
    for position in range(start, end):
        bits[count, position >> 6] |= np.uint64(1) << np.uint64(position & 63)
    h = np.int64(0)
    for w in range(words):
        h = mix(h ^ np.int64(bits[count, w] & np.uint64(0x7FFFFFFFFFFFFFFF)) ^ np.int64(bits[count, w] >> np.uint64(63)))
    mask = len(slots) - 1
    slot = h & mask
    while slots[slot] >= 0:
        other = slots[slot]
        same = True
        for w in range(words):
            if bits[other, w] != bits[count, w]:
                same = False
                break
        if same:
            return other, count
        slot = (slot + 1) & mask
    slots[slot] = count
    # first gap and future cost, once per coverage
    gap = gaps[coverage]
    while gap < length and _covered(bits, count, gap):
        gap += 1
    gaps[count] = gap
    rest = 0.0
    position = gap
    while position < length:
        stop = position
        while stop < length and not _covered(bits, count, stop):
            stop += 1
        rest += future[position, stop]
        position = stop
        while position < length and _covered(bits, count, position):
            position += 1
    cost[count] = rest
    return count, count + 1


@kernel
def extend_lm(nodes, children, words, inner_state, inner_rest, first, last, state):
    """Score words first..last-1 after `state`; stop as soon as the left context no longer matters."""
    total = 0.0
    for t in range(first, last):
        gain, state = step(nodes, children, state, words[t])
        total += gain
        if state == inner_state[t]:
            return total + inner_rest[t], np.int64(inner_state[last - 1])
    return total, state


@kernel
def search(
    spans,  # int64[length, longest]: phrase of each span, -1 where there is none
    future,  # float64[length + 1, length + 1]
    option_first,
    option_base,
    option_estimate,
    option_reorder,
    option_order,
    option_score,
    option_word_first,
    option_words,
    inner_state,
    inner_rest,
    nodes,
    children,
    begin_states,  # int64[language models]
    end_words,  # int64[language models]; -1: the sentence goes on, no end is scored
    lm_weights,
    distortion_weight,
    distortion_limit,
    with_reordering,
    pop_limit,
    stack_limit,
    beam,
    hyps,
    states,  # int64[hypotheses, language models]
    bits,
    coverage_slots,
    gaps,
    cost,
    groups,
    stack_first,  # int64[length + 2]: groups of stack s are stack_first[s] .. stack_first[s + 1]
    rows,  # int32[3, hypotheses]
    row_score,  # float64[3, hypotheses]
    edges,
    cells,
    cell_states,  # int64[cells, language models]
    heap_scores,
    heap_cells,
    slots,  # int64, power of two: recombination, then grouping
    heads,  # int64: best hypothesis of every state of the stack
    work,  # int64[4]: counts of pops, cells scored, edges, hypotheses
):
    """Fill `hyps` and return the best complete hypothesis, or a negative code when a work array is too small."""
    length, longest = spans.shape
    models = len(begin_states)
    mask = len(slots) - 1
    limit = distortion_limit if distortion_limit >= 0 else length
    orientations = 3 if with_reordering else 1

    for slot in range(len(coverage_slots)):
        coverage_slots[slot] = -1
    for w in range(bits.shape[1]):
        bits[0, w] = np.uint64(0)
    gaps[0] = 0
    cost[0] = future[0, length]
    coverages = 1
    coverage_slots[0] = 0  # any slot will do: the empty coverage is never looked up

    hyps[0]["score"] = 0.0
    hyps[0]["total"] = cost[0]
    hyps[0]["back"] = -1
    hyps[0]["alt"] = -1
    hyps[0]["option"] = -1
    hyps[0]["coverage"] = 0
    hyps[0]["begin"] = 0
    hyps[0]["end"] = 0
    hyps[0]["swap"] = -1
    for k in range(models):
        states[0, k] = begin_states[k]
    hypotheses = 1
    groups[0]["coverage"] = 0
    groups[0]["swap"] = -1
    groups[0]["end"] = 0
    groups[0]["first"] = 0
    groups[0]["count"] = 1
    for m in range(orientations):
        rows[m, 0] = 0
        row_score[m, 0] = 0.0
    group_count = 1
    row_count = 1
    stack_first[0] = 0
    stack_first[1] = 1

    for stack in range(1, length + 1):
        # --- edges into this stack -------------------------------------------------------------------------------
        edge_count = 0
        cell_count = 0
        size = 0
        complete = stack == length
        for span in range(1, min(longest, stack) + 1):
            for g in range(stack_first[stack - span], stack_first[stack - span + 1]):
                coverage = groups[g]["coverage"]
                gap = gaps[coverage]
                last_end = groups[g]["end"]
                low = max(gap, last_end - limit)
                high = min(length - span, last_end + limit)
                for start in range(low, high + 1):
                    p = spans[start, span - 1]
                    end = start + span
                    if p < 0 or (start != gap and end - gap > limit) or not _free(bits, coverage, start, end):
                        continue
                    if option_first[p] == option_first[p + 1]:
                        continue
                    if edge_count >= len(edges):
                        return EDGES_FULL
                    covered, coverages_now = _cover(
                        bits, coverage_slots, coverages, gaps, cost, future, length, coverage, start, end
                    )
                    if coverages_now < 0 or 2 * coverages_now > len(coverage_slots):
                        return COVERAGES_FULL
                    coverages = coverages_now
                    orientation = 0
                    if with_reordering and start != last_end:
                        orientation = SWAP if end == groups[g]["swap"] else DISCONTINUOUS
                    jump = abs(start - last_end)
                    edge = edges[edge_count]
                    edge["constant"] = cost[covered] - distortion_weight * jump
                    edge["row"] = groups[g]["first"]
                    edge["rows"] = groups[g]["count"]
                    edge["column"] = option_first[p]
                    edge["columns"] = option_first[p + 1] - option_first[p]
                    edge["start"] = start
                    edge["end"] = end
                    edge["coverage"] = covered
                    edge["orientation"] = orientation
                    if cell_count >= len(cells):
                        return CELLS_FULL
                    cell = cells[cell_count]
                    cell["edge"] = edge_count
                    cell["row"] = 0
                    cell["column"] = 0
                    cell["known"] = 0
                    cell["hint"] = 0.0
                    guess = (
                        row_score[orientation, edge["row"]]
                        + option_score[orientation, edge["column"]]
                        + edge["constant"]
                    )
                    cell["score"] = guess
                    size = push(heap_scores, heap_cells, size, guess, cell_count)
                    cell_count += 1
                    edge_count += 1
        work[2] += edge_count

        # --- take the best cells ---------------------------------------------------------------------------------
        for slot in range(len(slots)):
            slots[slot] = -1
        head_count = 0
        best_total = -np.inf
        pops = 0
        while size > 0 and pops < pop_limit:
            score, c, size = pop(heap_scores, heap_cells, size)
            if score < best_total - beam:
                break
            cell = cells[c]
            e = cell["edge"]
            edge = edges[e]
            orientation = edge["orientation"]
            h = rows[orientation, edge["row"] + cell["row"]]
            option = option_order[orientation, edge["column"] + cell["column"]]
            if cell["known"] == 0:
                work[1] += 1
                first, last = option_word_first[option], option_word_first[option + 1]
                gain = 0.0
                for k in range(models):
                    lm, state = extend_lm(
                        nodes, children, option_words[k], inner_state[k], inner_rest[k], first, last, states[h, k]
                    )
                    if complete and end_words[k] >= 0:
                        at_end, state = step(nodes, children, state, end_words[k])
                        lm += at_end
                    cell_states[c, k] = state
                    gain += lm_weights[k] * lm
                guess = (
                    row_score[orientation, edge["row"] + cell["row"]]
                    + option_score[orientation, edge["column"] + cell["column"]]
                    + edge["constant"]
                )
                exact = guess - option_estimate[option] + option_base[option] + gain
                cell["known"] = 1
                cell["score"] = exact
                cell["hint"] = exact - guess
                if size > 0 and exact < heap_scores[0]:
                    size = push(heap_scores, heap_cells, size, exact, c)
                    continue
            pops += 1
            total = cell["score"]
            # the cells behind this one: the next option, and (from the first column only) the next hypothesis
            for turn in range(2):
                row = cell["row"] + (turn == 1)
                column = cell["column"] + (turn == 0)
                if turn == 1 and column > 0:
                    continue
                if row < edge["rows"] and column < edge["columns"]:
                    if cell_count >= len(cells):
                        return CELLS_FULL
                    new = cells[cell_count]
                    new["edge"] = e
                    new["row"] = row
                    new["column"] = column
                    new["known"] = 0
                    guess = (
                        row_score[orientation, edge["row"] + row]
                        + option_score[orientation, edge["column"] + column]
                        + edge["constant"]
                        + cell["hint"]
                    )
                    size = push(heap_scores, heap_cells, size, guess, cell_count)
                    cell_count += 1

            if total > best_total:
                best_total = total
            if hypotheses >= len(hyps):
                return HYPOTHESES_FULL
            covered = edge["coverage"]
            swap, end = edge["start"], edge["end"]
            # a swap with the last phrase needs a free word just before it
            if complete or not with_reordering or swap == 0 or _covered(bits, covered, swap - 1):
                swap = -1
            new_h = hyps[hypotheses]
            new_h["score"] = total - cost[covered]
            new_h["total"] = total
            new_h["back"] = h
            new_h["alt"] = -1
            new_h["option"] = option
            new_h["coverage"] = covered
            new_h["begin"] = edge["start"]
            new_h["end"] = end
            new_h["swap"] = swap
            key = mix(covered * 65536 + end)
            for k in range(models):
                states[hypotheses, k] = cell_states[c, k]
                key = mix(key ^ cell_states[c, k])
            slot = key & mask
            while True:
                head = slots[slot]
                if head < 0:
                    slots[slot] = head_count
                    heads[head_count] = hypotheses
                    head_count += 1
                    break
                other = heads[head]
                same = complete or (hyps[other]["coverage"] == covered and hyps[other]["end"] == end)
                same = same and hyps[other]["swap"] == swap
                if same and not complete:
                    for k in range(models):
                        if states[other, k] != cell_states[c, k]:
                            same = False
                    if same and with_reordering:
                        rival = hyps[other]["option"]
                        for m in range(3, 6):
                            if option_reorder[rival, m] != option_reorder[option, m]:
                                same = False
                if same:
                    # keep the chain of a state with its best hypothesis in front
                    if hyps[other]["total"] >= total:
                        new_h["alt"] = hyps[other]["alt"]
                        hyps[other]["alt"] = hypotheses
                    else:
                        new_h["alt"] = other
                        heads[head] = hypotheses
                    break
                slot = (slot + 1) & mask
            hypotheses += 1
        work[0] += pops

        # --- sort, prune, and group what the stack holds -------------------------------------------------------------
        for i in range(1, head_count):
            h = heads[i]
            total = hyps[h]["total"]
            j = i - 1
            while j >= 0 and hyps[heads[j]]["total"] < total:
                heads[j + 1] = heads[j]
                j -= 1
            heads[j + 1] = h
        kept = min(head_count, stack_limit)
        if complete:
            work[3] += hypotheses
            if kept == 0:
                return 0
            return heads[0]
        for slot in range(len(slots)):
            slots[slot] = -1
        first_group = group_count
        for i in range(kept):
            h = heads[i]
            key = mix(np.int64(hyps[h]["coverage"]) * 65536 + hyps[h]["end"]) & mask
            while True:
                g = slots[key]
                if g < 0:
                    if group_count >= len(groups):
                        return GROUPS_FULL
                    slots[key] = group_count
                    groups[group_count]["coverage"] = hyps[h]["coverage"]
                    groups[group_count]["swap"] = hyps[h]["swap"]
                    groups[group_count]["end"] = hyps[h]["end"]
                    groups[group_count]["count"] = 0
                    g = group_count
                    group_count += 1
                elif (
                    groups[g]["coverage"] != hyps[h]["coverage"]
                    or groups[g]["swap"] != hyps[h]["swap"]
                    or groups[g]["end"] != hyps[h]["end"]
                ):
                    key = (key + 1) & mask
                    continue
                groups[g]["count"] += 1
                break
        for g in range(first_group, group_count):
            groups[g]["first"] = row_count
            row_count += groups[g]["count"]
            groups[g]["count"] = 0
        for i in range(kept):
            h = heads[i]
            key = mix(np.int64(hyps[h]["coverage"]) * 65536 + hyps[h]["end"]) & mask
            g = slots[key]
            while (
                groups[g]["coverage"] != hyps[h]["coverage"]
                or groups[g]["swap"] != hyps[h]["swap"]
                or groups[g]["end"] != hyps[h]["end"]
            ):
                key = (key + 1) & mask
                g = slots[key]
            for m in range(orientations):
                value = hyps[h]["score"]
                if with_reordering:
                    value += option_reorder[hyps[h]["option"], 3 + m]
                slot = groups[g]["first"] + groups[g]["count"]
                while slot > groups[g]["first"] and row_score[m, slot - 1] < value:
                    row_score[m, slot] = row_score[m, slot - 1]
                    rows[m, slot] = rows[m, slot - 1]
                    slot -= 1
                row_score[m, slot] = value
                rows[m, slot] = h
            groups[g]["count"] += 1
        stack_first[stack + 1] = group_count
    return 0
