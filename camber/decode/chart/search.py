"""Chart parsing of the source side with cube pruning (Chiang 2007): CYK+ over the grammar's trie.

Spans are filled from the last source word backwards. For every first word, dotted rules grow to the right by a word or
by a span that is full already; those at the end of a source side are *bundles*: rules that share it, and the vertices
of their tails. The best combinations of all bundles of a span come out of one queue. A combination is scored by the
language model only when it gets to the front, and goes back if others are better then.
The beginning of the sentence (S) is put together from spans in the end, left to right, with the true left context.
"""

from __future__ import annotations

import numpy as np

from camber.decode.chart.features import GLUE as GLUE_COLUMN
from camber.decode.chart.grammar import child
from camber.decode.chart.hypergraph import BUNDLES, CELLS, GLUE, ITEMS, QUEUE, START
from camber.decode.chart.in_context import part_worth, put_language_model
from camber.decode.chart.lm import LEFT, RIGHT, SIZE, glue_state, piece_state
from camber.kernel import kernel, kernel_inlined
from camber.kernel.heap import pop, push
from camber.kernel.table import clear, first_slot, mix, next_slot

GRAMMAR = np.int64(0)
#: codes for a work array that is too small
EDGES_FULL, ITEMS_FULL, BUNDLES_FULL, CELLS_FULL = -1, -2, -3, -4


@kernel
def search(ids, width, limit, pop_limit, beam, rules, models, context, begin_states, end_words, weights, forest, room):
    """Fill the forest of a sentence; return the vertex of its best derivation, or a negative code.

    ids: int64[length], source words, below 0 for those that no rule has, or may have; begin_states, end_words:
    int64[models] (end word -1: the sentence goes on); beam: how much worse than the best of its span a vertex may be;
    context: ChartContext, or None where nothing but the language models looks at context.
    """
    length = len(ids)
    if limit <= 0:
        limit = length
    forest.size[0] = 0
    forest.size[1] = 0
    for begin in range(length - 1, -1, -1):
        items, counts = room.items, room.counts
        items[0]["node"] = 0
        items[0]["one"] = -1
        items[0]["two"] = -1
        counts[ITEMS] = 1
        room.item_first[begin] = 0
        room.item_first[begin + 1] = 1
        for end in range(begin + 1, min(length, begin + limit) + 1):
            code = _advance(ids, width, begin, end, rules, room)
            if code < 0:
                return code
            code = _bundles(begin, end, length, weights, rules, forest, room)
            if code < 0:
                return code
            first = forest.size[0]
            code = _take_cells(
                begin,
                end,
                False,
                pop_limit,
                beam,
                rules,
                models,
                context,
                begin_states,
                end_words,
                weights,
                forest,
                room,
            )
            if code < 0:
                return code
            room.cell_first[begin, end] = first
            room.cell_count[begin, end] = forest.size[0] - first
            if forest.size[0] > first:  # rules that begin with a non-terminal
                node = rules.gap[0]
                if node >= 0 and not _add_item(node, begin * (length + 1) + end, np.int64(-1), room):
                    return ITEMS_FULL
            room.item_first[end + 1] = counts[ITEMS]
    for end in range(1, length + 1):
        code = _glue_bundles(end, limit, weights, rules, forest, room)
        if code < 0:
            return code
        first = forest.size[0]
        code = _take_cells(
            np.int64(0), end, end == length, pop_limit, beam, rules, models, context, begin_states, end_words, weights,
            forest,
            room,
        )  # fmt: skip
        if code < 0:
            return code
        room.start_first[end] = first
        room.start_count[end] = forest.size[0] - first
    return room.rows[room.start_first[length]]


@kernel
def _add_item(node, one, two, room):
    """Append a dotted rule; say whether it fitted."""
    count = room.counts[ITEMS]
    if count >= len(room.items):
        return False
    item = room.items[count]
    item["node"] = node
    item["one"] = one
    item["two"] = two
    room.counts[ITEMS] = count + 1
    return True


