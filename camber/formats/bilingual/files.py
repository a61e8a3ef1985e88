"""Files of units, whatever their format: told by their content, packed or not, and what archives hold.

for file in files_in("memory.zip"):
    tally = Tally()
    for unit in file.units(Languages("de", "en"), tally):
        unit.source.text, unit.target.text
"""

from __future__ import annotations

import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from camber.errors import InputError
from camber.files import Bounded, most_unpacked, open_bytes
from camber.formats.bilingual.languages import Languages
from camber.formats.bilingual.mo import MAGIC
from camber.formats.bilingual.unit import Tally, Unit
from camber.registry import Entry, Registry

#: bytes that a format is told by
_HEAD = 1 << 16
#: formats that take what no other one does
_ANY_TEXT = ("table", "plain")
#: what reading a damaged file of an archive raises
_DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError)
ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_before_root = re.compile(
    r"\ufeff?(?:\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE(?:[^\[<>\"']|\"[^\"]*\"|'[^']*')*+(?:\[.*?\]\s*)?>)*", re.S
)
_root = re.compile(r"<(?:[\w.-]+:)?([\w.-]+)")
_po = re.compile(r"(?:#~\s*)?(?:msgid|msgctxt)[ \t]*\"")


@dataclass(frozen=True)
class Head:
    """The beginning of a file."""

    name: str
    data: bytes
    text: str
    root: str  # name of the root element; nothing if it is no XML


@dataclass(frozen=True)
class UnitFormat:
    """A format: how it is told by the beginning of a file, and how its units are read."""

    looks_like: Callable[[Head], bool]
    read: Callable[[IO[bytes], str, Languages, Tally], Iterator[Unit]]


UNIT_FORMATS: Registry[UnitFormat] = Registry(
    "file format",
    "camber.unit_formats",
    {
        "tmx": Entry("camber.formats.bilingual.files:TMX", "translation memories, versions 1.1 to 1.4"),
        "xliff": Entry("camber.formats.bilingual.files:XLIFF", "versions 1.0 to 1.2 and 2.x, SDL's too"),
        "mo": Entry("camber.formats.bilingual.files:MO", "compiled messages of gettext"),
        "po": Entry("camber.formats.bilingual.files:PO", "messages of gettext"),
        "html": Entry("camber.formats.bilingual.files:HTML", "pages: texts between blocks, without translations"),
        "table": Entry("camber.formats.bilingual.files:TABLE", "TSV or CSV, two columns or with a header"),
        "plain": Entry("camber.formats.bilingual.files:PLAIN", "a line for each text, without translations"),
    },
)


def _reader(name: str) -> Callable[[IO[bytes], str, Languages, Tally], Iterator[Unit]]:
    """Return a reader that is imported when it is used."""

    def read(stream: IO[bytes], path: str, languages: Languages, tally: Tally) -> Iterator[Unit]:
        import importlib

        module, _, function = name.rpartition(".")
        home = importlib.import_module(f"camber.formats.{module}")
        units: Iterator[Unit] = getattr(home, function)(stream, path, languages, tally)
        return units

    return read


def _is_po(head: Head) -> bool:
    """Say whether the first line that is no comment begins an entry of PO."""
    for line in re.split(r"[\r\n]+", head.text):
        line = line.lstrip("\ufeff \t")
        if line and (not line.startswith("#") or line.startswith("#~")):
            return _po.match(line) is not None
    return False


def is_page(head: Head) -> bool:
    """Say whether a text is a page of HTML, or, by its name, a piece of one."""
    if head.root.lower() == "html" or head.text.lstrip("\ufeff \t\r\n")[:14].lower() == "<!doctype html":
        return True
    return "\0" not in head.text and head.name.lower().removesuffix(".gz").endswith((".html", ".htm", ".xhtml"))


def _is_table(head: Head) -> bool:
    """Say whether a text is a table: its first lines have tabs, or its name says so."""
    lines = [line for line in head.text.split("\n")[:20] if line.strip()]
    if lines and all("\t" in line.strip("\r\n ") for line in lines[: max(1, len(lines) - 1)]):
        return True
    return head.name.lower().removesuffix(".gz").endswith((".csv", ".tsv", ".tab"))


TMX = UnitFormat(lambda head: head.root == "tmx", _reader("bilingual.tmx.read_tmx"))
XLIFF = UnitFormat(lambda head: head.root == "xliff", _reader("bilingual.xliff.read_xliff"))
MO = UnitFormat(lambda head: head.data[:4] in MAGIC, _reader("bilingual.mo.read_mo"))
PO = UnitFormat(_is_po, _reader("bilingual.po.read_po"))
HTML = UnitFormat(is_page, _reader("documents.html.read_html"))
TABLE = UnitFormat(_is_table, _reader("bilingual.table.read_table"))
PLAIN = UnitFormat(lambda head: True, _reader("bilingual.table.read_plain"))


