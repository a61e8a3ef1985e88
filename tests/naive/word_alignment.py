"""Word alignment as in the textbooks: enumeration, sets and dictionaries."""

import unicodedata
from itertools import product


def chain_posteriors(emission, nulls, jumps, p_null):
    """Enumerate all state sequences of an HMM with NULL (Och & Ney 2003).

    emission[j][i] = p(o_j | state i), nulls[j] = p(o_j | NULL), jumps(d) = weight of a jump. Return posterior[j][i] and
    a dictionary of expected jumps between real states. NULL keeps the place of the last real state; before the first
    real state the place is drawn as if a real state were chosen.
    """
    observations, states = len(emission), len(emission[0])

    def move(k, i):
        total = sum(jumps(x - k) for x in range(states))
        return jumps(i - k) / total

    posterior = [[0.0] * states for _ in range(observations)]
    moves = {}
    evidence = 0.0
    # a choice is (place, real?): NULL words stay at the place of the word before
    for choices in product(product(range(states), (True, False)), repeat=observations):
        weight, place = 1.0, -1
        for j, (i, real) in enumerate(choices):
            if j == 0:
                weight *= move(-1, i) * ((1 - p_null) * emission[0][i] if real else p_null * nulls[0])
            elif real:
                weight *= (1 - p_null) * move(place, i) * emission[j][i]
            else:
                weight *= p_null * nulls[j] if i == place else 0.0
            place = i
        if weight == 0.0:
            continue
        evidence += weight
        for j, (i, real) in enumerate(choices):
            if real:
                posterior[j][i] += weight
                if j > 0:
                    distance = i - choices[j - 1][0]
                    moves[distance] = moves.get(distance, 0.0) + weight
    return (
        [[value / evidence for value in row] for row in posterior],
        {distance: value / evidence for distance, value in moves.items()},
    )


def mixture_posteriors(emission, nulls, p_null):
    """Return posterior[j][i] of IBM model 1 with a NULL word of probability `p_null`."""
    result = []
    for row, null in zip(emission, nulls, strict=True):
        share = (1 - p_null) / len(row)
        total = p_null * null + sum(share * value for value in row)
        result.append([share * value / total for value in row])
    return result


def symmetrise(forward, backward, method):
    """Combine two sets of (source, target) links (Koehn, Och & Marcu 2003)."""
    union, chosen = forward | backward, forward & backward
    if method == "intersection":
        return chosen
    if method == "union":
        return union
    steps = ((0, -1), (-1, 0), (0, 1), (1, 0), (-1, -1), (1, -1), (-1, 1), (1, 1))
    sources = range(1 + max((i for i, _ in union), default=-1))
    targets = range(1 + max((j for _, j in union), default=-1))

    def source_free(i):
        return all(i != k for k, _ in chosen)

    def target_free(j):
        return all(j != k for _, k in chosen)

    grown = True
    while grown:
        grown = False
        for j in targets:
            for i in sources:
                if (i, j) not in chosen:
                    continue
                for di, dj in steps:
                    new = i + di, j + dj
                    if new in union - chosen and (source_free(new[0]) or target_free(new[1])):
                        chosen = chosen | {new}
                        grown = True
    if method == "grow-diag":
        return chosen
    for direction in (forward, backward):
        for j in targets:
            for i in sources:
                free = source_free(i), target_free(j)
                if (i, j) in direction - chosen and (all(free) if method == "grow-diag-final-and" else any(free)):
                    chosen = chosen | {(i, j)}
    return chosen


def lexical_counts(source, target, alignment):
    """Count linked words: {(source word, target word): count}, None for NULL."""
    counts = {}
    for s, t, links in zip(source, target, alignment, strict=True):
        found = [(s[i], t[j]) for i, j in links]
        found += [(word, None) for i, word in enumerate(s) if all(i != k for k, _ in links)]
        found += [(None, word) for j, word in enumerate(t) if all(j != k for _, k in links)]
        for pair in found:
            counts[pair] = counts.get(pair, 0) + 1
    return counts


def likeness(source, target, shortest=3):
    """Return the common beginning of two words over the longer length, 0 if it is short and the words differ."""
    source, target = (
        "".join(c for c in unicodedata.normalize("NFKD", word.casefold()) if not unicodedata.combining(c)) or word
        for word in (source, target)
    )
    same = 0
    while same < min(len(source), len(target)) and source[same] == target[same]:
        same += 1
    return same / max(len(source), len(target)) if same >= shortest or source == target else 0.0
