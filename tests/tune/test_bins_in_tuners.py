"""Tuners on lists with bins: sparse rows are the matrix they stand for, and gradients are those of the whole loss."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from toys.tuning_lists import random_list

from camber.arrays.sparse import Counts
from camber.bend.neighbours import LinearNeighbours, MonotoneNeighbours
from camber.engine import Threads
from camber.errors import CamberError
from camber.tune import TuningData, make_tuner
from camber.tune.descent import Objective

#: tuner → its settings, with which it descends by L-BFGS
SMOOTH: dict[str, dict[str, Any]] = {
    "pro": {"samples": 60, "keep": 10},
    "expected-bleu": {"method": "lbfgs", "variance": 3.0, "entropy": 0.1},
    "likelihood": {},
}
HOMES = {"pro": "pro", "expected-bleu": "expected", "likelihood": "likelihood"}
CHAINS = np.array([(2, 6), (6, 9)])  # two bent features with 4 and 3 bins, behind two linear ones


def lists(seed: int, held: bool = False) -> tuple[TuningData, TuningData]:
    """Return the same list twice: 7 bins in sparse rows, and as columns of the matrix."""
    rng = np.random.default_rng(seed)
    plain = random_list(rng, sentences=8, most=6, features=2, empty=False)
    hits = rng.poisson(0.6, (plain.hypotheses, 7)).astype(float)
    names = ("a", "b", *(f"p@{k}" for k in range(4)), *(f"q@{k}" for k in range(3)))
    fixed = np.array([False, held, *[False] * 7])
    rest = (plain.sentence_offsets, plain.statistics, plain.metric, fixed, plain.missing)
    sparse = TuningData(names, plain.features, *rest, counts=Counts.of_dense(hits))
    return sparse, TuningData(names, np.column_stack([plain.features, hits]), *rest)


class Caught(Exception):
    """The descent was to begin."""


@pytest.fixture
def objective_of(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give the function that a tuner would minimise."""
    objectives: list[Objective] = []

    def catch(objective: Objective, *rest: Any, **more: Any) -> None:
        objectives.append(objective)
        raise Caught

    for home in HOMES.values():
        monkeypatch.setattr(f"camber.tune.{home}.lbfgs", catch)

    def objective(tuner: str, data: TuningData, start: Any, **extra: Any) -> Objective:
        fit: Any = make_tuner(tuner, **SMOOTH[tuner]).fit
        with pytest.raises(Caught):
            fit(data, start, seed=1, **extra)
        return objectives.pop()

    return objective


PENALTIES = {
    "none": lambda first: None,
    "lnr": lambda first: LinearNeighbours(3.0, CHAINS - first),
    "mnr": lambda first: MonotoneNeighbours(3.0, 1.5, CHAINS - first),
}


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("tuner", SMOOTH)
@given(seed=st.integers(0, 10**6), held=st.booleans(), digits=st.sampled_from([None, 0, 1]))
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_gradient_of_the_whole_objective_is_that_of_finite_differences(
    objective_of: Any, tuner: str, penalty: str, seed: int, held: bool, digits: int | None
) -> None:
    """At any point, and at those with few digits, where neighbouring bins often are equal."""
    sparse, dense = lists(seed, held)
    rng = np.random.default_rng(seed)
    start = rng.standard_normal(9)
    tie = PENALTIES[penalty](int(held))
    extra = {} if tie is None else {"regulariser": tie}
    try:
        objective, twin = (objective_of(tuner, data, start, **extra) for data in (sparse, dense))
    except CamberError:
        return  # no pairs to learn from
    point = rng.standard_normal(len(sparse.free))
    if digits is not None:
        point = np.round(point, digits)
    value, gradient = objective(point)
    other, slope = twin(point)
    assert value == pytest.approx(other, rel=1e-9)
    np.testing.assert_allclose(gradient, slope, rtol=1e-7, atol=1e-9)
    step = 1e-6
    for axis, expected in zip(np.eye(len(point)) * step, gradient, strict=True):
        found = (objective(point + axis)[0] - objective(point - axis)[0]) / (2 * step)
        assert found == pytest.approx(expected, rel=1e-4, abs=2e-5)  # second derivatives jump on plateaus


def test_scores_of_sparse_rows_are_those_of_the_matrix_and_parts_keep_them() -> None:
    sparse, dense = lists(5, held=True)
    weights = np.random.default_rng(5).standard_normal(9)
    np.testing.assert_allclose(sparse.scores(weights), dense.scores(weights), atol=1e-12)
    assert sparse.bins == 7
    assert sparse.varies()
    rows = np.arange(int(sparse.sentence_offsets[3]))
    part = sparse.take(rows, sparse.sentence_offsets[:4])
    np.testing.assert_allclose(part.scores(weights), dense.scores(weights)[rows], atol=1e-12)


@pytest.mark.parametrize("penalty", ["none", "mnr"])
def test_pro_on_sparse_rows_finds_what_it_finds_on_the_matrix(penalty: str) -> None:
    sparse, dense = lists(11)
    tie = PENALTIES[penalty](0)
    extra = {} if tie is None else {"regulariser": tie}
    pro: Any = make_tuner("pro", steps=1000)
    start = np.full(9, 0.1)
    one, two = (pro.fit(data, start, seed=1, **extra) for data in (sparse, dense))
    assert one.objective == pytest.approx(two.objective, rel=1e-6)
    np.testing.assert_allclose(one.weights, two.weights, rtol=1e-2, atol=2e-3)  # where a flat descent ends


@pytest.mark.parametrize("tuner", SMOOTH)
def test_bins_are_tuned_to_the_same_bytes_on_one_thread_and_on_two(tuner: str) -> None:
    sparse, _ = lists(7)
    tie = MonotoneNeighbours(1.0, 2.0, CHAINS)
    fit: Any = make_tuner(tuner).fit
    one, two = (fit(sparse, np.full(9, 0.1), seed=3, engine=Threads(threads), regulariser=tie) for threads in (1, 2))
    assert one.weights.tobytes() == two.weights.tobytes()


@pytest.mark.parametrize("tuner", ["mert", "mira"])
def test_tuners_of_few_weights_refuse_bins(tuner: str) -> None:
    with pytest.raises(CamberError, match="7 weights of a bent model; use pro, expected-bleu, held-bleu, blend or l"):
        make_tuner(tuner).fit(lists(7)[0], np.full(9, 0.1), seed=1)
