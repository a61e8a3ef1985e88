"""In the space of pairs, splits and leaves are those that brute force finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from naive import regression_trees as naive

from camber.arrays.types import F8, I8
from camber.bend.trees.grower import Grower
from camber.bend.trees.pairs import Differences, Pairs
from camber.bend.trees.rows import Rows
from camber.engine import Threads
from camber.errors import SettingsError
from camber.features.feature import Feature
from camber.features.parts import Parts

FEATURES = (
    Feature("p", "number", "rule"),
    Feature("rare", "indicator", "rule"),
    Feature("lm", "number", "context"),
)


class Toy:
    """Hypotheses of a few parts, and pairs of them."""

    def __init__(self, seed: int, hypotheses: int = 12, pairs: int = 20) -> None:
        rng = np.random.default_rng(seed)
        sizes = rng.integers(1, 6, hypotheses)
        self.offsets: I8 = np.concatenate([[0], np.cumsum(sizes)])
        count = int(self.offsets[-1])
        self.table = np.column_stack(
            [rng.integers(0, 4, count) / 4, rng.random(count) < 0.07, rng.integers(-3, 0, count)]
        ).astype(float)
        self.table[rng.random(self.table.shape) < 0.15] = np.nan
        self.pairs = np.array([rng.choice(hypotheses, 2, replace=False) for _ in range(pairs)], np.int64)
        self.slopes: F8 = rng.random(pairs)
        self.curvatures: F8 = self.slopes * (1 - self.slopes)
        self.rows = Rows.of_parts(Parts.of_dense(FEATURES, self.table))
        gradients = np.bincount(self.pairs[:, 0], self.slopes, hypotheses)
        gradients -= np.bincount(self.pairs[:, 1], self.slopes, hypotheses)
        of_parts = np.repeat(gradients, sizes)
        assert self.rows.numbers is not None
        self.targets = np.bincount(self.rows.numbers, of_parts, len(self.rows))
        self.differences = Differences.of(self.pairs, self.offsets, self.rows.numbers)
        self.lists = [list(range(a, b)) for a, b in zip(self.offsets[:-1], self.offsets[1:], strict=True)]

    def gain(self, left: list[bool], ridge: float) -> float:
        return naive.pair_gain(left, self.pairs.tolist(), self.lists, self.slopes, self.curvatures, ridge)


@given(st.integers(0, 10_000), st.sampled_from([0.1, 1.0]))
@example(4628, 1.0)
@settings(max_examples=80)
def test_the_split_is_the_best_of_all(seed: int, ridge: float) -> None:
    toy = Toy(seed)
    tree = Grower(toy.rows).grow(toy.targets, Pairs(toy.differences, toy.curvatures, ridge)).tree
    targets = [0.0] * len(toy.table)
    expected = 0.0
    for _, feature, _, left in naive.splits(toy.table.tolist(), targets):
        if feature == 1 and feature in toy.rows.indicators:  # what has no such value counts as 0
            left = [not value >= 0.5 for value in toy.table[:, 1].tolist()]
        if all(left):
            continue  # no part has the indicator: that is no split
        expected = max(expected, toy.gain(left, ridge))
    assert float(tree.gains.sum()) == pytest.approx(expected)


def test_leaves_minimise_the_quadratic_loss() -> None:
    toy = Toy(3, hypotheses=40, pairs=200)
    grown = Grower(toy.rows, 4).grow(toy.targets, Pairs(toy.differences, toy.curvatures, 0.5))
    assert toy.rows.numbers is not None
    leaf_of_parts = grown.leaf_of_rows[toy.rows.numbers]
    counts = np.array([np.bincount(leaf_of_parts[parts], minlength=4) for parts in toy.lists], float)
    d = counts[toy.pairs[:, 0]] - counts[toy.pairs[:, 1]]
    expected = np.linalg.solve(d.T @ (toy.curvatures[:, None] * d) + 0.5 * np.eye(4), d.T @ toy.slopes)
    assert np.allclose(grown.tree.constants, expected)


def test_differences_leave_out_what_cancels() -> None:
    toy = Toy(4)
    assert toy.rows.numbers is not None
    for number, (better, worse) in enumerate(toy.pairs.tolist()):
        expected = np.zeros(len(toy.rows))
        np.add.at(expected, toy.rows.numbers[toy.lists[better]], 1)
        np.subtract.at(expected, toy.rows.numbers[toy.lists[worse]], 1)
        own = slice(*toy.differences.offsets[number : number + 2])
        assert toy.differences.rows[own].tolist() == np.flatnonzero(expected).tolist()
        assert toy.differences.counts[own].tolist() == expected[expected != 0].tolist()


def test_threads_change_nothing() -> None:
    toy = Toy(5, hypotheses=60, pairs=300)
    pairs = Pairs(toy.differences, toy.curvatures)
    one, two = (Grower(toy.rows, 6, engine=Threads(n)).grow(toy.targets, pairs).tree for n in (1, 3))
    assert one.features.tolist() == two.features.tolist()
    assert np.array_equal(one.gains, two.gains)
    assert np.array_equal(one.constants, two.constants)


def test_linear_leaves_are_refused() -> None:
    toy = Toy(6)
    rows = Rows.of_parts(Parts.of_dense(FEATURES, toy.table), slopes=("p",))
    with pytest.raises(SettingsError, match="only be constant"):
        Grower(rows, linear=True).grow(toy.targets, Pairs(toy.differences, toy.curvatures))
