"""XML that comes from anywhere: parsed whole, and refused where it would grow, reach for other files, or never end."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Any

from camber.errors import InputError

#: white space that an attribute would lose
_BLANKS = {ord(char): f"&#{ord(char)};" for char in "\n\r\t"}


def parse_xml(data: bytes, path: str | Path) -> Any:
    """Return the root element of a document (lxml); what is wrong is an error with line and column.

    Entities that the document itself defines are put in; others, and those that grow out of bounds, are refused, and so
    is what is nested more deeply than 256 elements.
    """
    from lxml import etree

    # with resolve_entities=False, what follows an entity would be lost without a word
    parser = etree.XMLParser(
        resolve_entities="internal", no_network=True, load_dtd=False, huge_tree=False, remove_comments=True,
        remove_pis=True,
    )  # fmt: skip
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        line, column = error.position
        said = re.sub(r", line \d+, column \d+$", "", error.msg or "")
        problem = f"not XML that can be read: {said} (column {column})"
        raise InputError(problem, path, line, remedy="mend the file or export it again") from None
    except ValueError as error:
        raise InputError(f"not XML that can be read: {error}", path, remedy="export it again") from None
    for element in root.iter(etree.Entity):
        problem = f"the entity {element.text} is not defined in the file itself"
        raise InputError(problem, path, element.sourceline, remedy="put its text in its place")
    return root


def quoted(value: str) -> str:
    """Return the value of an attribute as it is written: escaped, in the quotation marks that it has not itself.

    >>> print(quoted('say "hi" & go'), quoted("it's"))
    'say "hi" &amp; go' "it's"
    """
    text = escape(value, quote=False).translate(_BLANKS)
    return f"'{text}'" if '"' in text and "'" not in text else '"' + text.replace('"', "&quot;") + '"'


def local_name(element: Any) -> str:
    """Return the name of an element without its namespace; none for what is no element."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
