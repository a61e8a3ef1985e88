"""Text that a model leaves as it is comes back byte for byte: placeholders, mark-up, white space, any script."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from toys.identity import copy, identity

from camber.files import read_lines

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
#: what programs and people send, as one would find it in files of messages
STRINGS = (
    "Hello, {name}, your room is number %s.",
    "%(count)d files copied to %(folder)s",
    "%1$s sent you %2$d messages",
    "Press <b>here</b> to continue.",
    "The meeting is at 10:30 on 24/12/2025.",
    "{# file} could not be opened",
    "Use ${HOME}/bin or $PATH.",
    "{{ user.first_name }} likes this.",
    "See https://example.org/a_b?c=d&e=f#g for details.",
    "[X8X] was deleted by [X12X].",
    "Call ``len(x)`` or :func:`open` first, or `Examples`_ and :ref:`the title <target>`.",
    r"C:\Users\me\file.txt and /etc/hosts",
    "A<br/>B&nbsp;C &amp; D &lt;tag&gt;",
    "Thumbs up 👍🏽 and a family 👨‍👩‍👧‍👦.",
    """He wrote x[i] = {"a": 1, 'b': [2, 3]};""",
    r"Line one\nline two\tend",
    "  two  spaces,\ttabs\u00a0and more \u2003 ",
    "“Who?” She left.  Mr. Smith stayed… »",
    "\ue000 and \ue001 and @var@ are mine",
    "他们俩都在房间里。Tom躲在桌子底下 3 次！",
    "القط رقم ٣٫٥، أليس كذلك؟ نعم.",
    "\ufeffHel\x00lo\u200b wor\u00adld",
    "",
    " \t ",
)
LANGUAGES = ("", "en", "fr", "de", "zh", "tr")
PIECES = (
    "{x}", "%s", "%", "``a b``", ":ref:`", "`", "<t>`", "`_", "12", ".", "?", " ", "  ", "\u00a0", "\t", "a", "B", "'",
    '"', "(", ")", "{", "}", "/", "\\n", "https://a.b", "é", "懂", "。", "ก", "\ue000", "\ue001", "@", "@var@",
    "\u200b",
    "*", "**", "~~", "_", '\\"', "|", "'''", "\t", "\u2028", "* ", "# ", ":x: ", "<1>", "</1>", "<x/>", "%%", "-", "\\",
    "<b>", "</b>", "<", "&amp;", "👍", "-", "--x", "a_b", "$",
)  # fmt: skip


@pytest.mark.parametrize("line", STRINGS)
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("split", [True, False])
def test_what_programs_send_comes_back(line: str, language: str, split: bool) -> None:
    assert identity(source_lang=language, target_lang=language, split=split).translate([line]) == [line]


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join), st.sampled_from(LANGUAGES))
@example(":ref:`a {b <t>`", "en")
@example("`a <t>``_", "en")
@example("\u200b~~~~", "en")
@example("*\u200b*", "en")
@example("*{x}\u200b*", "en")
def test_any_line_comes_back(line: str, language: str) -> None:
    assert identity(source_lang=language, target_lang="en").translate([line]) == [line]


def renamed(tokens: Sequence[str]) -> tuple[list[str], list[tuple[int, int]]]:
    """Translate one word, and leave the others as they are."""
    words, links = copy(tokens)
    return [{"alpha": "omega"}.get(word, word) for word in words], links


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join), st.sampled_from(LANGUAGES))
@example("x. y", "en")
@example("B. {x}. B", "en")
@example("<x/>\u200b", "en")
@example("\u200b <x/>", "en")
@example("~~\u200b<x/>", "en")
@example("</b>。<b></b>~~é", "zh")
def test_what_is_not_translated_comes_back_beside_what_is(line: str, language: str) -> None:
    both = identity(renamed, source_lang=language, target_lang=language)
    assert both.translate([f"alpha beta {line}"]) == [f"omega beta {line}"]
    around = f"{line} beta alpha beta {line}"
    assert both.translate([around]) in ([around.replace("alpha", "omega")], [around])  # code may begin and end in it


@pytest.mark.parametrize("line", ["a `_5\\n`_ b", r"`_\n`_ **  » %(n)s/usr/bin__", r"`\n5 x.txt`_$x__ y"])
def test_the_end_of_a_line_may_be_inside_a_title(line: str) -> None:
    assert identity().translate([line]) == [line]


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=40))
def test_any_characters_come_back(line: str) -> None:
    assert identity().translate([line]) == [line]


@pytest.mark.parametrize(
    ("name", "language"), [("checks/placeholders.txt", "en"), ("data/pythondocs-fr-en/test.fr", "fr")]
)
def test_real_text_comes_back(name: str, language: str) -> None:
    if not (SHARED / name).is_file():
        pytest.skip(f"{SHARED / name} is absent")
    lines = read_lines(SHARED / name)
    assert identity(source_lang=language, target_lang="en").translate(lines) == lines
