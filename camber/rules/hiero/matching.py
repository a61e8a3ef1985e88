"""All source patterns of a sentence and where the corpus has them: one kernel call per sentence.

Patterns form a tree: a child has one more word, right behind its parent's or behind a gap. Depth first, every pattern
hands the list of its occurrences to all of its children in one pass over the corpus words that follow, so nothing is
matched twice, and only lists on the way from the root are kept. An occurrence is one number: the position of the first
word, and how much further the second and the third contiguous part begin.
"""

from __future__ import annotations

import numpy as np

from camber.kernel import kernel, kernel_inlined
from camber.rules.hiero.counting import ARENA, DONE, MATCHES, MOST_SYMBOLS, PAIRS, collect
from camber.rules.hiero.suffix_array import narrow

#: A pattern that waits: its occurrences, its places in the sentence, its range in the suffix array, its symbols.
PATTERN = np.dtype(
    [
        ("first", np.int64),
        ("last", np.int64),
        ("first_match", np.int64),
        ("last_match", np.int64),
        ("low", np.int64),
        ("high", np.int64),
        ("size", np.int64),
        ("symbols", np.int64, (MOST_SYMBOLS,)),
    ]
)


@kernel
def match_sentence(corpus, lexicon, words, ids, limits, scratch, rules, sizes):
    """Find all rules of a sentence; return what ran out of room (DONE: nothing), and the rules in ``sizes[0]``.

    `words` int64[J]: the words as numbers from 0 in order of their first use, -1 for unknown ones; `ids` int64[D] their
    ids in the corpus. `limits`: max_span, max_symbols, max_nonterminals, min_gap, samples. ``sizes[1]`` is the room
    that would have been enough.
    """
    distinct = len(ids)
    for w in range(distinct):
        scratch.local[ids[w]] = w
    sizes[0] = 0
    rules.source_offsets[0] = 0
    rules.target_offsets[0] = 0
    rules.link_offsets[0] = 0
    status = DONE
    for root in range(distinct):
        status = _descend(corpus, lexicon, words, ids, root, limits, scratch, rules, sizes)
        if status != DONE:
            break
    for w in range(distinct):
        scratch.local[ids[w]] = -1
        scratch.child[0, w] = -1
        scratch.child[1, w] = -1
    return status


@kernel
def _descend(corpus, lexicon, words, ids, root, limits, scratch, rules, sizes):
    """Find the rules of all patterns that begin with the word `root`."""
    arena, matches, stack, own = scratch.arena, scratch.matches, scratch.stack, scratch.own
    low, high = corpus.word_starts[ids[root]], corpus.word_starts[ids[root] + 1]
    if high - low > len(arena):
        sizes[1] = high - low
        return ARENA
    for k in range(low, high):
        arena[k - low] = corpus.positions[k]
    count = 0
    for j in range(len(words)):
        if words[j] == root:
            matches[count, 0] = j
            matches[count, 1] = j
            count += 1
    node = stack[0]
    node["first"] = 0
    node["last"] = high - low
    node["first_match"] = 0
    node["last_match"] = count
    node["low"] = low
    node["high"] = high
    node["size"] = 1
    node["symbols"][0] = root
    depth = 1 if high > low else 0
    while depth > 0:
        depth -= 1
        node = stack[depth]
        first, last, low, high = node["first"], node["last"], node["low"], node["high"]
        first_match, last_match = node["first_match"], node["last_match"]
        size, parts, tail = node["size"], np.int64(1), np.int64(0)  # a bare 1 would compile callees once more for it
        for k in range(size):
            own[k] = node["symbols"][k]
            tail += 1
            if own[k] < 0:
                parts += 1
                tail = np.int64(0)
        status = collect(
            corpus, lexicon, words, ids, limits, scratch, rules, sizes, (first, last, low), size, parts,
            (first_match, last_match),
        )  # fmt: skip
        if status != DONE:
            return status
        if size == limits.max_symbols:
            continue
        wider = size + 2 <= limits.max_symbols and parts <= limits.max_nonterminals
        children, places = _children(words, limits, scratch, first_match, last_match, wider)
        if places < 0:
            return MATCHES
        if children > 0:
            hits = _follow(corpus, limits, scratch, sizes, first, last, parts, tail, wider)
            if hits < 0:
                return PAIRS
            if last + hits > len(arena):
                sizes[1] = last + hits
                return ARENA
            depth = _push(corpus, ids, scratch, depth, children, size, parts, low, high, last, last_match)
            _deal(scratch, hits, places)
    return DONE


