"""MERT: exact line searches, whole runs, determinism."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import tuners
from toys.tuning_lists import Mean, random_list

from camber.engine import Threads
from camber.errors import TuneError
from camber.tune import Mert, TuningData
from camber.tune.mert import LineSearch


@given(st.integers(0, 10**6), st.booleans())
@settings(deadline=None, max_examples=150)
def test_the_line_search_finds_what_trying_every_crossing_finds(seed, whole):
    rng = np.random.default_rng(seed)
    data = random_list(rng, whole=whole)
    scores, slopes = data.scores(rng.integers(-2, 3, 3) if whole else rng.standard_normal(3)), data.columns[0]
    line = LineSearch(data).along(scores, slopes)
    arguments = data.sentence_offsets.tolist(), scores.tolist(), slopes.tolist(), data.statistics.tolist()
    if data.hypotheses:
        assert line.quality == pytest.approx(tuners.line_search(*arguments)[0], abs=1e-9)
        assert line.quality == pytest.approx(tuners.on_line(*arguments, line.step), abs=1e-9)
    assert line.low < line.step < line.high or not np.isfinite([line.low, line.high]).any()


@pytest.mark.slow
@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=30)
def test_no_point_of_a_fine_grid_is_better_than_the_line_search(seed):
    rng = np.random.default_rng(seed)
    data = random_list(rng, sentences=8, most=12, empty=False)
    weights, direction = rng.standard_normal(3), rng.standard_normal(3)
    slopes = data.features @ direction
    line = LineSearch(data).along(data.scores(weights), slopes)
    grid = [data.corpus_score(weights + x * direction) for x in np.linspace(-8, 8, 801)]
    assert max(grid) <= line.quality + 1e-9
    assert data.corpus_score(weights + line.step * direction) == pytest.approx(line.quality, abs=1e-9)


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=30)
def test_a_metric_without_a_kernel_is_searched_as_exactly(seed):
    rng = np.random.default_rng(seed)
    data = random_list(rng, empty=False)
    rows = np.column_stack([rng.integers(0, 9, data.hypotheses) / 8.0, np.ones(data.hypotheses)])
    data = TuningData(data.names, data.features, data.sentence_offsets, rows, Mean())
    weights, direction = rng.standard_normal(3), rng.standard_normal(3)
    line = LineSearch(data).along(data.scores(weights), data.features @ direction)
    grid = [data.corpus_score(weights + x * direction) for x in np.linspace(-8, 8, 401)]
    assert max(grid) <= line.quality + 1e-9
    assert data.corpus_score(weights + line.step * direction) == pytest.approx(line.quality, abs=1e-9)


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=20)
def test_tuning_never_ends_below_its_start(seed):
    data = random_list(np.random.default_rng(seed), sentences=10, most=8, empty=False)
    start = np.array([1.0, -0.5, 0.3])
    try:
        tuned = Mert(restarts=4).fit(data, start, seed=seed, engine=Threads(1))
    except TuneError:
        return
    assert tuned.metric >= data.corpus_score(start) - 1e-9
    assert tuned.metric == pytest.approx(tuned.objective, abs=1e-6)
    assert tuned.metric == pytest.approx(max(tuned.info["restarts"]), abs=1e-6)
    assert np.abs(tuned.weights).sum() == pytest.approx(np.abs(start).sum())


def test_a_fixed_weight_stays_and_still_counts():
    rng = np.random.default_rng(3)
    free = random_list(rng, sentences=20, most=10, empty=False)
    data = TuningData(
        free.names, free.features, free.sentence_offsets, free.statistics, free.metric, np.array([False, True, False])
    )
    tuned = Mert(restarts=3).fit(data, [0.1, 5.0, 0.1], seed=1)
    assert tuned.weights[1] == 5.0
    assert tuned.metric == pytest.approx(free.corpus_score(tuned.weights))
    assert tuned.metric > free.corpus_score([0.1, 5.0, 0.1])


def test_every_restart_is_at_least_as_good_as_any_single_weight_can_make_it():
    data = random_list(np.random.default_rng(8), sentences=30, most=15, features=5, empty=False)
    tuned = Mert(restarts=2).fit(data, np.ones(5), seed=1, engine=Threads(1))
    search = LineSearch(data)
    for column in data.columns:
        assert search.along(data.scores(tuned.weights), column).quality <= tuned.metric + 1e-6
