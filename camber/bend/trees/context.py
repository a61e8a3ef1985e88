"""Trees that look at the context of a part, as the kernels of the searches see them.

What depends on a rule alone is one number before the search. What looks at context, a language model's score say, can
only be added where a part is placed: the search fills a vector with the raw features of the part, and asks.

    vector[:] = …                       # float64[inputs], raw; NaN: absent
    worth_in_context(trees, vector)     # what all trees add to the score
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from camber.arrays.types import F8, I8
from camber.bend.trees.forest import Forest, ForestArrays, tree_value
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


@kernel_inlined
def worth_in_context(trees, vector):
    """Return what the trees add for a part with these raw features, float64[inputs]."""
    total = 0.0
    for tree in range(len(trees.weights)):
        total += trees.weights[tree] * tree_value(trees.forest, tree, vector)
    return total
