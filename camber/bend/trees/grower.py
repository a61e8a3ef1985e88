"""Grow a regression tree: split the node that gains most, until there are enough leaves (Breiman et al. 1984).

    grower = Grower(rows, leaves=8)            # what depends on the rows alone is computed here, once
    grown = grower.grow(targets)               # float64[rows]: the sum over the parts of each row
    grown.tree, grown.leaf_of_rows

With leaves that are linear in a feature, a tree is grown for each feature that is tried, and the one that explains
most is kept. The histogram of all rows serves them all, so trees of two leaves cost one pass. Of the two children of a
node, only the smaller one is summed; the other is what is left of the node.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from camber.arrays.types import F8, I4, U1
from camber.bend.trees.histogram import PARTS, Histogram, fixed_sums, moving_sums, root_histogram, sums_of
from camber.bend.trees.pairs import Pairs, PairSplitter
from camber.bend.trees.rows import ON, Rows
from camber.bend.trees.splitting import Split, best_split, explained, leaf_of
from camber.bend.trees.tree import ANY_VALUE, Tree
from camber.engine import LOCAL, Engine
from camber.errors import SettingsError
from camber.kernel import kernel

MOST_LEAVES = 64


@dataclass(frozen=True, eq=False)
class Grown:
    """A tree, and where the rows that it was grown on ended."""

    tree: Tree
    leaf_of_rows: U1  # [rows]
    rows: Rows

    def values(self) -> F8:
        """Return what the tree makes of every row, float64[rows]."""
        values = np.zeros(len(self.rows))
        self.add_to(values)
        return values

    def add_to(self, sums: F8, factor: float = 1.0) -> None:
        """Add what the tree makes of every row, times a factor, to sums float64[rows] in place."""
        tree = self.tree
        if tree.linear:
            x = self.rows.slope_values[self.rows.slopes.tolist().index(tree.slope)]
            _add_lines(self.leaf_of_rows, tree.constants, tree.coefficients, x, factor, sums)
        else:
            _add_constants(self.leaf_of_rows, tree.constants, factor, sums)


@dataclass(eq=False)
class _Node:
    """A leaf that may be split further."""

    total: F8  # sums
    order: I4 | None  # its rows, rising; None: all
    histogram: Histogram | None
    split: Split | None
    parent: tuple[int, int]  # the node above and the side of it


class Grower:
    """Grows trees on the same rows for one target after the other."""

    def __init__(
        self,
        rows: Rows,
        leaves: int = 2,
        *,
        linear: bool = False,
        least: float = 1.0,
        engine: Engine = LOCAL,
    ) -> None:
        """`linear`: leaves are linear in one of the slopes of `rows`; `least`: parts that a leaf has at least."""
        if not 2 <= leaves <= MOST_LEAVES:
            raise SettingsError(f"trees of {leaves} leaves; expected 2 to {MOST_LEAVES}")
        if linear and not len(rows.slopes):
            raise SettingsError("leaves shall be linear, but the rows hold no feature for it")
        self.rows, self.leaves, self.linear, self.least, self.engine = rows, leaves, linear, least, engine
        if not linear and len(rows.slopes):
            raise SettingsError("leaves shall be constant, but the rows hold features for linear ones")
        self._fixed = fixed_sums(rows, engine)

    def grow(self, targets: npt.ArrayLike, pairs: Pairs | None = None) -> Grown:
        """Return the tree that fits targets float64[rows], which are summed over the parts of each row.

        With `pairs`, splits are chosen and leaves are fitted in the space of pairs of hypotheses.
        """
        y = np.ascontiguousarray(targets, np.float64)
        if y.shape != (len(self.rows),):
            raise SettingsError(f"{y.size} targets for {len(self.rows)} rows")
        if pairs is not None and self.linear:
            raise SettingsError("in the space of pairs, leaves can only be constant")
        moving = moving_sums(self.rows, y, self.engine)
        best: tuple[float, Tree, U1] | None = None
        for slope in range(len(self.rows.slopes)) if self.linear else (-1,):
            gain, tree, leaf_of_rows = self._grow(y, root_histogram(self._fixed, moving, slope), slope, pairs)
            if best is None or gain > best[0]:
                best = gain, tree, leaf_of_rows
        assert best is not None  # there is a slope, or none is asked for
        return Grown(best[1], best[2], self.rows)

    def _grow(self, y: F8, root: Histogram, slope: int, pairs: Pairs | None) -> tuple[float, Tree, U1]:
        """Return what the tree explains (beyond a constant for constant leaves), the tree, and the leaves of rows."""
        rows = self.rows
        splitter = None if pairs is None else PairSplitter(rows, pairs, self.engine)
        leaf_of_rows = np.zeros(len(rows), np.uint8)
        nodes = [_Node(root.total, None, root, None, (-1, 0))]
        nodes[0].split = self._best(root, splitter, leaf_of_rows, 0)
        asked: list[Split] = []
        children: list[list[int]] = []
        while len(nodes) < self.leaves:
            gains = [-1.0 if node.split is None else node.split.gain for node in nodes]
            number = int(np.argmax(gains))  # the first of equals
            node = nodes[number]
            split = node.split
            if split is None:
                break
            above, side = node.parent
            if above >= 0:
                children[above][side] = len(asked)
            left_rows, right_rows = self._divide(node, split, leaf_of_rows, number, len(nodes))
            left = _Node(split.left, left_rows, None, None, (len(asked), 0))
            right = _Node(split.right, right_rows, None, None, (len(asked), 1))
            asked.append(split)
            children.append([~number, ~len(nodes)])
            nodes[number] = left
            nodes.append(right)
            if len(nodes) < self.leaves:
                self._count(y, slope, node, left, right)
                for place, child in ((number, left), (len(nodes) - 1, right)):
                    assert child.histogram is not None  # counted just now
                    child.split = self._best(child.histogram, splitter, leaf_of_rows, place)
        values = [leaf_of(node.total) for node in nodes]
        constants, coefficients = (np.array(column) for column in zip(*values, strict=True))
        if splitter is not None:
            constants = splitter.leaf_values(leaf_of_rows, len(nodes), y)
        tree = Tree(
            np.array([split.feature for split in asked], np.int64),
            np.array([self._threshold(split) for split in asked], np.float64),
            np.array([split.absent_left for split in asked], bool),
            np.array(children, np.int64).reshape(-1, 2),
            constants,
            coefficients,
            int(rows.slopes[slope]) if slope >= 0 else -1,
            np.array([split.gain for split in asked], np.float64),
            np.array([node.total[PARTS] for node in nodes]) / max(rows.parts, 1),
        )
        return sum(explained(node.total) for node in nodes), tree, leaf_of_rows

    def _best(self, histogram: Histogram, splitter: PairSplitter | None, node_of: U1, node: int) -> Split | None:
        if splitter is None:
            return best_split(self.rows, histogram, self.least)
        return splitter.best_split(histogram, node_of, node, self.least)

    def _threshold(self, split: Split) -> float:
        if split.feature in self.rows.indicators:
            return ON
        edges = self.rows.edges[split.feature]
        return float(edges[split.edge]) if split.edge < len(edges) else ANY_VALUE

    def _divide(self, node: _Node, split: Split, leaf_of_rows: U1, number: int, new: int) -> tuple[I4, I4]:
        """Move the rows of the right side to the leaf `new`; return the rows of both sides, if there will be more."""
        codes, goes_right = self.rows.sides(split.feature, split.edge, absent_left=split.absent_left)
        if self.leaves == 2:
            if codes is None:
                leaf_of_rows[self.rows.on(split.feature)] = 1
            else:
                _assign(codes, goes_right, leaf_of_rows)
            return _NONE, _NONE
        order = np.arange(len(self.rows), dtype=np.int32) if node.order is None else node.order
        left, right = np.empty(len(order) + 1, np.int32), np.empty(len(order) + 1, np.int32)
        if codes is None:
            codes = np.zeros(len(self.rows), np.uint8)
            codes[self.rows.on(split.feature)] = 1
        count = _partition(order, codes, goes_right, leaf_of_rows, number, new, left, right)
        return left[:count], right[: len(order) - count]

    def _count(self, y: F8, slope: int, node: _Node, left: _Node, right: _Node) -> None:
        """Fill the histograms of both children: the one with fewer rows is summed."""
        assert node.histogram is not None  # its split came from there
        assert left.order is not None
        assert right.order is not None
        small, large = (left, right) if len(left.order) <= len(right.order) else (right, left)
        assert small.order is not None
        small.histogram = sums_of(self.rows, y, slope, small.order, self.engine)
        large.histogram = node.histogram.minus(small.histogram)
        node.histogram = None


_NONE = np.empty(0, np.int32)


@kernel
def _assign(codes, goes_right, leaf_of_rows):
    for row in range(len(codes)):
        leaf_of_rows[row] = goes_right[codes[row]]


@kernel
def _partition(order, codes, goes_right, leaf_of_rows, number, new, left, right):
    """Divide rows int32 in two, each in the old order; return how many go left. Both sides have room for one more."""
    count = other = 0
    for at in range(len(order)):
        row = order[at]
        goes = goes_right[codes[row]]
        left[count] = row  # without a branch, since nobody could foretell which way it goes
        right[other] = row
        other += goes
        count += 1 - goes
        leaf_of_rows[row] = new if goes else number
    return count


@kernel
def _add_constants(leaf_of_rows, constants, factor, sums):
    for row in range(len(sums)):
        sums[row] += factor * constants[leaf_of_rows[row]]


@kernel
def _add_lines(leaf_of_rows, constants, coefficients, x, factor, sums):
    for row in range(len(sums)):
        leaf = leaf_of_rows[row]
        sums[row] += factor * (constants[leaf] + coefficients[leaf] * x[row])
