"""What files of texts in two languages give: units of a source and a target segment, with inline codes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, NamedTuple

#: what a code does: it begins something, ends it, stands alone, or is the end of a line
OPEN, CLOSE, ALONE, LINE = "open", "close", "alone", "line"
#: what stands for a line end that a text has on purpose: an element that ends a sentence
MARK = '<br class="camber-line"/>'

#: how far a translation is
NEW = "new"  # there is none yet, whatever stands in its place
ABSENT = "absent"  # nor is there a place for one
FUZZY = "fuzzy"  # a guess, from another text
REVIEW = "review"  # made by a machine or in a hurry, and not looked at yet
TRANSLATED = "translated"
CONFIRMED = "confirmed"
OBSOLETE = "obsolete"  # its source is no longer there

_BLANK = re.compile(r"[\x00-\x20\x7f-\x9f\u2028\u2029]+")
_OUTER = re.compile(r"( *)(.*?)( *)", re.S)


def one_line(text: str) -> str:
    """Return a text as one line, without white space around it; no-break spaces stay.

    >>> one_line(" one\\n  two\\u2028three\\u00a0! ")
    'one two three\\xa0!'
    """
    if text.isprintable() and "  " not in text and text[:1] != " " and text[-1:] != " ":
        return text
    return _BLANK.sub(" ", text).strip(" ")


class Code(NamedTuple):
    """An inline code: a tag or placeholder of another format."""

    kind: str
    number: str  # what both halves of a pair share, or its own
    markup: str  # as inline XML


class Segment(NamedTuple):
    """A text with inline codes.

    >>> bold = Segment(("Press ", Code(OPEN, "1", '<g id="1">'), "Save", Code(CLOSE, "1", "</g>"), " & go"))
    >>> bold.text, bold.markup
    ('Press Save & go', 'Press <g id="1">Save</g> &amp; go')
    """

    pieces: tuple[str | Code, ...] = ()

    @property
    def text(self) -> str:
        """The text alone, as one line: codes that stand between two words leave a space."""
        if len(self.pieces) == 1 and isinstance(self.pieces[0], str):
            return one_line(self.pieces[0])
        parts, gap = [""], False
        for piece in self.pieces:
            if not isinstance(piece, str):
                if piece.kind == LINE:
                    parts.append(" ")
                gap = gap or piece.kind == ALONE
            elif piece:
                if gap and parts[-1][-1:].isalnum() and piece[0].isalnum():
                    parts.append(" ")
                elif gap and piece[0] in ".,)":
                    while len(parts) > 1 and not parts[-1].rstrip(" "):
                        parts.pop()
                    parts[-1] = parts[-1].rstrip(" ")
                parts.append(piece)
                gap = False
        return one_line("".join(parts))

    @property
    def markup(self) -> str:
        """The text with its codes as inline XML."""
        return "".join(escape(piece, quote=False) if isinstance(piece, str) else piece.markup for piece in self.pieces)

    @property
    def markup_line(self) -> str:
        """The same as one line; lines that it has on purpose keep the spaces that they begin and end with."""
        rows = self.markup.split(MARK)
        if len(rows) == 1:
            return one_line(rows[0])
        outer = [_OUTER.fullmatch(row) for row in rows]
        return MARK.join(f"{row[1]}{one_line(row[2])}{row[3]}" for row in outer if row).strip(" ")

    @property
    def codes(self) -> tuple[Code, ...]:
        """The codes alone."""
        return tuple(piece for piece in self.pieces if not isinstance(piece, str))

    @property
    def in_lines(self) -> Segment:
        """The same with codes for the line ends inside of it.

        >>> Segment(("one\\n  two\\n",)).in_lines.markup_line
        'one<br class="camber-line"/>  two'
        """
        inside = self._stripped()
        if not any(isinstance(piece, str) and "\n" in piece for piece in inside):
            return self
        pieces: list[str | Code] = []
        for piece in inside:
            if isinstance(piece, str):
                for number, row in enumerate(piece.split("\n")):
                    pieces += [*([Code(LINE, "", MARK)] if number else []), *([row] if row else [])]
            else:
                pieces.append(piece)
        return Segment(tuple(pieces))

    def _stripped(self) -> list[str | Code]:
        """Return the pieces without white space around the whole."""
        pieces = list(self.pieces)
        for at, strip in ((0, str.lstrip), (-1, str.rstrip)):
            if pieces and isinstance(piece := pieces[at], str):
                pieces[at] = strip(piece)
        return pieces


class Unit(NamedTuple):
    """A segment and its translation."""

    source: Segment
    target: Segment | None  # None: there is none
    state: str = TRANSLATED
    line: int = 0  # of the file, from 1
    name: str = ""  # what the file calls it
    context: str = ""
    author: str = ""  # who translated or changed it last, and when
    date: str = ""
    translate: bool = True  # False: it shall stay as it is


@dataclass
class Tally:
    """What was counted while a file was read: its units, and why others were none."""

    units: int = 0
    skipped: Counter[str] = field(default_factory=Counter)  # reason → units that were left out
    handled: Counter[str] = field(default_factory=Counter)  # what is worth telling of those that were not
    languages: Counter[str] = field(default_factory=Counter)  # of texts without one in a wanted language beside them

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON holds."""
        return {
            "units": self.units,
            "skipped": dict(self.skipped.most_common()),
            "handled": dict(self.handled.most_common()),
        }


#: what is told of a pair whose source is the file's target
TURNED = "of the other direction"

#: why a unit is no pair to learn from
_STATES = {
    NEW: "not translated",
    ABSENT: "no text in the target language",
    FUZZY: "fuzzy",
    REVIEW: "not confirmed",
    OBSOLETE: "obsolete",
}


def reason_to_skip(unit: Unit, *, unconfirmed: bool = False) -> str:
    """Say why a unit is no pair to learn from (see :func:`pair_of`); nothing if it is one."""
    return pair_of(unit, unconfirmed=unconfirmed)[0]


def pair_of(unit: Unit, *, unconfirmed: bool = False) -> tuple[str, str, str]:
    """Return why a unit is no pair to learn from, nothing if it is one; and its texts.

    With `unconfirmed`, guesses and what nobody confirmed are pairs, too.
    """
    if not unit.translate:
        return "not to be translated", "", ""
    if unit.state in _STATES and not (unconfirmed and unit.state in (FUZZY, REVIEW)):
        return _STATES[unit.state], "", ""
    source, target = unit.source.text, "" if unit.target is None else unit.target.text
    return "" if source and target else "not translated" if source else "empty source", source, target


def pairs_of(texts: Sequence[Any], others: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Put several texts of one language beside several of another: each comes with the first of the other side.

    >>> pairs_of(["a", "b"], ["x", "y"])
    [('a', 'x'), ('a', 'y'), ('b', 'x')]
    """
    if not texts or not others:
        return []
    return [(texts[0], other) for other in others] + [(text, others[0]) for text in texts[1:]]
