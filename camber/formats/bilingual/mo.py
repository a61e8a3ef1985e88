"""MO, compiled files of gettext."""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from camber.errors import InputError
from camber.formats.bilingual.languages import Languages
from camber.formats.bilingual.po import Entry, Part, units_of
from camber.formats.bilingual.unit import Tally, Unit

MAGIC = (b"\xde\x12\x04\x95", b"\x95\x04\x12\xde")


def read_mo(stream: IO[bytes], path: str, languages: Languages, tally: Tally) -> Iterator[Unit]:
    """Yield the entries of a file that is between two languages; which were fuzzy is not known any more."""
    yield from units_of(_entries(stream.read(), path), languages, tally)


def _entries(data: bytes, path: str) -> Iterator[Entry]:
    """Yield the entries as those of a PO file."""
    import polib

    remedy = "compile it again, or give the PO file"
    _check(data, path, remedy)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "messages.mo"
        file.write_bytes(data)
        try:
            found = polib.mofile(str(file))
        except (struct.error, OSError, ValueError, LookupError, OverflowError) as error:
            raise InputError(f"not an MO file that can be read ({error})", path, remedy=remedy) from None
    metadata = "".join(f"{name}: {value}\n" for name, value in found.metadata.items())
    if metadata:
        yield _entry({"msgid": "", "msgstr": metadata})
    for item in found:
        texts = {"msgctxt": item.msgctxt, "msgid": item.msgid, "msgid_plural": item.msgid_plural or None}
        if item.msgid_plural:
            texts |= {f"msgstr[{form}]": text for form, text in item.msgstr_plural.items()}
        else:
            texts["msgstr"] = item.msgstr
        yield _entry(texts)


def _check(data: bytes, path: str, remedy: str) -> None:
    """Refuse a file whose tables point outside of it, or to more than it holds."""
    order = "<" if data[:4] == MAGIC[0] else ">"
    count, *tables = struct.unpack(f"{order}3I", data[8:20]) if len(data) >= 20 else (0, 0, 0)
    problem = ""
    if len(data) < 20 or any(table + 8 * count > len(data) for table in tables):
        problem = "it ends too early"
    else:
        rows = [row for table in tables for row in struct.iter_unpack(f"{order}2I", data[table : table + 8 * count])]
        if any(start + length > len(data) for length, start in rows):
            problem = "a text lies behind its end"
        elif sum(length for length, _ in rows) > 2 * len(data):
            problem = "its texts overlap"
    if problem:
        raise InputError(f"not an MO file that can be read: {problem}", path, remedy=remedy)


def _entry(texts: dict[str, str | None]) -> Entry:
    parts = {name: Part(0, 0, [text.replace("\\", "\\\\")]) for name, text in texts.items() if text is not None}
    return Entry(0, parts=parts)
