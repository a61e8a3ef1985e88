"""The elements of an XML file with their places in its text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape, unescape

from camber.errors import InputError
from camber.formats.bilingual.elements import syntax_error
from camber.formats.documents.document import Edit
from camber.formats.xml import local_name

_token = re.compile(
    r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>"
    r"|<!DOCTYPE(?:[^\[<>\"']|\"[^\"]*\"|'[^']*')*+(?:\[(?:<!--.*?-->|<\?.*?\?>|[^\]\"']|\"[^\"]*\"|'[^']*')*+\]\s*+)?>"
    r"|<(?P<close>/?)(?P<name>[^\s/<>!?]+)(?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*?(?P<empty>/?)>",
    re.S,
)
_attribute = re.compile(r"\s([\w:.-]+)\s*=\s*(\"[^\"]*\"|'[^']*')")
_cdata = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.S)


class Node:
    """An element: where its tags and its content are."""

    __slots__ = ("_text", "children", "close", "end", "inner", "name", "parent", "qualified", "start")

    def __init__(self, text: str, qualified: str, start: int, inner: int, parent: Node | None) -> None:
        self._text, self.qualified, self.parent = text, qualified, parent
        self.name = qualified.rpartition(":")[2]
        self.start, self.inner = start, inner  # of the start tag; behind it
        self.close = self.end = inner  # of the end tag; behind it
        self.children: list[Node] = []

    @property
    def is_empty(self) -> bool:
        """Whether it is written as one tag."""
        return self.end == self.inner

    @property
    def content(self) -> str:
        """What is between its tags, as it is written."""
        return self._text[self.inner : self.close]

    @property
    def line(self) -> int:
        """The line where it begins."""
        return self._text.count("\n", 0, self.start) + 1

    def get(self, name: str) -> str | None:
        """Return the value of an attribute."""
        found = self._find(name)
        return None if found is None else unescape(found[2][1:-1])

    def getparent(self) -> Node | None:
        """Return the element around it."""
        return self.parent

    def child(self, name: str) -> Node | None:
        """Return the first child of a name."""
        return next((child for child in self.children if child.name == name), None)

    def iter(self, name: str) -> Iterator[Node]:
        """Yield the elements of a name inside of it, in the order of their start tags."""
        for child in self.children:
            if child.name == name:
                yield child
            yield from child.iter(name)

    def _find(self, name: str) -> re.Match[str] | None:
        found = _attribute.finditer(self._text, self.start, self.inner)
        return next((item for item in found if item[1] == name), None)

    def setting(self, name: str, value: str | None) -> list[Edit]:
        """Return what gives an attribute a value; None removes it."""
        found = self._find(name)
        if value is None:
            return [] if found is None else [Edit(found.start(), found.end(), "")]
        quoted = escape(value, quote=False).replace('"', "&quot;")
        if found is not None:
            return [Edit(found.start(2), found.end(2), f'"{quoted}"')]
        at = self.inner - (2 if self.is_empty else 1)
        return [Edit(at, at, f' {name}="{quoted}"')]

    def filling(self, content: str) -> list[Edit]:
        """Return what gives it another content."""
        if self.is_empty:
            return [Edit(self.inner - 2, self.inner, f">{content}</{self.qualified}>")]
        return [Edit(self.inner, self.close, content)]


def tree_of(data: bytes, text: str, path: str) -> Node:
    """Return the root element of a file; `data` is checked as any XML from anywhere is."""
    _check(data, path)
    document = Node(text, "", 0, 0, None)
    current = document
    for token in _token.finditer(text):
        name = token["name"]
        if name is None:
            continue
        if token["close"]:
            current.close, current.end = token.start(), token.end()
            if current.parent is None:
                raise InputError(f"an end tag {name} without its start", path)
            current = current.parent
            continue
        node = Node(text, name, token.start(), token.end(), current)
        current.children.append(node)
        if not token["empty"]:
            current = node
    if current is not document or len(document.children) != 1:
        raise InputError("its elements are not nested as they should be", path, remedy="export it again")
    return document.children[0]


def _check(data: bytes, path: str) -> None:
    """Refuse what is not well formed, or would grow or nest out of bounds."""
    from lxml import etree

    parser = etree.XMLPullParser(
        ("end",), tag="{*}nothing", resolve_entities="internal", no_network=True, load_dtd=False, huge_tree=False,

    )  # fmt: skip
    try:
        parser.feed(data)
        root = parser.close()
    except etree.XMLSyntaxError as error:
        raise syntax_error(error, path) from None
    except ValueError as error:
        raise InputError(f"not XML that can be read: {error}", path, remedy="export it again") from None
    for entity in root.iter(etree.Entity):
        raise InputError(f"the entity {entity.text} is not defined in the file itself", path, entity.sourceline)


def without_cdata(content: str) -> str:
    """Return mark-up in which text is written with entities only."""
    return _cdata.sub(lambda found: escape(found[1], quote=False), content) if "<![CDATA[" in content else content


def is_sound(markup: str) -> bool:
    """Say whether a piece of mark-up can stand inside of an element."""
    from lxml import etree

    names = set(re.findall(r"[<\s/]([A-Za-z_][\w.-]*):[A-Za-z_]", markup)) - {"xml"}
    spaces = "".join(f' xmlns:{name}="urn:x"' for name in names)
    plain = re.sub(r"&(?!(?:lt|gt|amp|quot|apos|#\d+|#x[0-9a-fA-F]+);)\w+;", "", markup)
    try:
        root = etree.fromstring(f"<x{spaces}>{plain}</x>")
    except (etree.XMLSyntaxError, ValueError):
        return False
    return local_name(root) == "x"


def blank_before(text: str, start: int) -> str:
    """Return the white space before a place, if a line ends in it: what an element on a line of its own begins with."""
    at = start
    while at > 0 and text[at - 1] in " \t\r\n":
        at -= 1
    return text[at:start] if "\n" in text[at:start] else ""
