"""Sentences end where people end them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camber.text.protect import find_spans, with_titles
from camber.text.sentences import split_sentences


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        ("en", ["It is 5 p.m. Mr. Smith left.", "He said: “Bye!”", "Then?"]),
        ("en", ['"Stop!" he said.', "No. 5 is alive.", "42 men came."]),
        ("en", ["See Fig. 3 and J. Smith, e.g. there.", "The U.S. Army came.", "{name} is here."]),
        ("en", [":func:`x` is.", "``a.b. C`` was.", "Visit www.a.org. It is."][:2]),
        ("fr", ["« Non. »", "Oui !", "Et puis ?", "Rien..."]),
        ("de", ["Am 3. Oktober kam er.", "Dann ging er."]),
        ("en", ["He is 3.", "Then he left."]),
        ("fr", ["Voici É. Zola.", "Il écrit."]),
        ("tr", ["3. sınıf öğrencisi.", "Kim?", "İki kişi."]),
        ("zh", ["他们俩都在房间里。", "我们走吧！”", "好。"]),
        ("ar", ["هل أنت هنا؟", "نعم."]),
        ("hi", ["यह है।", "वह है।"]),
    ],
)
def test_sentences_are_found(language: str, sentences: list[str]) -> None:
    blank = "" if language == "zh" else "  "
    line = blank.join(sentences)
    found = split_sentences(line, language, find_spans(line))
    assert [line[start:end] for start, end in found] == sentences


@pytest.mark.parametrize(
    ("line", "sentences"),
    [
        ("# A heading. Two", ["A heading.", "Two"]),
        ("  * an item", ["an item"]),
        ("- [x] done", ["done"]),
        ("> > quoted", ["quoted"]),
        ("a) first b) second", ["first b) second"]),
        (".. note:: Mind this.", ["Mind this."]),
        (".. _a label:", []),
        (":param x: the value", ["the value"]),
        ("* * *", ["*"]),
        ("3. Oktober", ["3. Oktober"]),
        ("#tag *emphasis*", ["#tag *emphasis*"]),
        ("one\ttwo \u2028 three\x85", ["one", "two", "three"]),
        ("see `a\tb` there", ["see `a\tb` there"]),
    ],
)
def test_what_begins_a_line_and_ends_a_cell_is_in_no_sentence(line: str, sentences: list[str]) -> None:
    found = split_sentences(line, "de", find_spans(line))
    assert [line[start:end] for start, end in found] == sentences


def test_no_sentence_ends_inside_of_a_title() -> None:
    line = "Voir :ref:`Une phrase. Deux phrases <x>` ici. Fin."
    found = split_sentences(line, "fr", with_titles(find_spans(line)))
    assert [line[start:end] for start, end in found] == [line[:-5], "Fin."]


@given(
    st.lists(st.sampled_from(["a", "B", ".", "!", " ", "  ", "“", "”", "。", "5", "..", "{x}"]), max_size=20).map(
        "".join
    )
)
def test_sentences_and_the_space_between_them_are_the_line(line: str) -> None:
    found = split_sentences(line, "en", find_spans(line))
    done, rest = 0, ""
    for start, end in found:
        assert done <= start < end
        assert not line[start].isspace()
        assert not line[end - 1].isspace()
        rest += line[done:start]
        done = end
    assert not (rest + line[done:]).strip()
