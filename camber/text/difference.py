"""Where two texts differ, word by word."""

from __future__ import annotations

import difflib
import re
from typing import NamedTuple

#: a word or a mark, with the space before it
_WORDS = re.compile(r"\s*(?:[\w'’-]+|[^\w\s])")


class Piece(NamedTuple):
    """What one text has in place of a piece of the other; either may be empty."""

    one: str
    two: str
    same: bool


def differences(one: str, two: str) -> list[Piece]:
    """Cut two texts where they begin or cease to differ: the pieces are the texts, without blanks at their ends.

    >>> [(piece.one, piece.two) for piece in differences("a big house", "a house")]
    [('a', 'a'), (' big', ''), (' house', ' house')]
    """
    ours, theirs = _WORDS.findall(one), _WORDS.findall(two)
    matcher = difflib.SequenceMatcher(None, [w.strip() for w in ours], [w.strip() for w in theirs], autojunk=False)
    return [
        Piece("".join(ours[a:b]), "".join(theirs[c:d]), kind == "equal") for kind, a, b, c, d in matcher.get_opcodes()
    ]
