"""Bundles and their cells: a rule's combinations with the vertices of its tails, the best of them first.

A *bundle* is rules with the same source side, and the vertices of their tails. Its cells wait in one queue with those
of the span's other bundles. A cell is scored by the language model only when it gets to the front, and goes back if
others are better then.
"""

from __future__ import annotations

import numpy as np

from camber.decode.chart.features import GLUE as GLUE_COLUMN
from camber.decode.chart.hypergraph import BUNDLES, CELLS, GLUE, QUEUE
from camber.decode.chart.in_context import part_worth, put_language_model
from camber.decode.chart.lm import LEFT, RIGHT, SIZE, glue_state, piece_state
from camber.kernel import kernel, kernel_inlined
from camber.kernel.heap import pop, push, replace
from camber.kernel.table import clear, first_slot, mix, next_slot

GRAMMAR = np.int64(0)
#: codes for a work array that is too small
EDGES_FULL, ITEMS_FULL, BUNDLES_FULL, CELLS_FULL = -1, -2, -3, -4


@kernel
def put_bundle(kind, rule, count, one, ones, two, twos, place, extra, room):
    """Append a bundle; say whether it fitted.

    place: words of a prefix that have come at its end; extra: what it is worth beyond its rules.
    """
    number = room.counts[BUNDLES]
    if number >= len(room.bundles):
        return False
    bundle = room.bundles[number]
    bundle["kind"] = kind
    bundle["rule"] = rule
    bundle["rules"] = count
    bundle["one"] = one
    bundle["ones"] = ones
    bundle["two"] = two
    bundle["twos"] = twos
    bundle["place"] = place
    bundle["extra"] = extra
    room.counts[BUNDLES] = number + 1
    return True


@kernel
def add_bundle(kind, rule, count, one, ones, two, twos, weights, rules, forest, room):
    """Append a bundle and queue its first cell; return 0, or a negative code."""
    zero = np.int64(0)
    if not put_bundle(kind, rule, count, one, ones, two, twos, zero, 0.0, room):
        return BUNDLES_FULL
    if not queue_cell(room.counts[BUNDLES] - 1, zero, zero, zero, 0.0, False, weights, rules, forest, room):
        return CELLS_FULL
    return 0


@kernel_inlined
def _tails(bundle, one, two, room):
    """Return the tails of a cell, -1 where there is none."""
    first = room.rows[bundle["one"] + one] if bundle["one"] >= 0 else np.int64(-1)
    second = room.rows[bundle["two"] + two] if bundle["two"] >= 0 else np.int64(-1)
    return first, second


@kernel_inlined
def queue_cell(number, rule, one, two, hint, instead, weights, rules, forest, room):
    """Queue a cell by its estimate plus `hint`, what the language models added next to it; say whether it fitted.

    instead: it takes the place of the best one in the queue.
    """
    c = room.counts[CELLS]
    if c >= len(room.cells):
        return False
    bundle = room.bundles[number]
    first, second = _tails(bundle, one, two, room)
    guess = hint + bundle["extra"]
    if bundle["kind"] == GRAMMAR:
        guess += rules.estimate[rules.order[bundle["rule"] + rule]]
    elif bundle["kind"] == GLUE:
        guess += weights[rules.columns.width + GLUE_COLUMN]
    if first >= 0:
        guess += forest.vertices[first]["score"]
    if second >= 0:
        guess += forest.vertices[second]["score"]
    cell = room.cells[c]
    cell["bundle"] = number
    cell["rule"] = rule
    cell["one"] = one
    cell["two"] = two
    cell["known"] = 0
    cell["score"] = guess - hint
    if instead:
        replace(room.heap_scores, room.heap_cells, room.counts[QUEUE], guess, c)
    else:
        room.counts[QUEUE] = push(room.heap_scores, room.heap_cells, room.counts[QUEUE], guess, c)
    room.counts[CELLS] = c + 1
    return True


@kernel_inlined
def _score_cell(c, rules, models, context, begin_states, end_words, complete, weights, forest, room):
    """Score a cell with the language models; its states go to `room.cell_pieces`."""
    cell = room.cells[c]
    bundle = room.bundles[cell["bundle"]]
    first, second = _tails(bundle, np.int64(cell["one"]), np.int64(cell["two"]), room)
    exact = np.float64(bundle["extra"])
    if first >= 0:
        exact += forest.vertices[first]["score"]
    if second >= 0:
        exact += forest.vertices[second]["score"]
    if bundle["kind"] == GRAMMAR:
        r = rules.order[bundle["rule"] + cell["rule"]]
        exact += rules.score[r]
        for k in range(len(models.weights)):
            added, final = piece_state(
                models, k, rules.target, rules.words, rules.target_offsets[r], rules.target_offsets[r + 1], first,
                second, forest.pieces, room.cell_pieces, c,
            )  # fmt: skip
            exact += models.weights[k] * added
            if context is not None:
                put_language_model(context, rules.columns.width, k, final)
        if context is not None:
            exact += part_worth(context, r)
    else:
        if bundle["kind"] == GLUE:
            exact += weights[rules.columns.width + GLUE_COLUMN]
        for k in range(len(models.weights)):
            before = begin_states[k] if first < 0 else forest.pieces.states[first, k, RIGHT]
            added, _ = glue_state(
                models, k, before, second, end_words[k] if complete else np.int64(-1), forest.pieces,
                room.cell_pieces, c,
            )  # fmt: skip
            exact += models.weights[k] * added
    cell["hint"] = exact - cell["score"]
    cell["score"] = exact
    cell["known"] = 1
    return exact


