"""Marks of plain text that are taken for tags: emphasis, escaped quotation marks and line breaks, cells of tables."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys.identity import Links, identity

from camber.text.marks import marked_up, without_markup


def backwards(tokens: Sequence[str]) -> tuple[list[str], Links]:
    """Turn a sentence around, and change its words."""
    size = len(tokens)
    return [f"{token}x" if token.isalpha() else token for token in reversed(tokens)], [
        (at, size - 1 - at) for at in reversed(range(size))
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("press *here* now", "nowx *herex* pressx"),
        ("press **right here**", "**herex rightx** pressx"),
        ("~~one~~ two '''three'''", "'''threex''' twox ~~onex~~"),
        ("**one *two*** three", "threex ***twox* onex**"),
        (r"say \"no no\" now", r"nowx \"nox nox\" sayx"),
        (r"one two\nthree four", r"twox onex\nfourx threex"),
        ("| one two | three |", "| twox onex | threex |"),
        ("_one_ a_b <b>two</b>", "<b>twox</b> a_b _onex_"),
    ],
)
def test_marks_go_where_their_words_went(line: str, expected: str) -> None:
    assert identity(backwards).translate([line]) == [expected]


@pytest.mark.parametrize(
    "line",
    [
        "2 * 3 * 4", "a*b*c", "*args, **kwargs", "rate * (1 + x)*", "a *list", "*.txt and *.py",
        "''", "``*x*``", "x_ _y",
        r"\*no\*", "snake_case_name",
         "f(*) or g(*)", "C:\\new\\two", r"\nabla{x}", "a | b", "|version|", "____",
    ],
)  # fmt: skip
def test_what_is_no_mark_is_text(line: str) -> None:
    assert marked_up(line) == []
    assert without_markup(line) == line


def test_what_a_user_protects_has_no_marks() -> None:
    model = identity(backwards, protect=r"\*\w+\*")
    assert model.translate(["one *two*"]) == ["*two* onex"]


def test_pairs_that_cross_tags_are_text() -> None:
    assert [tag.name for tag in marked_up("<b>one *two</b> three*")] == ["b", "b"]
    assert [tag.name for tag in marked_up("*one <b>two* three</b>")] == ["b", "b"]
    assert [tag.name for tag in marked_up('<a href="*x*">*y*</a>')] == ["a", "*", "*", "a"]


def test_other_formats_have_no_marks() -> None:
    (out,) = identity(backwards).translate(["press *here*"], format="html")
    assert out != "*herex* pressx"
    assert sorted(out.replace(" ", "")) == sorted("press*here*xx")


PIECES = (
    "*",
    "**",
    "***",
    "~~",
    "_",
    "'''",
    '\\"',
    "\\n",
    "|",
    "a",
    " ",
    "b c",
    ".",
    "(",
    ")",
    "<b>",
    "</b>",
    "<x/>",
    "`",
)


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_pairs_nest(line: str) -> None:
    tags, stack = marked_up(line), []
    for place, tag in enumerate(tags):
        if tag.partner > place:
            assert tags[tag.partner].partner == place
            stack.append(place)
        elif tag.partner >= 0:
            assert stack.pop() == tag.partner
    assert stack == []
    assert all(one.end <= two.start for one, two in pairwise(tags))


def test_the_time_grows_with_the_length_of_a_line() -> None:
    for line in ("*a ", "a* ", "*a <b>b* </b>", '\\"a ', "| a ", "**a *b ~~c ", "_a _b ", "\\n"):
        tags = marked_up(line * 5_000)  # ends
        assert all(one.end <= two.start for one, two in pairwise(tags))
        assert all(tags[tag.partner].partner == place for place, tag in enumerate(tags) if tag.partner >= 0)
