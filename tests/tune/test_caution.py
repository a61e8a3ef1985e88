"""How far to go, by sentences that were held out."""

from __future__ import annotations

import numpy as np
import pytest

from camber.metrics import BLEU
from camber.tune import TuningData
from camber.tune.caution import SAMPLES, STEPS, careful_step, mean_step


def two_sorts(bad: int, sentences: int = 60) -> TuningData:
    """Make lists of two: in all but some `bad` sentences, the second hypothesis is right and the first is not.

    The first feature is for the first hypothesis, the second for the second.
    """
    right, wrong = [10.0, 10, 10, 9, 8, 7, 10, 9, 8, 7], [10.0, 10, 4, 2, 1, 0, 10, 9, 8, 7]
    rows = [row for k in range(sentences) for row in ((right, wrong) if k < bad else (wrong, right))]
    features = np.tile([[1.0, 0.0], [0.0, 1.0]], (sentences, 1))
    return TuningData(("one", "two"), features, np.arange(0, 2 * sentences + 1, 2), np.array(rows), BLEU("none"))


STAY, GO = np.array([1.0, 0.0]), np.array([0.0, 1.0])


def fitted(_seen: TuningData) -> tuple[np.ndarray, np.ndarray]:
    return STAY, GO


@pytest.mark.parametrize(("bad", "expected"), [(0, 0.65), (60, 0.0)])
def test_where_there_is_no_doubt_both_go_equally_far(bad, expected):
    """From half of the way on, the second hypothesis wins (ties are the first's), and the shortest step is taken."""
    data = two_sorts(bad)
    assert careful_step(data, fitted) == expected
    assert mean_step(data, fitted, 1, 5) == pytest.approx(expected)


def test_in_doubt_the_mean_is_between():
    steps = [mean_step(two_sorts(bad), fitted, 1, 5) for bad in (20, 28, 30, 32, 40)]
    assert steps == sorted(steps, reverse=True)
    assert 0.5 < steps[0] <= 0.65
    assert 0.2 < steps[2] < 0.45
    assert 0.0 <= steps[4] < 0.15


def test_the_mean_is_that_of_plainly_resampled_sentences():
    """As the textbook draws and adds: sentence by sentence, step by step."""
    data, seed = two_sorts(28), 3
    rng = np.random.default_rng(seed)
    best = []
    for drawn in rng.choice(60, size=(SAMPLES, 60), replace=True):
        scores = []
        for step in STEPS:
            chosen = 0 if 1.0 - step >= step else 1
            sums = sum(data.statistics[2 * sentence + chosen] for sentence in drawn)
            scores.append(float(data.metric.score(sums)))
        best.append(STEPS[scores.index(max(scores))])
    assert mean_step(data, fitted, seed, 5) == pytest.approx(np.mean(best))
