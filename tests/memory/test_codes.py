"""Inline codes: those of a line take the places of those that are remembered, and only where both say the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import memory_matches as naive

from camber.errors import ModelError
from camber.formats.bilingual.unit import ALONE, CLOSE, OPEN
from camber.memory.codes import segment_in, unlike, with_codes
from camber.memory.segments import Segments
from camber.memory.words import NEAR, fold, match_words, weight
from camber.model.memory import Memory, Remembered
from camber.text.pipeline import TextPipeline
from camber.text.settings import TextSettings
from camber.text.tags import HTML, TEXT, XLIFF

TEXTS = TextPipeline(TextSettings())

WORDS = st.lists(st.sampled_from(["one", "&", "<", "5 > 4", "two,"]), min_size=1, max_size=3).map(" ".join)
#: texts with numbered pairs (b) and codes that stand alone (x) between them, flat
TREES = st.lists(st.tuples(WORDS, st.sampled_from("bx")), min_size=1, max_size=4)


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def as_xliff(items: list[tuple[int, str, str]], first: int) -> str:
    """Write (number, text, kind) with XLIFF's g and x, numbered from `first`."""
    return " ".join(
        f'<g id="{first + number}">{escaped(text)}</g>'
        if kind == "b"
        else f'{escaped(text)} <x id="{first + number}"/>'
        for number, text, kind in items
    )


def as_tmx(items: list[tuple[int, str, str]]) -> str:
    """Write the same with TMX's bpt, ept and ph; their numbers are those of their places, `x` tells which is which."""
    return " ".join(
        f'<bpt i="{at}" x="{number}">&lt;b&gt;</bpt>{escaped(text)}<ept i="{at}">&lt;/b&gt;</ept>'
        if kind == "b"
        else f'{escaped(text)} <ph x="{number}">&lt;br/&gt;</ph>'
        for at, (number, text, kind) in enumerate(items)
    )


@given(TREES, st.integers(1, 9), st.data())
def test_codes_of_a_line_take_the_places_of_those_that_are_remembered(tree, first: int, data) -> None:
    source = [(number, text, kind) for number, (text, kind) in enumerate(tree)]
    target = [(number, text[::-1], kind) for number, text, kind in data.draw(st.permutations(source))]
    line, remembered = as_xliff(source, first), segment_in(as_tmx(source))
    assert unlike(segment_in(line), remembered) == 0
    found = with_codes(segment_in(line), remembered, segment_in(as_tmx(target)), escapes=True)
    assert found == as_xliff(target, first)


def test_codes_are_told_by_what_they_do() -> None:
    segment = segment_in(
        'a <g id="1">b<x id="2"/></g> <bx id="3" rid="7"/>c<ex id="4" rid="7"/>&amp;<ph id="5">%d</ph>'
    )
    assert [code.kind for code in segment.codes] == [OPEN, ALONE, CLOSE, OPEN, CLOSE, ALONE]
    assert [code.number for code in segment.codes] == ["1", "2", "1", "3", "3", "5"]
    assert segment.text == "a b c&"
    assert segment_in("a < b &amp; c", TEXT).pieces == ("a < b &amp; c",)
    assert [code.markup for code in segment_in("<b>x</b> <br>&nbsp;", HTML).codes] == ["<b>", "</b>", "<br>"]


@pytest.mark.parametrize(
    ("line", "source", "target"),
    [
        ('<g id="1">a</g> b', 'a <g id="1">b</g>', '<g id="1">A</g> B'),  # elsewhere
        ('<x id="1"/>a', "a", "A"),  # none there
        ("a", '<x id="1"/>a', '<x id="1"/>A'),  # none here
        ('<x id="1"/>a', '<x id="1"/>a', "A"),  # lost in the translation
        ('<x id="1"/>a', '<x id="1"/>a', '<x id="1"/>A<x id="1"/>'),  # doubled there
        ('<x id="1"/>a', '<x id="1"/>b', '<x id="1"/>B'),  # other words
    ],
)
def test_where_codes_do_not_correspond_there_is_no_telling(line: str, source: str, target: str) -> None:
    assert with_codes(*map(segment_in, (line, source, target)), escapes=True) is None


