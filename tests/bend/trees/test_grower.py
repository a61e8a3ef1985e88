"""Trees are those that brute force finds, however rows are stored and whoever computes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import regression_trees as naive

from camber.arrays.types import F8
from camber.bend.trees.forest import Forest
from camber.bend.trees.grower import Grower
from camber.bend.trees.rows import Rows
from camber.bend.trees.splitting import leaf_of
from camber.engine import Threads
from camber.errors import SettingsError
from camber.features.feature import Feature
from camber.features.parts import Parts

NAMES = (Feature("a"), Feature("b", "indicator"), Feature("c"))
VALUE = st.sampled_from([0.0, 1.0, 2.5, -1.0, 7.0, float("nan")])
FLAG = st.sampled_from([0.0] * 12 + [1.0])
ROWS = st.lists(st.tuples(VALUE, FLAG, VALUE, st.integers(-4, 4).map(float)), min_size=2, max_size=40)


def taken_apart(drawn: list[tuple[float, ...]]) -> tuple[list[list[float]], list[float]]:
    return [list(row[:3]) for row in drawn], [row[3] for row in drawn]


@given(ROWS, st.integers(1, 4))
@settings(max_examples=150)
def test_two_constant_leaves_gain_as_much_as_any_threshold(drawn: list[tuple[float, ...]], least: int) -> None:
    table, targets = taken_apart(drawn)
    grown = Grower(Rows.of_dense(NAMES, table), least=least, engine=Threads(1)).grow(targets)
    expected = naive.best_gain(table, targets, None, least)
    gained = float(grown.tree.gains.sum())
    assert gained == pytest.approx(expected, abs=1e-9)
    residual = float(((np.array(targets) - grown.values()) ** 2).sum())
    assert naive.errors(targets) - residual == pytest.approx(gained, abs=1e-9)
    if grown.tree.leaves == 2:
        assert min(np.bincount(grown.leaf_of_rows)) >= least


@given(ROWS)
@settings(max_examples=150)
def test_two_linear_leaves_gain_as_much_as_any_threshold_and_any_feature(drawn: list[tuple[float, ...]]) -> None:
    table, targets = taken_apart(drawn)
    rows = Rows.of_dense(NAMES, table, slopes=("a", "c"))
    grown = Grower(rows, linear=True, engine=Threads(1)).grow(targets)
    left_over = []
    for column in (0, 2):
        xs = [row[column] if row[column] == row[column] else 0.0 for row in table]
        left_over.append(naive.errors(targets, xs) - naive.best_gain(table, targets, xs))
    residual = float(((np.array(targets) - grown.values()) ** 2).sum())
    assert residual == pytest.approx(min(left_over), abs=1e-7)


def example(seed: int = 1, rows: int = 4000, width: int = 12) -> tuple[tuple[Feature, ...], F8, F8]:
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(rows, width)).round(1)
    table[:, -2:] = rng.random((rows, 2)) < 0.05
    table[rng.random((rows, width)) < 0.1] = np.nan
    kinds = ["number"] * (width - 2) + ["indicator"] * 2
    return (
        tuple(Feature(f"f{column}", kind, "context") for column, kind in enumerate(kinds)),
        table,
        np.where(np.nan_to_num(table[:, 0]) * np.nan_to_num(table[:, 1]) > 0.1, 1.0, -0.5)
        + 0.1 * rng.normal(size=rows),
    )


@pytest.mark.parametrize("slopes", [(), ("f0", "f3")])
@pytest.mark.parametrize("leaves", [2, 5, 8])
def test_a_tree_says_of_raw_values_what_it_said_of_codes(leaves: int, slopes: tuple[str, ...]) -> None:
    features, table, targets = example()
    rows = Rows.of_dense(features, table, slopes=slopes)
    grown = Grower(rows, leaves, linear=bool(slopes), engine=Threads(1)).grow(targets)
    assert grown.tree.leaves == leaves
    assert np.array_equal(Forest(features, (grown.tree,)).values(table)[:, 0], grown.values())
    assert np.array_equal(Forest(features, (grown.tree,)).leaves(table)[:, 0], grown.leaf_of_rows)
    assert grown.tree.shares.sum() == pytest.approx(1.0)
    shares = np.bincount(grown.leaf_of_rows, minlength=leaves) / len(table)
    assert np.allclose(grown.tree.shares, shares)


@pytest.mark.parametrize("slopes", [(), ("f0", "f3")])
def test_every_leaf_has_the_best_constant_or_line(slopes: tuple[str, ...]) -> None:
    features, table, targets = example(2)
    grown = Grower(Rows.of_dense(features, table, slopes=slopes), 6, linear=bool(slopes)).grow(targets)
    x = np.nan_to_num(table[:, grown.tree.slope]) if slopes else np.zeros(len(table))
    for leaf in range(6):
        inside = grown.leaf_of_rows == leaf
        left_over = float(((targets[inside] - grown.values()[inside]) ** 2).sum())
        expected = naive.errors(targets[inside].tolist(), x[inside].tolist() if slopes else None)
        assert left_over == pytest.approx(expected)


def test_splits_come_best_first_and_each_is_the_best_of_its_node() -> None:
    features, table, targets = example(3, rows=300, width=4)
    grown = Grower(Rows.of_dense(features, table), 4).grow(targets)
    tree = grown.tree
    inside = {0: np.arange(len(table))}
    for node in range(len(tree.features)):
        rows = inside[node]
        expected = naive.best_gain(table[rows].tolist(), targets[rows].tolist())
        assert tree.gains[node] == pytest.approx(expected)
        values = table[rows, tree.features[node]]
        left = np.where(np.isnan(values), tree.absent_left[node], values < tree.thresholds[node])
        for side, child in zip((left, ~left), tree.children[node].tolist(), strict=True):
            inside[child] = rows[side]


def test_a_planted_conjunction_is_found() -> None:
    rng = np.random.default_rng(5)
    table = rng.random((5000, 6))
    table[:, 4] = rng.random(5000) < 0.08
    kinds = ["number"] * 4 + ["indicator", "number"]
    features = tuple(Feature(f"f{column}", kind) for column, kind in enumerate(kinds))
    targets = np.where((table[:, 2] < 0.3) & (table[:, 5] >= 0.6), 1.0, 0.0)
    tree = Grower(Rows.of_dense(features, table), 3).grow(targets).tree
    assert set(tree.features.tolist()) == {2, 5}
    thresholds = dict(zip(tree.features.tolist(), tree.thresholds.tolist(), strict=True))
    assert thresholds[2] == pytest.approx(0.3, abs=0.005)
    assert thresholds[5] == pytest.approx(0.6, abs=0.005)
    assert sorted(tree.constants.round(1).tolist()) == [0.0, 0.0, 1.0]
    rare = np.where((table[:, 4] > 0) & (table[:, 0] < 0.5), 1.0, 0.0)
    assert set(Grower(Rows.of_dense(features, table), 3).grow(rare).tree.features.tolist()) == {0, 4}


def test_a_tree_of_two_constant_leaves_is_the_best_single_edge() -> None:
    features, table, targets = example(6, rows=500)
    rows = Rows.of_dense(features, table)
    tree = Grower(rows).grow(targets).tree
    best = max(
        (
            sum(targets[side].sum() ** 2 / side.sum() for side in (left, ~left))
            for feature, edges in enumerate(rows.edges)
            for edge in range(len(edges))
            for absent in (True, False)
            for left in [rows.goes_left(feature, edge, absent_left=absent)]
            if 0 < left.sum() < len(left)
        ),
    )
    assert tree.gains[0] == pytest.approx(best - targets.sum() ** 2 / len(targets))


@pytest.mark.parametrize("slopes", [(), ("f0", "f2")])
def test_collapse_changes_nothing(slopes: tuple[str, ...]) -> None:
    features, table, targets = example(7, rows=2000, width=5)
    table[:, :3] = table[:, :3].round(0)
    table[:, 0] = np.abs(table[:, 0])
    features = (Feature("f0", "probability", "rule"), *features[1:])
    parts = Parts.of_dense(features, table)
    whole, rows = Rows.of_dense(features, table, slopes=slopes), Rows.of_parts(parts, slopes=slopes)
    assert rows.numbers is not None
    assert len(rows) < len(whole) // 2
    sums = np.bincount(rows.numbers, targets, len(rows))
    for leaves in (2, 6):
        one = Grower(whole, leaves, linear=bool(slopes)).grow(targets)
        two = Grower(rows, leaves, linear=bool(slopes)).grow(sums)
        assert np.array_equal(one.leaf_of_rows, two.leaf_of_rows[rows.numbers])
        assert np.allclose(one.values(), two.values()[rows.numbers])
        assert one.tree.features.tolist() == two.tree.features.tolist()
        assert one.tree.thresholds.tolist() == two.tree.thresholds.tolist()


@pytest.mark.parametrize("slopes", [(), ("f0", "f3")])
def test_threads_change_nothing(slopes: tuple[str, ...]) -> None:
    features, table, targets = example(8, width=20)
    rows = Rows.of_dense(features, table, slopes=slopes)
    grown = [Grower(rows, 8, linear=bool(slopes), engine=Threads(threads)).grow(targets).tree for threads in (1, 2, 5)]
    for other in grown[1:]:
        for name in ("features", "thresholds", "constants", "coefficients", "gains", "shares"):
            assert np.array_equal(getattr(grown[0], name), getattr(other, name))


def test_a_monotone_transform_of_a_feature_leaves_the_partition_unchanged() -> None:
    features, table, targets = example(9)
    bent = table.copy()
    bent[:, 0] = np.exp(table[:, 0])
    bent[:, 1] = table[:, 1] ** 3
    one, two = (Grower(Rows.of_dense(features, values), 8).grow(targets) for values in (table, bent))
    assert np.array_equal(one.leaf_of_rows, two.leaf_of_rows)


def test_nothing_to_gain_is_a_single_leaf() -> None:
    features, table, _ = example(10, rows=100)
    grown = Grower(Rows.of_dense(features, table), 4).grow(np.full(100, 0.3))
    assert grown.tree.leaves == 1
    assert np.allclose(grown.values(), 0.3)
    assert Forest(features, (grown.tree,)).values(table)[:, 0].tolist() == grown.values().tolist()


def test_a_line_is_not_fitted_to_what_does_not_vary() -> None:
    assert leaf_of(np.array([4.0, 2.0, 12.0, 36.0, 6.0])) == (0.5, 0.0)


def test_settings_that_make_no_sense_are_refused() -> None:
    features, table, targets = example(11, rows=20)
    rows = Rows.of_dense(features, table)
    with pytest.raises(SettingsError, match="1 leaves"):
        Grower(rows, 1)
    with pytest.raises(SettingsError, match="no feature for it"):
        Grower(rows, linear=True)
    with pytest.raises(SettingsError, match="3 targets for 20 rows"):
        Grower(rows).grow(targets[:3])
    with pytest.raises(SettingsError, match="cannot be linear in nothing"):
        Rows.of_dense(features, table, slopes=("nothing",))
