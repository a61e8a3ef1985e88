"""The k best derivations of a forest, lazily (Huang & Chiang 2005, algorithm 3).

A derivation of a vertex is an edge and a derivation of each of its tails. Behind the one that came last are its two
neighbours, with the next best derivation of one tail; they are asked for only when the vertex must give another. With
`distinct`, every vertex gives every text once: a second derivation of it could not lead to anything new above.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from camber.arrays.types import Array
from camber.decode.chart.hypergraph import GLUE, START
from camber.decode.chart.lm import Pieces
from camber.decode.chart.parts import FRAME
from camber.kernel import kernel
from camber.kernel.table import capacity_for, clear, first_slot, mix, next_slot

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
#: code for arrays that are too small
DERIVATIONS_FULL = -5
_BASE = np.uint64(0x9E3779B97F4A7C15)
_BASE2 = np.uint64(0xD1342543DE82EF95)


class ListRoom(NamedTuple):
    """The arrays that a list is read out with."""

    derivations: Array  # DERIVATION
    status: Array  # STATUS[vertices]
    seen: Array  # int64, a power of two: derivations by text and vertex
    stack: Array  # int64
    frames: Array  # FRAME
    piece: Pieces  # one: scratch for the features of a part
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
            Pieces.make(1, models, longest),
            np.zeros(1, np.int64),
        )


@kernel
def k_best(top, count, distinct, limit, rules, forest, room, columns):
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
    clear(room.seen)
    room.taken[0] = 0
    used = np.int64(0)
    total = 0
    while total < count and room.status[top]["exhausted"] == 0:
        used = _give_one(top, distinct, used, limit, rules, forest, room)
        if used < 0:
            return DERIVATIONS_FULL
        last = room.status[top]["last"]
        if room.status[top]["exhausted"] == 0:
            columns.score[total] = room.derivations[last]["score"]
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
        tail = np.int64(-1)  # the vertex that must give one first
        if status["pending"] >= 0:
            used, tail = _queue_neighbours(status, used, forest, room)
        if tail < 0:
            if status["taken"] < 0:
                c = np.int64(status["queue"])
                if c < 0 or (room.taken[0] >= limit and status["first"] >= 0):
                    status["exhausted"] = 1
                    height -= 1
                    continue
                room.taken[0] += 1
                status["queue"] = _without_top(c, ds)
                status["taken"] = c
            tail = _take_tails(np.int64(status["taken"]), forest, room)
        if tail >= 0:
            stack[height] = tail
            height += 1
            continue
        c = np.int64(status["taken"])
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
def _queue_neighbours(status, used, forest, room):
    """Queue the neighbours of the pending derivation; return how many derivations are in use, and -1.

    Or instead of -1 the tail that must give its next derivation first; then this is called again.
    """
    ds = room.derivations
    d = np.int64(status["pending"])
    e, one, two = np.int64(ds[d]["edge"]), np.int64(ds[d]["one"]), np.int64(ds[d]["two"])
    edge = forest.edges[e]
    if status["phase"] == 0:
        if two >= 0:
            after = np.int64(ds[two]["next"])
            if after < 0 and room.status[edge["two"]]["exhausted"] == 0:
                return used, np.int64(edge["two"])
            if after >= 0:
                used = _queue(e, one, after, ds[d]["score"] - ds[two]["score"] + ds[after]["score"], used, status, ds)
        status["phase"] = 1
    # each pair of ranks has one before it: less of the second, else less of the first
    if one >= 0 and (two < 0 or room.status[edge["two"]]["first"] == two):
        after = np.int64(ds[one]["next"])
        if after < 0 and room.status[edge["one"]]["exhausted"] == 0:
            return used, np.int64(edge["one"])
        if after >= 0:
            used = _queue(e, after, two, ds[d]["score"] - ds[one]["score"] + ds[after]["score"], used, status, ds)
    status["pending"] = -1
    status["phase"] = 0
    return used, np.int64(-1)


@kernel
def _take_tails(c, forest, room):
    """Give a derivation the best one of each tail; return a tail that has none yet, or -1."""
    derivation = room.derivations[c]
    edge = forest.edges[derivation["edge"]]
    if edge["one"] >= 0 and derivation["one"] < 0:
        if room.status[edge["one"]]["first"] < 0:
            return np.int64(edge["one"])
        derivation["one"] = room.status[edge["one"]]["first"]
    if edge["two"] >= 0 and derivation["two"] < 0:
        if room.status[edge["two"]]["first"] < 0:
            return np.int64(edge["two"])
        derivation["two"] = room.status[edge["two"]]["first"]
    return np.int64(-1)


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
    slot = first_slot(room.seen, mix(np.int64(one >> np.uint64(1)) ^ mix(v)))
    while room.seen[slot] >= 0:
        other = ds[room.seen[slot]]
        if other["hash"] == one and other["hash2"] == two and forest.edges[other["edge"]]["vertex"] == v:
            return True
        slot = next_slot(room.seen, slot)
    room.seen[slot] = c
    return False