@kernel_inlined
def _children(words, limits, scratch, first_match, last_match, wider):
    """List the patterns of the sentence with one more word: how many, and their places in ``scratch.triples``."""
    child, table, matches, triples = scratch.child, scratch.children, scratch.matches, scratch.triples
    children, places = 0, 0
    for m in range(first_match, last_match):
        end, begin = matches[m, 0], matches[m, 1]
        for j in range(end + 1, min(begin + limits.max_span, len(words))):
            w, gap = words[j], 0 if j == end + 1 else 1
            if w < 0 or (gap == 1 and (not wider or j - end - 1 < limits.min_gap)):
                continue
            c = child[gap, w]
            if c < 0:
                c = children
                child[gap, w] = c
                table[c, 0] = 0
                table[c, 1] = 0
                table[c, 3] = gap
                table[c, 4] = w
                children += 1
            if places == len(triples):
                return 0, -1
            triples[places, 0] = c
            triples[places, 1] = j
            triples[places, 2] = begin
            table[c, 1] += 1
            places += 1
    if last_match + places > len(matches):
        return 0, -1
    return children, places


@kernel_inlined
def _follow(corpus, limits, scratch, sizes, first, last, parts, tail, wider):
    """Find every child of a pattern at every occurrence, in one pass; return how many times, -1: no room."""
    local, child, table, arena, pairs = scratch.local, scratch.child, scratch.children, scratch.arena, scratch.pairs
    max_span, min_gap = limits.max_span, limits.min_gap
    shift = 32 if parts == 1 else 40
    hits = 0
    for k in range(first, last):
        occurrence = arena[k]
        begin = occurrence & 0xFFFFFFFF
        at = begin + tail
        if parts == 2:
            at += (occurrence >> 32) & 0xFF
        elif parts > 2:
            at += occurrence >> 40
        stop = min(begin + max_span, np.int64(corpus.ends[begin]))
        if at >= stop:
            continue
        if hits + max_span > len(pairs):
            sizes[1] = hits + max_span
            return -1
        w = local[corpus.words[at]]
        if w >= 0 and child[0, w] >= 0:
            c = child[0, w]
            pairs[hits, 0] = c
            pairs[hits, 1] = occurrence
            table[c, 0] += 1
            hits += 1
        if wider:
            for q in range(at + min_gap, stop):
                w = local[corpus.words[q]]
                if w >= 0:
                    c = child[1, w]
                    if c >= 0:
                        pairs[hits, 0] = c
                        pairs[hits, 1] = occurrence | ((q - begin) << shift)
                        table[c, 0] += 1
                        hits += 1
    return hits


@kernel_inlined
def _push(corpus, ids, scratch, depth, children, size, parts, low, high, top, top_match):
    """Put the children that occur onto the stack, their lists side by side above their parent's; return its height."""
    table, stack, own = scratch.children, scratch.stack, scratch.own
    for c in range(children):
        gap, w = table[c, 3], table[c, 4]
        scratch.child[gap, w] = -1
        occurrences, places = table[c, 0], table[c, 1]
        table[c, 0] = top
        table[c, 1] = top_match
        table[c, 2] = -1
        if occurrences == 0:
            continue
        table[c, 2] = depth
        node = stack[depth]
        node["first"] = top
        node["last"] = top + occurrences
        node["first_match"] = top_match
        node["last_match"] = top_match
        top += occurrences
        top_match += places
        for k in range(size):
            node["symbols"][k] = own[k]
        if gap == 1:
            node["symbols"][size] = -1
        node["symbols"][size + gap] = w
        node["size"] = size + gap + 1
        node["low"] = 0
        node["high"] = 0
        if gap == 0 and parts == 1:
            begin, end = narrow(corpus.words, corpus.ends, corpus.suffixes, low, high, size, ids[w])
            node["low"] = begin
            node["high"] = end
        depth += 1
    return depth


@kernel_inlined
def _deal(scratch, hits, places):
    """Hand occurrences and places in the sentence to the children they belong to."""
    table, arena, pairs = scratch.children, scratch.arena, scratch.pairs
    triples, matches, stack = scratch.triples, scratch.matches, scratch.stack
    for k in range(hits):
        c = pairs[k, 0]
        arena[table[c, 0]] = pairs[k, 1]
        table[c, 0] += 1
    for k in range(places):
        c = triples[k, 0]
        row = table[c, 2]
        if row < 0:
            continue
        begin, end = stack[row]["first_match"], stack[row]["last_match"]
        at = begin
        while at < end and matches[at, 0] != triples[k, 1]:
            at += 1
        if at == end:
            matches[at, 0] = triples[k, 1]
            matches[at, 1] = triples[k, 2]
            stack[row]["last_match"] = end + 1
        elif triples[k, 2] > matches[at, 1]:
            matches[at, 1] = triples[k, 2]  # of two places with one end, the shorter allows whatever the longer does
