"""Sums over a forest by enumeration: every derivation is a list of edges."""

import itertools
import math


def derivations(heads, tails, vertex):
    """Yield the derivations of a vertex."""
    for edge, head in enumerate(heads):
        if head == vertex:
            below = [list(derivations(heads, tails, tail)) for tail in tails[edge] if tail >= 0]
            for chosen in itertools.product(*below):
                yield [edge, *itertools.chain(*chosen)]


def log_sum(values):
    """Return log of the sum of exp."""
    values = list(values)
    return math.log(sum(math.exp(value) for value in values)) if values else -math.inf


def sums(heads, tails, top, scores):
    """Return log Z, how often every edge is used on average, and the best score."""
    every = list(derivations(heads, tails, top))
    totals = [sum(scores[edge] for edge in derivation) for derivation in every]
    log_z = log_sum(totals)
    used = [0.0] * len(heads)
    for derivation, total in zip(every, totals, strict=True):
        for edge in derivation:
            used[edge] += math.exp(total - log_z)
    return log_z, used, max(totals, default=-math.inf)
