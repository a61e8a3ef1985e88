"""A file as text with places for translations, and how these are put into it."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from camber.errors import InputError
from camber.formats.bilingual.languages import Languages

_DECLARED = re.compile(r"<\?xml[^>]*?\sencoding\s*=\s*[\"']([A-Za-z][\w.-]*)")


class Edit(NamedTuple):
    """Text that stands in place of what was from `start` to `end`."""

    start: int
    end: int
    text: str


@dataclass
class Slot:
    """Texts that are translated together, and what their translations change in the file.

    A text is a line as the translator takes it, in the document's `format`.
    """

    start: int  # where it is in the file's text
    texts: tuple[str, ...]
    edits: Callable[[Sequence[str]], list[Edit]]
    segments: int = 1  # that people count


@dataclass
class Document:
    """A file that is translated: its whole text, and the places of what has no translation yet (or all of them)."""

    path: str
    text: str
    encoding: str
    format: str  # of the texts: "text", "html" or "xliff-inline"
    slots: list[Slot] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)  # why other places are left alone
    always: list[Edit] = field(default_factory=list)  # what else changes as soon as something is translated

    @cached_property
    def line_end(self) -> str:
        """How lines of the file end."""
        return "\r\n" if "\r\n" in self.text else "\n" if "\n" in self.text or "\r" not in self.text else "\r"

    def lines(self) -> Iterator[int]:
        """Yield the line of every slot; slots are in their order."""
        done, line = 0, 1
        for slot in self.slots:
            line += self.text.count("\n", done, slot.start)
            done = slot.start
            yield line

    def bytes_with(self, translations: Sequence[Sequence[str] | None]) -> bytes:
        """Return the file with translations for all slots; None leaves a slot as it is."""
        edits = [
            edit
            for slot, texts in zip(self.slots, translations, strict=True)
            if texts is not None
            for edit in slot.edits(texts)
        ]
        edits = sorted(edits + (self.always if edits else []), key=lambda edit: edit[:2])
        pieces, done = [], 0
        for start, end, text in edits:
            if start < done:
                line = self.text.count("\n", 0, start) + 1
                problem = "two segments have one place for their translation"
                raise InputError(problem, self.path, line, remedy="give each an id of its own")
            pieces += [self.text[done:start], text]
            done = end
        pieces.append(self.text[done:])
        return self.encoded("".join(pieces))

    def encoded(self, text: str) -> bytes:
        """Return a text in the file's encoding; XML has a way to write what that lacks."""
        errors = "strict" if self.format == "text" else "xmlcharrefreplace"
        try:
            return text.encode(self.encoding, errors)
        except UnicodeEncodeError as error:
            line, what = text.count("\n", 0, error.start) + 1, text[error.start]
            problem = f"the translation has {what!r}, which {self.encoding} cannot write"
            raise InputError(problem, self.path, line, remedy="convert the file to UTF-8 first") from None


class LanguagesDiffer(InputError):
    """A file between other languages than those of the translator."""

    def __init__(self, path: str, file: Languages, wanted: Languages) -> None:
        languages = f"from {file.source or 'any language'} to {file.target or 'any'}"
        problem = f"this file is {languages}, but the model translates from {wanted.source} to {wanted.target}"
        super().__init__(problem, path, remedy="use a model for these languages, or correct what the file says")


def decoded_xml(data: bytes, path: str) -> tuple[str, str]:
    """Return the text of an XML or HTML file with its byte-order mark, and the encoding that gives the bytes back."""
    if data.startswith(codecs.BOM_UTF8):
        encoding = "utf-8"
    elif data[:2] == codecs.BOM_UTF16_LE or data[:2] == b"<\0":
        encoding = "utf-16-le"
    elif data[:2] == codecs.BOM_UTF16_BE or data[:2] == b"\0<":
        encoding = "utf-16-be"
    else:
        declared = _DECLARED.match(data[:200].decode("latin-1"))
        encoding = declared[1] if declared else "utf-8"
    return decoded_exactly(data, encoding, path), encoding


def decoded_exactly(data: bytes, encoding: str, path: str) -> str:
    """Return the text of a file; one that would not come back the same is refused."""
    remedy = "convert the file to UTF-8"
    try:
        text = data.decode(encoding)
        same = text.encode(encoding) == data
    except LookupError:
        raise InputError(f"the encoding {encoding!r} is not known", path, remedy=remedy) from None
    except UnicodeError as error:
        start = getattr(error, "start", 0)
        problem = f"not the {encoding} that it should be (byte 0x{data[start : start + 1].hex()})"
        raise InputError(problem, path, data.count(b"\n", 0, start) + 1, remedy=remedy) from None
    if not same:
        raise InputError(f"its {encoding} has forms that would not come back the same", path, remedy=remedy)
    return text
