"""Stack decoding with cube pruning, for one sentence.

A stack holds the hypotheses that cover the same number of source words. Those that agree in coverage and in the last
source phrase form a *group*; a group and a free span make an *edge*, a grid of (hypothesis, option) cells whose sides
are sorted: what distortion, orientation and future cost add is the same for the whole grid. The cells of all edges into
a stack wait in one queue; the best are taken until the pop limit is reached. The language model is asked only when a
cell comes to the front of the queue: until then its score is an estimate.

Where a translation must begin with a prefix, hypotheses also know how many words of it they have, their *place*. A
group has one place, and spans have phrases of their own for each: only what agrees with the prefix there.

Two hypotheses are recombined when nothing that follows can tell them apart: the same coverage, the same end of the last
phrase, the same start if a swap with it is still possible, the same forward reordering scores, the same states of
language models and of the sentence's n-grams. The loser stays as an alternative (`alt`) for the n-best list.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from camber.arrays.types import Array
from camber.decode.phrase.coverage import cover, covered, is_free
from camber.decode.phrase.in_context import part_worth, put_language_model
from camber.decode.phrase.ngram_scores import ask_ngrams
from camber.kernel import kernel, kernel_inlined
from camber.kernel.heap import pop, push, replace
from camber.kernel.sort import insert_falling
from camber.kernel.table import clear, first_slot, mix, next_slot
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
        ("sorted", np.int16),  # 1 once the chain of alternatives is sorted
        ("place", np.int16),  # words of the prefix that it has
        ("swap", np.int32),  # = begin while a swap with the last phrase is possible, else -1
    ]
)
GROUP = np.dtype(
    [
        ("coverage", np.int64),
        ("swap", np.int64),
        ("end", np.int64),
        ("place", np.int64),
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

#: what the search returns instead of a hypothesis when a work array was too small
COVERAGES_FULL, EDGES_FULL, CELLS_FULL = -1, -2, -3

MONOTONE, SWAP, DISCONTINUOUS = 0, 1, 2


class Room(NamedTuple):
    """The arrays that the search of one sentence works in."""

    hyps: Array  # HYPOTHESIS[hypotheses]
    states: Array  # int64[hypotheses, models], and one more where n-grams have scores
    bits: Array  # uint64[coverages, words]
    coverage_slots: Array  # int64, a power of two
    gaps: Array  # int64[coverages]: first word that is not covered
    cost: Array  # float64[coverages]: future cost of the gaps
    groups: Array  # GROUP[groups]
    stack_first: Array  # int64[length + 2]: groups of stack s are stack_first[s] .. stack_first[s + 1]
    rows: Array  # int32[3, hypotheses]: hypotheses of every group, sorted for each orientation
    row_score: Array  # float64[3, hypotheses]: their scores with the forward reordering score
    edges: Array  # EDGE[edges]
    cells: Array  # CELL[cells]
    cell_states: Array  # int64[cells, models]
    heap_scores: Array  # float64
    heap_cells: Array  # int64
    slots: Array  # int64, a power of two: recombination, then grouping
    heads: Array  # int64[pops]: best hypothesis of every state of the stack
    counts: Array  # int64[COUNTS]
    work: Array  # int64[3]: edges, language model scores of cells, pops; summed over sentences


#: places in `Room.counts`: how many there are so far
COVERAGES, EDGES, CELLS, QUEUE, HYPOTHESES, GROUPS, ROWS, HEADS, COUNTS = range(9)


@kernel
def search(
    spans,
    places,
    needed,
    reach,
    future,
    options,
    models,
    context,
    begin_states,
    end_words,
    distortion,
    limit,
    with_reordering,
    pop_limit,
    room,
):
    """Fill `room.hyps`; return the best complete hypothesis, or a negative code when a work array is too small.

    spans: int64[(places + 1) * length, longest], phrase of each span, below 0 where there is none, for hypotheses that
    have 0, 1, … words of the prefix, which has `places`; needed: how many of them a translation must have; reach:
    int64[length], the next wall behind each word, which phrases come to only when all before it is covered; future:
    float64[length + 1, length + 1];
    distortion: its weight; context: PhraseContext, or None where nothing but the language models looks at context;
    begin_states, end_words: int64[models] (end word -1: the sentence goes on, no end is scored).
    """
    length = len(spans) // (places + 1)
    if limit < 0:
        limit = length
    _start(length, future, begin_states, with_reordering, room)
    for stack in range(1, length + 1):
        code = _queue_edges(stack, length, spans, reach, future, options, distortion, limit, with_reordering, room)
        if code < 0:
            return code
        complete = stack == length
        code = _take_cells(
            complete, places, needed, options, models, context, end_words, with_reordering, pop_limit, room
        )
        if code < 0:
            return code
        if not complete:
            _group_heads(stack, options, with_reordering, room)
    return room.heads[0] if room.counts[HEADS] > 0 else np.int64(0)


@kernel
def _start(length, future, begin_states, with_reordering, room):
    """Put the empty hypothesis, alone in its group, into stack 0."""
    counts = room.counts
    clear(room.coverage_slots)
    for w in range(room.bits.shape[1]):
        room.bits[0, w] = np.uint64(0)
    room.gaps[0] = 0
    room.cost[0] = future[0, length]
    h = room.hyps[0]
    h["score"] = 0.0
    h["total"] = future[0, length]
    h["back"] = -1
    h["alt"] = -1
    h["option"] = -1
    h["coverage"] = 0
    h["begin"] = 0
    h["end"] = 0
    h["swap"] = -1
    h["sorted"] = 0
    h["place"] = 0
    for k in range(len(begin_states)):
        room.states[0, k] = begin_states[k]
    group = room.groups[0]
    group["coverage"] = 0
    group["swap"] = -1
    group["end"] = 0
    group["place"] = 0
    group["first"] = 0
    group["count"] = 1
    for m in range(3):
        room.rows[m, 0] = 0
        room.row_score[m, 0] = 0.0
    room.stack_first[0] = 0
    room.stack_first[1] = 1
    counts[COVERAGES] = 1
    counts[HYPOTHESES] = 1
    counts[GROUPS] = 1
    counts[ROWS] = 1


@kernel
def _queue_edges(stack, length, spans, reach, future, options, distortion, limit, with_reordering, room):
    """Make every edge into `stack` and queue its first cell; return 0, or a negative code when there is no room."""
    longest = spans.shape[1]
    counts, edges = room.counts, room.edges
    counts[EDGES] = 0
    counts[CELLS] = 0
    counts[QUEUE] = 0
    for size in range(1, min(longest, stack) + 1):
        for g in range(room.stack_first[stack - size], room.stack_first[stack - size + 1]):
            group = room.groups[g]
            coverage, last_end = group["coverage"], group["end"]
            gap = room.gaps[coverage]
            rows = group["place"] * length
            for start in range(max(gap, last_end - limit), min(length - size, last_end + limit) + 1):
                p = spans[rows + start, size - 1]
                end = start + size
                # after a jump ahead, the first gap must stay within reach; no wall may be between it and the phrase
                if p < 0 or (start != gap and end - gap > limit) or end > reach[gap]:
                    continue
                if not is_free(room.bits, coverage, start, end):
                    continue
                if options.first[p] == options.first[p + 1]:
                    continue
                if counts[EDGES] >= len(edges):
                    return EDGES_FULL
                new, total = cover(
                    room.bits, room.coverage_slots, counts[COVERAGES], room.gaps, room.cost, future, length,
                    coverage, start, end,
                )  # fmt: skip
                if total < 0:
                    return COVERAGES_FULL
                counts[COVERAGES] = total
                orientation = MONOTONE
                if with_reordering and start != last_end:
                    orientation = SWAP if end == group["swap"] else DISCONTINUOUS
                edge = edges[counts[EDGES]]
                edge["constant"] = room.cost[new] - distortion * abs(start - last_end)
                edge["row"] = group["first"]
                edge["rows"] = group["count"]
                edge["column"] = options.first[p]
                edge["columns"] = options.first[p + 1] - options.first[p]
                edge["start"] = start
                edge["end"] = end
                edge["coverage"] = new
                edge["orientation"] = orientation
                if counts[CELLS] >= len(room.cells):
                    return CELLS_FULL
                guess = _new_cell(counts[EDGES], np.int64(0), np.int64(0), 0.0, options, room)
                counts[QUEUE] = push(room.heap_scores, room.heap_cells, counts[QUEUE], guess, counts[CELLS] - 1)
                counts[EDGES] += 1
    room.work[0] += counts[EDGES]
    return 0


@kernel
def _estimate(edge, row, column, options, room):
    """Return the score of a cell with the language model's view from inside the option."""
    orientation = edge["orientation"]
    return (
        room.row_score[orientation, edge["row"] + row]
        + options.score[orientation, edge["column"] + column]
        + edge["constant"]
    )


