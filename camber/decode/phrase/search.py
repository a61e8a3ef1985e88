"""Stack decoding with cube pruning, for one sentence.

A stack holds the hypotheses that cover the same number of source words. Those that agree in coverage and in the last
source phrase form a *group*; a group and a free span make an *edge*, a grid of (hypothesis, option) cells whose sides
are sorted: what distortion, orientation and future cost add is the same for the whole grid. The cells of all edges into
a stack wait in one queue; the best are taken until the pop limit is reached. The language model is asked only when a
cell comes to the front of the queue: until then its score is an estimate.

Where a translation must begin with a prefix, hypotheses also know how many words of it they have, their *place*. A
group has one place, and spans have phrases of their own for each: only what agrees with the prefix there.

A word that no rule translates is passed through, and language models cannot tell where it belongs: they would put it
wherever it costs least. So such words, and those behind them, come right behind the word before them (`stays`).

Two hypotheses are recombined when nothing that follows can tell them apart: the same coverage, the same end of the last
phrase, the same start if a swap with it is still possible (all that is the same in a group), the same forward
reordering scores, the same states of language models and of the sentence's n-grams. The loser stays as an alternative
(`alt`) for the n-best list; where no list is wanted, it is forgotten.
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

# Indices that are kept in records are unsigned: a signed one is compared with 0 whenever it is used.

HYPOTHESIS = np.dtype(
    [
        ("score", np.float64),  # of the derivation so far
        ("back", np.int32),  # hypothesis that was extended, -1 at the start
        ("alt", np.int32),  # next worse-or-other hypothesis in the same state, -1 at the end
        ("option", np.int32),  # -1 at the start
        ("begin", np.int32),  # source span of the last phrase: begin ..
        ("end", np.int32),  # .. to end (exclusive)
        ("place", np.int16),  # words of the prefix that it has
        ("sorted", np.int16),  # 1 once the chain of alternatives is sorted
    ]
)
GROUP = np.dtype(
    [
        ("coverage", np.uint32),
        ("swap", np.int32),  # where the last phrase begins while a swap with it is possible, else -1
        ("end", np.int32),
        ("place", np.int32),
        ("first", np.uint32),  # rows first .. first + count
        ("count", np.uint32),
    ]
)
EDGE = np.dtype(
    [
        ("constant", np.float64),  # distortion and what is expected of the rest: the same for every cell
        ("rest", np.float64),  # the latter alone
        ("row", np.uint32),  # first row
        ("rows", np.uint32),
        ("column", np.uint32),  # first option
        ("columns", np.uint32),
        ("start", np.int32),
        ("end", np.int32),
        ("coverage", np.uint32),
        ("orientation", np.uint32),
        ("swap", np.int32),  # of the groups that its hypotheses go to
        ("group", np.int32),  # one of them, -1: not looked for yet
        ("unused", np.int64),
    ]
)
CELL = np.dtype(
    [
        ("hint", np.float64),  # what the language model added to the estimate here, or, until known, in the cell before
        ("edge", np.uint32),
        ("row", np.uint32),
        ("column", np.uint32),
        ("known", np.uint32),
    ]
)
#: a state, by the hash of all that makes it
STATE = np.dtype([("key", np.int64), ("head", np.int64)])
#: what a language model said of an option after one of its states
ANSWER = np.dtype([("score", np.float64), ("state", np.int32), ("option", np.int32), ("next", np.int32)])
#: logarithm of how many answers are remembered: they should stay in a fast cache of the processor
ANSWER_BITS = 10

#: what the search returns instead of a hypothesis when a work array was too small
COVERAGES_FULL, EDGES_FULL, CELLS_FULL = -1, -2, -3

MONOTONE, SWAP, DISCONTINUOUS = 0, 1, 2

ONE = np.uint64(1)


class Room(NamedTuple):
    """The arrays that the search of one sentence works in."""

    hyps: Array  # HYPOTHESIS[hypotheses]
    states: Array  # int32[hypotheses, models], and one more where n-grams have scores
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
    cell_states: Array  # int32[cells, models]
    heap_scores: Array  # float64
    heap_cells: Array  # int64
    group_slots: Array  # int64, a power of two: the groups of a stack
    slots: Array  # STATE, a power of two: the states of a stack
    heads: Array  # int64[pops]: best hypothesis of every state of the stack
    head_group: Array  # int64[pops]: their groups
    answers: Array  # ANSWER[1 << ANSWER_BITS]: they hold for all sentences that share the options
    counts: Array  # int64[COUNTS]
    work: Array  # int64[3]: edges, language model scores of cells, pops; summed over sentences


#: places in `Room.counts`: how many there are so far
COVERAGES, EDGES, CELLS, QUEUE, HYPOTHESES, GROUPS, ROWS, HEADS, COUNTS = range(9)


class Course(NamedTuple):
    """How the search goes, and how far."""

    distortion: float  # its weight
    distortion_limit: int  # below 0: none
    pop_limit: int
    beam: float
    with_reordering: bool
    listed: bool  # alternatives are kept for a list of the best


@kernel
def search(
    spans,
    places,
    needed,
    reach,
    stays,
    future,
    options,
    models,
    context,
    begin_states,
    end_words,
    course,
    room,
):
    """Fill `room.hyps`; return the best complete hypothesis, or a negative code when a work array is too small.

    spans: int64[(places + 1) * length, longest], phrase of each span, below 0 where there is none, for hypotheses that
    have 0, 1, … words of the prefix, which has `places`; needed: how many of them a translation must have; reach:
    int64[length], the next wall behind each word, which phrases come to only when all before it is covered; stays:
    int64[length], whether a word comes right behind the one before it; future: float64[length + 1, length + 1];
    context: PhraseContext, or None where nothing but the language models looks at context; begin_states, end_words:
    int64[models] (end word -1: the sentence goes on, no end is scored).
    """
    length = len(spans) // (places + 1)
    _start(length, future, begin_states, room)
    for stack in range(1, length + 1):
        code = _queue_edges(stack, length, spans, reach, stays, future, options, course, room)
        if code < 0:
            return code
        complete = stack == length
        code = _take_cells(complete, places, needed, options, models, context, end_words, course, room)
        if code < 0:
            return code
        if not complete:
            _sort_rows(stack, options, course.with_reordering, room)
    return room.heads[0] if room.counts[HEADS] > 0 else np.int64(0)


@kernel_inlined
def _start(length, future, begin_states, room):
    """Put the empty hypothesis, alone in its group, into stack 0."""
    counts = room.counts
    clear(room.coverage_slots)
    for w in range(room.bits.shape[1]):
        room.bits[0, w] = np.uint64(0)
    room.gaps[0] = 0
    room.cost[0] = future[0, length]
    h = room.hyps[0]
    h["score"] = 0.0
    h["back"] = -1
    h["alt"] = -1
    h["option"] = -1
    h["begin"] = 0
    h["end"] = 0
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


@kernel_inlined
def _queue_edges(stack, length, spans, reach, stays, future, options, course, room):
    """Make every edge into `stack` and queue its first cell; return 0, or a negative code when there is no room."""
    longest = spans.shape[1]
    limit = course.distortion_limit if course.distortion_limit >= 0 else length
    distortion, with_reordering = course.distortion, course.with_reordering
    toll = max(0.0, distortion)
    counts, edges = room.counts, room.edges
    made, size_of_queue = 0, 0
    coverages = counts[COVERAGES]
    complete = stack == length
    for size in range(1, min(longest, stack) + 1):
        for g in range(room.stack_first[stack - size], room.stack_first[stack - size + 1]):
            group = room.groups[g]
            coverage, last_end, swap = group["coverage"], np.int64(group["end"]), group["swap"]
            gap = room.gaps[coverage]
            rows = group["place"] * length
            first, last = max(gap, last_end - limit), min(length - size, last_end + limit)
            ordered = rows + length == len(spans)  # a prefix may have any order
            stay = ordered and last_end < length and stays[last_end] != 0
            if stay and _goes_on(group, gap, spans, reach, options, limit, room):
                first, last = last_end, min(last, last_end)
            for start in range(first, last + 1):
                p = spans[rows + start, size - 1]
                end = start + size
                # after a jump ahead, the first gap must stay within reach; no wall may be between it and the phrase
                if p < 0 or (start != gap and end - gap > limit) or end > reach[gap]:
                    continue
                if not is_free(room.bits, coverage, start, end):
                    continue
                late = ordered and stays[start] != 0 and start > 0 and start != last_end
                if late and not covered(room.bits, coverage, start - 1):
                    continue
                column = options.first[p]
                columns = options.first[p + 1] - column
                if columns == 0:
                    continue
                if made >= len(edges):
                    return EDGES_FULL
                if made >= len(room.cells):
                    return CELLS_FULL
                new, coverages = cover(
                    room.bits, room.coverage_slots, coverages, room.gaps, room.cost, future, length,
                    toll, coverage, start, end,
                )  # fmt: skip
                if coverages < 0:
                    return COVERAGES_FULL
                orientation = MONOTONE
                if with_reordering and start != last_end:
                    orientation = SWAP if end == swap else DISCONTINUOUS
                edge = edges[made]
                rest = room.cost[new]
                if not complete:
                    rest -= toll * abs(end - room.gaps[new])
                constant = rest - distortion * abs(start - last_end)
                edge["constant"] = constant
                edge["rest"] = rest
                edge["row"] = group["first"]
                edge["rows"] = group["count"]
                edge["column"] = column
                edge["columns"] = columns
                edge["start"] = start
                edge["end"] = end
                edge["coverage"] = new
                edge["orientation"] = orientation
                # a swap with the last phrase needs a free word just before it
                swappable = with_reordering and not complete and start > 0 and not covered(room.bits, new, start - 1)
                edge["swap"] = start if swappable else -1
                edge["group"] = -1
                cell = room.cells[made]
                cell["hint"] = 0.0
                cell["edge"] = made
                cell["row"] = 0
                cell["column"] = 0
                cell["known"] = 0
                guess = room.row_score[orientation, group["first"]] + options.score[orientation, column] + constant
                size_of_queue = push(room.heap_scores, room.heap_cells, size_of_queue, guess, made)
                made += 1
    counts[COVERAGES] = coverages
    counts[EDGES] = made
    counts[CELLS] = made
    counts[QUEUE] = size_of_queue
    room.work[0] += made
    return 0


@kernel
def _goes_on(group, gap, spans, reach, options, limit, room):
    """Say whether some phrase may begin where the last phrase of a group ends."""
    start, longest, length = np.int64(group["end"]), spans.shape[1], len(reach)
    for size in range(1, min(longest, length - start) + 1):
        end = start + size
        p = spans[group["place"] * length + start, size - 1]
        if p < 0 or options.first[p] == options.first[p + 1] or (start != gap and end - gap > limit):
            continue
        if end <= reach[gap] and is_free(room.bits, group["coverage"], start, end):
            return True
    return False


@kernel
def extend(nodes, children, heard, first, last, state):
    """Score words first..last-1 of `heard` after `state`; stop as soon as the left context no longer matters."""
    total = 0.0
    for t in range(first, last):
        gain, state = step(nodes, children, state, np.int64(heard[t]["word"]))
        total += gain
        if state == heard[t]["state"]:
            return total + heard[t]["rest"], np.int64(heard[last - 1]["state"])
    return total, state


@kernel_inlined
def _ask(k, state, option, options, models, room):
    """Return what language model `k` says of an option after a state, and the next state; most answers are known."""
    answer = room.answers[_answer_slot(state, option)]
    if answer["state"] == state and answer["option"] == option:
        return answer["score"], np.int64(answer["next"])
    fact = options.facts[option]
    score, after = extend(
        models.nodes, models.children, options.heard[k], np.int64(fact["first"]), np.int64(fact["last"]), state
    )
    answer["state"] = state
    answer["option"] = option
    answer["score"] = score
    answer["next"] = after
    return score, after


@kernel_inlined
def _answer_slot(state, option):
    """Return where the answer for a state and an option is, if it is still remembered."""
    mixed = np.uint64(state) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(option) * np.uint64(0xC2B2AE3D27D4EB4F)
    return (mixed * np.uint64(0xFF51AFD7ED558CCD)) >> np.uint64(64 - ANSWER_BITS)


@kernel_inlined
def _ask_models(c, h, option, complete, options, models, context, end_words, room):
    """Return what language models, and n-grams of the sentence, add for an option after a hypothesis, weighted.

    The states go to `cell_states[c]`.
    """
    total = 0.0
    for k in range(len(models.weights)):
        score, state = _ask(k, np.int64(room.states[h, k]), option, options, models, room)
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
    jump = abs(np.int64(edge["start"]) - np.int64(before["end"]))
    return part_worth(context, options.rule[option], words, previous, np.int64(edge["orientation"]), jump)


@kernel_inlined
def _take_cells(complete, places, needed, options, models, context, end_words, course, room):
    """Turn the best cells of the queue into hypotheses; return 0, or a negative code when there is no room."""
    counts, cells, scores, queue = room.counts, room.cells, room.heap_scores, room.heap_cells
    for slot in range(len(room.slots)):
        room.slots[slot]["head"] = -1
    clear(room.group_slots)
    counts[HEADS] = 0
    size = counts[QUEUE]
    used = counts[CELLS]
    asked, pops = 0, 0
    best = -np.inf
    while size > 0 and pops < course.pop_limit:
        if used + 2 > len(cells):
            return CELLS_FULL
        score = scores[0]
        # the more of the limit is used up, the nearer must a cell be, down to half of the beam
        if score < best - course.beam * (1.0 - 0.5 * pops / course.pop_limit):
            break
        c = queue[0]  # it stays there until something takes its place
        cell = cells[c]
        edge = room.edges[cell["edge"]]
        row, column, orientation = cell["row"], cell["column"], edge["orientation"]
        at_row, at_column = edge["row"] + row, edge["column"] + column
        h = room.rows[orientation, at_row]
        option = options.order[orientation, at_column]
        fact = options.facts[option]
        if cell["known"] == 0:
            asked += 1
            guess = room.row_score[orientation, at_row] + options.score[orientation, at_column] + edge["constant"]
            gain = fact["outside"] + _ask_models(c, h, option, complete, options, models, context, end_words, room)
            if context is not None:
                gain += _ask_trees(h, option, edge, options, context, room)
            score = guess + gain
            cell["known"] = 1
            cell["hint"] = gain
            if (size > 1 and score < scores[1]) or (size > 2 and score < scores[2]):
                replace(scores, queue, size, score, c)
                continue
        place = min(places, room.hyps[h]["place"] + fact["last"] - fact["first"])
        keep = not complete or place >= needed
        # behind it are the next option and, from the first column only, the next hypothesis: each cell comes once
        placed = False
        if column + 1 < edge["columns"]:
            guess = (
                room.row_score[orientation, at_row] + options.score[orientation, at_column + ONE] + edge["constant"]
            ) + cell["hint"]
            _set_cell(cells[used], cell["edge"], row, column + 1, cell["hint"])
            replace(scores, queue, size, guess, used)
            used += 1
            placed = True
        if column == 0 and row + 1 < edge["rows"]:
            guess = (
                room.row_score[orientation, at_row + ONE] + options.score[orientation, at_column] + edge["constant"]
            ) + cell["hint"]
            _set_cell(cells[used], cell["edge"], row + 1, column, cell["hint"])
            if placed:
                size = push(scores, queue, size, guess, used)
            else:
                replace(scores, queue, size, guess, used)
                placed = True
            used += 1
        if not placed:
            _, _, size = pop(scores, queue, size)
        if keep:
            best = max(best, score)
            _add_hypothesis(
                h, option, place, places, score - edge["rest"], c, edge, complete, options, course.listed, room
            )
            pops += 1
    room.work[1] += asked
    room.work[2] += pops
    return 0


@kernel_inlined
def _set_cell(cell, e, row, column, hint):
    cell["hint"] = hint
    cell["edge"] = e
    cell["row"] = row
    cell["column"] = column
    cell["known"] = 0


@kernel_inlined
def _group_of(edge, place, room):
    """Return the group of an edge's hypotheses that have so many words of the prefix; it is made if there is none."""
    counts, slots = room.counts, room.group_slots
    coverage, end, swap = edge["coverage"], edge["end"], edge["swap"]
    slot = first_slot(slots, mix(((np.int64(coverage) << 32) + (end << 12)) ^ swap ^ (place << 24)))
    while slots[slot] >= 0:
        group = room.groups[slots[slot]]
        same = group["coverage"] == coverage and group["end"] == end
        if same and group["swap"] == swap and group["place"] == place:
            return slots[slot]
        slot = next_slot(slots, slot)
    number = counts[GROUPS]
    counts[GROUPS] += 1
    slots[slot] = number
    group = room.groups[number]
    group["coverage"] = coverage
    group["swap"] = swap
    group["end"] = end
    group["place"] = place
    group["count"] = 0
    return number


