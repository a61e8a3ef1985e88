"""Batch MIRA against a plain pass over lists."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import tuners
from toys.tuning_lists import random_list

from camber.errors import TuneError
from camber.tune import Mira


def spread(data, values):
    """The standard deviation inside sentences."""
    away = [values[a:b] - values[a:b].mean() for a, b in pairwise(data.sentence_offsets.tolist()) if b > a]
    return float(np.sqrt((np.concatenate(away) ** 2).mean())) if away else 0.0


@given(st.integers(0, 10**6), st.integers(1, 3))
@settings(deadline=None, max_examples=60)
def test_epochs_are_those_of_a_plain_loop(seed, epochs):
    data = random_list(np.random.default_rng(seed), sentences=6, most=5)
    start = np.array([0.5, -0.2, 0.1])
    several = np.flatnonzero(np.diff(data.sentence_offsets) > 1)
    rng = np.random.default_rng(seed)
    ours, theirs = spread(data, data.statistics[:, 2]), spread(data, data.features @ start)
    shrunk = start * min(1.0, ours / theirs) if ours > 0 and theirs > 0 else start
    weights, background, total = shrunk.tolist(), [1.0] * 10, np.zeros(3)
    averages = []
    for epoch in range(1, epochs + 1):
        order = rng.permutation(several).tolist()
        total += tuners.mira_epoch(
            data.sentence_offsets.tolist(), order, data.features.tolist(), data.statistics.tolist(), weights, background
        )
        averages.append(total / (epoch * max(1, len(several))))
    try:
        tuned = Mira(epochs=epochs).fit(data, start, seed=seed)
    except TuneError:
        return
    np.testing.assert_allclose(tuned.weights, averages[tuned.info["epoch"] - 1], rtol=1e-9)
    assert tuned.metric == pytest.approx(max(data.corpus_score(average) for average in averages))


def test_a_fixed_weight_stays():
    data = random_list(np.random.default_rng(2), sentences=30, most=8, empty=False)
    object.__setattr__(data, "fixed", np.array([True, False, False]))
    assert Mira(epochs=3).fit(data, [2.0, 0.1, 0.1], seed=1).weights[0] == 2.0


def test_a_start_on_a_huge_scale_still_learns():
    data = random_list(np.random.default_rng(2), sentences=30, most=8, empty=False)
    small, huge = (Mira(epochs=20).fit(data, size * np.array([-1.0, 0.1, 0.1]), seed=1) for size in (1e3, 1e6))
    np.testing.assert_allclose(small.weights, huge.weights)