@kernel
def _advance(ids, width, begin, end, rules, room):
    """Find the dotted rules over a span: shorter ones with one more word, or with a span that ends here."""
    items = room.items
    side = len(ids) + 1
    word = ids[end - 1]
    if word >= 0:
        for i in range(room.item_first[end - 1], room.item_first[end]):
            if rules.more[items[i]["node"]] == 0:
                continue
            node = child(rules, np.int64(items[i]["node"]), word, width)
            if node >= 0 and not _add_item(node, np.int64(items[i]["one"]), np.int64(items[i]["two"]), room):
                return ITEMS_FULL
    for cut in range(begin + 1, end):
        if room.cell_count[cut, end] == 0:
            continue
        for i in range(room.item_first[cut], room.item_first[cut + 1]):
            node = rules.gap[items[i]["node"]]
            if node < 0:
                continue
            one, two = np.int64(items[i]["one"]), np.int64(-1)
            if one < 0:
                one = np.int64(cut * side + end)
            else:
                two = np.int64(cut * side + end)
            if not _add_item(node, one, two, room):
                return ITEMS_FULL
    return 0


@kernel
def _add_bundle(kind, rule, count, one, ones, two, twos, weights, rules, forest, room):
    """Append a bundle and queue its first cell; return 0, or a negative code."""
    number = room.counts[BUNDLES]
    if number >= len(room.bundles):
        return BUNDLES_FULL
    bundle = room.bundles[number]
    bundle["kind"] = kind
    bundle["rule"] = rule
    bundle["rules"] = count
    bundle["one"] = one
    bundle["ones"] = ones
    bundle["two"] = two
    bundle["twos"] = twos
    room.counts[BUNDLES] = number + 1
    zero = np.int64(0)
    if not _queue_cell(number, zero, zero, zero, 0.0, weights, rules, forest, room):
        return CELLS_FULL
    return 0


@kernel
def _bundles(begin, end, length, weights, rules, forest, room):
    """Start the queue of a span with every source side that fits it."""
    counts, items = room.counts, room.items
    side = length + 1
    counts[BUNDLES] = 0
    counts[CELLS] = 0
    counts[QUEUE] = 0
    for i in range(room.item_first[end], counts[ITEMS]):
        node = items[i]["node"]
        rule, count = rules.node_first[node], rules.node_first[node + 1] - rules.node_first[node]
        if count == 0:
            continue
        one, ones, two, twos = np.int64(-1), np.int64(0), np.int64(-1), np.int64(0)
        if items[i]["one"] >= 0:
            a, b = items[i]["one"] // side, items[i]["one"] % side
            one, ones = room.cell_first[a, b], room.cell_count[a, b]
        if items[i]["two"] >= 0:
            a, b = items[i]["two"] // side, items[i]["two"] % side
            two, twos = room.cell_first[a, b], room.cell_count[a, b]
        code = _add_bundle(GRAMMAR, rule, count, one, ones, two, twos, weights, rules, forest, room)
        if code < 0:
            return code
    none, term = np.int64(-1), rules.terms.ends[begin]
    if term == end:
        node = rules.count[0] + length + rules.terms.numbers[begin]
        rule, count = rules.node_first[node], rules.node_first[node + 1] - rules.node_first[node]
        code = _add_bundle(GRAMMAR, rule, count, none, np.int64(0), none, np.int64(0), weights, rules, forest, room)
        if code < 0:
            return code
    if term == 0 and end == begin + 1 and (rules.count[1] or counts[BUNDLES] == 0):  # the word itself
        rule = rules.node_first[rules.count[0] + begin]
        code = _add_bundle(
            GRAMMAR, rule, np.int64(1), none, np.int64(0), none, np.int64(0), weights, rules, forest, room
        )
        if code < 0:
            return code
    room.work[0] += counts[ITEMS] - room.item_first[end]
    room.work[1] += counts[BUNDLES]
    return 0


@kernel
def _glue_bundles(end, limit, weights, rules, forest, room):
    """Start the queue of the first `end` words: a shorter beginning and the span behind it, or one span alone."""
    counts = room.counts
    counts[BUNDLES] = 0
    counts[CELLS] = 0
    counts[QUEUE] = 0
    for cut in range(max(0, end - limit), end):
        two, twos = room.cell_first[cut, end], room.cell_count[cut, end]
        if twos == 0:
            continue
        kind, one, ones = np.int64(START), np.int64(-1), np.int64(0)
        if cut > 0:
            kind, one, ones = np.int64(GLUE), room.start_first[cut], room.start_count[cut]
        code = _add_bundle(kind, np.int64(0), np.int64(1), one, ones, two, twos, weights, rules, forest, room)
        if code < 0:
            return code
    room.work[1] += counts[BUNDLES]
    return 0


