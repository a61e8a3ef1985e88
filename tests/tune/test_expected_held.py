"""RProp where a regulariser holds the weights."""

from __future__ import annotations

import numpy as np
import pytest

from camber.arrays.sparse import Counts
from camber.errors import UnmovedError
from camber.metrics.bleu import BLEU
from camber.rerank.mixture import Prior
from camber.tune import expected
from camber.tune.data import TuningData
from camber.tune.expected import ExpectedBleu


def kernels_of_many(sentences: int = 300, kernels: int = 200) -> TuningData:
    """Return a list in which some kernels are those of better hypotheses, with small posteriors."""
    rng = np.random.default_rng(5)
    rows = 4 * sentences
    good = rng.integers(0, 5, rows)
    statistics = np.column_stack([np.full(rows, 8), np.full(rows, 8), *([good + 3 - n for n in range(4)]),
                                  *([np.full(rows, 8 - n) for n in range(4)])]).astype(float)  # fmt: skip
    posteriors = np.zeros((rows, kernels))
    posteriors[np.arange(rows), rng.integers(0, kernels // 5, rows) * 5 + good] = 0.05
    names = ("line", *(f"kernel{k}" for k in range(kernels)))
    line = rng.normal(size=(rows, 1))
    offsets = np.arange(0, rows + 1, 4)
    return TuningData(names, line, offsets, statistics, BLEU("none"), counts=Counts.of_dense(posteriors))


def test_weights_under_a_strong_prior_still_move(monkeypatch: pytest.MonkeyPatch) -> None:
    data = kernels_of_many()
    start, prior = np.array([1.0, *np.zeros(data.bins)]), Prior(1e7, 1)
    tuner = ExpectedBleu(steps=50)
    begin = -tuner.objective(data, start, prior)(start)[0]
    tuned = tuner.fit(data, start, seed=1, regulariser=prior)
    assert tuned.objective > begin + 1e-6
    assert np.abs(tuned.weights[1:]).max() > 0
    monkeypatch.setattr(expected, "_FIRST_STEPS", (0.1,))  # steps as they are without a prior only overshoot
    try:
        alone = tuner.fit(data, start, seed=1, regulariser=prior).objective
    except UnmovedError:
        alone = begin
    assert alone < tuned.objective
