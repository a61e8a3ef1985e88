"""Trees as searches see them: some can be asked before the search, over their own inputs alone."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from camber.bend.trees.context import ContextTrees
from camber.bend.trees.forest import Forest
from camber.bend.trees.tree import Tree
from camber.features.feature import Feature

FEATURES = (
    Feature("a", "number", "rule"),
    Feature("b", "probability", "rule"),
    Feature("c", "count", "rule", plus=1.0),
    Feature("d", "number", "context"),
)


def drawn_tree(rng: np.random.Generator) -> Tree:
    """Draw a tree of one to three leaves, constant or linear."""
    nodes = int(rng.integers(3))
    children = [np.zeros((0, 2)), [[-1, -2]], [[1, -1], [-2, -3]]][nodes]
    slope = int(rng.integers(len(FEATURES))) if rng.random() < 0.4 else -1
    return Tree(
        rng.integers(len(FEATURES), size=nodes),
        rng.random(nodes),
        rng.random(nodes) < 0.5,
        children,
        rng.normal(size=nodes + 1),
        rng.normal(size=nodes + 1) if slope >= 0 else np.zeros(nodes + 1),
        slope,
    )


@given(st.integers(0, 2**32 - 1), st.sets(st.integers(0, 3)))
def test_trees_are_split_by_what_they_ask_about_and_say_the_same(seed: int, known: set[int]) -> None:
    rng = np.random.default_rng(seed)
    forest = Forest(FEATURES, tuple(drawn_tree(rng) for _ in range(int(rng.integers(1, 6)))))
    weights = rng.normal(size=len(forest))
    table = rng.random((7, len(FEATURES)))
    table[rng.random(table.shape) < 0.2] = np.nan
    within = [set(tree.features_used) <= known for tree in forest.trees]
    values = forest.values(table) * weights
    for part, chosen in zip(ContextTrees.of(forest, weights).split(known), (True, False), strict=True):
        trees = [number for number, own in enumerate(within) if own is chosen]
        assert (part is None) == (not trees)
        if part is not None:
            assert part.inputs.tolist() == sorted({k for number in trees for k in forest.trees[number].features_used})
            scores = part.compact().scores(table[:, part.inputs])
            np.testing.assert_allclose(scores, values[:, trees].sum(axis=1), atol=1e-12)
