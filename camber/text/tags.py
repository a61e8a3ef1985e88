"""Tags in a line: which there are, which belong together, and the text without them.

A model translates text without tags. This module takes a line apart into *stretches* of such text, between elements
that end a sentence (paragraphs, cells, line breaks), and remembers of every character what stood for it in the line.
Elements whose content is not to be translated (``translate="no"``, code, XLIFF's ``ph``) stay in the text as one opaque
character.

Three formats: "html" and "xliff-inline" know nothing but tags and entities; in "text", an angle bracket may be one, and
only what is surely a tag counts: an element with both tags, an empty one, OmegaT's ``<a0>``, a program's ``<0>``. XLIFF
often carries text of that kind: what is surely a tag in it, though written with entities, is one.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from camber.text.protect import CODE, THING, USER, find_spans

TEXT, HTML, XLIFF = FORMATS = ("text", "html", "xliff-inline")
OPEN, CLOSE, EMPTY, OPAQUE = "open", "close", "empty", "opaque"

_VOID = frozenset(
    ["area", "base", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr", "br"]
)
#: elements that end a sentence
BLOCKS = frozenset(
    re.findall(
        r"\w+",
        "address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset figcaption "
        "figure footer form h1 h2 h3 h4 h5 h6 head header hr html legend li main menu nav ol optgroup option p pre "
        "section select summary table tbody td tfoot th thead title tr ul",
    )
)
_UNTRANSLATED = frozenset(["code", "kbd", "samp", "script", "style", "tt", "var"])
#: those of them that nobody reads
_UNREAD = frozenset(["script", "style"])
#: XLIFF's and TMX's elements that hold code of another format; those that begin and end something
_NATIVE = frozenset(["ph", "it", "sub", "ut", "cp"])
#: those of them that are half of a pair, and no word
_LONE = frozenset(["it", "ut"])
_HALVES = {"bpt": OPEN, "ept": CLOSE, "bx": OPEN, "ex": CLOSE, "sc": OPEN, "ec": CLOSE}
DEEPEST = 50  # what is nested deeper in elements that end no sentence is not translated

_tag = re.compile(r"""<(/?)([A-Za-z_][\w:.-]{0,80}|\d{1,4}(?=/?>))((?:[^<>"'/]|/(?!>)|"[^"<]*+"|'[^'<]*+')*+)(/?)>""")
#: a start tag of HTML with angle brackets in quoted values, which XML has not; looked for within so many characters
_loose = re.compile(
    r"""<()([A-Za-z][\w:.-]{0,80})"""
    r"""((?:\s++[^\s<>"'/=]++(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s<>"']++))?+)*+\s*+)(/?)>"""
)
_LONGEST = 5000
_special = {"<!--": "-->", "<![CDATA[": "]]>", "<?": "?>", "<!DOCTYPE ": ">", "<!doctype ": ">"}
#: names of those that are said to nobody who reads the text: comments and processing instructions
REMARKS = ("<!--", "<?")
_plain_attributes = re.compile(r"""(?:\s++[\w:.-]++\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s"'<>=`]++))*+\s*+""")
_untranslated = re.compile(
    r"""\btranslate\s*=\s*["']?no\b|\bmtype\s*=\s*["']protected["']|"""
    r"""(?<![\w-])class\s*=\s*["']?(?:[^"'<>]*\s)?notranslate(?![\w-])"""
)
_shared = re.compile(r"""\b(?:rid|startRef|i)\s*=\s*["']([^"']*)["']""")
_piece = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,31});|.", re.S)
_closing = frozenset(".,;:!?)]}")
_own = re.compile(r"""\bid\s*=\s*["']([^"']*)["']""")
_entity = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,31});")


class Tag(NamedTuple):
    """A tag, or a whole element that is not to be translated."""

    start: int
    end: int
    name: str
    kind: str
    partner: int = -1  # the place of the tag that it belongs to in the list of them; -1: there is none

    @property
    def block(self) -> bool:
        """Whether a sentence ends here."""
        return (self.name in BLOCKS or self.name in _UNREAD) and self.kind != OPAQUE


