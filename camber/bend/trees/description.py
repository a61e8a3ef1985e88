"""Trees in words."""

from __future__ import annotations

from camber.bend.trees.forest import Forest
from camber.bend.trees.tree import ANY_VALUE, Tree


def describe(forest: Forest, number: int, weight: float) -> list[str]:
    """Return the lines that tell a tree: its questions, and what its leaves add to the score with its weight.

    >>> from camber.features.feature import Feature
    >>> print("\\n".join(describe(Forest((Feature("lm"),), (Tree.of_split(0, -2.5, (1.0, -1.0)),)), 0, 0.5)))
    tree1, weight 0.5
      lm < -2.5 or absent: +0.5
      otherwise: -0.5
    """
    tree = forest.trees[number]
    lines = [f"{forest.names[number]}, weight {weight:g}"]
    leads_to = {-1: "always"}  # node or leaf → the answer that leads to it
    for node, depth in tree.walk():
        if node < 0:
            lines.append(f"{'  ' * max(1, depth)}{leads_to[node]}: {_leaf(forest, tree, ~node, weight)}")
            continue
        low, high = tree.children[node].tolist()
        leads_to[low], leads_to[high] = _question(forest, tree, node), "otherwise"
        if node:
            lines.append(f"{'  ' * depth}{leads_to[node]}:")
    return lines


def _question(forest: Forest, tree: Tree, node: int) -> str:
    name, threshold = forest.features[int(tree.features[node])].name, float(tree.thresholds[node])
    if threshold == ANY_VALUE:
        return f"{name} is absent" if not tree.absent_left[node] else f"{name} is there or absent"
    return f"{name} < {threshold:g}" + (" or absent" if tree.absent_left[node] else "")


def _leaf(forest: Forest, tree: Tree, leaf: int, weight: float) -> str:
    worth = f"{weight * float(tree.constants[leaf]):+.4g}"
    if tree.linear:
        worth += f" {weight * float(tree.coefficients[leaf]):+.4g} · {forest.features[tree.slope].name}"
    share = float(tree.shares[leaf]) if tree.shares is not None else 0.0
    return worth + (f" ({100 * share:.0f} % of parts)" if share else "")
