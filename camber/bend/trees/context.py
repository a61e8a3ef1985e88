"""Trees that look at the context of a part, as the kernels of the searches see them.

What depends on a rule alone is one number before the search. What looks at context, a language model's score say, can
only be added where a part is placed: the search fills a vector with the raw features of the part, and asks.

    vector[:] = …                       # float64[inputs], raw; NaN: absent
    worth_in_context(trees, vector)     # what all trees add to the score
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from camber.arrays.types import F8, I8
from camber.bend.trees.forest import Forest, ForestArrays, add_scores, tree_value
from camber.kernel import kernel_inlined


class ContextTrees(NamedTuple):
    """Weighted trees; `inputs` are those that any of them looks at, so that nothing else need be filled in."""

    inputs: I8  # [used]
    weights: F8  # [trees]
    forest: ForestArrays

    @classmethod
    def of(cls, forest: Forest, weights: F8) -> ContextTrees:
        """Make the arrays of a forest."""
        used = sorted({feature for tree in forest.trees for feature in tree.features_used})
        return cls(np.array(used, np.int64), weights, forest.arrays)

    def split(self, known: Collection[int]) -> tuple[ContextTrees | None, ContextTrees | None]:
        """Return the trees that ask about these inputs alone, and the others; None where there is none."""
        used = [_inputs_of(self.forest, tree) for tree in range(len(self.weights))]
        within = np.array([asked.issubset(known) for asked in used], bool)
        return self._take(used, np.flatnonzero(within)), self._take(used, np.flatnonzero(~within))

    def _take(self, used: Sequence[set[int]], trees: I8) -> ContextTrees | None:
        """Return some trees; nodes and leaves stay where they are."""
        if not len(trees):
            return None
        inputs = sorted(set().union(*(used[tree] for tree in trees.tolist())))
        forest = self.forest._replace(roots=self.forest.roots[trees], slopes=self.forest.slopes[trees])
        return ContextTrees(np.array(inputs, np.int64), self.weights[trees], forest)

    def compact(self) -> ContextTrees:
        """Return the same trees over a vector of their own inputs alone, float64[used]."""
        old, inputs = self.forest, self.inputs
        forest = old._replace(
            features=np.searchsorted(inputs, old.features),
            slopes=np.where(old.slopes >= 0, np.searchsorted(inputs, old.slopes), -1),
            **{name: getattr(old, name)[inputs] for name in ("logarithmic", "plus", "smallest", "least")},
        )
        return self._replace(forest=forest)

    def scores(self, table: F8) -> F8:
        """Return what compact trees add for rows of their inputs: float64[rows, used] → [rows]."""
        scores = np.zeros(len(table))
        add_scores(self.forest, np.ascontiguousarray(table, np.float64), self.weights, scores)
        return scores


def _inputs_of(forest: ForestArrays, tree: int) -> set[int]:
    """Return the inputs that a tree looks at."""
    slope = int(forest.slopes[tree])
    used = {slope} if slope >= 0 else set()
    waiting = [int(forest.roots[tree])]
    while waiting:
        node = waiting.pop()
        if node >= 0:
            used.add(int(forest.features[node]))
            waiting += forest.children[node].tolist()
    return used


@kernel_inlined
def worth_in_context(trees, vector):
    """Return what the trees add for a part with these raw features, float64[inputs]."""
    total = 0.0
    for tree in range(len(trees.weights)):
        total += trees.weights[tree] * tree_value(trees.forest, tree, vector)
    return total
