"""The k best derivations of a searched sentence, best first, and the features of their parts.

The search leaves, for every state, a chain of all hypotheses that reached it. A derivation is read from its end: at each
step any hypothesis of the chain may be taken, and since the chain's members have the same future, the score of the best
completion to the left is known exactly. So a queue ordered by that score yields derivations in order (A* with a perfect
heuristic), without looking at more of them than needed.
"""

from __future__ import annotations

import math

import numpy as np

from camber.decode.features import DISTORTION, LM, PHRASE_PENALTY, REORDERING, SCORES, UNKNOWN, WORD_PENALTY
from camber.decode.stack_search import DISCONTINUOUS, MONOTONE, SWAP
from camber.kernel import kernel
from camber.kernel.heap import pop, push
from camber.kernel.table import mix
from camber.lm.ngrams import step

ITEM = np.dtype(
    [
        ("suffix", np.float64),  # score of what follows the hypothesis in this derivation
        ("hypothesis", np.int64),
        ("next", np.int64),  # item of the part that follows, -1 at the end
    ]
)

ITEMS_FULL = -1


@kernel
def k_best(
    hyps,
    best,
    count,
    distinct,
    option_word_first,
    option_target,  # int64[words]: target word, or -1 - u for unknown word u
    items,
    heap_scores,
    heap_items,
    seen,  # int64[hypotheses, 2]: two hashes of every text so far
    tries,  # at most so many derivations are looked at
    path_first,  # out: int64[count + 1], parts of each derivation
    path,  # out: int32[...], hypotheses
    scores,  # out: float64[count]
    base,  # where this sentence's output starts in path_first, scores
    part,  # where it starts in path
):
    """Write up to `count` derivations; return how many, and the new end of `path` (-1: too few items)."""
    size = 0
    used = 0
    h = best
    while h >= 0:
        if used >= len(items):
            return 0, ITEMS_FULL
        items[used]["suffix"] = 0.0
        items[used]["hypothesis"] = h
        items[used]["next"] = -1
        size = push(heap_scores, heap_items, size, hyps[h]["score"], used)
        used += 1
        h = hyps[h]["alt"] if count > 1 else -1
    found = 0
    tried = 0
    path_first[base] = part
    while size > 0 and found < count and tried < tries:
        score, item, size = pop(heap_scores, heap_items, size)
        h = items[item]["hypothesis"]
        back = hyps[h]["back"]
        if back > 0:
            suffix = items[item]["suffix"] + hyps[h]["score"] - hyps[back]["score"]
            while back >= 0:
                if used >= len(items):
                    return 0, ITEMS_FULL
                items[used]["suffix"] = suffix
                items[used]["hypothesis"] = back
                items[used]["next"] = item
                size = push(heap_scores, heap_items, size, hyps[back]["score"] + suffix, used)
                used += 1
                back = hyps[back]["alt"] if count > 1 else -1
            continue
        tried += 1
        if distinct:
            first, second = np.int64(1), np.int64(2)
            walk = item
            while walk >= 0:
                option = hyps[items[walk]["hypothesis"]]["option"]
                for t in range(option_word_first[option], option_word_first[option + 1]):
                    first = mix(first ^ (option_target[t] & 0xFFFFFFFF))
                    second = mix((second + 77) ^ (option_target[t] & 0xFFFFFFFF))
                walk = items[walk]["next"]
            known = False
            for n in range(found):
                if seen[n, 0] == first and seen[n, 1] == second:
                    known = True
                    break
            if known:
                continue
            seen[found, 0] = first
            seen[found, 1] = second
        walk = item
        while walk >= 0:
            path[part] = items[walk]["hypothesis"]
            part += 1
            walk = items[walk]["next"]
        scores[base + found] = score
        found += 1
        path_first[base + found] = part
    return found, part


@kernel
def part_features(
    hyps,
    path,
    first,
    last,
    rule,
    scores,  # float32[R, 4]
    reordering,  # float32[R, 6 or 0]
    option_word_first,
    option_words,
    nodes,
    children,
    begin_states,
    end_words,
    features,  # out: float64[parts, features]
    out_rule,  # out
    out_span,  # out: int32[parts, 2]
    out_option,  # out
    at,  # row of the first part in the outputs
):
    """Write the unweighted features in context of the derivation path[first:last], a row for each part."""
    previous_begin, previous_end, previous_rule = np.int64(-1), np.int64(0), np.int64(-1)
    for n in range(first, last):
        h = path[n]
        row = at + n - first
        option = np.int64(hyps[h]["option"])
        begin, end = np.int64(hyps[h]["begin"]), np.int64(hyps[h]["end"])
        r = rule[option]
        out_rule[row] = r
        out_option[row] = option
        out_span[row, 0] = begin
        out_span[row, 1] = end
        for f in range(features.shape[1]):
            features[row, f] = 0.0
        words = option_word_first[option + 1] - option_word_first[option]
        features[row, DISTORTION] = -abs(begin - previous_end)
        features[row, WORD_PENALTY] = -words
        features[row, PHRASE_PENALTY] = 1.0
        if r < 0:
            features[row, UNKNOWN] = 1.0
        else:
            for f in range(4):
                features[row, SCORES + f] = math.log(scores[r, f])
        if reordering.shape[1] == 6:
            orientation = DISCONTINUOUS
            if begin == previous_end:
                orientation = MONOTONE
            elif end == previous_begin:
                orientation = SWAP
            if r >= 0:
                features[row, REORDERING + orientation] = math.log(reordering[r, orientation])
            if previous_rule >= 0:
                features[row, REORDERING + 3 + orientation] = math.log(reordering[previous_rule, 3 + orientation])
        previous_begin, previous_end, previous_rule = begin, end, r
    for k in range(len(begin_states)):
        state = begin_states[k]
        for n in range(first, last):
            option = out_option[at + n - first]
            total = 0.0
            for t in range(option_word_first[option], option_word_first[option + 1]):
                gain, state = step(nodes, children, state, option_words[k, t])
                total += gain
            if n == last - 1 and end_words[k] >= 0:
                gain, state = step(nodes, children, state, end_words[k])
                total += gain
            features[at + n - first, LM + k] = total
