"""Chart parsing of the source side with cube pruning (Chiang 2007): CYK+ over the grammar's trie.

Spans are filled from the last source word backwards. For every first word, dotted rules grow to the right by a word or
by a span that is full already; those at the end of a source side are *bundles*: rules that share it, and the vertices
of their tails. The best combinations of all bundles of a span come out of one queue (:mod:`camber.decode.chart.cells`).
The beginning of the sentence (S) is put together from spans in the end, left to right, with the true left context.
"""

from __future__ import annotations

import numpy as np

from camber.decode.chart.cells import GRAMMAR, ITEMS_FULL, add_bundle, take_cells
from camber.decode.chart.grammar import child
from camber.decode.chart.hypergraph import BUNDLES, CELLS, GLUE, ITEMS, QUEUE, START
from camber.decode.chart.prefix import prefix_cells, prefix_start
from camber.kernel import kernel


@kernel
def search(
    ids, width, limit, pop_limit, beam, rules, models, context, begin_states, end_words, weights, prefix, forest, room
):
    """Fill the forest of a sentence; return the vertex of its best derivation, or a negative code.

    ids: int64[length], source words, below 0 for those that no rule has, or may have; begin_states, end_words:
    int64[models] (end word -1: the sentence goes on); beam: how much worse than the best of its span a vertex may be;
    context: ChartContext, or None where nothing but the language models looks at context; prefix: Prefix, or None
    where the translation was not begun.
    """
    length = len(ids)
    if limit <= 0:
        limit = length
    forest.size[0] = 0
    forest.size[1] = 0
    if prefix is not None:
        prefix.used[0] = 0
        prefix.count[:] = 0
        prefix.made_count[:] = 0
        prefix.there[:] = 0
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
            code = take_cells(
                begin, end, False, pop_limit, beam, rules, models, context, begin_states, end_words, weights, forest,
                room,
            )  # fmt: skip
            if code < 0:
                return code
            room.cell_first[begin, end] = first
            room.cell_count[begin, end] = forest.size[0] - first
            if forest.size[0] > first:
                if prefix is not None:
                    code = prefix_cells(
                        begin, end, length, beam, rules, models, context, begin_states, end_words, weights, prefix,
                        forest, room,
                    )  # fmt: skip
                    if code < 0:
                        return code
                node = rules.gap[0]  # rules that begin with a non-terminal
                if node >= 0 and not _add_item(node, begin * (length + 1) + end, np.int64(-1), room):
                    return ITEMS_FULL
            room.item_first[end + 1] = counts[ITEMS]
    if prefix is not None:
        for end in range(1, length + 1):
            code = prefix_start(
                end, length, limit, beam, rules, models, context, begin_states, end_words, weights, prefix, forest, room
            )
            if code < 0:
                return code
        return room.rows[prefix.start[length, len(prefix.words), 0]]
    for end in range(1, length + 1):
        code = _glue_bundles(end, limit, weights, rules, forest, room)
        if code < 0:
            return code
        first = forest.size[0]
        code = take_cells(
            np.int64(0), end, end == length, pop_limit, beam, rules, models, context, begin_states, end_words, weights,
            forest, room,
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
        code = add_bundle(GRAMMAR, rule, count, one, ones, two, twos, weights, rules, forest, room)
        if code < 0:
            return code
    none, term = np.int64(-1), rules.terms.ends[begin]
    if term == end:
        node = rules.count[0] + length + rules.terms.numbers[begin]
        rule, count = rules.node_first[node], rules.node_first[node + 1] - rules.node_first[node]
        code = add_bundle(GRAMMAR, rule, count, none, np.int64(0), none, np.int64(0), weights, rules, forest, room)
        if code < 0:
            return code
    if term == 0 and end == begin + 1 and (rules.count[1] or counts[BUNDLES] == 0):  # the word itself
        rule = rules.node_first[rules.count[0] + begin]
        code = add_bundle(
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
        code = add_bundle(kind, np.int64(0), np.int64(1), one, ones, two, twos, weights, rules, forest, room)
        if code < 0:
            return code
    room.work[1] += counts[BUNDLES]
    return 0