class Stretch(NamedTuple):
    """Text between elements that end a sentence."""

    text: str
    raw: list[str]  # what stands for every character in the line
    places: list[int]  # where that begins in the line
    tags: list[tuple[int, int, str]]  # number of a tag, how much text is before it, and how it is written


def find_tags(line: str, format: str = TEXT) -> list[Tag]:
    """Return the tags of a line, from left to right, with their partners.

    >>> [(tag.name, tag.kind, tag.partner) for tag in find_tags('a <b>c</b> <br/> 1 < 2 <i translate="no">x</i>')]
    [('b', 'open', 1), ('b', 'close', 0), ('br', 'empty', -1), ('i', 'opaque', -1)]
    """
    if format == XLIFF:
        tags = [_as_word(tag) for tag in find_tags(line, HTML)]
        return _with_escaped(line, tags) if "&lt;" in line else tags
    if "<" not in line:
        return []
    tags = list(_scanned(line, loose=format == HTML))
    if format == TEXT and tags:
        hidden = [span for span in find_spans(line) if span.kind in (CODE, USER)]
        tags = _visible(tags, hidden)
    tags = _paired(tags, line)
    if format == TEXT or any(tag.name[0].isdecimal() for tag in tags):
        tags = renumbered(
            tags, [_is_sure(tag, line) if format == TEXT or tag.name[0].isdecimal() else True for tag in tags]
        )
    return _with_opaque(tags, line)


def _scanned(line: str, *, loose: bool) -> Iterator[Tag]:
    """Yield what looks like tags; all of it one by one."""
    absent: set[str] = set()
    left = 20 * _LONGEST + 4 * len(line) if loose else 0  # characters that may be looked at in vain
    at = line.find("<")
    while at >= 0:
        end = -1
        opening = next((opening for opening in _special if line.startswith(opening, at)), "")
        if opening and opening not in absent:
            closing = _special[opening]
            end = line.find(closing, at + len(opening))
            if end >= 0:
                end += len(closing)
                yield Tag(at, end, opening, EMPTY)
            else:
                absent.add(opening)
        elif match := _tag.match(line, at) or (_loose.match(line, at, at + _LONGEST) if left > 0 else None):
            end = match.end()
            name = match[2].lower()
            if match[1]:
                yield Tag(at, end, name, CLOSE)
            else:
                yield Tag(at, end, name, EMPTY if match[4] or name in _VOID else OPEN)
        elif line[at + 1 : at + 2].isalpha():
            left -= _LONGEST
        at = line.find("<", max(end, at + 1))


def _visible(tags: list[Tag], hidden: Sequence[tuple[int, int, str]]) -> list[Tag]:
    """Leave out what begins inside of code, unless that begins inside of a tag."""
    visible: list[Tag] = []
    place = 0
    for tag in tags:
        while place < len(hidden) and hidden[place][1] <= tag.start:
            place += 1
        inside = place < len(hidden) and hidden[place][0] < tag.start
        if not inside or (visible and hidden[place][0] < visible[-1].end):
            visible.append(tag)
    return visible


def _paired(tags: list[Tag], line: str) -> list[Tag]:
    """Find the partners: what closes belongs to the last that was opened by this name and is still open."""
    keys = [
        (_HALVES[tag.name], "#" + _number(line, tag))
        if tag.name in _HALVES and tag.kind == EMPTY
        else (tag.kind, tag.name)
        for tag in tags
    ]
    partner = [-1] * len(tags)
    opened: dict[str, list[int]] = {}
    stack: list[int] = []
    for place, (kind, key) in enumerate(keys):
        if kind == OPEN:
            opened.setdefault(key, []).append(place)
            stack.append(place)
        elif kind == CLOSE and opened.get(key):
            first = opened[key].pop()
            while stack and stack[-1] != first:  # opened in between, and not closed there
                lost = stack.pop()
                opened[keys[lost][1]].pop()
            stack.pop()
            partner[first], partner[place] = place, first
    return [tag._replace(kind=keys[place][0], partner=partner[place]) for place, tag in enumerate(tags)]


