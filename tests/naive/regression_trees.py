"""Regression trees as textbooks have them: every part by itself, every threshold tried, all sums formed anew."""

import itertools
import math

from naive.splitmix import MASK, mix


def present(value):
    return value == value


def sides(values, threshold, absent_left):
    """Which parts go left."""
    return [value < threshold if present(value) else absent_left for value in values]


def errors(targets, xs=None):
    """The least sum of squares around a constant, or around a line in xs."""
    n = len(targets)
    if n == 0:
        return 0.0
    mean = sum(targets) / n
    total = sum((y - mean) ** 2 for y in targets)
    if xs is None:
        return total
    middle = sum(xs) / n
    spread = sum((x - middle) ** 2 for x in xs)
    if spread <= 1e-10 * sum(x * x for x in xs):
        return total
    common = sum((x - middle) * (y - mean) for x, y in zip(xs, targets, strict=True))
    return total - common * common / spread


def thresholds(values):
    """One between any two neighbouring values, and one above all where some value is absent."""
    known = sorted({value for value in values if present(value)})
    cuts = [(a + b) / 2 for a, b in itertools.pairwise(known)]
    return cuts + ([math.inf] if known and any(not present(value) for value in values) else [])


def splits(table, targets, xs=None, least=1):
    """All (gain, feature, threshold, which go left): table is a list of rows."""
    before = errors(targets, xs)
    for feature in range(len(table[0])):
        values = [row[feature] for row in table]
        for threshold in thresholds(values):
            for absent_left in (True, False):
                left = sides(values, threshold, absent_left)
                if not least <= sum(left) <= len(left) - least:
                    continue
                after = 0.0
                for side in (True, False):
                    chosen = [i for i, goes in enumerate(left) if goes is side]
                    own = None if xs is None else [xs[i] for i in chosen]
                    after += errors([targets[i] for i in chosen], own)
                yield before - after, feature, threshold, left


def best_gain(table, targets, xs=None, least=1):
    """The largest gain of any split, 0 without one."""
    return max((gain for gain, *_ in splits(table, targets, xs, least)), default=0.0)


def pair_gain(left, pairs, hypotheses, slopes, curvatures, ridge):
    """(g·d)² / (dᵀHd + ridge) of the better side; hypotheses are lists of parts, left says which parts go left."""
    best = 0.0
    for side in (True, False):
        slope = curvature = 0.0
        for (better, worse), g, h in zip(pairs, slopes, curvatures, strict=True):
            d = sum(left[part] is side for part in hypotheses[better])
            d -= sum(left[part] is side for part in hypotheses[worse])
            slope += g * d
            curvature += h * d * d
        if curvature + ridge > 0:
            best = max(best, slope * slope / (curvature + ridge))
    return best


def tree_value(node, row, linear):
    """The value of a nested tree, as `trees.json` has it, for a row {name: raw value}."""
    while "feature" in node:
        value = row[node["feature"]]
        if present(value):
            node = node["then"] if value < node.get("below", math.inf) else node["else"]
        else:
            node = node[node["absent"]]
    x = row[linear] if linear is not None and present(row[linear]) else 0.0
    return node["constant"] + node.get("coefficient", 0.0) * x


def ranking_loss(values, pairs, hypotheses):
    """Σ log(1 + exp(F(worse) - F(better))), with a value for every part."""
    sums = [sum(values[part] for part in parts) for parts in hypotheses]
    return sum(math.log1p(math.exp(sums[worse] - sums[better])) for better, worse in pairs)


def drawn_pairs(offsets, quality, samples, threshold, keep, largest, seed):
    """Pairs as toutanova2013 draws them, with the numbers of splitmix64."""
    step = 0x9E3779B97F4A7C15
    chosen = []
    for sentence in range(len(offsets) - 1):
        start, size = offsets[sentence], offsets[sentence + 1] - offsets[sentence]
        if size < 2:
            continue
        state = mix(seed ^ mix(sentence + 1))
        accepted = []
        reservoir = []
        for _ in range(samples):
            state = state + step & MASK
            bits = mix(state)
            one, two = (start + ((half & 0x7FFFFFFF) * size >> 31) for half in (bits >> 31, bits))
            if quality[one] < quality[two]:
                one, two = two, one
            difference = quality[one] - quality[two]
            if difference <= threshold:
                continue
            state = state + step & MASK
            if (mix(state) >> 10) / 2**53 >= difference:
                continue
            accepted.append((difference, one, two))
            if len(reservoir) < keep:
                reservoir.append((one, two))
            elif not largest:
                state = state + step & MASK
                place = (mix(state) >> 31) * len(accepted) >> 32
                if place < keep:
                    reservoir[place] = (one, two)
        if largest:
            accepted.sort(key=lambda item: -item[0])
            reservoir = [(one, two) for _, one, two in accepted[:keep]]
        chosen += reservoir
    return chosen
