"""Perceptron kernels are the first choices and oracles of sentences in which these differ."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from camber.bend.mixtures.perceptron import first_choices, perceptron_kernels
from camber.errors import CamberError
from camber.metrics.bleu import BLEU
from camber.metrics.oracle import sentence_oracle


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32), sizes=st.lists(st.integers(0, 5), min_size=1, max_size=12))
def test_kernels_are_those_of_the_definition(seed: int, sizes: list[int]) -> None:
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    points = rng.integers(0, 3, (sum(sizes), 2)).astype(np.float64)
    scores = rng.integers(0, 3, sum(sizes)).astype(np.float64)
    oracle = np.array([int(rng.integers(a, b)) if b > a else -1 for a, b in pairwise(offsets.tolist())])
    means, owners = [], []
    for sentence, (start, size) in enumerate(zip(offsets, sizes, strict=False)):
        if size:
            first = max(range(start, start + size), key=lambda h: (scores[h], -h))
            if points[first].tolist() != points[oracle[sentence]].tolist():
                means += [points[first].tolist(), points[oracle[sentence]].tolist()]
                owners += [sentence, sentence]
    if not means:
        with pytest.raises(CamberError, match="nothing for kernels to learn"):
            perceptron_kernels(points, offsets, scores, oracle)
        return
    mixture = perceptron_kernels(points, offsets, scores, oracle)
    assert mixture.means.tolist() == means
    assert mixture.owners is not None
    assert mixture.owners.tolist() == owners
    assert mixture.variances.shape == (1, 2)
    varies = points.var(0) > 0
    np.testing.assert_allclose(mixture.variances[0, varies], points.var(0)[varies])
    np.testing.assert_allclose(np.exp(mixture.log_priors), 1.0 / len(means))


def test_an_oracle_does_not_recognise_itself() -> None:
    rng = np.random.default_rng(1)
    points, offsets = rng.normal(size=(60, 3)), np.arange(0, 61, 6)
    rows = rng.integers(1, 9, (60, 10)).astype(np.float64)
    oracle = sentence_oracle(BLEU(), rows, offsets)
    mixture = perceptron_kernels(points, offsets, rng.normal(size=60), oracle)
    assert mixture.owners is not None
    sentences = np.repeat(np.arange(10), 6)
    left_in = mixture.posteriors(points, bandwidth=0.1).sparse.dense()
    left_out = mixture.posteriors(points, bandwidth=0.1, owners=sentences).sparse.dense()
    own = sentences[:, None] == mixture.owners
    assert (left_out[own] == 0).all()
    at_kernels = [np.flatnonzero((points == mean).all(1))[0] for mean in mixture.means]
    assert left_in[at_kernels, np.arange(len(mixture))].min() > 0.9


def test_first_choices_of_equal_scores_are_the_first() -> None:
    assert first_choices(np.array([0.0, 0.0, -1.0, -1.0]), np.array([0, 2, 2, 4])).tolist() == [0, -1, 2]


def test_bad_input_is_refused() -> None:
    points, offsets, scores = np.zeros((4, 1)), np.array([0, 2, 4]), np.zeros(4)
    with pytest.raises(CamberError, match="oracle of sentence 1 is not one of its hypotheses"):
        perceptron_kernels(points, offsets, scores, np.array([0, 1]))
    with pytest.raises(CamberError, match="1 oracles for 2 sentences"):
        perceptron_kernels(points, offsets, scores, np.array([0]))
    with pytest.raises(CamberError, match="must rise from 0 to 4"):
        perceptron_kernels(points, np.array([0, 2, 5]), scores, np.array([0, 2]))
    with pytest.raises(CamberError, match="no NaN"):
        perceptron_kernels(points, offsets, np.array([0.0, np.nan, 0.0, 0.0]), np.array([0, 2]))
