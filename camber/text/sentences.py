"""Where the sentences of a line begin and end.

A sentence ends with ``.``, ``!``, ``?``, ``…`` or what other scripts have for them, and the quotation marks and
brackets that close behind it, if white space and something follows that can begin a sentence. A full stop ends no
sentence behind an abbreviation of the language, a single letter, or a number that the language writes as an ordinal.
Scripts without spaces need none. A tab or another end of a line is the end of a sentence, too. The white space between
sentences belongs to none of them, and neither does what makes a line a heading, a quotation, an item or a note.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from camber.text.protect import Span
from camber.text.tokenise import base_language, nonbreaking

_CLOSING = r"""["'”’»)\]}›“‘」』）】》]"""
_STOPS = ".!?…؟۔।॥։።"
_OPENING = r"""["'“”«(\[{¿¡‹„‘‚*_-]"""
#: What ends a sentence wherever it stands, and what needs white space behind it: it begins with one of few characters,
#: which is looked for quickly.
_end = re.compile(
    rf"[。！？｡{_STOPS}](?:(?<=[。！？｡])[。！？｡]*[」』）】》”’\"']*|"
    rf"(?<=[{_STOPS}])(?<![{_STOPS}]{{2}})[{_STOPS}]*+(?:{_CLOSING}|\s?»)*+(?=\s|$))"
)
_word_before = re.compile(r"[^\s\"'“”«»()\[\]{}<>]*\Z")
_ORDINALS = frozenset(re.findall(r"\w+", "de fi tr da no nb nn sv cs sk pl hu et lv sl hr sr bs az is lb eu"))
_blanks = re.compile(r"\s+")
#: the end of a line or a cell
_break = re.compile(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
#: what a line of Markdown or reStructuredText begins with
_marker = re.compile(
    r"(?:(?:#{1,6}|>{1,3}|[*+•‣◦▪●-](?: \[[ xX]\])?|\(?[a-zA-Z\d]\))\s+)+(?=\S)"
    r"|\.\. [\w-]{1,40}::\s+(?=\S)|\.\. _[^:`]{1,80}:(?:\s+(?=\S)|\Z)|:[a-z]{2,12}(?: [\w*]{1,40}){0,2}:\s+(?=\S)"
)


def split_sentences(
    line: str, language: str = "", spans: Sequence[Span] = (), *, breaks: bool = True
) -> list[tuple[int, int]]:
    """Return where the sentences of a line begin and end, without the white space around them.

    No sentence ends inside one of the `spans`, which are in order. Without `breaks`, tabs and ends of lines are white
    space like any other.

    >>> line = "It is 5 p.m. Mr. Smith left.  He said: “Bye!” Then?"
    >>> [line[a:b] for a, b in split_sentences(line, "en")]
    ['It is 5 p.m. Mr. Smith left.', 'He said: “Bye!”', 'Then?']
    >>> split_sentences("* an item\\tof a list")
    [(2, 9), (10, 19)]
    """
    start = len(line) - len(line.lstrip())
    stop = len(line.rstrip())
    if marker := _marker.match(line, start, stop):
        start = marker.end()
    sentences: list[tuple[int, int]] = []
    for match in _break.finditer(line, start, stop) if breaks else ():
        if match.start() >= start and not _is_inside(match.start(), spans):
            sentences += _between(line, start, match.start(), language, spans)
            following = _blanks.match(line, match.start())
            start = following.end() if following else match.end()
    return sentences + _between(line, start, stop, language, spans)


def _is_inside(place: int, spans: Sequence[Span]) -> bool:
    at = bisect_right(spans, place, key=lambda span: span.start) - 1
    return at >= 0 and place < spans[at].end


def _between(line: str, start: int, stop: int, language: str, spans: Sequence[Span]) -> list[tuple[int, int]]:
    """Return the sentences of a stretch that has no break, and white space at most at its end."""
    stop = start + len(line[start:stop].rstrip())
    sentences, inside = [], bisect_right(spans, start, key=lambda span: span.end)
    for match in _end.finditer(line, start, stop):
        end = match.end()
        while inside < len(spans) and spans[inside].end < end:
            inside += 1
        if inside < len(spans) and spans[inside].start < end < spans[inside].end:
            continue
        following = _blanks.match(line, end)
        begin = following.end() if following else end
        while inside < len(spans) and spans[inside].end <= begin:
            inside += 1
        protected = inside < len(spans) and spans[inside].start == begin and not line[begin].isnumeric()
        first = "X" if protected else _first_letter(line, begin)
        if begin >= stop or not _ends(line, match.start(), begin, first, base_language(language)):
            continue
        sentences.append((start, end))
        start = begin
    if start < stop:
        sentences.append((start, stop))
    return sentences


def _ends(line: str, mark: int, begin: int, first: str, language: str) -> bool:
    """Say whether a sentence ends with the marks at `mark`, and another one begins at `begin` with `first`."""
    if line[mark] in "。！？｡":
        return True
    if first.islower():
        return False
    if not first and not line[begin].isnumeric():
        return line[mark] != "." or line[begin] not in ",;:)"
    if line[mark] != "." or line[mark : mark + 2] == "..":
        return line[mark] in "!?؟" or first.isupper() or not first.isascii()
    word = _word_before.search(line[max(0, mark - 40) : mark])
    stem = word[0] if word else ""
    always, before_number = nonbreaking(language)
    if stem in always or (line[begin].isnumeric() and (stem in before_number or (stem.istitle() and len(stem) <= 3))):
        return False  # Mr. Smith, No. 5, Fig. 5
    if len(stem) == 1 and stem.isalpha() and stem.isupper():
        return False  # J. Smith
    if "." in stem and stem.replace(".", "").isalpha() and len(stem.rpartition(".")[2]) <= 2:
        return False  # U.S.A., p.m.
    # 3. Oktober: a short number may be an ordinal
    return not (language in _ORDINALS and stem.isdecimal() and len(stem) <= 2)


_opened = re.compile(rf"(?:{_OPENING}|\s)*")


def _first_letter(line: str, begin: int) -> str:
    """Return the first letter from a place on, behind marks that open; nothing where there is none."""
    opened = _opened.match(line, begin, begin + 20)
    place = opened.end() if opened else begin
    return line[place : place + 1] if line[place : place + 1].isalpha() else ""
