"""``trees.json``: a forest for people and programs, which reads back to the last bit.

    {"format": "camber trees 1", "features": [{"name": "lm", "kind": "number", …}, …],
     "trees": [{"name": "tree1", "linear in": null, "root":
        {"feature": "lm", "below": -3.25, "absent": "then", "gain": 12.5, "share": 1.0,
         "then": {"constant": 1.0, "share": 0.25}, "else": {"constant": -0.3, "share": 0.75}}}, …]}

A question is answered by `then` where the value is below the number, by `else` otherwise; `absent` says which of both
is for what has no value. A question without "below" asks only whether there is one. Shares are of the parts that the
tree was grown on.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

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
    except (ValueError, RecursionError, CamberError) as error:  # those of JSON and UTF-8 are ValueErrors
        raise InputError(f"this is no forest: {error}", path) from None


def forest_to_json(forest: Forest) -> dict[str, Any]:
    """Return a forest as plain values."""
    trees = [
        {
            "name": name,
            "linear in": forest.features[tree.slope].name if tree.linear else None,
            "root": _node_to_json(forest, tree, 0 if len(tree.features) else -1),
        }
        for name, tree in zip(forest.names, forest.trees, strict=True)
    ]
    return {"format": FORMAT, "features": [asdict(feature) for feature in forest.features], "trees": trees}


def _node_to_json(forest: Forest, tree: Tree, node: int) -> dict[str, Any]:
    assert tree.gains is not None  # the constructor fills them
    assert tree.shares is not None
    if node < 0:
        leaf: dict[str, Any] = {"constant": float(tree.constants[~node])}
        if tree.linear:
            leaf["coefficient"] = float(tree.coefficients[~node])
        return {**leaf, "share": float(tree.shares[~node])}
    left, right = (_node_to_json(forest, tree, child) for child in tree.children[node].tolist())
    threshold = float(tree.thresholds[node])
    return {
        "feature": forest.features[int(tree.features[node])].name,
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
        np.array(gains, np.float64), np.array(shares),
    )  # fmt: skip
