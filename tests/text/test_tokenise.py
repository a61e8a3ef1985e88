"""Tokenising follows Moses' conventions and loses nothing but white space."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from camber.errors import SettingsError
from camber.text.tokenise import Tokenizer, base_language, escape, unescape

LANGUAGES = ["", "en", "fr", "de", "es", "fi"]
MOSES = {language: Tokenizer("moses", language) for language in LANGUAGES}
INVISIBLE = (
    "".join(map(chr, [*range(9), *range(14, 28), *range(0x7F, 0x85), *range(0x86, 0xA0)])) + "\u200b\u2060\ufeff"
)
# White space, controls, symbols with rules of their own, letters of several scripts.
RAW = st.text(
    st.one_of(
        st.sampled_from(
            " \t\u00a0\u2028\u2029\x85\x00\x1f\r\ufeff.,'’`-\"“”„«»|<>&[]()/:;!?%$€#@_0123456789aAsStTéßñ¿¡"
        ),
        st.characters(exclude_categories=["Cs"], exclude_characters="\n"),
    ),
    max_size=60,
)


def visible(text: str) -> str:
    return "".join(text.translate(dict.fromkeys(map(ord, INVISIBLE))).split())


@pytest.mark.parametrize(
    ("language", "line", "expected"),
    [
        ("en", "Isn't it Tom's?", "Isn &apos;t it Tom &apos;s ?"),
        ("en", "It costs 5,300.50 dollars, or more.", "It costs 5,300.50 dollars , or more ."),
        ("en", "Mr. Smith left at 8 a.m. today.", "Mr. Smith left at 8 a.m. today ."),
        ("en", "See No. 5 and no. six.", "See No. 5 and no. six ."),
        ("en", "Wait... what?!", "Wait ... what ? !"),
        ("en", "a well-known e-mail", "a well-known e-mail"),
        ("en", "the 1990's, the boys' room", "the 1990 &apos;s , the boys &apos; room"),
        ("en", 'He said "no" (twice).', "He said &quot; no &quot; ( twice ) ."),
        ("en", "you’re", "you ’re"),
        ("fr", "L'eau d'Évian, aujourd'hui !", "L&apos; eau d&apos; Évian , aujourd&apos; hui !"),
        ("fr", "J’ai froid", "J’ ai froid"),
        ("de", "Das ist Joe's Bar, z.B. heute.", "Das ist Joe &apos; s Bar , z.B. heute ."),
        ("es", "¿Qué? ¡Nada!", "¿ Qué ? ¡ Nada !"),
        ("en", "R&B | <s> [x]", "R &amp; B &#124; &lt; s &gt; &#91; x &#93;"),
        ("en", "Go to https://example.org/a?b=1, or ask me@example.org.", None),
    ],
)
def test_tokens_follow_the_conventions_of_moses(language, line, expected):
    if expected is None:
        expected = "Go to https://example.org/a?b=1 , or ask me@example.org ."
    assert " ".join(MOSES[language].tokenise(line)) == expected


@settings(deadline=None)
@given(RAW, st.sampled_from(LANGUAGES))
@example("&quot;", "en")
@example("'", "en")
@example("...’", "fr")
def test_tokenising_loses_nothing_but_white_space_and_control_characters(line, language):
    tokens = MOSES[language].tokenise(line)
    assert "".join(map(unescape, tokens)) == visible(line)


@settings(deadline=None)
@given(RAW, st.sampled_from(LANGUAGES))
def test_tokens_are_never_empty_and_hold_no_white_space_or_separator(line, language):
    for token in MOSES[language].tokenise(line):
        assert token.split() == [token]
        assert not set(token) & set("|<>[]\"'")


@settings(deadline=None)
@given(RAW, st.sampled_from(LANGUAGES))
def test_a_round_trip_gives_one_line_with_the_same_characters(line, language):
    back = MOSES[language].detokenise(MOSES[language].tokenise(line))
    assert visible(back) == visible(line)
    assert back == back.strip()
    assert len(back.splitlines()) <= 1


@settings(deadline=None)
@given(RAW)
def test_the_same_line_gives_the_same_tokens_whatever_came_before(line):
    fresh = Tokenizer("moses", "en")
    assert fresh.tokenise(line) == MOSES["en"].tokenise(line) == MOSES["en"].tokenise(line)


@settings(deadline=None)
@given(st.text())
def test_escaping_is_undone_exactly(text):
    assert unescape(escape(text)) == text


@pytest.mark.parametrize("kind", ["moses", "none"])
@pytest.mark.parametrize("line", ["", " ", "\t \t", "  \r"])
def test_a_blank_line_has_no_tokens_and_comes_back_empty(kind, line):
    tokenizer = Tokenizer(kind, "en")
    assert tokenizer.tokenise(line) == []
    assert tokenizer.detokenise([]) == ""


def test_no_break_spaces_and_unicode_line_separators_separate_moses_tokens():
    assert MOSES["en"].tokenise("one\u00a0two\u2028three\x85four") == ["one", "two", "three", "four"]


def test_byte_order_marks_and_control_characters_vanish_from_words():
    assert MOSES["en"].tokenise("\ufeffHel\x00lo\u200b\x7f") == ["Hello"]


def test_text_that_is_already_tokenised_goes_through_untouched():
    none = Tokenizer("none", "en")
    line = "it &apos;s ||| <s> a|b </s> 10\u00a0000 \u2028 Don't ."
    assert none.tokenise(line) == ["it", "&apos;s", "|||", "<s>", "a|b", "</s>", "10\u00a0000", "\u2028", "Don't", "."]
    assert none.detokenise(none.tokenise(line)) == line


@settings(deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \t\r\n"), min_size=1)))
def test_kind_none_returns_exactly_the_tokens_that_were_given(tokens):
    none = Tokenizer("none")
    assert none.tokenise(none.detokenise(tokens)) == tokens


def test_a_line_break_inside_a_string_never_makes_a_second_line():
    for kind in ("moses", "none"):
        tokenizer = Tokenizer(kind, "en")
        assert tokenizer.detokenise(tokenizer.tokenise("one\ntwo\r\nthree")) == "one two three"


def test_separators_of_text_formats_survive_a_round_trip():
    english = MOSES["en"]
    for line in ["a ||| b", "x|y", "<s>", "</s> <unk>", "a&lt;b", "[X]", "&#124;"]:
        assert english.detokenise(english.tokenise(line)).replace(" ", "") == line.replace(" ", "")


def test_an_unknown_kind_is_an_error_that_lists_the_kinds():
    with pytest.raises(SettingsError, match="'penn'; expected one of moses, none"):
        Tokenizer("penn")


def test_a_region_does_not_change_the_rules():
    assert base_language("en_GB") == base_language("EN-us") == "en"
    assert Tokenizer("moses", "fr-CA").tokenise("l'eau") == ["l&apos;", "eau"]


def test_a_language_without_a_list_of_abbreviations_uses_the_english_one():
    assert Tokenizer("moses", "xx").tokenise("Dr. Who")[0] == "Dr."


def test_memory_of_seen_pieces_is_bounded(monkeypatch):
    english = Tokenizer("moses", "en")
    monkeypatch.setattr(type(english._split), "LIMIT", 10)
    for number in range(100):
        assert english.tokenise(f"w{number}.") == [f"w{number}", "."]
    assert sum(map(len, english._split.seen.values())) <= 10


@pytest.mark.parametrize("line", ["«", "a «", "» «"])
def test_a_line_does_not_end_in_a_hard_space(line):
    assert MOSES["fr"].detokenise(MOSES["fr"].tokenise(line)).endswith("«")
