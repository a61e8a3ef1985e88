"""The k best derivations of a forest, lazily (Huang & Chiang 2005, algorithm 3), and the features of their parts.

A derivation of a vertex is an edge and a derivation of each of its tails. Behind the one that came last are its two
neighbours, with the next best derivation of one tail; they are asked for only when the vertex must give another. With
`distinct`, every vertex gives every text once: a second derivation of it could not lead to anything new above.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from camber.decode.chart_features import GLUE as GLUE_COLUMN
from camber.decode.chart_features import LM, PASS_THROUGH, PER_LM, SOURCE_OOV, WORD_PENALTY
from camber.decode.chart_lm import RIGHT, glue_state, piece_state
from camber.decode.hypergraph import GLUE, START
from camber.kernel import kernel
from camber.kernel.table import capacity_for, mix
from camber.lm.ngrams import UNKNOWN

Array = Any

DERIVATION = np.dtype(
    [
        ("score", np.float64),
        ("edge", np.int64),
        ("one", np.int64),  # derivation of the first tail; -1: none, or its best
        ("two", np.int64),
        ("next", np.int64),  # the next best derivation of the same vertex
        ("child", np.int64),  # in the queue of its vertex (a pairing heap): first of those below
        ("sibling", np.int64),
        ("hash", np.uint64),  # of its words, twice, with the factors that put words in front of them
        ("factor", np.uint64),
        ("hash2", np.uint64),
        ("factor2", np.uint64),
    ]
)
#: what a vertex has given so far
STATUS = np.dtype(
    [
        ("first", np.int64),  # its best derivation, -1: not asked for yet
        ("last", np.int64),
        ("queue", np.int64),  # top of the pairing heap, -1: empty, -2: not made yet
        ("pending", np.int64),  # the derivation whose neighbours were not queued yet
        ("phase", np.int64),  # how far that is done
        ("taken", np.int64),  # derivation out of the queue that waits for its tails
        ("exhausted", np.int64),
    ]
)
FRAME = np.dtype(
    [
        ("derivation", np.int64),
        ("at", np.int64),  # next symbol
        ("start", np.int64),  # its first word in the text
        ("one", np.int64),  # part of the first tail
        ("two", np.int64),
        ("waits", np.int64),  # 1, 2: for the part of that tail
    ]
)
#: rules of parts that are not in the grammar
PASSED, GLUED, STARTED = -1, -2, -3
#: codes for arrays that are too small
DERIVATIONS_FULL, PARTS_FULL, WORDS_FULL = -5, -6, -7
_BASE = np.uint64(0x9E3779B97F4A7C15)
_BASE2 = np.uint64(0xD1342543DE82EF95)


class ListRoom(NamedTuple):
    """The arrays that a list is read out with."""

    derivations: Array  # DERIVATION
    status: Array  # STATUS[vertices]
    seen: Array  # int64, a power of two: derivations by text and vertex
    stack: Array  # int64
    frames: Array  # FRAME
    states: Array  # int64[1, models, …]: scratch for the features of a part
    estimates: Array  # float64[1, models]
    taken: Array  # int64[1]: derivations taken out of queues

    @classmethod
    def make(cls, derivations: int, vertices: int, depth: int, models: int, longest: int) -> ListRoom:
        """Make room."""
        return cls(
            np.empty(derivations, DERIVATION),
            np.empty(vertices, STATUS),
            np.empty(capacity_for(derivations), np.int64),
            np.empty(depth, np.int64),
            np.empty(depth, FRAME),
            np.empty((1, models, 2 + longest), np.int64),
            np.empty((1, models)),
            np.zeros(1, np.int64),
        )


class Found(NamedTuple):
    """The derivations of one sentence, in columns; parts are numbered through."""

    score: Array  # float64[derivations]
    part_first: Array  # int64[derivations + 1]
    word_first: Array  # int64[derivations + 1]
    words: Array  # int64: target words; the number of target words + place in the sentence: others
    features: Array  # float64[parts, features]
    rule: Array  # int64[parts]: of the grammar; -1: passed through, -2: glue, -3: the start
    span: Array  # int64[parts, 2]
    target_span: Array  # int64[parts, 2]
    tails: Array  # int64[parts, 2]: parts, from 0 in every derivation; -1: none

    @classmethod
    def make(cls, nbest: int, parts: int, words: int, features: int) -> Found:
        """Make room."""
        return cls(
            np.empty(nbest),
            np.zeros(nbest + 1, np.int64),
            np.zeros(nbest + 1, np.int64),
            np.empty(words, np.int64),
            np.empty((parts, features)),
            np.empty(parts, np.int64),
            np.empty((parts, 2), np.int64),
            np.empty((parts, 2), np.int64),
            np.empty((parts, 2), np.int64),
        )


@kernel
def k_best(top, count, distinct, limit, rules, forest, room, found):
    """Read out up to `count` derivations of vertex `top`; return how many, or a negative code.

    After `limit` derivations of all vertices together, vertices give no more. Written are only the scores and, in
    `room.derivations`, what the parts are read from: derivation n is the n-th of the chain that begins with
    ``room.status[top]["first"]``.
    """
    for v in range(forest.size[0]):
        status = room.status[v]
        status["first"] = -1
        status["last"] = -1
        status["queue"] = -2
        status["pending"] = -1
        status["phase"] = 0
        status["taken"] = -1
        status["exhausted"] = 0
    for slot in range(len(room.seen)):
        room.seen[slot] = -1
    room.taken[0] = 0
    used = np.int64(0)
    total = 0
    while total < count and room.status[top]["exhausted"] == 0:
        used = _give_one(top, distinct, used, limit, rules, forest, room)
        if used < 0:
            return DERIVATIONS_FULL
        last = room.status[top]["last"]
        if room.status[top]["exhausted"] == 0:
            found.score[total] = room.derivations[last]["score"]
            total += 1
    return total


@kernel
def _give_one(top, distinct, used, limit, rules, forest, room):
    """Make the next derivation of a vertex; return how many derivations are in use, or -1 when there is no room."""
    ds, stack = room.derivations, room.stack
    stack[0] = top
    height = 1
    while height > 0:
        v = stack[height - 1]
        status = room.status[v]
        if used + 2 > len(ds):
            return -1
        if status["queue"] == -2:
            status["queue"] = -1
            e = np.int64(forest.vertices[v]["edge"])
            while e >= 0:
                if used >= len(ds):
                    return -1
                used = _queue(e, np.int64(-1), np.int64(-1), forest.edges[e]["score"], used, status, ds)
                e = np.int64(forest.edges[e]["next"])
            continue
        d = np.int64(status["pending"])
        if d >= 0:
            e = np.int64(ds[d]["edge"])
            edge = forest.edges[e]
            one, two = np.int64(ds[d]["one"]), np.int64(ds[d]["two"])
            if status["phase"] == 0:
                if two >= 0:
                    tail = edge["two"]
                    if ds[two]["next"] < 0 and room.status[tail]["exhausted"] == 0:
                        stack[height] = tail
                        height += 1
                        continue
                    after = np.int64(ds[two]["next"])
                    if after >= 0:
                        score = ds[d]["score"] - ds[two]["score"] + ds[after]["score"]
                        used = _queue(e, one, after, score, used, status, ds)
                status["phase"] = 1
                continue
            # each pair of ranks has one before it: less of the second, else less of the first
            if one >= 0 and (two < 0 or room.status[edge["two"]]["first"] == two):
                tail = edge["one"]
                if ds[one]["next"] < 0 and room.status[tail]["exhausted"] == 0:
                    stack[height] = tail
                    height += 1
                    continue
                after = np.int64(ds[one]["next"])
                if after >= 0:
                    score = ds[d]["score"] - ds[one]["score"] + ds[after]["score"]
                    used = _queue(e, after, two, score, used, status, ds)
            status["pending"] = -1
            status["phase"] = 0
        c = np.int64(status["taken"])
        if c < 0:
            c = np.int64(status["queue"])
            if c < 0 or (room.taken[0] >= limit and status["first"] >= 0):
                status["exhausted"] = 1
                height -= 1
                continue
            room.taken[0] += 1
            status["queue"] = _without_top(c, ds)
            status["taken"] = c
        edge = forest.edges[ds[c]["edge"]]
        if edge["one"] >= 0 and ds[c]["one"] < 0:
            if room.status[edge["one"]]["first"] < 0:
                stack[height] = edge["one"]
                height += 1
                continue
            ds[c]["one"] = room.status[edge["one"]]["first"]
        if edge["two"] >= 0 and ds[c]["two"] < 0:
            if room.status[edge["two"]]["first"] < 0:
                stack[height] = edge["two"]
                height += 1
                continue
            ds[c]["two"] = room.status[edge["two"]]["first"]
        status["taken"] = -1
        status["pending"] = c
        status["phase"] = 0
        if distinct != 0 and _seen(c, v, rules, forest, room):
            continue
        if status["first"] < 0:
            status["first"] = c
        else:
            ds[status["last"]]["next"] = c
        status["last"] = c
        height -= 1
    return used


@kernel
def _queue(edge, one, two, score, used, status, ds):
    """Put a derivation into the queue of its vertex; return how many are in use."""
    d = ds[used]
    d["score"] = score
    d["edge"] = edge
    d["one"] = one
    d["two"] = two
    d["next"] = -1
    d["child"] = -1
    d["sibling"] = -1
    status["queue"] = _meld(np.int64(status["queue"]), np.int64(used), ds)
    return used + 1


@kernel
def _meld(a, b, ds):
    """Join two pairing heaps; the better top stays on top, of equal ones the older."""
    if a < 0:
        return b
    if b < 0:
        return a
    if ds[b]["score"] > ds[a]["score"] or (ds[b]["score"] == ds[a]["score"] and b < a):
        a, b = b, a
    ds[b]["sibling"] = ds[a]["child"]
    ds[a]["child"] = b
    return a


@kernel
def _without_top(top, ds):
    """Return the pairing heap without its top: its children in pairs, and the pairs from the last on."""
    pairs = np.int64(-1)
    at = np.int64(ds[top]["child"])
    while at >= 0:
        a = at
        b = np.int64(ds[a]["sibling"])
        at = np.int64(ds[b]["sibling"]) if b >= 0 else np.int64(-1)
        ds[a]["sibling"] = -1
        if b >= 0:
            ds[b]["sibling"] = -1
        joined = _meld(a, b, ds)
        ds[joined]["sibling"] = pairs
        pairs = joined
    whole = np.int64(-1)
    while pairs >= 0:
        after = np.int64(ds[pairs]["sibling"])
        ds[pairs]["sibling"] = -1
        whole = _meld(whole, pairs, ds)
        pairs = after
    return whole


@kernel
def _seen(c, v, rules, forest, room):
    """Say whether vertex `v` gave the text of derivation `c` already; if not, note it (128 bits of hash)."""
    ds = room.derivations
    edge = forest.edges[ds[c]["edge"]]
    first, last = np.int64(0), np.int64(2)
    if edge["rule"] == START:
        first = np.int64(1)
    elif edge["rule"] != GLUE:
        first, last = rules.target_offsets[edge["rule"]], rules.target_offsets[edge["rule"] + 1]
    one, factor, two, factor2 = np.uint64(0), np.uint64(1), np.uint64(0), np.uint64(1)
    for t in range(first, last):
        symbol = rules.target[t] if edge["rule"] >= 0 else -1 - t
        if symbol < 0:
            tail = ds[ds[c]["one"]] if symbol == -1 else ds[ds[c]["two"]]
            one = one * tail["factor"] + tail["hash"]
            two = two * tail["factor2"] + tail["hash2"]
            factor *= tail["factor"]
            factor2 *= tail["factor2"]
        else:
            one = one * _BASE + np.uint64(mix(symbol + 1))
            two = two * _BASE2 + np.uint64(mix((symbol + 1) << 24))
            factor *= _BASE
            factor2 *= _BASE2
    ds[c]["hash"] = one
    ds[c]["factor"] = factor
    ds[c]["hash2"] = two
    ds[c]["factor2"] = factor2
    mask = len(room.seen) - 1
    slot = mix(np.int64(one >> np.uint64(1)) ^ mix(v)) & mask
    while room.seen[slot] >= 0:
        other = ds[room.seen[slot]]
        if other["hash"] == one and other["hash2"] == two and forest.edges[other["edge"]]["vertex"] == v:
            return True
        slot = (slot + 1) & mask
    room.seen[slot] = c
    return False


@kernel
def read_parts(top, count, rules, models, begin_states, end_words, width, unit, forest, room, found):
    """Write words and parts of the first `count` derivations of vertex `top`; return 0, or a negative code.

    width: number of target words; a word passed through is a rule behind those of the grammar.
    """
    d = np.int64(room.status[top]["first"])
    part, word = np.int64(0), np.int64(0)
    found.part_first[0] = 0
    found.word_first[0] = 0
    for n in range(count):
        base, first_word = part, word
        frames = room.frames
        frames[0]["derivation"] = d
        frames[0]["at"] = 0
        frames[0]["start"] = 0
        frames[0]["one"] = -1
        frames[0]["two"] = -1
        frames[0]["waits"] = 0
        height = 1
        finished = np.int64(-1)
        while height > 0:
            frame = frames[height - 1]
            if frame["waits"] == 1:
                frame["one"] = finished
            elif frame["waits"] == 2:
                frame["two"] = finished
            frame["waits"] = 0
            derivation = room.derivations[frame["derivation"]]
            edge = forest.edges[derivation["edge"]]
            r = np.int64(edge["rule"])
            symbols = rules.target_offsets[r + 1] - rules.target_offsets[r] if r >= 0 else (2 if r == GLUE else 1)
            deeper = False
            while frame["at"] < symbols:
                symbol = np.int64(-2)  # S → X has a second tail only
                if r >= 0:
                    symbol = rules.target[rules.target_offsets[r] + frame["at"]]
                elif r == GLUE:
                    symbol = np.int64(-1 - frame["at"])
                frame["at"] += 1
                if symbol >= 0:
                    if word >= len(found.words):
                        return WORDS_FULL
                    found.words[word] = symbol
                    word += 1
                    continue
                below = frames[height]
                below["derivation"] = derivation["one"] if symbol == -1 else derivation["two"]
                below["at"] = 0
                below["start"] = word - first_word
                below["one"] = -1
                below["two"] = -1
                below["waits"] = 0
                frame["waits"] = 1 if symbol == -1 else 2
                height += 1
                deeper = True
                break
            if deeper:
                continue
            if part >= len(found.rule):
                return PARTS_FULL
            vertex = forest.vertices[edge["vertex"]]
            found.span[part, 0] = vertex["begin"]
            found.span[part, 1] = vertex["end"]
            found.target_span[part, 0] = frame["start"]
            found.target_span[part, 1] = word - first_word
            found.tails[part, 0] = frame["one"]
            found.tails[part, 1] = frame["two"]
            found.rule[part] = _part_rule(r, rules)
            complete = edge["vertex"] == top
            _edge_features(
                np.int64(derivation["edge"]), complete, rules, models, begin_states, end_words, unit, forest, room,
                found.features, part,
            )  # fmt: skip
            finished = part - base
            part += 1
            height -= 1
        found.part_first[n + 1] = part
        found.word_first[n + 1] = word
        d = np.int64(room.derivations[d]["next"])
    return 0


@kernel
def _part_rule(r, rules):
    """Return the rule of an edge as parts know it."""
    if r >= 0:
        return r if r < len(rules.features) else np.int64(PASSED)
    return np.int64(GLUED) if r == GLUE else np.int64(STARTED)


@kernel
def read_edges(top, rules, models, begin_states, end_words, unit, forest, room, part_rules, features):
    """Write the rule and the features of every edge: int64[edges], float64[edges, features]."""
    for e in range(forest.size[1]):
        part_rules[e] = _part_rule(np.int64(forest.edges[e]["rule"]), rules)
        complete = forest.edges[e]["vertex"] == top
        _edge_features(
            np.int64(e), complete, rules, models, begin_states, end_words, unit, forest, room, features, e
        )  # fmt: skip


@kernel
def _edge_features(e, complete, rules, models, begin_states, end_words, unit, forest, room, features, row):
    """Write the unweighted features of an edge in context: words count where their whole context is known first."""
    edge = forest.edges[e]
    r, one, two = np.int64(edge["rule"]), np.int64(edge["one"]), np.int64(edge["two"])
    columns = rules.features.shape[1]
    for f in range(features.shape[1]):
        features[row, f] = 0.0
    if r < 0:
        if r == GLUE:
            features[row, columns + GLUE_COLUMN] = 1.0
        for k in range(len(models.weights)):
            before = begin_states[k] if one < 0 else forest.states[one, k, RIGHT]
            _, final = glue_state(
                models, k, before, two, end_words[k] if complete else np.int64(-1), forest.states, forest.estimates,
                room.states, room.estimates, 0,
            )  # fmt: skip
            features[row, columns + LM + PER_LM * k] = final * unit
        return
    if r < len(rules.features):
        for f in range(columns):
            features[row, f] = rules.features[r, f]
    else:
        features[row, columns + PASS_THROUGH] = 1.0
        features[row, columns + SOURCE_OOV] = rules.unknown[r - len(rules.features)]
    first, last = rules.target_offsets[r], rules.target_offsets[r + 1]
    words = np.int64(0)
    for t in range(first, last):
        if rules.target[t] >= 0:
            words += 1
            for k in range(len(models.weights)):
                if rules.words[k, t] == UNKNOWN:
                    features[row, columns + LM + PER_LM * k + 1] += 1.0
    features[row, columns + WORD_PENALTY] = -unit * words  # not a sum: to the last bit what the rule is binned by
    for k in range(len(models.weights)):
        _, final = piece_state(
            models, k, rules.target, rules.words, first, last, one, two, forest.states, forest.estimates, room.states,
            room.estimates, 0,
        )  # fmt: skip
        features[row, columns + LM + PER_LM * k] = final * unit
