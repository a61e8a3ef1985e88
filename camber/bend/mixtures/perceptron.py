"""Perceptron kernels (nguyen2007): where the model's choice and the best choice differ, both become kernels.

oracle = sentence_oracle(metric, statistics, offsets)
mixture = perceptron_kernels(features, offsets, scores, oracle)
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from camber.arrays.types import F8, I8
from camber.bend.mixtures.leaves import checked
from camber.bend.mixtures.mixture import Mixture
from camber.errors import CamberError


def perceptron_kernels(points: F8, offsets: I8, scores: F8, oracle: I8) -> Mixture:
    """Make a mixture of the first choice and the oracle of every sentence in which these differ.

    `points` float64[hypotheses, features] are those of sentence `s` from ``offsets[s]`` on, `scores` [hypotheses] the
    model's, `oracle` int64[sentences] the best hypothesis of each (-1: none). Of equal scores the first counts. Two
    that lie at the same point do not differ. Kernels are as probable as each other and have the variance of all
    points; each belongs to its sentence.

    >>> points, offsets = np.array([[0.0], [1.0], [5.0], [6.0]]), np.array([0, 2, 4])
    >>> mixture = perceptron_kernels(points, offsets, np.array([2.0, 1.0, 1.0, 2.0]), np.array([1, 3]))
    >>> mixture.means.ravel().tolist(), mixture.owners.tolist()
    ([0.0, 1.0], [0, 0])
    """
    points = checked(points, np.shape(points)[-1])
    _check(len(points), offsets, scores, oracle)
    first = first_choices(scores, offsets)
    there = np.flatnonzero((first >= 0) & (oracle >= 0))
    differ = there[(points[first[there]] != points[oracle[there]]).any(1)]
    if not len(differ):
        raise CamberError("the first choice is the best one in every sentence: there is nothing for kernels to learn")
    kernels = 2 * len(differ)
    means = np.empty((kernels, points.shape[1]))
    means[0::2], means[1::2] = points[first[differ]], points[oracle[differ]]
    whole = points.var(0)
    return Mixture(
        means, np.where(whole > 0, whole, 1.0)[None], np.full(kernels, -np.log(kernels)), np.repeat(differ, 2)
    )


def first_choices(scores: F8, offsets: I8) -> I8:
    """Return the hypothesis of every sentence with the highest score, of equals the first; -1 where there is none.

    >>> first_choices(np.array([1.0, 3.0, 3.0, 2.0]), np.array([0, 3, 3, 4])).tolist()
    [1, -1, 3]
    """
    groups = pairwise(offsets.tolist())
    return np.array(
        [start + int(np.argmax(scores[start:end])) if end > start else -1 for start, end in groups], np.int64
    )


def _check(hypotheses: int, offsets: I8, scores: F8, oracle: I8) -> None:
    if len(offsets) < 1 or offsets[0] != 0 or offsets[-1] != hypotheses or (np.diff(offsets) < 0).any():
        raise CamberError(f"offsets of sentences must rise from 0 to {hypotheses}, the number of hypotheses")
    if np.shape(scores) != (hypotheses,) or np.isnan(scores).any():
        raise CamberError(f"expected a score of each of {hypotheses} hypotheses, and no NaN")
    if np.shape(oracle) != (len(offsets) - 1,):
        raise CamberError(f"{len(oracle)} oracles for {len(offsets) - 1} sentences")
    outside = (oracle >= 0) & ((oracle < offsets[:-1]) | (oracle >= offsets[1:]))
    if outside.any():
        raise CamberError(f"the oracle of sentence {int(np.argmax(outside))} is not one of its hypotheses")
