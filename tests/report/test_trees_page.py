"""Trees as pictures and as a part of a page: whole, inside their frame, and safe whatever the names and texts are."""

from __future__ import annotations

import itertools
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from camber.bend.response import Response
from camber.bend.trees.acts import Acts, Example
from camber.bend.trees.description import WeighedTree
from camber.bend.trees.tree import ANY_VALUE, Tree
from camber.errors import CamberError
from camber.features.feature import Feature
from camber.report.curves import lines, page, sheet, write_curves
from camber.report.drawing import Runs, Shape, Text, svg_file
from camber.report.learnt import Learnt
from camber.report.markup import text_width
from camber.report.tree_panel import tree_panel

EVIL = '<script>alert("x")</script> & $x_1$ \'"'
FEATURES = tuple(map(Feature, ("lm", "words", EVIL, "p_" + "long_" * 40 + "name", "distortion")))
LONG = "the quick brown fox jumps over the lazy dog and " * 12
EXAMPLES = (
    Example(3, "ein haus", "a house", "a big home", 4.25),
    Example(1200, EVIL, f"{EVIL} one", f"{EVIL} two", -1.0),
    Example(7, LONG, f"{LONG} sees a cat", f"{LONG} sees the cat. {LONG}", 0.0),
)


def grown(seed: int, leaves: int, linear: bool = False) -> Tree:
    """Draw a tree: some leaf becomes a question, again and again."""
    rng = np.random.default_rng(seed)
    children: list[list[int]] = []
    places = [(-1, 0)]  # of every leaf: its parent and side
    while len(places) < leaves:
        parent, side = places.pop(int(rng.integers(len(places))))
        if parent >= 0:
            children[parent][side] = len(children)
        places += [(len(children), 0), (len(children), 1)]
        children.append([0, 0])
    for leaf, (parent, side) in enumerate(places):
        if parent >= 0:
            children[parent][side] = ~leaf
    nodes = len(children)
    return Tree(
        rng.integers(0, len(FEATURES), nodes), rng.normal(size=nodes), rng.random(nodes) < 0.5,
        np.array(children, np.int64).reshape(-1, 2), rng.normal(size=leaves),
        rng.normal(size=leaves) if linear else np.zeros(leaves), 3 if linear else -1, rng.gamma(1.0, 50.0, nodes),
        rng.dirichlet(np.ones(leaves)),
    )  # fmt: skip


def chain(leaves: int) -> Tree:
    nodes = leaves - 1
    children = [[~k, k + 1 if k + 1 < nodes else ~nodes] for k in range(nodes)]
    return Tree(
        np.arange(nodes) % 3, np.arange(nodes) - 2.5, np.ones(nodes, bool), np.array(children), np.arange(leaves) / 7,
        np.zeros(leaves), shares=np.full(leaves, 1 / leaves),
    )  # fmt: skip


def weighed(*trees: Tree) -> list[WeighedTree]:
    return [WeighedTree(f"tree{number}", tree, FEATURES, 0.5) for number, tree in enumerate(trees, 1)]


def made() -> list[WeighedTree]:
    """Trees of all kinds: stumps, many questions, lines, a chain, one that only asks for absence, one leaf."""
    did = Acts(25, 1000, 3, 1500, 1, 1, EXAMPLES)
    idle = Acts(0, 1000, 0, 1500, 0, 0)
    return weighed(
        replace(Tree.of_split(0, -2.5, (1.0, -1.0)), acts=did, gains=[12.5], shares=[0.25, 0.75]),
        replace(grown(1, 8), acts=did),
        replace(grown(2, 5, linear=True), acts=idle),
        replace(chain(64), acts=did),
        Tree.of_split(4, ANY_VALUE, (0.25, -1.0), absent_left=False),
        Tree(*([np.zeros(0)] * 3), np.zeros((0, 2)), [2.0], [0.0]),
    )