@kernel
def take_cells(
    begin, end, complete, pop_limit, beam, rules, models, context, begin_states, end_words, weights, forest, room
):
    """Turn the best cells of the queue into edges and sort their vertices; return 0, or a negative code."""
    counts, cells, scores, queue = room.counts, room.cells, room.heap_scores, room.heap_cells
    clear(room.slots)
    first = forest.size[0]
    pops = 0
    best = -np.inf
    while counts[QUEUE] > 0 and pops < pop_limit:
        c = queue[0]  # it stays there until something takes its place
        cell = cells[c]
        if cell["known"] == 0:
            room.work[2] += 1
            exact = _score_cell(c, rules, models, context, begin_states, end_words, complete, weights, forest, room)
            size = counts[QUEUE]
            if (size > 1 and exact < scores[1]) or (size > 2 and exact < scores[2]):
                replace(scores, queue, size, exact, c)
                continue
        if pops > 0 and cell["score"] < best - beam:
            break
        pops += 1
        best = max(best, cell["score"])
        # each cell has one before it, so that it comes once: less rule, else less of the first tail, else of the second
        number, rule, one, two = (
            np.int64(cell["bundle"]), np.int64(cell["rule"]), np.int64(cell["one"]), np.int64(cell["two"]),
        )  # fmt: skip
        bundle, hint = room.bundles[number], cell["hint"]
        fits, instead = True, True
        if rule + 1 < bundle["rules"]:
            fits &= queue_cell(number, rule + 1, one, two, hint, instead, weights, rules, forest, room)
            instead = False
        if rule == 0 and one + 1 < bundle["ones"]:
            fits &= queue_cell(number, rule, one + 1, two, hint, instead, weights, rules, forest, room)
            instead = False
        if rule == 0 and one == 0 and two + 1 < bundle["twos"]:
            fits &= queue_cell(number, rule, one, two + 1, hint, instead, weights, rules, forest, room)
            instead = False
        if not fits:
            return CELLS_FULL
        if instead:
            _, _, counts[QUEUE] = pop(scores, queue, counts[QUEUE])
        if not _add_edge(c, begin, end, complete, rules, models, forest, room):
            return EDGES_FULL
    room.work[3] += pops
    # they come out nearly sorted
    for i in range(first, forest.size[0]):
        score = forest.vertices[i]["score"]
        j = i - 1
        while j >= first and forest.vertices[room.rows[j]]["score"] < score:
            room.rows[j + 1] = room.rows[j]
            j -= 1
        room.rows[j + 1] = i
    return 0


@kernel_inlined
def _add_edge(c, begin, end, complete, rules, models, forest, room):
    """Append the edge of a cell; it leads to the vertex in the same state, or to a new one. Say whether it fitted."""
    vertices, edges, states, slots = forest.vertices, forest.edges, forest.pieces.states, room.slots
    e = forest.size[1]
    if e >= len(edges):
        return False
    forest.size[1] = e + 1
    cell = room.cells[c]
    bundle = room.bundles[cell["bundle"]]
    first, second = _tails(bundle, np.int64(cell["one"]), np.int64(cell["two"]), room)
    score = cell["score"]
    edge = edges[e]
    edge["score"] = score
    edge["rule"] = bundle["kind"] if bundle["kind"] != GRAMMAR else rules.order[bundle["rule"] + cell["rule"]]
    edge["one"] = first
    edge["two"] = second
    edge["next"] = -1
    key = np.int64(0)  # whole sentences have no future: all in one state
    if not complete:
        key = mix(np.int64(bundle["place"]))
        for k in range(len(models.weights)):
            key = mix(key ^ room.cell_pieces.states[c, k, RIGHT])
            size = room.cell_pieces.states[c, k, SIZE]
            key ^= size
            for i in range(size >> 1):
                key = mix(key ^ (room.cell_pieces.states[c, k, LEFT + i] << 3))
    slot = first_slot(slots, key)
    while slots[slot] >= 0:
        v = slots[slot]
        same = complete or (
            vertices[v]["place"] == bundle["place"] and _same_state(v, c, len(models.weights), forest, room)
        )
        if same:
            edge["vertex"] = v
            head = np.int64(vertices[v]["edge"])
            if score > vertices[v]["score"]:
                edge["next"] = head
                vertices[v]["edge"] = e
                vertices[v]["score"] = score
            else:
                edge["next"] = edges[head]["next"]
                edges[head]["next"] = e
            return True
        slot = next_slot(slots, slot)
    v = forest.size[0]
    forest.size[0] = v + 1
    slots[slot] = v
    edge["vertex"] = v
    vertices[v]["score"] = score
    vertices[v]["edge"] = e
    vertices[v]["begin"] = begin
    vertices[v]["end"] = end
    vertices[v]["place"] = bundle["place"]
    for k in range(len(models.weights)):
        forest.pieces.estimates[v, k] = room.cell_pieces.estimates[c, k]
        for i in range(LEFT + (room.cell_pieces.states[c, k, SIZE] >> 1)):
            states[v, k, i] = room.cell_pieces.states[c, k, i]
    return True


@kernel_inlined
def _same_state(v, c, models, forest, room):
    """Say whether nothing around a vertex and a cell can tell them apart."""
    for k in range(models):
        for i in range(LEFT + (room.cell_pieces.states[c, k, SIZE] >> 1)):
            if forest.pieces.states[v, k, i] != room.cell_pieces.states[c, k, i]:
                return False
    return True
