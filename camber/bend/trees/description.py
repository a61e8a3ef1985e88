"""A tree as people see it: with its name and weight, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from camber.bend.trees.acts import Acts, Example
from camber.bend.trees.document import tree_to_json
from camber.bend.trees.forest import Forest
from camber.bend.trees.tree import ANY_VALUE, Tree
from camber.features.feature import Feature
from camber.text.difference import differences


@dataclass(frozen=True, eq=False)
class WeighedTree:
    """A tree of a model.

    >>> weighed = WeighedTree("tree1", Tree.of_split(0, -2.5, (1.0, -1.0)), (Feature("lm"),), 0.5)
    >>> print("\\n".join(weighed.lines()))
    tree1, weight 0.5, gain 0
      lm < -2.5 or absent: +0.5
      otherwise: -0.5
    """

    name: str
    tree: Tree
    features: tuple[Feature, ...]  # that the tree may ask about
    weight: float

    @property
    def asks_about(self) -> tuple[str, ...]:
        """The names of the features that its value depends on."""
        return tuple(self.features[feature].name for feature in self.tree.features_used)

    def question(self, node: int, written: Callable[[float], str] = "{:g}".format) -> str:
        """Return what a node asks, with numbers as they are to be written; where the answer is yes, it goes left."""
        tree = self.tree
        name, threshold = self.features[int(tree.features[node])].name, float(tree.thresholds[node])
        if threshold == ANY_VALUE:
            return f"{name} is absent" if not tree.absent_left[node] else f"{name} is there or absent"
        return f"{name} < {written(threshold)}" + (" or absent" if tree.absent_left[node] else "")

    def gain(self, node: int) -> float:
        """Return what the split of a node gained when it was made."""
        return 0.0 if self.tree.gains is None else float(self.tree.gains[node])

    def share(self, leaf: int) -> float:
        """Return the share of the parts that it was grown on which ended in a leaf; 0: not known."""
        return 0.0 if self.tree.shares is None else float(self.tree.shares[leaf])

    def worth(self, leaf: int) -> tuple[float, float]:
        """Return what a leaf adds to the score: a constant, and how often the feature that leaves are linear in."""
        return self.weight * float(self.tree.constants[leaf]), self.weight * float(self.tree.coefficients[leaf])

    def adds(self, leaf: int) -> str:
        """Return in words what a leaf adds to the score."""
        constant, coefficient = self.worth(leaf)
        line = f" {coefficient:+.4g} · {self.features[self.tree.slope].name}" if self.tree.linear else ""
        return f"{constant:+.4g}{line}"

    def lines(self) -> list[str]:
        """Return the lines that tell the tree: its questions, what its leaves add, and what it did."""
        tree = self.tree
        lines = [f"{self.name}, weight {self.weight:g}, gain {tree.gain:.4g}"]
        leads_to = {-1: "always"}  # node or leaf → the answer that leads to it
        for node, depth in tree.walk():
            indent = "  " * max(1, depth)
            if node < 0:
                share = self.share(~node)
                known = f" ({percent(share)} of parts)" if share else ""
                lines.append(f"{indent}{leads_to[node]}: {self.adds(~node)}{known}")
                continue
            low, high = tree.children[node].tolist()
            gain = f", gain {self.gain(node):.4g}" if len(tree.features) > 1 else ""
            leads_to[low], leads_to[high] = self.question(node) + gain, "otherwise"
            if node:
                lines.append(f"{indent}{leads_to[node]}:")
        if tree.acts is not None:
            lines += [f"  {summary(tree.acts)}", *(f"    {marked(example)}" for example in tree.acts.examples)]
        return lines

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values, as in ``trees.json``, with its weight and what all its splits gained."""
        return {**tree_to_json(self.name, self.tree, self.features), "weight": self.weight, "gain": self.tree.gain}


def weighed_trees(forest: Forest, weights: Iterable[float]) -> list[WeighedTree]:
    """Return the trees of a forest with their weights [trees]."""
    named = zip(forest.names, forest.trees, weights, strict=True)
    return [WeighedTree(name, tree, forest.features, float(weight)) for name, tree, weight in named]


def percent(share: float) -> str:
    """Write a share.

    >>> percent(0.25), percent(0.071), percent(0.0004), percent(0.0)
    ('25 %', '7.1 %', '0.04 %', '0 %')
    """
    return f"{100 * share:.2g} %" if share < 0.995 else f"{100 * share:.3g} %"


def summary(acts: Acts) -> str:
    """Say in a line how often a tree acted.

    >>> summary(Acts(5, 200, 3, 40, 2, 1))
    'acts on 2.5 % of parts, and changed 3 of 40 sentences (7.5 %): 2 better, 1 worse'
    """
    told = f"acts on {percent(acts.share_of_parts)} of parts, and changed {acts.sentences:,} of "
    told += f"{acts.of_sentences:,} sentence{'s' * (acts.of_sentences != 1)}"
    if not acts.sentences:
        return told
    return f"{told} ({percent(acts.share_of_sentences)}): {acts.better:,} better, {acts.worse:,} worse"


def marked(example: Example) -> str:
    """Tell an example in a line, with brackets around what differs.

    >>> marked(Example(17, "ein haus", "a house", "a big home", 4.0))
    '17: ein haus → a [house], without it: a [big home]'
    """
    one, two = "", ""
    for piece in differences(example.with_tree, example.without):
        one += piece.one if piece.same else _bracketed(piece.one)
        two += piece.two if piece.same else _bracketed(piece.two)
    source = f"{example.source} → " if example.source else ""
    return f"{example.sentence:,}: {source}{one}, without it: {two}"


def _bracketed(words: str) -> str:
    inside = words.strip()
    return f"{words[: len(words) - len(words.lstrip())]}[{inside}]" if inside else ""


__all__ = ["WeighedTree", "marked", "percent", "summary", "weighed_trees"]