@kernel
def _new_cell(e, row, column, hint, options, room):
    """Append a cell; return its estimate plus `hint`, what the language model added next to it."""
    cell = room.cells[room.counts[CELLS]]
    cell["edge"] = e
    cell["row"] = row
    cell["column"] = column
    cell["known"] = 0
    room.counts[CELLS] += 1
    return _estimate(room.edges[e], row, column, options, room) + hint


@kernel
def extend(nodes, children, words, inner_state, inner_rest, first, last, state):
    """Score words first..last-1 after `state`; stop as soon as the left context no longer matters."""
    total = 0.0
    for t in range(first, last):
        gain, state = step(nodes, children, state, words[t])
        total += gain
        if state == inner_state[t]:
            return total + inner_rest[t], np.int64(inner_state[last - 1])
    return total, state


@kernel
def _ask_models(c, h, option, complete, options, models, context, end_words, room):
    """Return what language models, and n-grams of the sentence, add for an option after a hypothesis, weighted.

    The states go to `cell_states[c]`.
    """
    total = 0.0
    for k in range(len(models.weights)):
        score, state = extend(
            models.nodes, models.children, options.words[k], options.inner_state[k], options.inner_rest[k],
            options.word_first[option], options.word_first[option + 1], room.states[h, k],
        )  # fmt: skip
        if complete and end_words[k] >= 0:
            at_end, state = step(models.nodes, models.children, state, end_words[k])
            score += at_end
        room.cell_states[c, k] = state
        total += models.weights[k] * score
        if context is not None:
            put_language_model(context, k, score)
    total += ask_ngrams(models.ngrams, c, h, option, len(models.weights), options, context, room)
    return total


