"""Oracles and the stratified test by the book."""

import itertools

import numpy as np


def best_of_all_choices(metric, rows, offsets, worst=False):
    """Try every choice of one hypothesis per sentence; return the best (worst) corpus score."""
    groups = [range(a, b) for a, b in itertools.pairwise(offsets) if b > a]
    sign = 1.0 if metric.higher_is_better != worst else -1.0
    return sign * max(sign * float(metric.score(rows[list(choice)].sum(0))) for choice in itertools.product(*groups))


def dealt(rows, draws):
    """Deal the outputs of every sentence out to the runs: [sentences, runs, columns], draws [sentences, runs - 1]."""
    sums = np.zeros(rows.shape[1:])
    for sentence, row in enumerate(rows):
        left = list(range(len(row)))
        for run in range(len(row)):
            place = int(draws[sentence, run] * len(left)) if len(left) > 1 else 0
            sums[run] += row[left[place]]
            left[place] = left[0]  # as Fisher and Yates swap: the first of the rest takes the place of the one taken
            left.pop(0)
    return sums