@kernel_inlined
def _add_hypothesis(back, option, place, places, score, c, edge, complete, options, listed, room):
    """Append the hypothesis of a cell, and recombine it with those in the same state."""
    hyps, states, slots, heads, counts = room.hyps, room.states, room.slots, room.heads, room.counts
    models = states.shape[1]
    group, key = np.int64(0), np.int64(0)  # complete hypotheses have no future: all are in one state
    if not complete:
        group = np.int64(edge["group"])
        if group < 0 or places > 0:
            group = _group_of(edge, place, room)
            edge["group"] = group
        key = (group << 32) + options.facts[option]["turn"]
        for k in range(models):
            key = mix(key ^ room.cell_states[c, k])
    slot = first_slot(slots, key)
    number = slots[slot]["head"]
    while number >= 0:
        head = heads[number]
        same = slots[slot]["key"] == key
        if same and not complete:
            same = room.head_group[number] == group
            same = same and options.facts[hyps[head]["option"]]["turn"] == options.facts[option]["turn"]
            for k in range(models):
                same = same and states[head, k] == room.cell_states[c, k]
        if same:
            # the chain of a state begins with its best hypothesis
            better = score > hyps[head]["score"]
            if not listed:
                if better:
                    _set_hypothesis(hyps[head], score, back, option, place, edge)
                return
            index = counts[HYPOTHESES]
            counts[HYPOTHESES] += 1
            new = hyps[index]
            _set_hypothesis(new, score, back, option, place, edge)
            for k in range(models):
                states[index, k] = room.cell_states[c, k]
            if better:
                new["alt"] = head
                heads[number] = index
            else:
                new["alt"] = hyps[head]["alt"]
                hyps[head]["alt"] = index
            return
        slot = next_slot(slots, slot)
        number = slots[slot]["head"]
    number = counts[HEADS]
    counts[HEADS] += 1
    index = counts[HYPOTHESES]
    counts[HYPOTHESES] += 1
    slots[slot]["key"] = key
    slots[slot]["head"] = number
    heads[number] = index
    _set_hypothesis(hyps[index], score, back, option, place, edge)
    hyps[index]["alt"] = -1
    for k in range(models):
        states[index, k] = room.cell_states[c, k]
    if not complete:
        room.head_group[number] = group
        room.groups[group]["count"] += 1


@kernel_inlined
def _set_hypothesis(new, score, back, option, place, edge):
    new["score"] = score
    new["back"] = back
    new["option"] = option
    new["begin"] = edge["start"]
    new["end"] = edge["end"]
    new["sorted"] = 0
    new["place"] = place


@kernel_inlined
def _sort_rows(stack, options, with_reordering, room):
    """Sort the hypotheses of every group of a stack, once for every orientation of what follows."""
    hyps, groups, rows, row_score, counts = room.hyps, room.groups, room.rows, room.row_score, room.counts
    for g in range(room.stack_first[stack], counts[GROUPS]):
        groups[g]["first"] = counts[ROWS]
        counts[ROWS] += groups[g]["count"]
        groups[g]["count"] = 0
    for i in range(counts[HEADS]):
        h = room.heads[i]
        group = groups[room.head_group[i]]
        first, last = np.int64(group["first"]), np.int64(group["first"]) + group["count"]
        option = hyps[h]["option"]
        for m in range(3 if with_reordering else 1):
            insert_falling(row_score[m], rows[m], first, last, hyps[h]["score"] + options.reorder[option, 3 + m], h)
        group["count"] += 1
    room.stack_first[stack + 1] = counts[GROUPS]
