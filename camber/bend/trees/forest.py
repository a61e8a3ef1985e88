"""Trees as arrays that kernels read, and what they make of raw values.

forest = Forest(features, trees)
forest.values(raw)                      # float64[rows, trees]
forest.sums(parts, part_offsets)        # float64[hypotheses, trees]: what a tuner gives weights to
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from camber.arrays.ragged import offsets_from
from camber.arrays.types import F8, I8, Array
from camber.bend.trees.acts import Acts
from camber.bend.trees.collapse import collapse
from camber.bend.trees.tree import Tree
from camber.errors import CamberError
from camber.features.feature import RULE, Feature, logarithms_of, names_of
from camber.features.parts import Parts
from camber.kernel import kernel, kernel_inlined


class ForestArrays(NamedTuple):
    """What kernels need; nodes and leaves of all trees lie behind each other."""

    roots: Array  # int64[trees]: a node, or ~leaf
    slopes: Array  # int64[trees]: the feature that leaves are linear in, -1: none
    features: Array  # int64[nodes]
    thresholds: Array  # float64[nodes]
    absent_left: Array  # int64[nodes], 0 or 1
    children: Array  # int64[nodes, 2]: a node, or ~leaf
    constants: Array  # float64[leaves]
    coefficients: Array  # float64[leaves]
    logarithmic: Array  # int64[features], and as `logarithms_of` has them:
    plus: Array
    smallest: Array
    least: Array


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees that ask about the same features.

    >>> forest = Forest((Feature("x"),), (Tree.of_split(0, 2.0, (1.0, -1.0)),))
    >>> forest.values([[1.5], [2.0], [np.nan]]).tolist()
    [[1.0], [-1.0], [1.0]]
    """

    features: tuple[Feature, ...]
    trees: tuple[Tree, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", tuple(self.features))
        object.__setattr__(self, "trees", tuple(self.trees))
        for number, tree in enumerate(self.trees):
            if tree.features_used and tree.features_used[-1] >= len(self.features):
                raise CamberError(
                    f"tree {number + 1} asks for a feature beyond the {len(self.features)} that there are"
                )

    def __len__(self) -> int:
        """Return the number of trees."""
        return len(self.trees)

    @property
    def names(self) -> tuple[str, ...]:
        """What the weights of trees are called."""
        return tuple(f"tree{number + 1}" for number in range(len(self.trees)))

    def names_used(self, tree: int) -> tuple[str, ...]:
        """Return the names of the features that a tree depends on."""
        return tuple(self.features[feature].name for feature in self.trees[tree].features_used)

    def of_rules(self) -> npt.NDArray[np.bool_]:
        """Return which trees depend on features of rules alone, so that they are known before the search."""
        scopes = [{self.features[feature].scope for feature in tree.features_used} for tree in self.trees]
        return np.array([used <= {RULE} for used in scopes], bool)

    def take(self, chosen: Sequence[int]) -> Forest:
        """Return some of the trees."""
        return Forest(self.features, tuple(self.trees[number] for number in chosen))

    def with_acts(self, acts: Sequence[Acts]) -> Forest:
        """Return the same trees with what each of them did."""
        trees = (replace(tree, acts=did) for tree, did in zip(self.trees, acts, strict=True))
        return Forest(self.features, tuple(trees))

    @cached_property
    def arrays(self) -> ForestArrays:
        """The trees as arrays."""
        nodes = offsets_from(len(tree.features) for tree in self.trees)
        leaves = offsets_from(tree.leaves for tree in self.trees)

        def moved(children: I8, node: int, leaf: int) -> I8:
            return np.where(children >= 0, children + node, children - leaf)  # ~(k + leaf) is ~k - leaf

        starts = list(zip(self.trees, nodes.tolist(), leaves.tolist(), strict=False))

        def joined(kind: type, columns: list[npt.NDArray[np.generic]]) -> Array:
            return np.concatenate([np.empty(0, kind), *columns]).astype(kind)

        return ForestArrays(
            np.array([node if len(tree.features) else ~leaf for tree, node, leaf in starts], np.int64),
            np.array([tree.slope for tree in self.trees], np.int64),
            joined(np.int64, [tree.features for tree in self.trees]),
            joined(np.float64, [tree.thresholds for tree in self.trees]),
            joined(np.int64, [tree.absent_left for tree in self.trees]),
            np.concatenate([np.empty((0, 2), np.int64), *(moved(tree.children, n, k) for tree, n, k in starts)]),
            joined(np.float64, [tree.constants for tree in self.trees]),
            joined(np.float64, [tree.coefficients for tree in self.trees]),
            *logarithms_of(self.features),
        )

    def values(self, raw: npt.ArrayLike) -> F8:
        """Return what each tree makes of raw values: float64[rows, features], NaN where absent → [rows, trees]."""
        table = np.ascontiguousarray(raw, np.float64)
        if table.ndim != 2 or table.shape[1] != len(self.features):
            raise CamberError(f"trees of {len(self.features)} features cannot read a table of the shape {table.shape}")
        values = np.empty((len(table), len(self.trees)))
        _values(self.arrays, table, values)
        return values

    def scores(self, raw: npt.ArrayLike, weights: npt.ArrayLike) -> F8:
        """Return the weighted sum over trees of every row: float64[rows, features], [trees] → [rows]."""
        table, vector = np.ascontiguousarray(raw, np.float64), np.ascontiguousarray(weights, np.float64)
        if table.ndim != 2 or table.shape[1] != len(self.features) or vector.shape != (len(self.trees),):
            raise CamberError(f"{vector.size} weights and a table of the shape {table.shape} for {len(self)} trees")
        scores = np.zeros(len(table))
        add_scores(self.arrays, table, vector, scores)
        return scores

    def leaves(self, raw: npt.ArrayLike) -> I8:
        """Return the leaf that each row ends in, int64[rows, trees]; each tree counts its leaves from 0."""
        table = np.ascontiguousarray(raw, np.float64)
        if table.ndim != 2 or table.shape[1] != len(self.features):
            raise CamberError(f"trees of {len(self.features)} features cannot read a table of the shape {table.shape}")
        ends = np.empty((len(table), len(self.trees)), np.int64)
        _leaves(self.arrays, table, ends)
        return ends - offsets_from(tree.leaves for tree in self.trees)[:-1]

    def values_of_parts(self, parts: Parts) -> F8:
        """Return what each tree makes of parts, float64[parts, trees]."""
        self._check(parts)
        values = np.empty((len(parts), len(self.trees)))
        for number, tree in enumerate(self.trees):
            alone, table = self._laid_out(tree, parts)
            values[:, number] = alone.values(table)[:, 0]
        return values

    def leaves_of_parts(self, parts: Parts) -> I8:
        """Return the leaf that each part ends in, int64[parts, trees]."""
        self._check(parts)
        leaves = np.empty((len(parts), len(self.trees)), np.int64)
        for number, tree in enumerate(self.trees):
            alone, table = self._laid_out(tree, parts)
            leaves[:, number] = alone.leaves(table)[:, 0]
        return leaves

    def _check(self, parts: Parts) -> None:
        if names_of(parts.features) != names_of(self.features):
            raise CamberError(
                f"trees of the features {', '.join(names_of(self.features))} cannot read parts with "
                f"{', '.join(parts.names)}"
            )

    def _laid_out(self, tree: Tree, parts: Parts) -> tuple[Forest, F8]:
        """Return one tree over the features that it looks at, and these of all parts: the others are not laid out."""
        used = tree.features_used
        table = np.empty((len(parts), len(used)))
        for place, feature in enumerate(used):
            table[:, place] = parts.column(self.features[feature].name)
        return Forest(tuple(self.features[feature] for feature in used), (tree.among(used),)), table

    def sums(self, parts: Parts, offsets: I8) -> F8:
        """Return the sums over the parts of every hypothesis, float64[hypotheses, trees]."""
        same = collapse(parts)
        sums = np.zeros((len(offsets) - 1, len(self.trees)))
        values = self.values_of_parts(parts.take(same.firsts))
        sum_rows(np.ascontiguousarray(offsets, np.int64), same.numbers, values, sums)
        return sums


@kernel_inlined
def leaf_at(forest, tree, row):
    """Return the leaf (of all trees') that raw values float64[features] end in."""
    node = forest.roots[tree]
    while node >= 0:
        value = row[forest.features[node]]
        left = value < forest.thresholds[node] or (value != value and forest.absent_left[node] == 1)
        node = forest.children[node, 0] if left else forest.children[node, 1]
    return ~node


@kernel_inlined
def tree_value(forest, tree, row):
    """Return what one tree of ForestArrays makes of raw values float64[features]; NaN is absent."""
    leaf = leaf_at(forest, tree, row)
    value = forest.constants[leaf]
    slope = forest.slopes[tree]
    if slope >= 0:
        x = row[slope]
        if x == x:
            if forest.logarithmic[slope] != 0:
                x += forest.plus[slope]
                x = forest.least[slope] if x < forest.smallest[slope] else np.log(x)
            value += forest.coefficients[leaf] * x
    return value


@kernel
def _values(forest, table, values):
    for row in range(len(table)):
        for tree in range(values.shape[1]):
            values[row, tree] = tree_value(forest, tree, table[row])


@kernel
def add_scores(forest, table, weights, scores):
    """Add the weighted sum over trees of every row of table float64[rows, features] to scores float64[rows].

    Tree after tree: one that asks a single question, and has constant leaves, is a choice between two numbers.
    """
    for tree in range(len(weights)):
        if weights[tree] == 0.0:
            continue
        node = forest.roots[tree]
        if node >= 0 and forest.children[node, 0] < 0 and forest.children[node, 1] < 0 and forest.slopes[tree] < 0:
            left = weights[tree] * forest.constants[~forest.children[node, 0]]
            right = weights[tree] * forest.constants[~forest.children[node, 1]]
            absent = left if forest.absent_left[node] == 1 else right
            feature, threshold = forest.features[node], forest.thresholds[node]
            for row in range(len(table)):
                value = table[row, feature]
                scores[row] += left if value < threshold else (right if value >= threshold else absent)
        else:
            for row in range(len(table)):
                scores[row] += weights[tree] * tree_value(forest, tree, table[row])


@kernel
def _leaves(forest, table, ends):
    for row in range(len(table)):
        for tree in range(ends.shape[1]):
            ends[row, tree] = leaf_at(forest, tree, table[row])


@kernel
def sum_rows(offsets, numbers, values, sums):
    """Add values float64[distinct, width] of the parts of each hypothesis to sums float64[hypotheses, width]."""
    for hypothesis in range(len(sums)):
        for part in range(offsets[hypothesis], offsets[hypothesis + 1]):
            for channel in range(sums.shape[1]):
                sums[hypothesis, channel] += values[numbers[part], channel]
