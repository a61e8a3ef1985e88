"""Lessons: what an aligner learnt from some pairs, kept apart from the aligner."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from camber.align.aligner import Aligner
from camber.align.lesson import Lesson
from camber.align.words import align_added, align_new, learn_alignment
from camber.corpus import Bitext

WORDS = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=5)
PAIRS = st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=3)
BASE = learn_alignment(Bitext.encode([["a", "b"], ["b", "c"]], [["a", "x"], ["x", "c"]]))[1]


def bitext(pairs: list[tuple[list[str], list[str]]]) -> Bitext:
    return Bitext.encode([source for source, _ in pairs], [target for _, target in pairs])


def assert_equal(one: Aligner, other: Aligner) -> None:
    assert (one.source, one.target) == (other.source, other.target)
    for name in ("entry_offsets", "entry_targets", "counts", "source_words", "target_words"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


@settings(max_examples=30, deadline=None)
@given(st.lists(PAIRS, min_size=1, max_size=4))
def test_all_lessons_at_once_teach_what_one_by_one_do(calls: list[list[tuple[list[str], list[str]]]]) -> None:
    aligner, lessons = BASE, []
    for pairs in calls:
        _, lesson = align_added(aligner, bitext(pairs))
        lessons.append(lesson)
        aligner = aligner.after([lesson])
    assert_equal(BASE.after(lessons), aligner)
    assert_equal(BASE.after([Lesson.join(lessons)]), aligner)
    kept = [Lesson.from_dict(json.loads(json.dumps(lesson.to_dict()))) for lesson in lessons]
    assert_equal(BASE.after(kept), aligner)


def test_a_lesson_has_only_what_the_pairs_have() -> None:
    _, lesson = align_added(BASE, Bitext.encode([["b", "neu"]], [["x", "new"]]))
    assert sorted(lesson.source) == ["b", "neu"]
    assert sorted(lesson.target) == ["new", "x"]
    after = align_new(BASE, Bitext.encode([["b", "neu"]], [["x", "new"]]))[1]
    assert_equal(BASE.after([lesson]), after)
    assert_equal(BASE.after([]), BASE)


@pytest.mark.parametrize(
    "lists",
    [{}, {"source": [["a", 1]], "target": [], "links": []}, {"source": [], "target": [], "links": [[0, 0, 1.0]]}],
)
def test_other_lists_are_no_lesson(lists: dict[str, list[list[object]]]) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        Lesson.from_dict(lists)