def test_codes_without_numbers_are_told_by_how_they_are_written_or_else_by_their_order() -> None:
    found = with_codes(
        segment_in('<a href="x">one</a> <em>two</em>', HTML),
        segment_in("<b>one</b> <i>two</i>", HTML),
        segment_in("<i>TWO</i> <b>ONE</b>", HTML),
        escapes=True,
    )
    assert found == '<em>TWO</em> <a href="x">ONE</a>'
    swapped = [segment_in(text, HTML) for text in ("<u>a</u> <s>b</s>", "<b>a</b> <i>b</i>", "<q>A</q> <em>B</em>")]
    assert with_codes(*swapped, escapes=True) == "<u>A</u> <s>B</s>"


def test_segments_keep_both_sides_with_their_codes(tmp_path: Path) -> None:
    coded = {0: ("<x/>a", "<x/>A"), 2: ("b<x/>", "B"), 3: ("b<y/>", "<y/>B")}
    built = Segments.build(TEXTS, ["a", "c", "b", "b"], ["A", "C", "B", "B"], coded=coded)
    built.save(tmp_path)
    again = Segments.open(tmp_path, TEXTS)
    again.check()
    assert [again.coded(k) for k in range(3)] == [built.coded(k) for k in range(3)] == [coded[0], None, coded[3]]
    array = np.load(tmp_path / "coded_offsets.npy")
    np.save(tmp_path / "coded_offsets.npy", array[:-1])
    with pytest.raises(ModelError, match="model again"):
        Segments.open(tmp_path, TEXTS).nearest("a")
    (tmp_path / "coded.npy").unlink()
    with pytest.raises(ModelError, match="model again"):
        Segments.open(tmp_path, TEXTS).nearest("a")


def test_codes_that_correspond_are_no_difference_and_others_count_as_tags_do() -> None:
    coded = 'press <bpt i="1"/>the<ept i="1"/> key', '<bpt i="1"/>den<ept i="1"/> Knopf drücken'
    memory = Memory(["press the key"], ["den Knopf drücken"], ["press the key"], [Remembered(coded=coded)], text=TEXTS)

    def likeness(line: str, format: str) -> float:
        return memory.matches(line, 0.5, 1, format)[0].likeness

    assert likeness('press <g id="4">the</g> key', "xliff-inline") == 1.0
    assert likeness("press <b>the</b> key", HTML) == 1.0
    assert likeness("press the key", "xliff-inline") == likeness("press the key", TEXT) == 1.0  # a text has no codes
    assert likeness('press the <g id="4">key</g>', "xliff-inline") == pytest.approx(1 - 0.2 / 3.2)
    assert likeness('press <g id="4">the</g><x id="5"/> key', "xliff-inline") == pytest.approx(1 - 0.1 / 3.3)
    assert memory.matches("press the key")[0].coded == coded
    assert memory.matches("press the key")[0].to_json("press the key")["coded"] == {
        "source": coded[0],
        "target": coded[1],
    }


@given(st.lists(TREES, min_size=1, max_size=4), TREES, st.sampled_from([0.3, 0.6, 0.9]))
def test_a_line_with_codes_is_as_like_a_pair_as_their_texts_and_codes_are(trees, tree, threshold: float) -> None:
    coded = {
        segment_in(one).text: one for one in (as_tmx([(at, *item) for at, item in enumerate(one)]) for one in trees)
    }
    trained = Segments.build(TEXTS, [*coded], [*coded], coded={at: (one, one) for at, one in enumerate(coded.values())})
    assert not trained.has_tags
    line = as_xliff([(at, *item) for at, item in enumerate(tree)], 1)
    asked, expected = segment_in(line), {}
    for text, markup in coded.items():
        rows = [tuple(match_words(TEXTS, one)) for one in (asked.text, text)]
        cost = naive.distance(*rows, fold, weight, NEAR)
        length = max(sum(weight(fold(word)) for word in row) for row in rows)
        other = segment_in(markup)
        likeness = 1 - (cost + NEAR * unlike(asked, other)) / (length + NEAR * max(len(asked.codes), len(other.codes)))
        if min(1 - cost / length, likeness) >= threshold:
            expected[text] = pytest.approx(likeness)
    found = Memory([], [], [], trained=trained, text=TEXTS).matches(line, threshold, 9, XLIFF)
    assert {match.source: match.likeness for match in found} == expected


def test_tags_in_the_texts_of_a_memory_are_found_as_they_are_written() -> None:
    trained = Segments.build(TEXTS, ["a <b>c</b> d"], ["x"])
    assert trained.has_tags
    (match,) = Memory([], [], [], trained=trained, text=TEXTS).matches("a <b>c</b> d", 0.5, 1, HTML)
    assert match.percent == 100
