"""Matches are those that a comparison with every segment finds, in the same order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from naive import memory_matches as naive

from camber.align.pharaoh import Alignment
from camber.errors import ModelError
from camber.memory.match import Match
from camber.memory.segments import Segments
from camber.memory.words import NEAR, fold, match_words, weight
from camber.text.pipeline import TextPipeline
from camber.text.settings import TextSettings

TEXT = TextPipeline(TextSettings())
WORDS = st.sampled_from(["the", "The", "cat", "Cat", "sleeps", "17", "18", "{a}", "{b}", "<b>x</b>", ".", "new"])
LINES = st.lists(WORDS, min_size=1, max_size=7).map(" ".join)


@given(
    st.lists(LINES, min_size=1, max_size=12),
    LINES,
    st.sampled_from([0.01, 0.3, 0.5, 2 / 3, 0.7, 0.9, 1.0]),
    st.integers(1, 4),
)
@example(["the the"], "the the the", 2 / 3, 1)  # just so like
def test_the_best_matches_are_those_of_a_comparison_with_every_segment(
    lines: list[str], query: str, threshold: float, best: int
) -> None:
    segments = Segments.build(TEXT, lines, ["t"] * len(lines))
    sources = [segments.pair(segment)[0] for segment in range(len(segments))]
    expected = naive.matches(
        match_words(TEXT, query),
        [match_words(TEXT, line) for line in sources],
        [lines.count(line) for line in sources],
        threshold,
        best,
        fold=fold,
        weight=weight,
        near=NEAR,
    )
    assert [tuple(item) for item in segments.nearest(query, threshold, best)] == expected


def likeness(one: str, two: str) -> float:
    (found,) = Segments.build(TEXT, [one], ["t"]).nearest(two, 0.01, 1)
    return found.likeness


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ("the cat sleeps", "the cat sleeps", 1.0),
        ("the cat sleeps", "the dog sleeps", 2 / 3),
        ("the cat sleeps", "the cat", 2 / 3),
        ("the cat sleeps", "the Cat sleeps", 1 - 0.1 / 3),  # case
        ("open 17 files", "open 3.5 files", 1 - 0.1 / 3),  # a number
        ("open {name} now", "open {user} now", 1 - 0.1 / 3),  # a placeholder
        ("open <b>the file</b>", "open the file", 1 - 0.2 / 3.2),  # tags
        ("open <b>the file</b>", "open <i>the file</i>", 1 - 0.2 / 3.2),
    ],
)
def test_what_is_other_counts_by_what_it_is(one: str, two: str, expected: float) -> None:
    assert likeness(one, two) == pytest.approx(expected)


def test_only_the_same_words_are_a_match_of_100_per_cent() -> None:
    long = " ".join(["word"] * 500)
    assert Match("", "", likeness(f"{long} 1", f"{long} 2"), 1).percent == 99
    assert Match("", "", likeness("a  b", "a b"), 1).percent == 100


def test_of_equals_those_that_came_more_often_come_first_then_later_ones() -> None:
    lines, targets = ["a b", "a b", "a b", "a b"], ["x", "y", "x", "z"]
    segments = Segments.build(TEXT, lines, targets)
    found = [segments.pair(item.segment)[1] for item in segments.nearest("a b", 0.5, 9)]
    assert found == ["x", "z", "y"]


def test_what_was_written_is_read_and_finds_the_same(tmp_path: Path) -> None:
    lines, targets = ["ein Haus", "", "ein <b>{x}</b>\u2028Hut |||", "zwei"], ["a house", "b", "a hat", " "]
    alignment = Alignment.from_pairs([[(0, 0), (1, 1)], [(0, 1), (1, 0)]])
    built = Segments.build(TEXT, lines, targets, alignment, np.array([0, 2]))
    built.save(tmp_path)
    again = Segments.open(tmp_path, TEXT)
    again.check()
    assert [again.pair(k) for k in range(len(again))] == [(lines[0], targets[0]), (lines[2], targets[2])]
    assert [again.links(k) for k in range(2)] == [[(0, 0), (1, 1)], [(0, 1), (1, 0)]]
    assert again.nearest("ein Hut", 0.1, 5) == built.nearest("ein Hut", 0.1, 5) != []
    assert (again.repeats(lines[2]), again.repeats("ein Hut")) == ([1], [])


def test_what_is_taken_back_is_not_found() -> None:
    segments = Segments.build(TEXT, ["a b", "a b"], ["x", "y"]).hiding([("a b", "y"), ("a b", "no such")])
    assert [segments.pair(item.segment)[1] for item in segments.nearest("a b", 0.5, 9)] == ["x"]


@pytest.mark.parametrize("name", ["words", "class_of", "postings", "lengths", "offsets", "posting_offsets", "times"])
def test_damaged_arrays_are_refused(tmp_path: Path, name: str) -> None:
    Segments.build(TEXT, ["a b c", "b c d"], ["x", "y"]).save(tmp_path)
    array = np.load(tmp_path / f"{name}.npy")
    for damaged in (array[:-1], -array - 1, *([] if name == "times" else [array + 77])):
        np.save(tmp_path / f"{name}.npy", damaged)
        with pytest.raises(ModelError, match="model again"):
            Segments.open(tmp_path, TEXT).nearest("a b c")


def test_differences_are_marked() -> None:
    match = Match("Open the file now.", "…", 0.8, 3)
    assert match.marked("Open a file.") == "Open {-the-}{+a+} file {-now-}."
    assert "".join(piece["line"] for piece in match.to_json("Open a file.")["difference"]) == "Open a file."


def test_empty_lines_and_an_empty_memory_match_nothing() -> None:
    segments = Segments.build(TEXT, ["a"], ["x"])
    assert segments.nearest("") == segments.nearest("  ") == []
    assert len(segments.nearest("a", best=10**20)) == 1
    assert Segments.build(TEXT, [], []).nearest("a") == []
