"""Tokens that tell how they were spaced, where a detokeniser would guess wrong.

Between most tokens the rules of detokenising put the white space that the text had. Where they do not, a token of its
own says what stood there: ``￭`` for nothing, ``␣`` for a space, ``␣a0`` and the like for other white space, by the
numbers of its characters. So a line of tokens gives back the line that it was made of.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from camber.text.detokenise import spelt
from camber.text.places import gaps_of, places_of
from camber.text.tokenise import INVISIBLE, Tokenizer, unescape

NOTHING, SPACE = "￭", "␣"
_gap = re.compile(rf"(?:\s|{INVISIBLE})*")
_LITERAL = {NOTHING: "&#65517;", SPACE: "&#9251;"}
_PLAIN = {token: literal for literal, token in _LITERAL.items()}


def marked_tokens(line: str, tokenizer: Tokenizer) -> list[str]:
    """Return the tokens of a line, and marks where their spaces are not those that detokenising puts there.

    >>> marked_tokens("a , b {c}", Tokenizer("moses", "en"))
    ['a', '␣', ',', 'b', '{', 'c', '}']
    """
    tokens = tokenizer.tokenise(line)
    gaps = gaps_of(line, places_of(line, tokens))
    usual = [*tokenizer.gaps([unescape(token) for token in tokens]), ""]
    out: list[str] = []
    for token, gap, guess in zip([*tokens, ""], gaps, usual, strict=True):
        if gap != guess:
            out.append(_mark(gap))
        if token:
            out.append(_LITERAL.get(token, token))
    return out


def _mark(gap: str) -> str:
    if gap in ("", " "):
        return SPACE if gap else NOTHING
    return SPACE + "+".join(f"{ord(char):x}" for char in gap)


def joined_tokens(tokens: Sequence[str], tokenizer: Tokenizer) -> str:
    """Return the line of some tokens, with or without marks.

    >>> joined_tokens(["a", "␣", ",", "b", "￭", "c", "␣a0", "d"], Tokenizer("moses", "en"))
    'a , bc\\xa0d'
    """
    plain: list[str] = []
    told: dict[int, str] = {}
    for token in tokens:
        if token == NOTHING or token[:1] == SPACE:
            told[len(plain)] = _told(token)
        elif token:
            plain.append(unescape(_PLAIN.get(token, token)))
    gaps = [*tokenizer.gaps(plain), ""]
    for place, gap in told.items():
        gaps[place] = gap
    return "".join(gap + spelt(token) for gap, token in zip(gaps, [*plain, ""], strict=True))


def _told(mark: str) -> str:
    """Return the white space that a mark stands for; anything else, and the end of a line, stands for a space."""
    if mark in (NOTHING, SPACE):
        return "" if mark == NOTHING else " "
    try:
        gap = "".join(chr(int(number, 16)) for number in mark[1:].split("+"))
    except (ValueError, OverflowError):
        return " "
    return gap if _gap.fullmatch(gap) and "\n" not in gap else " "
