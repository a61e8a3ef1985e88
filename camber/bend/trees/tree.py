"""One regression tree: questions about raw values, and leaves that are constants or lines in one feature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from camber.arrays.types import F8, I8, Bools
from camber.bend.trees.acts import Acts
from camber.errors import CamberError

#: A threshold that every value is below: such a question only asks whether there is a value.
ANY_VALUE = float(np.finfo(np.float64).max)


@dataclass(frozen=True, eq=False)
class Tree:
    """Node `k` asks whether a value is below a threshold; children: left if it is, right if not.

    A child that is not negative is a node, a larger number than its parent's; otherwise it is the leaf ``~child``. The
    first node is the root; without nodes, the tree is its only leaf. A leaf adds ``constant + coefficient · x``, with x
    what a linear model takes of the feature `slope` (0 where it is absent); without one, the coefficients are 0.

    >>> tree = Tree.of_split(0, 2.0, (1.0, -1.0))
    >>> tree.leaves, tree.features_used
    (2, (0,))
    """

    features: I8  # [nodes]
    thresholds: F8  # [nodes], raw
    absent_left: Bools  # [nodes]
    children: I8  # [nodes, 2]
    constants: F8  # [leaves]
    coefficients: F8  # [leaves]
    slope: int = -1  # the feature that leaves are linear in; -1: none
    gains: F8 | None = None  # [nodes] what each split gained when it was made
    shares: F8 | None = None  # [leaves] of the parts that it was grown on
    acts: Acts | None = None  # what it did on a set, once its weight was known

    def __post_init__(self) -> None:
        def put(name: str, kind: type) -> None:
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), kind))

        for name, kind in (
            ("features", np.int64), ("thresholds", np.float64), ("absent_left", np.bool_), ("children", np.int64),
            ("constants", np.float64), ("coefficients", np.float64),
        ):  # fmt: skip
            put(name, kind)
        nodes, leaves = len(self.features), len(self.constants)
        for name, size in (("gains", nodes), ("shares", leaves)):
            if getattr(self, name) is None:
                object.__setattr__(self, name, np.zeros(size))
            put(name, np.float64)
        self._check(nodes, leaves)

    def _check(self, nodes: int, leaves: int) -> None:
        for array, shape, what in (
            (self.thresholds, (nodes,), "thresholds"),
            (self.absent_left, (nodes,), "sides of absent values"),
            (self.children, (nodes, 2), "children"),
            (self.coefficients, (leaves,), "coefficients"),
            (self.gains, (nodes,), "gains"),
            (self.shares, (leaves,), "shares"),
        ):
            if array is None or array.shape != shape:
                raise CamberError(f"a tree of {nodes} nodes and {leaves} leaves has {what} of another shape: {array}")
        if leaves != nodes + 1:
            raise CamberError(f"a tree of {nodes} nodes has {leaves} leaves, expected {nodes + 1}")
        if nodes and (self.features.min() < 0 or self.slope < -1):
            raise CamberError("a tree asks for a feature that has a negative number")
        # every node but the root, and every leaf, is the child of one node that comes before it
        inner = self.children >= 0
        ends = np.sort(~self.children[~inner]) if nodes else np.zeros(1, np.int64)
        if not np.array_equal(np.sort(self.children[inner]), np.arange(1, nodes)):
            raise CamberError("the nodes of a tree are not each the child of one other")
        if (inner & (self.children <= np.arange(nodes)[:, None])).any():
            raise CamberError("a node of a tree comes before its parent")
        if not np.array_equal(ends, np.arange(leaves)):
            raise CamberError("the leaves of a tree are not each the child of one node")
        for array, what in (
            (self.thresholds, "threshold"),
            (self.constants, "constant"),
            (self.coefficients, "coefficient"),
        ):
            if not np.isfinite(array).all():
                raise CamberError(f"a {what} of a tree is not a finite number")
        if self.slope < 0 and self.coefficients.any():
            raise CamberError("the leaves of a tree have coefficients, but no feature that they are linear in")

    @classmethod
    def of_split(
        cls, feature: int, threshold: float, constants: tuple[float, float], *, absent_left: bool = True
    ) -> Tree:
        """Make a tree of two constant leaves."""
        return cls(
            np.array([feature]), np.array([threshold]), np.array([absent_left]), np.array([[-1, -2]]),
            np.array(constants), np.zeros(2),
        )  # fmt: skip

    @property
    def leaves(self) -> int:
        """The number of leaves."""
        return len(self.constants)

    @property
    def linear(self) -> bool:
        """Whether leaves are linear in a feature."""
        return self.slope >= 0

    @property
    def gain(self) -> float:
        """What all its splits gained."""
        assert self.gains is not None  # the constructor fills them
        return float(self.gains.sum())

    @property
    def features_used(self) -> tuple[int, ...]:
        """The features that a value of the tree depends on, rising."""
        return tuple(sorted({*self.features.tolist(), *([self.slope] if self.linear else [])}))

    def among(self, chosen: Sequence[int]) -> Tree:
        """Return the tree for a table that has only the features `chosen`, in that order."""
        places = {feature: place for place, feature in enumerate(chosen)}
        features = np.array([places[feature] for feature in self.features.tolist()], np.int64)
        return replace(self, features=features, slope=places[self.slope] if self.linear else -1)

    def scaled(self, factor: float) -> Tree:
        """Return the tree with all its values multiplied."""
        return replace(self, constants=self.constants * factor, coefficients=self.coefficients * factor)

    def size(self) -> float:
        """Return the largest coefficient of its leaves; the largest constant, where these are all that they have."""
        largest = float(np.abs(self.coefficients).max())
        return largest if largest > 0.0 else float(np.abs(self.constants).max())

    def walk(self) -> Iterator[tuple[int, int]]:
        """Yield (node, depth) from the root down, the left side first; leaf `k` as ``~k``."""
        waiting = [(0 if len(self.features) else -1, 0)]
        while waiting:
            node, depth = waiting.pop()
            yield node, depth
            if node >= 0:
                waiting += [(int(child), depth + 1) for child in self.children[node][::-1]]
