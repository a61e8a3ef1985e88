"""Tokenising as it is explained: one pattern for addresses, and symbols padded letter by letter."""

from __future__ import annotations

import re
import unicodedata

_ADDRESS = re.compile(
    r"""(?:(?:https?|ftp)://|www\.)[^\s<>"]*[^\s<>"'.,;:!?()\[\]{}»”’]|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"""
    r"|&(?:amp|lt|gt|quot|apos|nbsp|#\d+);",
    re.IGNORECASE,
)


def addresses(chunk: str) -> list[tuple[int, int]]:
    """Return where URLs, e-mail addresses and entities begin and end."""
    return [match.span() for match in _ADDRESS.finditer(chunk)]


def padded(chunk: str, language: str) -> str:
    """Put spaces around symbols."""
    out = []
    for position, char in enumerate(chunk):
        keep = char.isalnum() or char in ".',`-" or unicodedata.category(char) in ("Mn", "Mc", "Me", "Cf")
        before, after = chunk[position - 1 : position], chunk[position + 1 : position + 2]
        if char in "’´" and language in ("en", "fr", "it", "ca"):
            keep = before.isalnum() and after.isalpha()
        elif char == ":" and language in ("fi", "sv"):
            keep = before.isalnum() and after.islower()
        out.append(char if keep else f" {char} ")
    return "".join(out)


_LETTER = r"[^\W\d_]"


def apostrophes(text: str, language: str) -> str:
    """Put spaces beside apostrophes, as Moses' patterns have it, with the typographic ones inside words."""
    if language == "en":
        text = re.sub(
            rf"(?<!{_LETTER})'(?!{_LETTER})|(?<![^\W_])'(?={_LETTER})|(?<={_LETTER})'(?!{_LETTER})", " ' ", text
        )
        return re.sub(rf"(?<={_LETTER})(['’´])(?={_LETTER})|(?<=\d)(['’´])(?=s)", r" \1\2", text)
    if language in ("fr", "it", "ca"):
        text = re.sub(rf"(?<!{_LETTER})'|'(?!{_LETTER})", " ' ", text)
        return re.sub(rf"(?<={_LETTER})(['’´])(?={_LETTER})", r"\1 ", text)
    return text.replace("'", " ' ")