def _number(line: str, tag: Tag) -> str:
    """Return the number that the halves of a pair share."""
    shared = _shared.search(line, tag.start, tag.end) or _own.search(line, tag.start, tag.end)
    return shared[1] if shared else ""


def _is_sure(tag: Tag, line: str) -> bool:
    """Say whether something in a plain text is surely a tag."""
    if tag.name in _special or tag.partner >= 0:
        return True
    text = line[tag.start : tag.end].removesuffix(">").removesuffix("/")
    plain = _plain_attributes.fullmatch(text, 1 + len(tag.name)) is not None
    return plain and (tag.kind == EMPTY or tag.name in _HALVES)


def renumbered(tags: list[Tag], kept: Sequence[bool]) -> list[Tag]:
    """Leave tags out, and number their partners anew."""
    number = {place: new for new, place in enumerate(place for place, keep in enumerate(kept) if keep)}
    return [tag._replace(partner=number.get(tag.partner, -1)) for tag, keep in zip(tags, kept, strict=True) if keep]


def _with_opaque(tags: list[Tag], line: str) -> list[Tag]:
    """Make one of elements whose content is not to be translated."""
    out: list[Tag] = []
    kept = [True] * len(tags)
    merged = list(tags)
    depth, until = 0, -1
    for place, tag in enumerate(tags):
        if place <= until:
            kept[place] = False
            continue
        if tag.kind == CLOSE and tag.partner >= 0 and not tag.block:
            depth -= 1
        if tag.kind != OPEN or tag.partner < 0:
            continue
        depth += not tag.block
        if depth > DEEPEST or _is_left_alone(tag, line):
            until = tag.partner
            depth -= not tag.block
            lone = tag.name in _LONE or tag.name in _UNREAD
            merged[place] = Tag(tag.start, tags[until].end, tag.name, EMPTY if lone else OPAQUE)
    out = renumbered(merged, kept)
    return _halves(out, line) if any(tag.name in ("bpt", "ept") for tag in out) else out


def _is_left_alone(tag: Tag, line: str) -> bool:
    """Say whether the content of what a tag opens is not to be translated."""
    native = tag.name in _NATIVE or (tag.name in ("bpt", "ept") and line[tag.end - 2] != "/")
    return native or tag.name in _UNTRANSLATED or _untranslated.search(line, tag.start, tag.end) is not None


def is_too_deep(tag: Tag, line: str) -> bool:
    """Say whether an element is not translated only because so many others are around it.

    >>> (tag,) = (tag for tag in find_tags("<b>" * 51 + "one" + "</b>" * 51, HTML) if tag.kind == OPAQUE)
    >>> tag.start, is_too_deep(tag, "<b>" * 51 + "one" + "</b>" * 51)
    (150, True)
    """
    opening = next(_scanned(line[tag.start : tag.start + _LONGEST], loose=True), None) if tag.kind == OPAQUE else None
    return opening is not None and not _is_left_alone(opening, line[tag.start : tag.start + opening.end])


def _halves(tags: list[Tag], line: str) -> list[Tag]:
    """Pair the elements that hold a tag of another format each, by their numbers."""
    opened: dict[str, int] = {}
    out = list(tags)
    for place, tag in enumerate(tags):
        if tag.name not in ("bpt", "ept"):
            continue
        key = _number(line, tag)
        out[place] = tag._replace(kind=_HALVES[tag.name])
        if tag.name == "bpt":
            opened[key] = place
        elif key in opened:
            first = opened.pop(key)
            out[first], out[place] = out[first]._replace(partner=place), out[place]._replace(partner=first)
    return out


def _as_word(tag: Tag) -> Tag:
    """Let a placeholder of XLIFF be a word of the text, though it says elsewhere what it stands for."""
    return tag._replace(kind=OPAQUE) if tag.name == "ph" and tag.kind == EMPTY else tag


