"""Elements of an XML file one after the other, in constant memory, and the text with codes inside of one."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from html import escape
from typing import IO, Any

from camber.errors import InputError
from camber.formats.bilingual.unit import ALONE, CLOSE, OPEN, Code, Segment
from camber.formats.xml import local_name, quoted

LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_CHUNK = 1 << 16

#: elements whose content is code of another format; those that begin and end something; those with a number around text
_NATIVE = {"ph": ALONE, "it": ALONE, "ut": ALONE, "bpt": OPEN, "ept": CLOSE, "x": ALONE, "cp": ALONE}
_EMPTY = {"bx": OPEN, "sc": OPEN, "ex": CLOSE, "ec": CLOSE, "sm": OPEN, "em": CLOSE}
_AROUND = frozenset(["g", "pc"])


def elements(
    stream: IO[bytes], path: str, starts: Collection[str], ends: Collection[str]
) -> Iterator[tuple[str, Any, str]]:
    """Yield elements of these names where they start (without content) and where they end, as (event, element, name).

    What ends is forgotten when the next one is asked for. Entities that the file does not define, and what grows or
    nests out of bounds, are refused, as `camber.formats.xml.parse_xml` does.
    """
    from lxml import etree

    names = [f"{{*}}{name}" for name in {*starts, *ends}]
    events = ("start", "end") if starts else ("end",)
    # with resolve_entities=False, what follows an entity would be lost without a word
    parser = etree.XMLPullParser(
        events, tag=names, resolve_entities="internal", no_network=True, load_dtd=False, huge_tree=False,
        remove_comments=True, remove_pis=True,
    )  # fmt: skip
    problem: InputError | None = None
    known: dict[str, str] = {}  # names without their namespaces
    while problem is None:
        chunk = stream.read(_CHUNK)
        try:
            if chunk:
                parser.feed(chunk)
            else:
                parser.close()
        except etree.XMLSyntaxError as error:
            problem = syntax_error(error, path)
        except ValueError as error:
            problem = InputError(f"not XML that can be read: {error}", path, remedy="export it again")
        found = parser.read_events()
        while True:
            try:
                event, element = next(found)
            except StopIteration:
                break
            except etree.XMLSyntaxError:  # told already
                break
            tag = element.tag
            name = known.get(tag) or known.setdefault(tag, local_name(element))
            if event == "start":
                if name in starts:
                    yield event, element, name
            elif name in ends:
                yield event, element, name
                _forget(element, whole=bool(starts))
        if not chunk:
            break
    if problem is not None:
        raise problem


def syntax_error(error: Any, path: str) -> InputError:
    """Return what is wrong with an XML file, with line and column."""
    line, column = error.position
    said = re.sub(r", line \d+, column \d+$", "", error.msg or "")
    return InputError(
        f"not XML that can be read: {said} (column {column})", path, line, remedy="mend the file or export it again"
    )


def _forget(element: Any, *, whole: bool) -> None:
    """Let go of all that came before an element beside it; and of what is in it, where others may not follow there."""
    if whole:
        element.clear(keep_tail=True)
    parent = element.getparent()
    if parent is not None:
        while (first := parent[0]) is not element:
            parent.remove(first)


def segment_of(element: Any, path: str, apart: Callable[[Any], None] | None = None) -> Segment:
    """Return the text of an element with its codes; `apart` is given every ``sub`` in them, a text of its own."""
    if len(element) == 0:
        text = element.text
        return Segment((text,)) if text else Segment()
    pieces: list[str | Code] = []
    _collect(element, path, pieces, apart)
    joined: list[str | Code] = []
    for piece in pieces:
        if isinstance(piece, str) and joined and isinstance(joined[-1], str):
            joined[-1] += piece
        elif piece != "":
            joined.append(piece)
    return Segment(tuple(joined))


def _collect(element: Any, path: str, pieces: list[str | Code], apart: Callable[[Any], None] | None) -> None:
    """Add the text and codes inside an element."""
    pieces.append(element.text or "")
    for child in element:
        tag = child.tag
        if not isinstance(tag, str):
            raise InputError(
                f"the entity {child.text} is not defined in the file itself", path, child.sourceline,
                remedy="put its text in its place",
            )  # fmt: skip
        name = tag.rpartition("}")[2]
        if name in _NATIVE:
            if len(child) and apart is not None:
                for sub in child.iter("{*}sub"):
                    apart(sub)
            pieces.append(_code_of(name, child))
        elif name in _EMPTY:
            pieces.append(_code_of(name, child))
        elif name == "mrk" and child.get("mtype") == "seg":
            _collect(child, path, pieces, apart)
        elif name == "sub":
            if apart is not None:
                apart(child)
        else:
            number = _number(dict(child.items())) if name in _AROUND else ""
            pieces.append(Code(OPEN, number, f"<{name}{_attributes(child.items())}>"))
            _collect(child, path, pieces, apart)
            pieces.append(Code(CLOSE, number, f"</{name}>"))
        if tail := child.tail:
            pieces.append(tail)


def _number(attributes: Mapping[str, str]) -> str:
    """Return what both halves of a pair share, or an element's own number."""
    get = attributes.get
    return get("rid") or get("startRef") or get("i") or get("x") or get("id") or ""


def _attributes(items: Collection[tuple[str, str]]) -> str:
    if not items:
        return ""
    return "".join(
        f' {name.rpartition("}")[2]}="{value}"' if value.isalnum() else f" {name.rpartition('}')[2]}={quoted(value)}"
        for name, value in items
    )


def _code_of(name: str, element: Any) -> Code:
    """Return a code as inline XML, without namespaces; what is inside of it is text."""
    content = "".join(element.itertext()) if len(element) else element.text
    return _code(name, tuple(element.items()), content or "")


@lru_cache(maxsize=10_000)
def _code(name: str, items: tuple[tuple[str, str], ...], content: str) -> Code:
    """Make a code of an element; a file has most of its codes many times."""
    start = f"<{name}{_attributes(items)}"
    markup = f"{start}>{escape(content, quote=False)}</{name}>" if content else f"{start}/>"
    return Code(_NATIVE.get(name) or _EMPTY[name], _number(dict(items)), markup)