@kernel_inlined
def _ask_trees(h, option, edge, options, context, room):
    """Return what trees add for an option after a hypothesis; the language models were asked before."""
    before = room.hyps[h]
    previous = np.int64(-1)
    if before["option"] >= 0:
        previous = options.rule[before["option"]]
    words = options.word_first[option + 1] - options.word_first[option]
    jump = abs(edge["start"] - np.int64(before["end"]))
    return part_worth(context, options.rule[option], words, previous, edge["orientation"], jump)


@kernel
def _take_cells(complete, places, needed, options, models, context, end_words, with_reordering, pop_limit, room):
    """Turn the best cells of the queue into hypotheses; return 0, or a negative code when there is no room."""
    counts, cells, scores, queue = room.counts, room.cells, room.heap_scores, room.heap_cells
    clear(room.slots)
    counts[HEADS] = 0
    size = counts[QUEUE]
    pops = 0
    while size > 0 and pops < pop_limit:
        if counts[CELLS] + 2 > len(cells):
            return CELLS_FULL
        c = queue[0]  # it stays there until something takes its place
        cell = cells[c]
        e, row, column = np.int64(cell["edge"]), np.int64(cell["row"]), np.int64(cell["column"])
        edge = room.edges[e]
        h = room.rows[edge["orientation"], edge["row"] + row]
        option = options.order[edge["orientation"], edge["column"] + column]
        if cell["known"] == 0:
            room.work[1] += 1
            guess = _estimate(edge, row, column, options, room)
            gain = _ask_models(c, h, option, complete, options, models, context, end_words, room)
            if context is not None:
                gain += _ask_trees(h, option, edge, options, context, room)
            exact = guess - options.estimate[option] + options.base[option] + gain
            cell["known"] = 1
            cell["score"] = exact
            cell["hint"] = exact - guess
            if (size > 1 and exact < scores[1]) or (size > 2 and exact < scores[2]):
                replace(scores, queue, size, exact, c)
                continue
        place = min(places, room.hyps[h]["place"] + options.word_first[option + 1] - options.word_first[option])
        keep = not complete or place >= needed
        pops += 1 if keep else 0
        # behind it are the next option and, from the first column only, the next hypothesis: each cell comes once
        placed = False
        if column + 1 < edge["columns"]:
            guess = _new_cell(e, row, column + 1, cell["hint"], options, room)
            replace(scores, queue, size, guess, counts[CELLS] - 1)
            placed = True
        if column == 0 and row + 1 < edge["rows"]:
            guess = _new_cell(e, row + 1, column, cell["hint"], options, room)
            if placed:
                size = push(scores, queue, size, guess, counts[CELLS] - 1)
            else:
                replace(scores, queue, size, guess, counts[CELLS] - 1)
                placed = True
        if not placed:
            _, _, size = pop(scores, queue, size)
        if keep:
            _add_hypothesis(h, option, place, c, edge, complete, options, context, with_reordering, room)
    room.work[2] += pops
    return 0


