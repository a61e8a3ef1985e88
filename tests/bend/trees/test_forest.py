"""Forests read raw values as their file says, and the file reads back to the last bit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from naive import regression_trees as naive

from camber.arrays.types import F8
from camber.bend.trees.document import forest_from_json, forest_to_json, read_forest, write_forest
from camber.bend.trees.forest import Forest
from camber.bend.trees.grower import Grower
from camber.bend.trees.rows import Rows
from camber.bend.trees.tree import ANY_VALUE, Tree
from camber.errors import CamberError, InputError
from camber.features.feature import Feature
from camber.features.parts import Parts

FEATURES = (
    Feature("p", "probability", "rule"),
    Feature("count", "count", "rule", least=-2.0, plus=0.5),
    Feature("is_new", "indicator", "rule"),
    Feature("lm", "number", "context"),
)


def example() -> tuple[Forest, F8]:
    rng = np.random.default_rng(1)
    table = np.column_stack(
        [rng.random(600), rng.integers(0, 9, 600), rng.random(600) < 0.05, rng.normal(size=600).round(2)]
    )
    table[rng.random(table.shape) < 0.1] = np.nan
    table[:3, 0] = 0.0  # its logarithm has a floor
    targets = rng.normal(size=600) + (np.nan_to_num(table[:, 0]) > 0.4)
    trees = [Grower(Rows.of_dense(FEATURES, table), leaves).grow(targets).tree for leaves in (2, 8)]
    lines = Rows.of_dense(FEATURES, table, slopes=("p", "count"))
    trees += [Grower(lines, leaves, linear=True).grow(targets).tree for leaves in (2, 4)]
    trees.append(Tree.of_split(3, ANY_VALUE, (0.25, -1.0), absent_left=False))
    return Forest(FEATURES, tuple(trees)), table


def test_values_are_those_that_the_file_describes() -> None:
    forest, table = example()
    values = forest.values(table)
    linear = np.column_stack([feature.linear(table[:, at]) for at, feature in enumerate(FEATURES)])
    names = [feature.name for feature in FEATURES]
    for number, tree in enumerate(forest_to_json(forest)["trees"]):
        of_slope = tree["linear in"]
        for row in range(len(table)):
            raw: dict[Any, float] = dict(zip(names, table[row].tolist(), strict=True))
            if of_slope is not None:
                raw["x"] = float(linear[row, names.index(of_slope)])
            expected = naive.tree_value(tree["root"], raw, None if of_slope is None else "x")
            assert values[row, number] == pytest.approx(expected, abs=1e-12)


def test_the_file_reads_back_to_the_last_bit(tmp_path: Path) -> None:
    forest, table = example()
    write_forest(tmp_path / "trees.json", forest)
    again = read_forest(tmp_path / "trees.json")
    assert again.features == forest.features
    assert again.names == forest.names == ("tree1", "tree2", "tree3", "tree4", "tree5")
    assert np.array_equal(again.values(table), forest.values(table))
    assert forest_to_json(again) == forest_to_json(forest)
    write_forest(tmp_path / "again.json", again)
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "trees.json").read_bytes()


def test_sums_are_over_the_parts_of_a_hypothesis() -> None:
    forest, table = example()
    table = np.repeat(table, 2, axis=0)
    offsets = np.array([0, 0, 5, 600, 1200])
    values = forest.values(table)
    sums = forest.sums(Parts.of_dense(FEATURES, table), offsets)
    for hypothesis in range(4):
        expected = values[offsets[hypothesis] : offsets[hypothesis + 1]].sum(0)
        assert np.allclose(sums[hypothesis], expected)
    weights = np.arange(5.0) - 2.0
    assert np.allclose(forest.scores(table, weights), values @ weights)
    total = np.zeros(len(table))
    for weight, column in zip(weights.tolist(), values.T, strict=True):  # in this order, to the last bit
        total += weight * column
    assert forest.scores(table, weights).tolist() == total.tolist()


def test_a_forest_says_what_its_trees_look_at() -> None:
    forest = Forest(FEATURES, (Tree.of_split(0, 0.5, (1.0, 0.0)), Tree.of_split(3, -1.0, (1.0, 0.0))))
    assert forest.of_rules().tolist() == [True, False]
    assert [forest.names_used(tree) for tree in range(2)] == [("p",), ("lm",)]
    assert forest.take([1]).names_used(0) == ("lm",)
    assert Forest(FEATURES, ()).values(np.zeros((3, 4))).shape == (3, 0)


def test_other_features_are_refused() -> None:
    forest, table = example()
    with pytest.raises(CamberError, match="4 features cannot read a table"):
        forest.values(table[:, :3])
    with pytest.raises(CamberError, match="cannot read parts with x"):
        forest.sums(Parts.of_dense((Feature("x"),), [[1.0]]), np.array([0, 1]))
    with pytest.raises(CamberError, match="beyond the 1"):
        Forest((Feature("x"),), forest.trees)


LEAF = {"constant": 1.0, "share": 0.5}
NODE = {"feature": "p", "below": 0.5, "absent": "then", "gain": 1.0, "then": LEAF, "else": LEAF}


def document(**root: Any) -> dict[str, Any]:
    tree = {"name": "tree1", "linear in": None, "root": NODE | root}
    return {"format": "camber trees 1", "features": [{"name": "p"}], "trees": [tree]}


def deep(levels: int) -> dict[str, Any]:
    node: dict[str, Any] = LEAF
    for _ in range(levels):
        node = NODE | {"then": node}
    return node


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([], "format is 'list'"),
        ({"format": "camber trees 2"}, "expected 'camber trees 1'"),
        ({"format": "camber trees 1", "features": [{"name": "p"}]}, "no list 'trees'"),
        (document() | {"features": [{"name": "p"}, {"name": "p"}]}, "there twice"),
        (document() | {"features": [{"name": 3}]}, "must be texts"),
        (document() | {"features": [{"name": "p", "kind": "odd"}]}, "kind 'odd'"),
        (document() | {"trees": [{}]}, "tree 1: it has no root"),
        (document(feature="q"), "no feature is called 'q'"),
        (document(below="x"), "'below' is 'x'"),
        (document(below=True), "'below' is True"),
        (document(absent="left"), "expected 'then' or 'else'"),
        (document(then=None), "a node is None"),
        (document(then={"share": 1.0}), "'constant' is None"),
        (document(then=deep(70)), "at most 64 leaves"),
    ],
)
def test_what_is_no_forest_is_refused(wrong: Any, message: str) -> None:
    with pytest.raises(CamberError, match=message):
        forest_from_json(wrong)


@pytest.mark.parametrize("text", ["{", "\xff", "[" * 100_000, json.dumps(document(below=float("inf")))])
def test_a_file_that_is_no_forest_is_named(text: str, tmp_path: Path) -> None:
    path = tmp_path / "trees.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=r"trees\.json: this is no forest"):
        read_forest(path)
    assert forest_from_json(document()).trees[0].leaves == 2


@pytest.mark.parametrize(
    ("children", "message"),
    [
        ([[0, -1], [-2, -3]], "child of one other"),
        ([[1, 1], [-1, -2]], "child of one other"),
        ([[1, -1], [-2, -2]], "leaves of a tree"),
        ([[2, -1], [-2, -3]], "child of one other"),
        ([[-1, -2], [1, -3]], "before its parent"),
    ],
)
def test_trees_with_cycles_or_lost_nodes_are_refused(children: list[list[int]], message: str) -> None:
    with pytest.raises(CamberError, match=message):
        Tree(np.zeros(2), np.zeros(2), np.zeros(2), np.array(children), np.zeros(3), np.zeros(3))


def test_numbers_of_trees_are_finite() -> None:
    with pytest.raises(CamberError, match="threshold of a tree is not a finite"):
        Tree.of_split(0, float("nan"), (1.0, 2.0))
    with pytest.raises(CamberError, match="constant of a tree is not a finite"):
        Tree.of_split(0, 1.0, (1.0, float("inf")))
