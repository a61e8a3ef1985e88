"""The quick ways of the tokeniser find what the plain ones find."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from naive.tokenising import addresses, apostrophes, padded

from camber.text.tokenise import _addresses, _Splitter

_SOME = 'a B1 . .. @ - + _ www. WWW. http:// https:// ftp:// &amp; &#3 ; < " ) » ’ é b@c.de , & / ?x ſ ²'
_PIECES = st.lists(st.sampled_from(_SOME.split(" ")), max_size=12).map("".join)


@given(_PIECES)
@example("a@b.c+d@e.f")
@example("a@www.b.c,x")
@example("www.)www.a")
@example("http://<a@b.c>")
@example("@a@b@c.d")
def test_addresses_are_those_that_one_pattern_finds(chunk: str) -> None:
    assert list(_addresses(chunk)) == addresses(chunk)


@pytest.mark.parametrize("language", ["en", "fr", "fi", "de"])
@given(chunk=st.one_of(_PIECES, st.text(st.characters(exclude_categories=["Zs", "Zl", "Zp", "Cc", "Cs"]))))
def test_symbols_are_padded_as_letter_by_letter(language: str, chunk: str) -> None:
    assert _Splitter(language)._pad_symbols(chunk).split() == padded(chunk, language).split()


def test_long_pieces_are_not_remembered() -> None:
    splitter = _Splitter("en")
    for size in (3, splitter.LONGEST, splitter.LONGEST + 1, 5000):
        assert splitter("a" * size) == ["a" * size]
    assert sorted(map(len, splitter.seen[""])) == [3, splitter.LONGEST]


@pytest.mark.parametrize("language", ["en", "fr", "de"])
@settings(max_examples=300)
@given(text=st.text(st.sampled_from("aÉs1_'’´ .-"), max_size=8))
def test_apostrophes_are_split_as_by_moses_patterns(language: str, text: str) -> None:
    ours = text
    for mark, pattern, replacement in _Splitter(language).apostrophes:
        assert mark in replacement
        ours = pattern.sub(replacement, ours)
    assert ours == apostrophes(text, language)
