"""The mean of tuners, as far from the first weights as held-out sentences confirm."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from toys.tuning_lists import bleu_rows, random_list

from camber.engine import Threads
from camber.errors import SettingsError, TuneError
from camber.metrics import BLEU
from camber.tune import Blend, HeldBleu, Mira, Pro, TuningData
from camber.tune.regularise import L2


def spread(data: TuningData, weights: np.ndarray) -> float:
    """Return how much scores differ from the mean of their sentence, plainly."""
    scores = data.features @ weights
    away = [
        scores[first:last] - scores[first:last].mean()
        for first, last in zip(data.sentence_offsets, data.sentence_offsets[1:], strict=False)
        if last > first
    ]
    return float(np.sqrt(np.mean(np.concatenate(away) ** 2)))


def telling(rng: np.random.Generator, sentences: int, strength: float) -> TuningData:
    """Make a list whose first feature tells how many n-grams match, the better the greater `strength` is."""
    size = 20
    statistics = bleu_rows(rng, sentences * size)
    statistics[:, 1] = 8.0  # one reference length
    features = rng.standard_normal((len(statistics), 4))
    matches = statistics[:, 2:6].sum(1)
    features[:, 0] += strength * (matches - matches.mean()) / matches.std()
    offsets = np.arange(0, len(statistics) + 1, size)
    return TuningData(tuple("abcd"), features, offsets, statistics, BLEU("none"))


@pytest.mark.parametrize("of", ["held-bleu,pro,mira", "held-bleu,pro", "mira,pro", "mira"])
def test_without_caution_it_is_the_mean_of_all_at_the_scale_of_the_first_weights(of):
    data, start = random_list(np.random.default_rng(2), sentences=60, most=10, empty=False), np.array([0.5, -0.2, 1.0])
    tuners = {"held-bleu": HeldBleu(held=2.0), "pro": Pro(l2=3.0, brevity="smoothed"), "mira": Mira()}
    parts = [tuners[name].fit(data, start, seed=7).weights for name in of.split(",")]
    expected = np.mean([part * spread(data, start) / spread(data, part) for part in parts], axis=0)
    tuned = Blend(of=of, held=2.0, l2=3.0, cautious=False).fit(data, start, seed=7)
    np.testing.assert_allclose(tuned.weights, expected)
    assert tuned.metric == tuned.objective == data.corpus_score(expected)


def test_who_begins_with_the_truth_goes_less_far_than_who_begins_elsewhere():
    """Only the first feature has to do with quality."""
    steps = []
    for start in ([1.0, 0.0, 0.0, 0.0], [0.1, 1.0, 0.0, 0.0]):
        steps.append([step_of(telling(np.random.default_rng(seed), 60, 0.5), np.array(start)) for seed in range(6)])
    assert np.mean(steps[0]) < 0.6 < 0.8 < np.mean(steps[1])


def step_of(data: TuningData, start: np.ndarray) -> float:
    """Return how far it went."""
    tuned = Blend().fit(data, start, seed=1)
    step = float(tuned.info["step"])
    assert 0.0 <= step <= 1.0
    far = Blend(cautious=False).fit(data, start, seed=1)
    np.testing.assert_allclose(tuned.weights, (1.0 - step) * start + step * far.weights)
    return step


@pytest.mark.parametrize("seed", range(3))
def test_a_wrong_beginning_is_left(seed):
    data = telling(np.random.default_rng(seed), 60, 2.0)
    start = np.array([0.1, 1.0, 0.0, 0.0])
    tuned = Blend().fit(data, start, seed=1)
    assert tuned.info["step"] > 0.8
    assert tuned.metric > data.corpus_score(start)
    fresh = telling(np.random.default_rng(100 + seed), 60, 2.0)
    assert fresh.corpus_score(tuned.weights) > fresh.corpus_score(start)


def test_what_is_fixed_stays():
    data = random_list(np.random.default_rng(3), sentences=60, most=10, empty=False)
    held = replace(data, fixed=np.array([False, True, False]))
    start = np.array([0.5, -0.2, 1.0])
    assert Blend(cautious=False).fit(held, start, seed=1).weights[1] == -0.2


def test_it_is_the_other_alone_where_pro_finds_no_pairs():
    """All hypotheses of a sentence but one are alike in quality, to less than PRO's threshold."""
    rng = np.random.default_rng(4)
    rows = np.tile(np.array([400.0, 400, 300, 200, 100, 50, 400, 399, 398, 397]), (80, 1))
    rows[::4, 2:6] += 1.0
    data = TuningData(("f", "g"), rng.standard_normal((80, 2)), np.arange(0, 81, 4), rows, BLEU("none"))
    start = np.array([1.0, 0.5])
    alone = HeldBleu().fit(data, start, seed=1).weights
    expected = alone * spread(data, start) / spread(data, alone)
    both = Blend(of="held-bleu,pro", cautious=False)
    np.testing.assert_allclose(both.fit(data, start, seed=1).weights, expected)


@pytest.mark.parametrize("of", ["", "pro,", "pro,pro", "mert", "held-bleu, pro"])
def test_what_cannot_be_averaged_is_refused(of):
    with pytest.raises(SettingsError, match="expected some of held-bleu, pro, mira, with commas, each once"):
        Blend(of=of)


def test_who_cannot_fit_bins_is_left_out_where_there_are_some():
    data, start = random_list(np.random.default_rng(7), sentences=60, most=10, empty=False), np.array([0.5, -0.2, 1.0])
    tie = L2(1.0)
    all_of_them, two = (
        Blend(of=of).fit(data, start, seed=1, regulariser=tie) for of in ("held-bleu,pro,mira", "held-bleu,pro")
    )
    assert all_of_them.weights.tobytes() == two.weights.tobytes()
    with pytest.raises(TuneError, match="can fit bins; let it be of pro, too"):
        Blend(of="mira").fit(data, start, seed=1, regulariser=tie)


def test_a_regulariser_is_given_to_all_that_take_it_and_replaces_the_caution():
    data, start = random_list(np.random.default_rng(5), sentences=60, most=10, empty=False), np.array([0.5, -0.2, 1.0])
    strong = Blend().fit(data, start, seed=1, regulariser=L2(1e9, np.array([0.0, 1.0, 0.0])))
    assert strong.info["step"] == 1.0
    direction = strong.weights / np.abs(strong.weights).max()
    np.testing.assert_allclose(direction, [0.0, 1.0, 0.0], atol=1e-3)


def test_threads_change_nothing():
    data, start = random_list(np.random.default_rng(6), sentences=60, most=10, empty=False), np.array([0.5, -0.2, 1.0])
    one, two = (Blend().fit(data, start, seed=1, engine=Threads(n)).weights for n in (1, 2))
    assert one.tobytes() == two.tobytes()
