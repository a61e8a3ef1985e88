"""Where the tokens of a line stand in it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from camber.text.protect import FIGURE, THING, Span
from camber.text.tokenise import INVISIBLE, unescape

_blank = re.compile(rf"(?:\s|{INVISIBLE})*")
_invisible = re.compile(INVISIBLE)


def places_of(line: str, tokens: Sequence[str], spans: Sequence[Span] = ()) -> list[tuple[int, int]]:
    """Return where each token begins and ends; the marks of protected text are the spans, in their order.

    >>> places_of("It's  {x}.", ["It", "&apos;s", "\\ue000", "."], [Span(6, 9, "var")])
    [(0, 2), (2, 4), (6, 9), (9, 10)]
    """
    places, done, opened = [], 0, 0
    for token in tokens:
        if spans and token in (THING, FIGURE):
            start, done, _ = spans[opened]
            opened += 1
        else:
            plain = unescape(token) if "&" in token else token
            start = done + 1 if line[done : done + 1] == " " else done
            if line.startswith(plain, start):  # most tokens, quickly
                done = start + len(plain)
                places.append((start, done))
                continue
            start = done
            if not line.startswith(plain, start):
                start = _blank.match(line, done).end()  # type: ignore[union-attr]
            done = start + len(plain) if line.startswith(plain, start) else _end_of(line, plain, start)
        places.append((start, done))
    return places


def places_in(text: str, tokens: Sequence[str]) -> list[tuple[int, int]]:
    """Return where the tokens of a text stand that was made of them; (-1, -1) where one is written otherwise.

    >>> places_in("A dog's", ["A", "dog", "&apos;s", "?"])
    [(0, 1), (2, 5), (5, 7), (-1, -1)]
    """
    places, done = [], 0
    for token in tokens:
        plain = unescape(token)
        start = text.find(plain, done)
        if start < 0 or not plain:
            places.append((-1, -1))
            continue
        done = start + len(plain)
        places.append((start, done))
    return places


def _end_of(line: str, plain: str, start: int) -> int:
    """Return where a token ends that has something invisible inside."""
    for char in plain:
        while line[start] != char and _invisible.match(line, start):
            start += 1
        start += 1
    return start


def gaps_of(line: str, places: Sequence[tuple[int, int]]) -> tuple[str, ...]:
    """Return what stands before each token, and behind the last one.

    >>> gaps_of(" a  b ", [(1, 2), (4, 5)])
    (' ', '  ', ' ')
    """
    ends = [0, *[end for _, end in places]]
    starts = [*[start for start, _ in places], len(line)]
    return tuple([line[end:start] for end, start in zip(ends, starts, strict=True)])
