"""``trees.json``: a forest for people and programs, which reads back to the last bit.

    {"format": "camber trees 1", "features": [{"name": "lm", "kind": "number", …}, …],
     "trees": [{"name": "tree1", "linear in": null, "root":
        {"feature": "lm", "below": -3.25, "absent": "then", "gain": 12.5, "share": 1.0,
         "then": {"constant": 1.0, "share": 0.25}, "else": {"constant": -0.3, "share": 0.75}},
        "acted": {"parts": {"acted": 250, "of": 1000, "share": 0.25},
                  "sentences": {"acted": 3, "of": 40, "share": 0.075, "better": 2, "worse": 1},
                  "examples": [{"sentence": 17, "source": "…", "with": "…", "without": "…", "change": 4.5}, …]}}, …]}

A question is answered by `then` where the value is below the number, by `else` otherwise; `absent` says which of both
is for what has no value. A question without "below" asks only whether there is one. Shares are of the parts that the
tree was grown on. What it did on the dev set (`acts`) is there once it has been tuned; older files lack it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from camber.bend.trees.acts import Acts, Example
from camber.bend.trees.forest import Forest
from camber.bend.trees.grower import MOST_LEAVES
from camber.bend.trees.tree import ANY_VALUE, Tree
from camber.errors import CamberError, InputError
from camber.features.feature import Feature, names_of
from camber.files import read_bytes, write_lines

FORMAT = "camber trees 1"
MOST_DEPTH = MOST_LEAVES


def write_forest(path: str | Path, forest: Forest) -> None:
    """Write ``trees.json``."""
    write_lines(path, json.dumps(forest_to_json(forest), indent=1, ensure_ascii=False, allow_nan=False).split("\n"))


def read_forest(path: str | Path) -> Forest:
    """Read what :func:`write_forest` wrote; anything else is an error that says what is wrong."""

    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"{constant} is no number here")

    try:
        return forest_from_json(json.loads(read_bytes(path).decode("utf-8"), parse_constant=refuse))
    except (ValueError, RecursionError, OverflowError, CamberError) as error:  # those of JSON and UTF-8 are ValueErrors
        raise InputError(f"this is no forest: {error}", path) from None


def forest_to_json(forest: Forest) -> dict[str, Any]:
    """Return a forest as plain values."""
    trees = [tree_to_json(name, tree, forest.features) for name, tree in zip(forest.names, forest.trees, strict=True)]
    return {"format": FORMAT, "features": [asdict(feature) for feature in forest.features], "trees": trees}


def tree_to_json(name: str, tree: Tree, features: Sequence[Feature]) -> dict[str, Any]:
    """Return one tree as plain values."""
    return {
        "name": name,
        "linear in": features[tree.slope].name if tree.linear else None,
        "root": _node_to_json(tree, features, 0 if len(tree.features) else -1),
        **({} if tree.acts is None else {"acted": _acts_to_json(tree.acts)}),
    }


def _acts_to_json(acts: Acts) -> dict[str, Any]:
    return {
        "parts": {"acted": acts.parts, "of": acts.of_parts, "share": acts.share_of_parts},
        "sentences": {
            "acted": acts.sentences,
            "of": acts.of_sentences,
            "share": acts.share_of_sentences,
            "better": acts.better,
            "worse": acts.worse,
        },
        "examples": [
            {
                "sentence": example.sentence,
                "source": example.source,
                "with": example.with_tree,
                "without": example.without,
                "change": example.change,
            }
            for example in acts.examples
        ],
    }


def _node_to_json(tree: Tree, features: Sequence[Feature], node: int) -> dict[str, Any]:
    assert tree.gains is not None  # the constructor fills them
    assert tree.shares is not None
    if node < 0:
        leaf: dict[str, Any] = {"constant": float(tree.constants[~node])}
        if tree.linear:
            leaf["coefficient"] = float(tree.coefficients[~node])
        return {**leaf, "share": float(tree.shares[~node])}
    left, right = (_node_to_json(tree, features, child) for child in tree.children[node].tolist())
    threshold = float(tree.thresholds[node])
    return {
        "feature": features[int(tree.features[node])].name,
        **({} if threshold == ANY_VALUE else {"below": threshold}),
        "absent": "then" if tree.absent_left[node] else "else",
        "gain": float(tree.gains[node]),
        "share": left["share"] + right["share"],
        "then": left,
        "else": right,
    }


def forest_from_json(document: Any) -> Forest:
    """Return the forest that plain values describe."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        given = document.get("format") if isinstance(document, dict) else type(document).__name__
        raise CamberError(f"its format is {given!r}, expected {FORMAT!r}")
    features = tuple(_feature(item) for item in _list(document, "features"))
    names = names_of(features)
    if len(set(names)) != len(names):
        raise CamberError("a feature is there twice")
    places = {name: place for place, name in enumerate(names)}
    trees = []
    for number, item in enumerate(_list(document, "trees")):
        try:
            trees.append(_tree(item, places))
        except CamberError as error:
            raise CamberError(f"tree {number + 1}: {error}") from None
    return Forest(features, tuple(trees))


