"""Boosting finds what was planted in lists, lowers its loss tree by tree, and stops where another list says so."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import regression_trees as naive
from toys.tuning_lists import Mean, random_list

from camber.arrays.types import F8
from camber.bend.log import LogBend
from camber.bend.trees.bend import TreesBend
from camber.bend.trees.document import forest_from_json, forest_to_json
from camber.bend.trees.pairs import Differences
from camber.bend.weighing import Weighing
from camber.engine import Threads
from camber.errors import CamberError, TuneError
from camber.features.feature import Feature
from camber.features.parts import Parts
from camber.tune.boost import Boost, PartsData, line_search, wrong_order
from camber.tune.data import TuningData
from camber.tune.preferences import Preferences
from camber.tune.pro import Pro

FEATURES = (
    Feature("p", "probability", "rule"),
    Feature("count", "count", "rule"),
    Feature("is_rare", "indicator", "rule"),
    Feature("lm", "number", "context"),
)


def planted(seed: int, sentences: int = 60, size: int = 12, noise: float = 0.0) -> PartsData:
    """Lists whose hypotheses are the better, the fewer parts have a small p *and* a large count."""
    rng = np.random.default_rng(seed)
    hypotheses = sentences * size
    sizes = rng.integers(3, 8, hypotheses)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    count = int(offsets[-1])
    table = np.column_stack(
        [
            rng.integers(1, 20, count) / 20,
            rng.integers(1, 9, count),
            rng.random(count) < 0.05,
            rng.normal(size=count).round(1),
        ]
    )
    table[rng.random(count) < 0.05, 0] = np.nan
    bad = (table[:, 0] < 0.3) & (table[:, 1] > 4.5)
    quality = 0.9 - 0.15 * np.add.reduceat(bad, offsets[:-1]) + noise * rng.normal(size=hypotheses)
    parts = Parts.of_dense(FEATURES, table)
    sums = np.nan_to_num(parts.linear_sums(offsets))
    rows = np.column_stack([np.clip(quality, 0, 1), np.ones(hypotheses)])
    data = TuningData(parts.names, sums, np.arange(0, hypotheses + 1, size), rows, Mean())
    return PartsData(data, parts, offsets)


QUICK = Boost(samples=300, keep=20, rounds=6, least=5)
START = np.zeros(4)


@given(st.integers(0, 1000), st.booleans(), st.integers(1, 8))
@settings(max_examples=40)
def test_pairs_are_drawn_as_the_twin_draws_them(seed: int, largest: bool, keep: int) -> None:
    data = random_list(np.random.default_rng(seed))
    drawing = Preferences(samples=60, keep=keep, choice="largest" if largest else "uniform", alpha=0.1)
    state = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]) >> 1
    expected = naive.drawn_pairs(
        data.sentence_offsets.tolist(), drawing.quality(data).tolist(), 60, 0.04, keep, largest, state
    )
    assert [tuple(pair) for pair in drawing.draw(data, seed).tolist()] == expected


def test_large_differences_are_accepted_more_often() -> None:
    quality = np.array([0.0, 0.1, 1.0])
    data = TuningData((), np.zeros((3, 0)), np.array([0, 3]), np.column_stack([quality, np.ones(3)]), Mean())
    pairs = Preferences(samples=40_000, keep=40_000, choice="uniform").draw(data, 1)
    often = np.bincount(pairs @ [3, 1], minlength=9)
    assert often[[3, 6, 7]].sum() == len(pairs)
    assert often[3] / often[6] == pytest.approx(0.1, rel=0.1)
    assert often[7] / often[6] == pytest.approx(0.9, rel=0.05)


def test_targets_are_the_negative_gradient_of_the_loss() -> None:
    train = planted(1, sentences=3, size=4)
    pairs = Preferences(samples=50, keep=5).draw(train.data, 1)
    differences = Differences.of(pairs, train.part_offsets, train.same.numbers)
    values = np.random.default_rng(2).normal(size=len(train.same.firsts))
    targets = differences.project(wrong_order(differences.products(values)), len(values))
    hypotheses = [range(a, b) for a, b in zip(train.part_offsets[:-1], train.part_offsets[1:], strict=True)]

    def loss(moved: F8) -> float:
        return float(naive.ranking_loss(moved[train.same.numbers], pairs.tolist(), hypotheses))

    for row in range(len(values)):
        step = np.zeros(len(values))
        step[row] = 1e-5
        assert -(loss(values + step) - loss(values - step)) / 2e-5 == pytest.approx(targets[row], abs=1e-6)


@given(st.lists(st.tuples(st.floats(-3, 3), st.floats(-3, 3)), min_size=1, max_size=20), st.floats(0.01, 10))
def test_the_line_search_ends_where_the_slope_is_0(pairs: list[tuple[float, float]], l2: float) -> None:
    margins, column = np.array(pairs).T
    weight = line_search(margins, column, l2)
    slope = -2.0 * (wrong_order(margins + weight * column) * column).sum() + l2 * weight
    assert slope == pytest.approx(0.0, abs=1e-6)


def test_without_a_penalty_separable_pairs_have_a_large_but_finite_weight() -> None:
    assert 10.0 < line_search(np.zeros(3), np.ones(3), 0.0) <= 1e6


def test_the_start_is_the_linear_model_of_pro() -> None:
    train = planted(2)
    boosted = replace(QUICK, rounds=0).fit(train, START, seed=3)
    pairs = QUICK.draw(train.data, 3)

    class Given(Pro):
        def sample(self, data: TuningData, seed: int) -> np.ndarray:
            return pairs

    tuned = Given().fit(train.data, START, seed=3)
    assert np.allclose(boosted.linear, tuned.weights, atol=1e-5)
    assert boosted.rounds[0].objective == pytest.approx(tuned.objective)
    assert boosted.rounds[0].metric == pytest.approx(tuned.metric, abs=0.5)
    assert len(boosted.forest) == 0


@pytest.mark.parametrize("split", ["parts", "pairs"])
@pytest.mark.parametrize("choice", ["largest", "uniform"])
def test_a_planted_conjunction_is_found(split: str, choice: str) -> None:
    train, test = planted(4), planted(5)
    boosted = replace(QUICK, leaves=4, split=split, choice=choice).fit(train, START, seed=1)
    used = set().union(*(boosted.forest.names_used(tree) for tree in range(3)))
    assert {"p", "count"} <= used
    linear = test.data.corpus_score(boosted.linear)
    better = test.data.score_of(test.data.best_by(boosted.scores(test)))
    oracle = test.data.score_of(test.data.oracle())
    assert better > linear + 0.5 * (oracle - linear)


@pytest.mark.parametrize("change", [{}, {"leaf": "linear"}, {"split": "pairs"}, {"refit": True}, {"leaves": 5}])
def test_the_objective_falls_with_every_tree(change: dict[str, object]) -> None:
    boosted = replace(QUICK, **change).fit(planted(6, noise=0.05), START, seed=1)  # type: ignore[arg-type]
    objectives = [item.objective for item in boosted.rounds]
    assert len(objectives) == QUICK.rounds + 1
    assert all(after < before for before, after in itertools.pairwise(objectives))
    assert [item.trees for item in boosted.rounds] == list(range(QUICK.rounds + 1))


def test_fitting_all_weights_again_ends_lower() -> None:
    train = planted(7, noise=0.05)
    once, again = (replace(QUICK, refit=refit).fit(train, START, seed=1) for refit in (False, True))
    assert again.rounds[-1].objective < once.rounds[-1].objective
    assert not np.allclose(again.linear, once.linear)


def test_shrinkage_takes_shorter_steps() -> None:
    train = planted(8)
    whole, part = (replace(QUICK, rounds=1, shrinkage=size).fit(train, START, seed=1) for size in (1.0, 0.25))
    assert part.tree_weights[0] == pytest.approx(0.25 * whole.tree_weights[0])


@pytest.mark.parametrize("refit", [False, True])
def test_scores_are_those_that_were_learnt(refit: bool) -> None:
    train, select = planted(9), planted(10)
    boosted = replace(QUICK, refit=refit, patience=0, leaf="linear").fit(train, START, seed=1, select=select)
    chosen = next(item for item in boosted.rounds if item.trees == len(boosted.forest))
    for given_list, metric in ((train, chosen.metric), (select, chosen.selection)):
        scores = boosted.scores(given_list)
        assert given_list.data.score_of(given_list.data.best_by(scores)) == pytest.approx(metric)
    sums = boosted.forest.sums(select.parts, select.part_offsets)
    by_design = select.data.scores(boosted.linear) + sums @ boosted.tree_weights
    assert np.allclose(by_design, boosted.scores(select))
    assert list(boosted.weights) == [*train.data.names, *boosted.forest.names]
    again = replace(boosted, forest=forest_from_json(forest_to_json(boosted.forest)))
    assert np.array_equal(again.scores(select), boosted.scores(select))


def test_a_bend_with_the_trees_gives_the_same_scores() -> None:
    train = planted(19)
    numbers = np.where(np.random.default_rng(1).random(len(train.parts)) < 0.1, -1, 0)  # a tenth are no rules
    parts = replace(train.parts, rules=numbers)
    boosted = replace(QUICK, leaf="linear").fit(replace(train, parts=parts), START, seed=1)
    weighing = Weighing(TreesBend(LogBend(parts.features), boosted.forest), boosted.weights)
    scores = boosted.scores(PartsData(train.data, parts, train.part_offsets))
    assert np.allclose(weighing.scores(parts, train.part_offsets), scores, atol=1e-9, rtol=0)


def test_it_stops_where_another_list_says_so() -> None:
    train, select = planted(11, sentences=15, noise=0.3), planted(12, sentences=15, noise=0.3)
    boosted = replace(QUICK, rounds=40, patience=3).fit(train, START, seed=1, select=select)
    scores = [item.selection for item in boosted.rounds]
    best = int(np.argmax(scores))
    assert len(boosted.forest) == len(boosted.tree_weights) == best
    assert len(boosted.rounds) == best + 4


def test_whole_hypotheses_can_be_boosted() -> None:
    def banded(seed: int) -> PartsData:
        """Hypotheses are good if the sum of one feature lies in a band: no line can say that, nor any part."""
        given_list = planted(seed)
        good = np.abs(given_list.data.features[:, 3]) < 1.0
        rows = np.column_stack([np.where(good, 0.9, 0.3), np.ones(len(good))])
        return replace(given_list, data=replace(given_list.data, statistics=rows)).whole()

    train, test = banded(13), banded(14)
    boosted = replace(QUICK, leaves=3).fit(train, START, seed=1, select=test)
    assert {feature.scope for feature in boosted.forest.features} == {"hypothesis"}
    assert boosted.forest.names_used(0) == ("lm",)
    linear = test.data.corpus_score(boosted.linear)
    assert test.data.score_of(test.data.best_by(boosted.scores(test))) > linear + 20.0


@pytest.mark.parametrize("split", ["parts", "pairs"])
def test_threads_change_nothing(split: str) -> None:
    train = planted(15)
    one, two = (
        replace(QUICK, leaves=5, split=split).fit(train, START, seed=1, engine=Threads(count)) for count in (1, 3)
    )
    assert forest_to_json(one.forest) == forest_to_json(two.forest)
    assert one.weights == two.weights
    assert one.rounds == two.rounds


def test_the_seed_decides() -> None:
    train = planted(16, noise=0.2)
    first, second, other = (QUICK.fit(train, START, seed=seed) for seed in (1, 1, 2))
    assert first.weights == second.weights
    assert first.weights != other.weights


def test_fixed_weights_stay() -> None:
    train = planted(17)
    fixed = replace(train, data=replace(train.data, fixed=np.array([False, True, False, False])))
    boosted = replace(QUICK, refit=True).fit(fixed, np.array([0.0, 0.7, 0.0, 0.0]), seed=1)
    assert boosted.linear[1] == 0.7
    assert boosted.linear[0] != 0.0


def test_lists_that_teach_nothing_are_refused() -> None:
    train = planted(18)
    with pytest.raises(TuneError, match="no pair of hypotheses differs"):
        replace(QUICK, threshold=1.0).fit(train, START, seed=1)
    with pytest.raises(TuneError, match="other features"):
        QUICK.fit(train, START, seed=1, select=replace(train, parts=train.parts.select([0, 1, 2])))
    with pytest.raises(CamberError, match="offsets"):
        replace(train, part_offsets=train.part_offsets[:-1])