class Checker(HTMLParser):
    """Fails on a tag that closes nothing; keeps tags, attributes and text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in {"meta", "input"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_the_page_is_well_formed_and_loads_and_runs_nothing() -> None:
    text = page(Learnt((), made()), model=EVIL)
    parsed = Checker(text)
    assert not {"script", "link", "img", "iframe", "object"} & set(parsed.tags)
    assert not [name for name, _ in parsed.attributes if name.startswith("on") or name == "src"]
    assert f"What the trees of {EVIL} learnt" in parsed.text
    assert not re.search(r"\b(nan|inf)\b", text)
    targets = [value.removeprefix("#") for name, value in parsed.attributes if name == "href"]
    assert targets == [value for name, value in parsed.attributes if name == "id"] == [tree.name for tree in made()]


def test_the_page_shows_splits_gains_shares_and_what_was_changed() -> None:
    text = page(Learnt((), made()[:1]))
    for shown in (
        "lm &lt; −2.5 or absent",
        "gain 12.5",
        "weight 0.5",
        "acts on 2.5 % of parts, and changed 3 of 1,500 sentences (0.2 %): 1 better, 1 worse",
        ">+0.5<",
        ">−0.5<",
        ">25 %<",
        ">75 %<",
        "<td>ein haus</td>",
        "<td>a <ins>house</ins></td>",
        "<td>a <del>big home</del></td>",
        ">4.25<",
    ):
        assert shown in text, shown
    assert "section" in Checker(text).tags


def test_the_page_says_where_nothing_is_known_or_nothing_was_changed() -> None:
    trees = made()
    assert "changed no translation" in page(Learnt((), [trees[2]]))
    unknown = page(Learnt((), [trees[4]]))
    assert "tune it again to see" in unknown
    assert "of them changed translations" not in unknown


def test_texts_without_a_source_have_no_column_for_it() -> None:
    acts = Acts(1, 2, 1, 2, 1, 0, (Example(1, "", "a", "b", 1.0),))
    (tree,) = weighed(replace(Tree.of_split(0, 1.0, (1.0, 2.0)), acts=acts))
    assert "<th>source</th>" not in page(Learnt((), [tree]))
    assert "<th>source</th>" in page(Learnt((), made()[:1]))


def test_curves_and_trees_stand_on_one_page_and_on_one_sheet() -> None:
    both = Learnt([Response("lm", [1, 2], [1, 2], [1, 1], [0, 1])], made())
    text = page(both, model="m")
    assert "What the features of m learnt" in text
    assert text.index("Curves</h2>") < text.index("Trees</h2>")
    assert "bent feature" in text
    placed = sheet(both).placed
    assert len(placed) == 1 + 1 + len(made())  # with the legend of curves
    curves, trees = sheet(Learnt(both.responses)), sheet(Learnt((), made()))
    assert sheet(both).height == curves.height + trees.height


@given(st.integers(0, 10**6), st.integers(1, 64), st.booleans())
def test_everything_lies_inside_the_picture_and_no_box_covers_another(seed: int, leaves: int, linear: bool) -> None:
    tree = replace(grown(seed, leaves, linear), acts=Acts(1, 2, 3, 1500, 1, 1, EXAMPLES))
    drawing = tree_panel(weighed(tree)[0])
    boxes: list[tuple[float, float, float, float]] = []
    for item in drawing.items:
        points = [p for stroke in item.strokes for p in stroke] if isinstance(item, Shape) else [(item.x, item.y)]
        assert all(0 <= x <= drawing.width and 0 <= y <= drawing.height for x, y in points)
        if isinstance(item, Shape) and item.ink == "node":
            xs, ys = zip(*points, strict=True)
            boxes.append((min(xs), max(xs), min(ys), max(ys)))
    assert len(boxes) == leaves - 1
    for (a, b, c, d), (e, f, g, h) in itertools.combinations(boxes, 2):
        assert b <= e or f <= a or d <= g or h <= c
    told = [item for item in drawing.items if isinstance(item, Text) and item.content.startswith("gain ")]
    assert len(told) == leaves - 1
    shares = [item for item in drawing.items if isinstance(item, Text) and item.content.endswith(" %")]
    assert len(shares) == leaves


def test_paths_are_as_wide_as_their_share_and_yes_is_above() -> None:
    (tree,) = weighed(replace(Tree.of_split(0, 1.0, (1.0, -1.0)), shares=[0.25, 0.75]))
    (flows,) = [item for item in tree_panel(tree).items if isinstance(item, Shape) and item.ink == "flow"]
    ends = [sorted(y for x, y in path if x == max(x for x, _ in path)) for path in flows.strokes]
    (top, below), (above, bottom) = ends
    assert (bottom - above) == pytest.approx(3 * (below - top))
    assert below < above


def test_bars_point_to_the_side_of_their_sign_and_are_as_long_as_their_worth() -> None:
    (tree,) = weighed(Tree.of_split(0, 1.0, (1.0, -4.0)))
    spans = {
        item.ink: (item.strokes[0][0][0], item.strokes[0][1][0])
        for item in tree_panel(tree).items
        if isinstance(item, Shape) and item.ink in ("plus", "minus")
    }
    assert spans["plus"][0] == spans["minus"][1]
    assert spans["minus"][1] - spans["minus"][0] == pytest.approx(4 * (spans["plus"][1] - spans["plus"][0]))


def test_pictures_mark_what_differs_even_in_long_texts() -> None:
    drawing = tree_panel(made()[0])
    runs = [item.pieces for item in drawing.items if isinstance(item, Runs)]
    assert len(runs) == 6
    assert runs[:2] == [[("a", "told"), (" house", "with")], [("a", "told"), (" big home", "without")]]
    assert runs[4][0][0].startswith("… ")
    assert (" a", "with") in runs[4]
    assert (" the", "without") in runs[5]
    assert runs[5][-1][0].endswith("…")
    assert not [item for item in tree_panel(made()[0], examples=False).items if isinstance(item, Runs)]


def test_long_questions_and_texts_are_cut_to_their_room() -> None:
    (tree,) = weighed(replace(Tree.of_split(3, -1.0, (1.0, 2.0)), acts=made()[0].tree.acts))
    drawing = tree_panel(tree)
    (question,) = (item for item in drawing.items if isinstance(item, Text) and item.content.startswith("p_long"))
    assert question.content.endswith("name < −1 or absent")
    assert 270 < text_width(question.content, 12.0) <= 300
    (source,) = (item for item in drawing.items if isinstance(item, Text) and item.content.startswith("the quick"))
    assert source.content.endswith("…")
    assert drawing.width - 150 < source.x + 1.1 * text_width(source.content, 12.0) <= drawing.width - 24


def test_the_picture_is_well_formed() -> None:
    whole = svg_file(sheet(Learnt((), made())))
    root = ET.fromstring(whole)
    assert "script" not in {element.tag.split("}")[1] for element in root.iter()}
    assert not re.search(r"\b(nan|inf)\b", whole)


@pytest.mark.slow
def test_png_gives_the_same_bytes_again(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for name in ("a.png", "b.png"):
        write_curves(tmp_path / name, Learnt((), made()[:2]))
    one, other = ((tmp_path / name).read_bytes() for name in ("a.png", "b.png"))
    assert one == other
    assert one.startswith(b"\x89PNG")


def test_features_choose_the_trees_that_ask_about_them() -> None:
    both = Learnt([Response(name, [1, 2], [1, 2], [1, 1], [0, 1]) for name in ("lm", "count")], made())
    chosen = both.of_features(["distortion", "count"])
    assert [response.feature for response in chosen.responses] == ["count"]
    assert [tree.name for tree in chosen.trees] == [tree.name for tree in made() if "distortion" in tree.asks_about]
    assert 0 < len(chosen.trees) < len(made())
    with pytest.raises(CamberError, match="no feature with a curve or a tree nothing; known: lm, count, words"):
        both.of_features(["nothing"])


def test_a_line_tells_each_tree() -> None:
    told = lines([Response("count_of_words", [1, 2], [1, 2], [1, 1], [0, 1]), *made()])
    assert told[1].startswith(
        "tree1           asks about lm · gain 12.5 · acts on 2.5 % of parts, and changed 3 of 1,500"
    )
    assert len(told) == 1 + len(made())


def test_numbers_are_there_as_json(tmp_path: Path) -> None:
    write_curves(tmp_path / "trees.json", Learnt((), made()), model="m")
    told = json.loads((tmp_path / "trees.json").read_text("utf-8"))
    assert told["curves"] == []
    assert [tree["name"] for tree in told["trees"]] == [tree.name for tree in made()]
    assert told["trees"][0]["acted"]["examples"][0]["without"] == "a big home"
