"""HTML that is translated in place: the texts between elements that end a sentence."""

from __future__ import annotations

import html
import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from typing import IO

from camber.formats.bilingual.languages import Languages
from camber.formats.bilingual.unit import ALONE, CLOSE, LINE, MARK, NEW, OPEN, Code, Segment, Tally, Unit
from camber.formats.documents.document import Document, Edit, Slot, decoded_exactly, decoded_xml
from camber.formats.documents.line_ends import with_marks, without_marks
from camber.text.tags import BLOCKS, DEEPEST, HTML, OPAQUE, Tag, find_tags, is_too_deep

_charset = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([\w.-]+)", re.I)
_doctype = re.compile(r"<!DOCTYPE[^>]*>", re.I)
#: elements that are no part of a sentence
_OUTSIDE = BLOCKS | {"script", "style", "svg", "math", "template", "textarea", "object", "iframe", "noscript", "body"}
_PREFORMATTED = frozenset(["pre", "textarea", "listing"])
_letter = re.compile(r"[^\W\d_]")
_entity = re.compile(r"&\w+;")


def open_html(data: bytes, path: str, languages: Languages, *, everything: bool = False) -> Document:
    """Find the texts between blocks; there are no translations in such a file, so that all of them are places."""
    named = _charset.search(data[:2000])
    if named and data[:2] not in (b"\xff\xfe", b"\xfe\xff") and not data.startswith(b"\xef\xbb\xbf"):
        encoding = named[1].decode()
        text = decoded_exactly(data, encoding, path)
    else:
        text, encoding = decoded_xml(data, path)
    document = Document(path, text, encoding, "html")
    tags = find_tags(text, HTML)
    if deep := sum(is_too_deep(tag, text) for tag in tags):
        document.counts[f"inside more than {DEEPEST} elements"] = deep
    preformatted = [
        (tag.end, tags[tag.partner].start)
        for tag in tags
        if tag.name in _PREFORMATTED and tag.kind == OPEN and tag.partner >= 0
    ]
    for start, end in _between(text, tags):
        content = text[start:end]
        start += len(content) - len(content.lstrip())
        end -= len(content) - len(content.rstrip())
        if start < end and _has_words(text[start:end]):
            place = bisect(preformatted, (start, len(text))) - 1
            lines = place >= 0 and end <= preformatted[place][1]
            document.slots.append(_slot(document, start, end, lines=lines))
    return document


def read_html(stream: IO[bytes], path: str, languages: Languages, tally: Tally) -> Iterator[Unit]:
    """Yield the texts between blocks, which have no translations; tags inside are codes."""
    document = open_html(stream.read(), path, languages)
    for slot, line in zip(document.slots, document.lines(), strict=True):
        tally.units += 1
        yield Unit(_segment(slot.texts[0]), None, NEW, line)


def _segment(content: str) -> Segment:
    pieces: list[str | Code] = []
    done = 0
    for tag in find_tags(content, HTML):
        if tag.start >= done:
            markup = content[tag.start : tag.end]
            kind = LINE if markup == MARK else tag.kind if tag.kind in (OPEN, CLOSE) else ALONE
            pieces += [html.unescape(content[done : tag.start]), Code(kind, "", markup)]
            done = tag.end
    return Segment(tuple(piece for piece in (*pieces, html.unescape(content[done:])) if piece))


def _slot(document: Document, start: int, end: int, *, lines: bool) -> Slot:
    """Return a place for a text, whose lines are lines of its translation if it is preformatted."""
    content = document.text[start:end]

    def edits(texts: Sequence[str]) -> list[Edit]:
        return [Edit(start, end, without_marks(texts[0], document.line_end) if lines else texts[0])]

    return Slot(start, (with_marks(content, HTML) if lines else content,), edits)


def _between(text: str, tags: Sequence[Tag]) -> Iterator[tuple[int, int]]:
    """Yield where the texts between blocks begin and end."""
    doctype = _doctype.search(text)
    start = 0
    if doctype is not None and not text[: doctype.start()].strip("\ufeff \t\r\n"):
        start = doctype.end()
    for tag in tags:
        if tag.start >= start and (tag.block or tag.name in _OUTSIDE or tag.name == "<?"):
            yield start, tag.start
            start = tag.end
    yield start, len(text)


def _has_words(content: str) -> bool:
    """Say whether there are letters outside of tags."""
    done, plain = 0, ""
    for tag in find_tags(content, HTML):
        if tag.start >= done:
            plain += content[done : tag.start] + (" " if tag.kind == OPAQUE else "")
            done = tag.end
    return _letter.search(_entity.sub("", plain + content[done:])) is not None