@kernel
def _tails(bundle, one, two, room):
    """Return the tails of a cell, -1 where there is none."""
    first = room.rows[bundle["one"] + one] if bundle["one"] >= 0 else np.int64(-1)
    second = room.rows[bundle["two"] + two] if bundle["two"] >= 0 else np.int64(-1)
    return first, second


@kernel_inlined
def _queue_cell(number, rule, one, two, hint, weights, rules, forest, room):
    """Queue a cell by its estimate plus `hint`, what the language models added next to it; say whether it fitted."""
    c = room.counts[CELLS]
    if c >= len(room.cells):
        return False
    bundle = room.bundles[number]
    first, second = _tails(bundle, one, two, room)
    guess = hint
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
    room.counts[QUEUE] = push(room.heap_scores, room.heap_cells, room.counts[QUEUE], guess, c)
    room.counts[CELLS] = c + 1
    return True


@kernel_inlined
def _score_cell(c, rules, models, context, begin_states, end_words, complete, weights, forest, room):
    """Score a cell with the language models; its states go to `room.cell_pieces`."""
    cell = room.cells[c]
    bundle = room.bundles[cell["bundle"]]
    first, second = _tails(bundle, np.int64(cell["one"]), np.int64(cell["two"]), room)
    exact = 0.0
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
def _take_cells(
    begin, end, complete, pop_limit, beam, rules, models, context, begin_states, end_words, weights, forest, room
):
    """Turn the best cells of the queue into edges and sort their vertices; return 0, or a negative code."""
    counts, cells = room.counts, room.cells
    clear(room.slots)
    first = forest.size[0]
    pops = 0
    best = -np.inf
    while counts[QUEUE] > 0 and pops < pop_limit:
        _, c, counts[QUEUE] = pop(room.heap_scores, room.heap_cells, counts[QUEUE])
        cell = cells[c]
        if cell["known"] == 0:
            room.work[2] += 1
            exact = _score_cell(c, rules, models, context, begin_states, end_words, complete, weights, forest, room)
            if counts[QUEUE] > 0 and exact < room.heap_scores[0]:
                counts[QUEUE] = push(room.heap_scores, room.heap_cells, counts[QUEUE], exact, c)
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
        fits = True
        if rule + 1 < bundle["rules"]:
            fits &= _queue_cell(number, rule + 1, one, two, hint, weights, rules, forest, room)
        if rule == 0 and one + 1 < bundle["ones"]:
            fits &= _queue_cell(number, rule, one + 1, two, hint, weights, rules, forest, room)
        if rule == 0 and one == 0 and two + 1 < bundle["twos"]:
            fits &= _queue_cell(number, rule, one, two + 1, hint, weights, rules, forest, room)
        if not fits:
            return CELLS_FULL
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
        for k in range(len(models.weights)):
            key = mix(key ^ room.cell_pieces.states[c, k, RIGHT])
            size = room.cell_pieces.states[c, k, SIZE]
            key ^= size
            for i in range(size >> 1):
                key = mix(key ^ (room.cell_pieces.states[c, k, LEFT + i] << 3))
    slot = first_slot(slots, key)
    while slots[slot] >= 0:
        v = slots[slot]
        if complete or _same_state(v, c, len(models.weights), forest, room):
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
    for k in range(len(models.weights)):
        forest.pieces.estimates[v, k] = room.cell_pieces.estimates[c, k]
        for i in range(LEFT + (room.cell_pieces.states[c, k, SIZE] >> 1)):
            states[v, k, i] = room.cell_pieces.states[c, k, i]
    return True


@kernel
def _same_state(v, c, models, forest, room):
    """Say whether nothing around a vertex and a cell can tell them apart."""
    for k in range(models):
        for i in range(LEFT + (room.cell_pieces.states[c, k, SIZE] >> 1)):
            if forest.pieces.states[v, k, i] != room.cell_pieces.states[c, k, i]:
                return False
    return True
