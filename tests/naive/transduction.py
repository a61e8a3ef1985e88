"""Sentence models as their definitions have them: dictionaries of n-grams, and sums over them."""

from __future__ import annotations

from collections import Counter
from math import sqrt

from naive.ngram_spectra import spectrum


def vector(words, lengths):
    """Return {n-gram: √p × count} of the n-grams of some lengths."""
    counts = spectrum(words, max(lengths))
    return {gram: sqrt(len(gram)) * count for gram, count in counts.items() if len(gram) in lengths}


def table_of(weights):
    """Return {(s, t): (p(s|t), p(t|s))} of {(t, s): what s adds to the count of t}: bicici Eq. 8-9."""
    positive = {key: value for key, value in weights.items() if value > 0}
    by_source, by_target = Counter(), Counter()
    for (t, s), value in positive.items():
        by_source[s] += value
        by_target[t] += value
    return {(s, t): (value / by_target[t], value / by_source[s]) for (t, s), value in positive.items()}


def bilinear(weights, source, target, lengths):
    """Return φ(t)ᵀ W φ(s), W being {(t, s): value} in the unit of the vectors."""
    left, right = vector(target, lengths), vector(source, lengths)
    return sum(left[t] * value * right[s] for (t, s), value in weights.items() if t in left and s in right)


def mixture(everything, own, share):
    """Mix two tables {source: {target: (p(s|t), p(t|s))}}; a source that one lacks is as the other has it."""
    mixed = {}
    for source in everything.keys() | own.keys():
        first, second = everything.get(source), own.get(source)
        if first is None or second is None:
            mixed[source] = dict(second or first)
            continue
        mixed[source] = {
            target: tuple(
                (1 - share) * a + share * b
                for a, b in zip(first.get(target, (0.0, 0.0)), second.get(target, (0.0, 0.0)), strict=True)
            )
            for target in first.keys() | second.keys()
        }
    return mixed