def _list(document: dict[str, Any], key: str) -> list[Any]:
    if not isinstance(document.get(key), list):
        raise CamberError(f"it has no list {key!r}")
    return list(document[key])


def _feature(item: Any) -> Feature:
    if not isinstance(item, dict) or not {"name"} <= set(item) <= {"name", "kind", "scope", "least", "plus"}:
        raise CamberError(f"{item!r} is no feature; expected name, kind, scope, least, plus")
    texts = {key: item[key] for key in ("name", "kind", "scope") if key in item}
    if not all(isinstance(text, str) for text in texts.values()):
        raise CamberError(f"{item!r} is no feature; its name, kind and scope must be texts")
    numbers = {key: _number(item, key) for key in ("least", "plus") if key in item}
    return Feature(**texts, **numbers)  # type: ignore[arg-type]


def _number(item: dict[str, Any], key: str) -> float:
    value = item.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise CamberError(f"{key!r} is {value!r}, expected a number")
    return float(value)


def _count(item: dict[str, Any], key: str, most: int | None = None) -> int:
    value = item.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0 or (most is not None and value > most):
        expected = "a whole number" if most is None else f"a whole number up to {most:,}"
        raise CamberError(f"{key!r} is {value!r}, expected {expected}")
    return value


def _text(item: dict[str, Any], key: str) -> str:
    value = item.get(key)
    if not isinstance(value, str):
        raise CamberError(f"{key!r} is {value!r}, expected a text")
    return value


def _named(item: Any, what: str) -> dict[str, Any]:
    if not isinstance(item, dict):
        raise CamberError(f"{what} is {item!r:.40}, expected names with values")
    return item


def _acts(item: Any) -> Acts:
    item = _named(item, "'acted'")
    parts, sentences = _named(item.get("parts"), "'parts'"), _named(item.get("sentences"), "'sentences'")
    of_parts, of_sentences = _count(parts, "of"), _count(sentences, "of")
    acted = _count(sentences, "acted", of_sentences)
    better = _count(sentences, "better", acted)
    worse = _count(sentences, "worse", acted - better)
    examples = tuple(_example(_named(one, "an example"), of_sentences) for one in _list(item, "examples"))
    return Acts(_count(parts, "acted", of_parts), of_parts, acted, of_sentences, better, worse, examples)


def _example(item: dict[str, Any], sentences: int) -> Example:
    source, with_tree, without = (_text(item, key) for key in ("source", "with", "without"))
    return Example(_count(item, "sentence", sentences), source, with_tree, without, _number(item, "change"))


def _place(places: dict[str, int], name: Any) -> int:
    if not isinstance(name, str) or name not in places:
        raise CamberError(f"no feature is called {name!r}; known: {', '.join(places)}")
    return places[name]


def _tree(item: Any, places: dict[str, int]) -> Tree:
    if not isinstance(item, dict) or "root" not in item:
        raise CamberError("it has no root")
    slope = -1 if item.get("linear in") is None else _place(places, item["linear in"])
    nodes: list[tuple[int, float, bool, float]] = []
    children: list[list[int]] = []
    leaves: list[tuple[float, float, float]] = []

    def add(node: Any, depth: int) -> int:
        if not isinstance(node, dict) or depth > MOST_DEPTH or len(leaves) >= MOST_LEAVES:
            raise CamberError(f"a node is {node!r:.40}; expected at most {MOST_LEAVES} leaves, and names with values")
        if "feature" not in node:
            coefficient = _number(node, "coefficient") if slope >= 0 else 0.0
            leaves.append((_number(node, "constant"), coefficient, _number(node, "share")))
            return ~(len(leaves) - 1)
        if node.get("absent") not in ("then", "else"):
            raise CamberError(f"what is absent goes to {node.get('absent')!r}, expected 'then' or 'else'")
        threshold = _number(node, "below") if "below" in node else ANY_VALUE
        number = len(nodes)
        feature = _place(places, node["feature"])
        nodes.append((feature, threshold, node["absent"] == "then", _number(node, "gain")))
        children.append([0, 0])
        children[number] = [add(node.get("then"), depth + 1), add(node.get("else"), depth + 1)]
        return number

    add(item["root"], 0)
    features, thresholds, sides, gains = zip(*nodes, strict=True) if nodes else ((), (), (), ())
    constants, coefficients, shares = zip(*leaves, strict=True)
    return Tree(
        np.array(features, np.int64), np.array(thresholds, np.float64), np.array(sides, bool),
        np.array(children, np.int64).reshape(-1, 2), np.array(constants), np.array(coefficients), slope,
        np.array(gains, np.float64), np.array(shares), _acts(item["acted"]) if "acted" in item else None,
    )  # fmt: skip
