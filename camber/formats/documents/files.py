"""Which files are translated in place, told by their content."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from camber.errors import CamberError, InputError
from camber.files import open_bytes
from camber.formats.bilingual.files import ZIP, format_of, head_of
from camber.formats.bilingual.languages import Languages
from camber.formats.documents.document import Document
from camber.formats.documents.html import open_html
from camber.formats.documents.po import open_po
from camber.formats.documents.tmx import open_tmx
from camber.formats.documents.xliff import open_xliff

OPENERS: dict[str, Callable[..., Document]] = {
    "xliff": open_xliff,
    "po": open_po,
    "tmx": open_tmx,
    "html": open_html,
}
#: bytes that a format is told by
_HEAD = 1 << 16


def kind_of(data: bytes, path: str) -> str:
    """Return the name of a file's format; nothing if its lines are translated one by one."""
    if data[:4] in ZIP:
        remedy = "unpack it and give the files in it; save a document of an office suite as XLIFF or HTML first"
        raise InputError("a zip archive", path, remedy=remedy)
    head = head_of(data[:_HEAD], path)
    try:
        name = format_of(head)
    except CamberError:
        if head.text.lstrip("\ufeff")[:5] == "<?xml" or "\0" in head.text:
            raise
        return ""  # a text that begins with a tag
    if name == "mo":
        raise InputError("a compiled file of gettext", path, remedy="give the PO file that it was made of")
    return name if name in OPENERS else ""


def is_document(path: str | Path) -> bool:
    """Say whether a file is translated in place; a pipe, which cannot be looked at before it is read, is not."""
    if not Path(path).is_file():
        return False
    with open_bytes(path) as stream:
        return bool(kind_of(stream.read(_HEAD), str(path)))


def open_document(data: bytes, path: str, languages: Languages, *, everything: bool = False) -> Document | None:
    """Open a file for translation from one language to another; None if its lines are translated one by one.

    Places with a translation are left alone, unless `everything` is asked for.
    """
    name = kind_of(data, path)
    return OPENERS[name](data, path, languages, everything=everything) if name else None