@kernel
def _add_hypothesis(back, option, place, c, edge, complete, options, context, with_reordering, room):
    """Append the hypothesis of a cell and recombine it with those in the same state."""
    hyps, states, slots, heads = room.hyps, room.states, room.slots, room.heads
    index = room.counts[HYPOTHESES]
    room.counts[HYPOTHESES] += 1
    coverage, end, swap = edge["coverage"], edge["end"], edge["start"]
    # a swap with the last phrase needs a free word just before it
    if complete or not with_reordering or swap == 0 or covered(room.bits, coverage, swap - 1):
        swap = -1
    total = room.cells[c]["score"]
    new = hyps[index]
    new["score"] = total - room.cost[coverage]
    new["total"] = total
    new["back"] = back
    new["alt"] = -1
    new["option"] = option
    new["coverage"] = coverage
    new["begin"] = edge["start"]
    new["end"] = end
    new["swap"] = swap
    new["sorted"] = 0
    new["place"] = place
    models = states.shape[1]
    key = np.int64(0)  # complete hypotheses have no future: all in one state
    for k in range(models):
        states[index, k] = room.cell_states[c, k]
    if not complete:
        key = mix(coverage * 65536 + end) ^ place
        for k in range(models):
            key = mix(key ^ states[index, k])
    slot = first_slot(slots, key)
    while slots[slot] >= 0:
        head = heads[slots[slot]]
        if complete or _same_state(head, index, options, context, with_reordering, room):
            # the chain of a state begins with its best hypothesis
            if hyps[head]["total"] >= total:
                new["alt"] = hyps[head]["alt"]
                hyps[head]["alt"] = index
            else:
                new["alt"] = head
                heads[slots[slot]] = index
            return
        slot = next_slot(slots, slot)
    slots[slot] = room.counts[HEADS]
    heads[room.counts[HEADS]] = index
    room.counts[HEADS] += 1


@kernel
def _same_state(a, b, options, context, with_reordering, room):
    """Say whether nothing that follows can tell two hypotheses apart."""
    one, two = room.hyps[a], room.hyps[b]
    same = one["coverage"] == two["coverage"] and one["end"] == two["end"] and one["swap"] == two["swap"]
    same = same and one["place"] == two["place"]
    for k in range(room.states.shape[1]):
        same = same and room.states[a, k] == room.states[b, k]
    if same and with_reordering:
        for m in range(3, 6):
            same = same and options.reorder[one["option"], m] == options.reorder[two["option"], m]
    if context is not None and same and with_reordering:  # a weight of 0 hides from the scores what trees can see
        left, right = options.rule[one["option"]], options.rule[two["option"]]
        same = (left < 0) == (right < 0)
        if same and left >= 0:
            for m in range(3, 6):
                same = same and context.reordering[left, m] == context.reordering[right, m]
    return same


@kernel
def _group_slot(h, room):
    """Return the slot of the group of hypothesis `h`, or the free slot where it belongs."""
    one = room.hyps[h]
    slot = first_slot(room.slots, mix(np.int64(one["coverage"]) * 65536 + one["end"]) ^ one["place"])
    while room.slots[slot] >= 0:
        group = room.groups[room.slots[slot]]
        same = group["coverage"] == one["coverage"] and group["end"] == one["end"] and group["swap"] == one["swap"]
        if same and group["place"] == one["place"]:
            break
        slot = next_slot(room.slots, slot)
    return slot


@kernel
def _group_heads(stack, options, with_reordering, room):
    """Sort the hypotheses of a stack into groups, and the rows of each group once for every orientation."""
    hyps, groups, rows, row_score, counts = room.hyps, room.groups, room.rows, room.row_score, room.counts
    clear(room.slots)
    first = counts[GROUPS]
    for i in range(counts[HEADS]):
        h = room.heads[i]
        slot = _group_slot(h, room)
        if room.slots[slot] < 0:
            room.slots[slot] = counts[GROUPS]
            group = groups[counts[GROUPS]]
            group["coverage"] = hyps[h]["coverage"]
            group["swap"] = hyps[h]["swap"]
            group["end"] = hyps[h]["end"]
            group["place"] = hyps[h]["place"]
            group["count"] = 0
            counts[GROUPS] += 1
        groups[room.slots[slot]]["count"] += 1
    for g in range(first, counts[GROUPS]):
        groups[g]["first"] = counts[ROWS]
        counts[ROWS] += groups[g]["count"]
        groups[g]["count"] = 0
    for i in range(counts[HEADS]):
        h = room.heads[i]
        group = groups[room.slots[_group_slot(h, room)]]
        for m in range(3 if with_reordering else 1):
            value = hyps[h]["score"] + options.reorder[hyps[h]["option"], 3 + m]
            insert_falling(row_score[m], rows[m], group["first"], group["first"] + group["count"], value, h)
        group["count"] += 1
    room.stack_first[stack + 1] = counts[GROUPS]
