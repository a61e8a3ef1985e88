"""Inline codes of what is remembered: where they stand, and how those of a line get into its translation.

A file's segment has codes (tags and placeholders of another format) in its text, and so has what is remembered of such
files. A line and a remembered source *correspond* if they have the same text, with codes that do the same at the same
places, however they are written. Each code of the remembered target then gives its place to the line's own; its line
ends are its own.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher

from camber.formats.bilingual.unit import ALONE, LINE, MARK, Code, Segment
from camber.text.tags import CLOSE, OPEN, REMARKS, TEXT, XLIFF, Tag, find_tags

#: codes of two lines, multiplied, whose order is compared; with more, only how often each comes
_MOST_COMPARED = 250_000
#: what tells a code from others of its segment, in both languages; the first of these that it has
_NUMBERS = [re.compile(rf"""\s{name}\s*=\s*["']([^"']*)["']""") for name in ("x", "id", "i", "rid", "startRef")]


def segment_in(line: str, format: str = XLIFF) -> Segment:
    """Take a line of a format apart into text and codes.

    >>> segment_in('Press <g id="7">Save</g> &amp; go').text
    'Press Save & go'
    """
    tags = find_tags(line, format)
    decoded: Callable[[str], str] = html.unescape if format != TEXT else str
    pieces: list[str | Code] = []
    done = 0
    for tag in (tag for tag in tags if line[tag.start] == "<"):  # others are text here
        pieces.append(decoded(line[done : tag.start]))
        if format != XLIFF or tag.name not in REMARKS:  # which readers of such files do not see
            pieces.append(_code(line, tag, tags))
        done = tag.end
    return Segment(tuple(piece for piece in (*pieces, decoded(line[done:])) if piece))


def _code(line: str, tag: Tag, tags: Sequence[Tag]) -> Code:
    if line[tag.start : tag.end] == MARK:
        return Code(LINE, "", MARK)
    told = tags[tag.partner] if tag.kind == CLOSE and tag.partner >= 0 else tag
    found = (pattern.search(line, told.start, told.end) for pattern in _NUMBERS)
    number = next((match[1] for match in found if match), "")
    return Code(tag.kind if tag.kind in (OPEN, CLOSE) else ALONE, number, line[tag.start : tag.end])


def unlike(line: Segment, other: Segment) -> int:
    """Return how many codes two segments do not have in common, in their order."""
    same = line.text == other.text
    one, two = ([(kind, at if same else 0) for kind, at in _placed(segment)] for segment in (line, other))
    if len(one) * len(two) > _MOST_COMPARED:  # which takes as long as the product
        return max(len(one), len(two)) - (Counter(one) & Counter(two)).total()
    blocks = SequenceMatcher(None, one, two, autojunk=False).get_matching_blocks()
    return max(len(one), len(two)) - sum(block.size for block in blocks)


def _placed(segment: Segment) -> list[tuple[str, int]]:
    """Return what each code does, and how many letters are before it; white space does not count."""
    before = 0
    placed: list[tuple[str, int]] = []
    for piece in segment.pieces:
        if isinstance(piece, str):
            before += len("".join(piece.split()))
        else:
            placed.append((piece.kind, before))
    return placed


def with_codes(line: Segment, source: Segment, target: Segment, *, escapes: bool) -> str | None:
    """Return a remembered target with the codes of a line that corresponds to its source; None if there is no telling.

    With `escapes`, the text between them is written as mark-up, with entities.

    >>> line = segment_in('Press <g id="7">Save</g>')
    >>> source, target = 'Press <bpt i="1"/>Save<ept i="1"/>', '<bpt i="1"/>Sichern<ept i="1"/>!'
    >>> with_codes(line, segment_in(source), segment_in(target), escapes=True)
    '<g id="7">Sichern</g>!'
    """
    if "".join(line.text.split()) != "".join(source.text.split()) or _placed(line) != _placed(source):
        return None
    own, theirs, wanted = (_but_line_ends(segment) for segment in (line, source, target))
    places = _places(wanted, theirs)
    if places is None:
        return None
    mine = iter([own[place].markup for place in places])

    def written(piece: str | Code) -> str:
        if isinstance(piece, Code):
            return MARK if piece.kind == LINE else next(mine)
        return html.escape(piece, quote=False) if escapes else piece

    return "".join(map(written, target.pieces))


def _but_line_ends(segment: Segment) -> list[Code]:
    """Return the codes of a segment; where its lines end is its own business."""
    return [code for code in segment.codes if code.kind != LINE]


def _places(codes: Sequence[Code], others: Sequence[Code]) -> list[int] | None:
    """Return which of other codes each code is: by their numbers, or how they are written, or else by their order."""
    keys: tuple[Callable[[Code], str], ...] = (lambda code: code.number, lambda code: code.markup, lambda code: "")
    if any(not code.number for code in (*codes, *others)):
        keys = keys[1:]
    for key in keys:
        own: dict[tuple[str, str], list[int]] = {}
        for place, code in reversed(list(enumerate(others))):
            own.setdefault((code.kind, key(code)), []).append(place)
        wanted = [own.get((code.kind, key(code)), []) for code in codes]
        places = [left.pop() for left in wanted if left]
        if len(places) == len(codes) == len(others):
            return places
    return None
