r"""Mark-up of plain text that is no tag: emphasis, escaped quotation marks and line breaks, cells of tables.

Markdown and reStructuredText put marks around words (``**bold**``, ``*emphasis*``, ``~~deleted~~``), programs write
``\"quotation marks\"`` and ``\n``. They are taken for tags: pairs go around the words that they were around, and what
ends a line or a cell ends a sentence. A mark opens where nothing is before it and something behind, and closes where it
is the other way round; marks without a partner are text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from camber.text.protect import Span, find_spans
from camber.text.tags import CLOSE, EMPTY, OPEN, TEXT, Tag, find_tags, renumbered, stretches

# It begins with one of few characters, which is looked for quickly.
_marks = re.compile(
    r"""[*~_'|\\](?:(?<=\*)(?<!\\.)\*{0,2}|(?<=~)~|(?<=_)(?<!_.)(?!_)|(?<=')''|(?<=\|)|(?<=\\)["nrt])"""
)
_CELL, _BREAK = "td", "br"
_table = re.compile(r"\s*\|.*\|\s*\Z")


def marked_up(line: str, own: Sequence[re.Pattern[str]] = (), spans: Sequence[Span] | None = None) -> list[Tag]:
    r"""Return the tags of a plain text, and what else is its mark-up; `own` patterns are protected.

    `spans` are all that is, if that is known already.

    >>> [line[tag.start : tag.end] for line in [r"<b>A</b> *b* c*d\n2 * 3 * 4"] for tag in marked_up(line)]
    ['<b>', '</b>', '*', '*', '\\n']
    """
    tags = find_tags(line, TEXT) if "<" in line else []
    candidates = list(_marks.finditer(line))
    if len(candidates) < 2 and not (candidates and candidates[0][0][0] == "\\"):
        return tags
    marks = _found(line, candidates, find_spans(line, own) if spans is None else spans)
    if tags and marks:
        starts = [tag.start for tag in tags]
        clear = [(place := bisect_right(starts, mark.start) - 1) < 0 or tags[place].end <= mark.start for mark in marks]
        marks = renumbered(
            marks, [keep and (m.partner < 0 or clear[m.partner]) for keep, m in zip(clear, marks, strict=True)]
        )
        return _nested(tags, marks)
    return tags or marks


def without_markup(line: str, own: Sequence[re.Pattern[str]] = ()) -> str:
    """Return the text of a line for training: without tags and marks, and with a space for what ends a sentence.

    >>> without_markup("one<br/>**two** <b>th</b>ree")
    'one two three'
    """
    tags = marked_up(line, own)
    if not tags:
        return line
    return " ".join("".join(stretch.raw) for stretch in stretches(line, tags))


def _found(line: str, candidates: Sequence[re.Match[str]], spans: Sequence[Span]) -> list[Tag]:
    """Return those of the candidates that are marks, outside of what is protected, with their partners."""
    starts = [span.start for span in spans]
    is_table = candidates[0][0] == "|" and _table.match(line) is not None
    marks: list[Tag] = []
    opened: dict[str, int] = {}
    for match in candidates:
        place = bisect_right(starts, match.start()) - 1
        inside = place >= 0 and match.start() < spans[place].end
        text = match[0]
        if text[0] == "\\" and text[1] != '"':
            if inside and spans[place][:2] == match.span():
                marks.append(Tag(match.start(), match.end(), _BREAK, EMPTY))
            continue
        if inside:
            continue
        if text == "|":
            if is_table:
                marks.append(Tag(match.start(), match.end(), _CELL, EMPTY))
            continue
        before, behind = line[max(0, match.start() - 1) : match.start()], line[match.end() : match.end() + 1]
        if _is_seen(before) and before not in "([{" and not _is_word(behind):
            start = match.start()
            while closing := _last_opened(opened, text[: match.end() - start]):
                first = opened[closing]
                if marks[first].end == start:  # around nothing
                    break
                opened = {name: at for name, at in opened.items() if at < first}  # what was opened since then is text
                marks[first] = marks[first]._replace(partner=len(marks))
                marks.append(Tag(start, start + len(closing), closing, CLOSE, first))
                start += len(closing)
            if start > match.start():
                continue
        if not _is_word(before) and _is_seen(behind) and behind not in ".,;:!?)]}":
            opened[text] = len(marks)
            marks.append(Tag(match.start(), match.end(), text, OPEN))
    kept = [mark.kind == EMPTY or mark.partner >= 0 for mark in marks]
    return marks if all(kept) else renumbered(marks, kept)


def _last_opened(opened: dict[str, int], text: str) -> str:
    """Return the mark that was opened last, of those that a text may close; three stars may close one and two."""
    return max((mark for mark in opened if text.startswith(mark)), key=opened.__getitem__, default="") if text else ""


def _is_seen(char: str) -> bool:
    """Say whether there is a character that is neither white space nor invisible."""
    return char != "" and char.isprintable() and not char.isspace()


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _nested(tags: Sequence[Tag], marks: Sequence[Tag]) -> list[Tag]:
    """Put tags and marks together; a pair of marks that crosses another pair is text."""
    both = [*tags, *(mark._replace(partner=mark.partner + len(tags) if mark.partner >= 0 else -1) for mark in marks)]
    order = sorted(range(len(both)), key=lambda place: both[place].start)
    number = {place: new for new, place in enumerate(order)}
    both, is_mark = (
        [both[place]._replace(partner=number.get(both[place].partner, -1)) for place in order],
        [place >= len(tags) for place in order],
    )
    kept = [True] * len(both)
    stack: list[int] = []
    for place, tag in enumerate(both):
        if tag.partner > place:
            stack.append(place)
        elif tag.partner >= 0 and kept[place]:
            while stack and stack[-1] != tag.partner and (is_mark[stack[-1]] or not kept[stack[-1]]):
                crossed = stack.pop()
                kept[crossed] = kept[both[crossed].partner] = False
            if stack and stack[-1] == tag.partner:
                stack.pop()
            else:  # a mark that crosses tags
                kept[place] = kept[tag.partner] = False
    return renumbered(both, kept)