class UnitFile:
    """A file of units, or one `inside` of an archive; `path` is its name for people."""

    def __init__(
        self, path: str, opened: Callable[[], AbstractContextManager[IO[bytes]]], *, inside: bool = False
    ) -> None:
        self.path, self._opened, self._inside = path, opened, inside
        self.format = ""  # known once it was looked at

    def units(self, languages: Languages, tally: Tally) -> Iterator[Unit]:
        """Yield the units between two languages; `tally` counts them, and what was left out.

        What else is in an archive, such as pictures, is left out, too.
        """
        with self._opened() as raw:
            start = raw.read(_HEAD)
            head = head_of(start, self.path)
            try:
                self.format = format_of(head)
            except InputError:
                if not self._inside:
                    raise
                tally.skipped["of another format"] += 1
                return
            if head.data.strip():
                stream = io.BufferedReader(_Rejoined(start, raw), _HEAD)
                yield from UNIT_FORMATS.load(self.format).read(stream, self.path, languages, tally)


class _Rejoined(io.RawIOBase):
    """A stream of which the beginning was read already."""

    def __init__(self, start: bytes, rest: IO[bytes]) -> None:
        self.start, self.rest = start, rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self.start[: len(buffer)] if self.start else self.rest.read(len(buffer))
        self.start = self.start[len(piece) :]
        buffer[: len(piece)] = piece
        return len(piece)


def head_of(data: bytes, name: str) -> Head:
    """Return what a format is told by."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text = data.decode("utf-16", "replace")
    elif data[:2] in (b"<\0", b"\0<"):
        text = data.decode("utf-16-le" if data[:1] == b"<" else "utf-16-be", "replace")
    else:
        text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    text = text.replace("\r\n", "\n")
    root = ""
    if text.lstrip("\ufeff \t\n\r")[:1] == "<":
        before = _before_root.match(text)
        found = _root.match(text, before.end() if before else 0)
        root = found[1] if found else "?"
    return Head(name, data, text, root)


def format_of(head: Head) -> str:
    """Return the name of a file's format; XML that is none of them, and other archives, are refused."""
    kinds = UNIT_FORMATS.load_all()
    for name in sorted(kinds, key=lambda name: name in _ANY_TEXT):  # in their order, but for these
        if name in _ANY_TEXT and head.root:
            break
        if kinds[name].looks_like(head):
            if name in _ANY_TEXT and "\0" in head.text:
                raise InputError("not a text", head.name, remedy=f"give one of {', '.join(UNIT_FORMATS)}")
            return name
    if head.root.lower() in ("martif", "tbx"):
        raise InputError("a glossary (TBX), which has no sentences", head.name, remedy="give it as --glossary")
    if head.root == "?" or head.root.lower() in ("p", "div", "b", "br", "span"):
        return "plain"
    problem = f"XML with the root element {head.root}, which is no format with translations"
    raise InputError(problem, head.name, remedy=f"give one of {', '.join(UNIT_FORMATS)}")


def files_in(path: str | Path) -> Iterator[UnitFile]:
    """Yield a file, or, if it is a zip archive, each file in it that is not hidden."""
    with open_bytes(path) as stream:
        packed = stream.read(4) in ZIP
        if packed and isinstance(getattr(stream, "raw", None), Bounded):
            raise InputError("a zip archive that gzip packed once more", path, remedy="unpack it once (gunzip)")
    if not packed:
        yield UnitFile(str(path), lambda: open_bytes(path))
        return
    archive = _Archive(path)
    if not archive.members:
        raise InputError("this archive holds no files", path, remedy="give one with translation files")
    for member in archive.members:
        yield UnitFile(f"{path}/{member.filename}", archive.opener(member), inside=True)


class _Archive:
    """A zip archive, whose list of files is read once; all of them together may hold what a packed file may."""

    def __init__(self, path: str | Path) -> None:
        self.path = path
        with _reading_zip(path, Exception):  # a damaged list of files makes it raise anything
            self.archive = zipfile.ZipFile(path)
            self.members = [item for item in self.archive.infolist() if not (item.is_dir() or _hidden(item.filename))]
        self.held: dict[int, int] = {}  # place of a member → bytes that it had
        self.total = 0  # of them all

    def opener(self, member: zipfile.ZipInfo) -> Callable[[], AbstractContextManager[IO[bytes]]]:
        """Return what opens a member."""

        @contextmanager
        def opened() -> Iterator[IO[bytes]]:
            shown = f"{self.path}/{member.filename}"
            self.total -= self.held.pop(member.header_offset, 0)
            most = most_unpacked(Path(self.path).stat().st_size) - self.total
            with _reading_zip(shown, Exception):
                packed = self.archive.open(member)
            with _reading_zip(shown), packed as stream:
                content = Bounded(stream, shown, most, "zip")
                try:
                    with io.BufferedReader(content, _HEAD) as bounded:
                        yield bounded
                finally:
                    self.total += content.total
                    self.held[member.header_offset] = content.total

        return opened


def _hidden(name: str) -> bool:
    return name.startswith("__MACOSX/") or name.rpartition("/")[2].startswith(".")


@contextmanager
def _reading_zip(path: str | Path, caught: type[Exception] | tuple[type[Exception], ...] = _DAMAGE) -> Iterator[None]:
    try:
        yield
    except caught as error:
        problem = f"damaged or locked zip archive ({error})"
        raise InputError(problem, path, remedy="unpack it, or pack it again without a password") from None
