"""What trees did is told in words, and their file keeps it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from camber.bend.trees.acts import Acts, Example
from camber.bend.trees.description import WeighedTree
from camber.bend.trees.document import forest_from_json, forest_to_json, read_forest, write_forest
from camber.bend.trees.forest import Forest
from camber.bend.trees.tree import Tree
from camber.errors import CamberError
from camber.features.feature import Feature

FEATURES = (Feature("lm"), Feature("words"))
EXAMPLE = Example(2, "el “gato” negro", "the black cat", "the cat black", 1 / 3)
ACTS = Acts(1, 4, 2, 3, 1, 1, (EXAMPLE,))
TREE = replace(Tree.of_split(0, -2.5, (1.0, -1.0)), acts=ACTS)


def test_the_file_keeps_what_trees_did(tmp_path: Path) -> None:
    forest = Forest(FEATURES, (TREE, Tree.of_split(1, 2.0, (0.5, 0.0))))
    write_forest(tmp_path / "trees.json", forest)
    again = read_forest(tmp_path / "trees.json")
    assert [tree.acts for tree in again.trees] == [ACTS, None]
    assert forest_to_json(again) == forest_to_json(forest)
    first, second = forest_to_json(forest)["trees"]
    assert first["acted"]["parts"] == {"acted": 1, "of": 4, "share": 0.25}
    assert "acted" not in second


def test_a_tree_is_told_with_what_it_did() -> None:
    tree = replace(TREE, gains=[12.5], shares=[0.25, 0.75])
    weighed = WeighedTree("tree1", tree, FEATURES, 0.5)
    assert weighed.lines() == [
        "tree1, weight 0.5, gain 12.5",
        "  lm < -2.5 or absent: +0.5 (25 % of parts)",
        "  otherwise: -0.5 (75 % of parts)",
        "  acts on 25 % of parts, and changed 2 of 3 sentences (67 %): 1 better, 1 worse",
        "    2: el “gato” negro → the black [cat], without it: the [cat] black",
    ]
    assert weighed.asks_about == ("lm",)
    told = weighed.to_json()
    assert (told["weight"], told["gain"], told["acted"]["sentences"]["better"]) == (0.5, 12.5, 1)


def test_a_tree_of_several_questions_tells_the_gain_of_each() -> None:
    tree = Tree(
        [0, 1], [1.0, 3.0], [False, True], [[-1, 1], [-2, -3]], [1.0, 2.0, 3.0], [0.5, 0.0, -0.5], 1, [8.0, 2.0]
    )
    assert WeighedTree("tree7", tree, FEATURES, 2.0).lines() == [
        "tree7, weight 2, gain 10",
        "  lm < 1, gain 8: +2 +1 · words",
        "  otherwise:",
        "    words < 3 or absent, gain 2: +4 +0 · words",
        "    otherwise: +6 -1 · words",
    ]


def test_changes_of_a_tree_keep_what_it_did() -> None:
    assert Forest(FEATURES, (TREE,)).take([0]).trees[0].acts is ACTS
    assert TREE.scaled(2.0).acts is ACTS
    assert TREE.among([0]).acts is ACTS


def changed(**values: Any) -> dict[str, Any]:
    acts: dict[str, Any] = {
        "parts": {"acted": 1, "of": 4},
        "sentences": {"acted": 2, "of": 3, "better": 1, "worse": 1},
        "examples": [{"sentence": 2, "source": "", "with": "a", "without": "b", "change": 1.5}],
    }
    for key, value in values.items():
        first, _, second = key.partition("_")
        if second:
            (acts[first][0] if first == "examples" else acts[first])[second] = value
        else:
            acts[first] = value
    return acts


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (None, "'acted' is None"),
        (changed(parts=3), "'parts' is 3"),
        (changed(parts_acted=5), "'acted' is 5, expected a whole number up to 4"),
        (changed(parts_acted=-1), "'acted' is -1"),
        (changed(parts_of=True), "'of' is True"),
        (changed(sentences_acted=1.5), "'acted' is 1.5"),
        (changed(sentences_acted=4), "'acted' is 4, expected a whole number up to 3"),
        (changed(sentences_worse=2), "'worse' is 2, expected a whole number up to 1"),
        (changed(examples=None), "no list 'examples'"),
        (changed(examples=["x"]), "an example is 'x'"),
        (changed(examples_sentence=4), "'sentence' is 4"),
        (changed(examples_with=7), "'with' is 7, expected a text"),
        (changed(examples_change="x"), "'change' is 'x', expected a number"),
    ],
)
def test_what_no_tree_can_have_done_is_refused(wrong: Any, message: str) -> None:
    document = forest_to_json(Forest((Feature("x"),), (Tree.of_split(0, 1.0, (1.0, 2.0)),)))
    document["trees"][0]["acted"] = changed()
    assert forest_from_json(document).trees[0].acts == Acts(1, 4, 2, 3, 1, 1, (Example(2, "", "a", "b", 1.5),))
    document["trees"][0]["acted"] = wrong
    with pytest.raises(CamberError, match=message):
        forest_from_json(document)
