"""Long texts in pieces: the lines of a text are translated one by one, and put together as they were."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from camber.model.translator import Translation
from camber.text.tags import TEXT

_line_end = re.compile(r"(\r\n|[\n\r\v\f\x85\u2028\u2029])")


class Pieces(NamedTuple):
    """What of a text is to be translated, and what stands before, between and behind it."""

    texts: list[str]
    between: list[str]  # one more than there are texts

    def join(self, translated: Sequence[str]) -> str:
        """Put translations in place of the texts."""
        return "".join(part for pair in zip(self.between, [*translated, ""], strict=True) for part in pair)


def pieces_of(text: str, format: str = TEXT) -> Pieces:
    """Take a text apart; what has neither letters nor digits is no piece. Mark-up stays in one.

    >>> pieces_of("One.\\n\\n Two! \\n---")
    Pieces(texts=['One.', 'Two!'], between=['', '\\n\\n ', ' \\n---'])
    """
    rows = _line_end.split(text) if format == TEXT else [text]
    texts: list[str] = []
    between = [""]
    for place, row in enumerate(rows):
        core = row.strip()
        if place % 2 or not any(map(str.isalnum, core)):
            between[-1] += row
            continue
        start = row.index(core)
        between[-1] += row[:start]
        texts.append(core)
        between.append(row[start + len(core) :])
    return Pieces(texts, between)


def alternatives(pieces: Pieces, found: Sequence[Sequence[Translation]], count: int) -> list[str]:
    """Return other translations of a whole text, the nearest to the best one first: each differs in one piece."""
    best = [items[0].text for items in found]
    others = [
        (items[0].derivation.score - item.derivation.score, place, number, item.text)
        for place, items in enumerate(found)
        for number, item in enumerate(items[1:])
    ]
    texts = (pieces.join([*best[:place], text, *best[place + 1 :]]) for _, place, _, text in sorted(others))
    return [text for text in dict.fromkeys(texts) if text != pieces.join(best)][:count]


def longest_line(text: str) -> int:
    """Return the words of the line that has most of them; what is written without spaces counts by letters, too."""
    return max((max(len(row.split()), len(row) // 20) for row in _line_end.split(text)), default=0)
