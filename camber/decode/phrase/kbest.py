"""The k best derivations of a searched sentence, best first, and the features of their parts.

The search leaves, for every state, a chain of all hypotheses that reached it. A derivation is read from its end: at
each step any hypothesis of the chain may be taken, and since the chain's members have the same future, the score of the
best completion to the left is known exactly. So a queue ordered by that score yields derivations in order (A* with a
perfect heuristic), without looking at more of them than needed.
"""

from __future__ import annotations

import numpy as np

from camber.decode.phrase.features import DISTORTION, LM, PHRASE_PENALTY, REORDERING, UNKNOWN, WORD_PENALTY, log_of
from camber.decode.phrase.ngram_scores import ngram_features
from camber.decode.phrase.search import DISCONTINUOUS, MONOTONE, SWAP
from camber.kernel import kernel
from camber.kernel.heap import pop, push
from camber.kernel.table import clear, first_slot, mix, next_slot
from camber.lm.ngrams import step

ITEM = np.dtype(
    [
        ("suffix", np.float64),  # score of what follows the hypothesis in this derivation
        ("hypothesis", np.int64),
        ("next", np.int64),  # item of the part that follows, -1 at the end
    ]
)


@kernel
def k_best(hyps, best, count, distinct, tries, options, room, columns, at, part):
    """Read out up to `count` derivations; return how many, or -1 when there are too few items.

    Their scores go to columns.score[at:], their parts are numbered from `part` on in columns.part_first[at:], and the
    hypotheses of all parts go to room.path. At most `tries` derivations are looked at for distinct texts.
    """
    items, path = room.items, room.path
    clear(room.seen_slots)
    size = 0
    used = 0
    total = 0
    tried = 0
    length = 0
    columns.part_first[at] = part
    # to be queued next: a hypothesis, what follows it, and the score of that; first, any complete hypothesis
    queued, item, suffix = best, np.int64(-1), 0.0
    if count > 1:
        _sort_chain(hyps, queued, room.chain)
    while True:
        if queued >= 0:
            if used >= len(items):
                return -1
            items[used]["suffix"] = suffix
            items[used]["hypothesis"] = queued
            items[used]["next"] = item
            size = push(room.heap_scores, room.heap_items, size, hyps[queued]["score"] + suffix, used)
            used += 1
        if size == 0 or total == count or tried == tries:
            return total
        score, item, size = pop(room.heap_scores, room.heap_items, size)
        h, suffix = items[item]["hypothesis"], items[item]["suffix"]
        # the next best hypothesis in the same place
        other = np.int64(hyps[h]["alt"])
        if other >= 0 and count > 1:
            if used >= len(items):
                return -1
            items[used]["suffix"] = suffix
            items[used]["hypothesis"] = other
            items[used]["next"] = items[item]["next"]
            size = push(room.heap_scores, room.heap_items, size, hyps[other]["score"] + suffix, used)
            used += 1
        queued = np.int64(hyps[h]["back"])
        if queued > 0:
            suffix += hyps[h]["score"] - hyps[queued]["score"]
            if count > 1:
                _sort_chain(hyps, queued, room.chain)
            continue
        queued = np.int64(-1)
        # this derivation is complete
        tried += 1
        if distinct and _seen(hyps, item, options, room, total):
            continue
        walk = item
        while walk >= 0:
            path[length] = items[walk]["hypothesis"]
            length += 1
            walk = items[walk]["next"]
        columns.score[at + total] = score
        total += 1
        columns.part_first[at + total] = part + length


@kernel
def _sort_chain(hyps, head, chain):
    """Sort the alternatives of a state by falling score, once; `chain` is int64 scratch for all of them."""
    if hyps[head]["sorted"] != 0:
        return
    hyps[head]["sorted"] = 1
    count = 0
    h = np.int64(hyps[head]["alt"])
    while h >= 0:
        chain[count] = h
        count += 1
        h = np.int64(hyps[h]["alt"])
    # the search put the latest first, which are mostly the worst: insert from the end, and little moves
    for i in range(count - 2, -1, -1):
        h = chain[i]
        j = i + 1
        while j < count and hyps[chain[j]]["score"] > hyps[h]["score"]:
            chain[j - 1] = chain[j]
            j += 1
        chain[j - 1] = h
    last = head
    for i in range(count):
        hyps[last]["alt"] = chain[i]
        last = chain[i]
    hyps[last]["alt"] = -1


@kernel
def _seen(hyps, item, options, room, total):
    """Say whether the text of a derivation is among the first `total`; if not, note it (126 bits of hash)."""
    first, second = np.int64(1), np.int64(2)
    walk = item
    while walk >= 0:
        option = hyps[room.items[walk]["hypothesis"]]["option"]
        for t in range(options.word_first[option], options.word_first[option + 1]):
            word = options.target[t] & 0xFFFFFFFF
            first = mix(first ^ word)
            second = mix((second >> 1) ^ (word << 20))
        walk = room.items[walk]["next"]
    slot = first_slot(room.seen_slots, first)
    while room.seen_slots[slot] >= 0:
        n = room.seen_slots[slot]
        if room.seen[n, 0] == first and room.seen[n, 1] == second:
            return True
        slot = next_slot(room.seen_slots, slot)
    room.seen_slots[slot] = total
    room.seen[total, 0] = first
    room.seen[total, 1] = second
    return False


@kernel
def part_features(hyps, path, part, derivation, options, reordering, models, begin_states, end_words, columns):
    """Write the raw features in context of one derivation, a row for each part, but not those that are its rule's own.

    path[0] is the hypothesis of part number `part`; reordering is float32[rules, 6 or 0].
    """
    features = columns.features
    first, last = columns.part_first[derivation], columns.part_first[derivation + 1]
    previous_begin, previous_end, previous_rule = np.int64(-1), np.int64(0), np.int64(-1)
    for row in range(first, last):
        h = hyps[path[row - part]]
        option, begin, end = np.int64(h["option"]), np.int64(h["begin"]), np.int64(h["end"])
        r = options.rule[option]
        columns.rule[row] = r
        columns.option[row] = option
        columns.span[row, 0] = begin
        columns.span[row, 1] = end
        for f in range(features.shape[1]):
            features[row, f] = 0.0
        features[row, DISTORTION] = -abs(begin - previous_end)
        features[row, WORD_PENALTY] = options.word_first[option] - options.word_first[option + 1]
        features[row, PHRASE_PENALTY] = 1.0
        if r < 0:
            features[row, UNKNOWN] = 1.0
        if reordering.shape[1] == 6:
            orientation = DISCONTINUOUS
            if begin == previous_end:
                orientation = MONOTONE
            elif end == previous_begin:
                orientation = SWAP
            if r >= 0:
                features[row, REORDERING + orientation] = log_of(reordering[r, orientation])
            if previous_rule >= 0:
                features[row, REORDERING + 3 + orientation] = log_of(reordering[previous_rule, 3 + orientation])
        previous_begin, previous_end, previous_rule = begin, end, r
    for k in range(len(models.weights)):
        state = begin_states[k]
        for row in range(first, last):
            option = columns.option[row]
            total = 0.0
            for t in range(options.word_first[option], options.word_first[option + 1]):
                gain, state = step(models.nodes, models.children, state, np.int64(options.heard[k, t]["word"]))
                total += gain
            if row == last - 1 and end_words[k] >= 0:
                gain, state = step(models.nodes, models.children, state, end_words[k])
                total += gain
            features[row, LM + k] = total
    ngram_features(models.ngrams, len(models.weights), options, columns, first, last)
