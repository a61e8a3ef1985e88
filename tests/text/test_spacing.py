"""Tokens with marks give back the line that they were made of."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from hypothesis import example, given, settings
from hypothesis import strategies as st

from camber.cli import cli
from camber.text.spacing import joined_tokens, marked_tokens
from camber.text.tokenise import Tokenizer

TOKENIZERS = {language: Tokenizer("moses", language, segment=True) for language in ("", "en", "fr", "de", "zh", "th")}
# all but what the tokeniser drops, and line ends
CHARACTERS = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\u200b\u2060\ufeff")


@settings(deadline=None)
@given(st.text(CHARACTERS, max_size=30), st.sampled_from(sorted(TOKENIZERS)))
@example("￭ ␣ ␣a0 &#9251; &amp;", "en")
@example("  a\u00a0?  ", "fr")
@example("@-@ @/@ \ue000", "en")
def test_one_after_the_other_gives_the_line_back(line: str, language: str) -> None:
    tokens = marked_tokens(line, TOKENIZERS[language])
    assert all(token.split() == [token] for token in tokens)
    assert joined_tokens(tokens, TOKENIZERS[language]) == line


def test_ordinary_text_needs_no_marks() -> None:
    line = "It's “5,300” m (or more): isn't it?"
    assert marked_tokens(line, TOKENIZERS["en"]) == TOKENIZERS["en"].tokenise(line)


def test_marks_that_nobody_wrote_are_no_reason_to_fail() -> None:
    assert joined_tokens(["a", "␣zz", "b", "␣ffffffffff", "c"], TOKENIZERS["en"]) == "a b c"
    for other in ("␣a", "␣20+a", "␣d800", "␣78", "␣-1"):  # a line's end, half a character, a letter
        assert joined_tokens(["a", other, "b"], TOKENIZERS["en"]) == "a b"


@pytest.mark.parametrize("line", ["Hello, {name} %s!", "他在2024年买了iPhone。", "Ça va ?", ""])
def test_the_commands_do_the_same(line: str) -> None:
    runner = CliRunner()
    tokens = runner.invoke(cli, ["tokenize", "--lang", "fr"], input=line + "\n")
    assert tokens.exit_code == 0
    text = runner.invoke(cli, ["detokenize", "--lang", "fr"], input=tokens.stdout)
    assert text.stdout == line + "\n"


def test_marks_can_be_left_out() -> None:
    told = CliRunner().invoke(cli, ["tokenize", "--lang", "en", "--no-marks"], input="a , b\n")
    assert told.stdout == "a , b\n"