def _with_escaped(line: str, tags: list[Tag]) -> list[Tag]:
    """Add the tags of the text between others, written with entities; those of pairs that cross others stand alone.

    >>> [(tag.name, tag.start, tag.partner) for tag in find_tags('<g>&lt;b&gt;x&lt;/b&gt;</g> &lt; y', XLIFF)]
    [('g', 0, 3), ('b', 3, 2), ('b', 13, 1), ('g', 23, 0)]
    """
    chars: list[str] = []
    places: list[int] = []  # where each character begins
    done = 0
    for start, end in [*((tag.start, tag.end) for tag in tags), (len(line), len(line))]:
        for piece in _piece.finditer(line, done, start):
            decoded = html.unescape(piece[0])
            chars.append(decoded if len(decoded) == 1 else " ")
            places.append(piece.start())
        chars += "< "  # no tag goes on behind this
        places += [start, start]
        done = end
    pairs = [(tag.start, tags[tag.partner].start) for tag in tags if tag.kind == OPEN and tag.partner >= 0]
    pairs += [(tag.start, tag.start) for tag in tags]
    inner = [tag._replace(start=places[tag.start], end=places[tag.end]) for tag in find_tags("".join(chars))]
    lone, kept = [], []
    for tag in inner:
        first, last = sorted((tag.start, inner[tag.partner].start if tag.partner >= 0 else tag.start))
        crosses = any((first < one < last) != (first < two < last) for one, two in pairs)
        lone.append(tag._replace(kind=EMPTY, partner=-1) if crosses else tag)
        kept.append(not any(tag.start < one < tag.end for one, _ in pairs))
    inner = renumbered(lone, kept)
    both = [*tags, *(tag._replace(partner=tag.partner + len(tags) if tag.partner >= 0 else -1) for tag in inner)]
    order = sorted(range(len(both)), key=lambda place: both[place].start)
    number = {place: new for new, place in enumerate(order)}
    return [both[place]._replace(partner=number.get(both[place].partner, -1)) for place in order]


def stretches(line: str, tags: Sequence[Tag], format: str = TEXT) -> list[Stretch]:
    """Take a line apart into text between blocks; white space on both sides of a tag is not doubled.

    >>> [stretch.text for stretch in stretches("a <b>c</b> d<br>e", find_tags("a <b>c</b> d<br>e", "html"), "html")]
    ['a c d', 'e']
    """
    out = []
    current = Stretch("", [], [], [])
    chars: list[str] = []
    done = 0

    def take(until: int) -> None:
        entities = _entity.finditer(line, done, until) if format != TEXT and "&" in line else iter(())
        at = done
        for entity in entities:
            decoded = html.unescape(entity[0])
            if len(decoded) == 1 and (decoded == "\u00a0" or not decoded.isspace()):
                _characters(line, at, entity.start(), chars, current)
                chars.append(decoded)
                current.raw.append(entity[0])
                current.places.append(entity.start())
                at = entity.end()
        _characters(line, at, until, chars, current)

    for number, tag in enumerate(tags):
        take(tag.start)
        done = tag.end
        if tag.block:
            out.append(current._replace(text="".join(chars)))
            current, chars = Stretch("", [], [], []), []
        elif tag.kind == OPAQUE:
            chars.append(THING)
            current.raw.append(line[tag.start : tag.end])
            current.places.append(tag.start)
        elif (
            tag.kind == EMPTY
            and chars
            and chars[-1] in " \t"
            and line[done : done + 1] in _closing
            and not (current.tags and current.tags[-1][1] == len(chars))
        ):  # the white space belongs to it: without it there would be none
            before = current.raw.pop()
            del chars[-1], current.places[-1]
            current.tags.append((number, len(chars), before + line[tag.start : done]))
        else:
            if not chars or chars[-1].isspace():  # the white space behind it would be a second one
                while (
                    done < len(line)
                    and line[done].isspace()
                    and (number + 1 == len(tags) or done < tags[number + 1].start)
                ):
                    done += 1
            current.tags.append((number, len(chars), line[tag.start : done]))
    take(len(line))
    out.append(current._replace(text="".join(chars)))
    return out


def _characters(line: str, start: int, end: int, chars: list[str], stretch: Stretch) -> None:
    chars.extend(line[start:end])
    stretch.raw.extend(line[start:end])
    stretch.places.extend(range(start, end))
