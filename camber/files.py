"""Reading and writing text files: plain or .gz, UTF-8, one sentence per line.

Only LF (or CRLF) ends a line: Unicode line separators, form feeds and the like stay inside it. A byte-order mark at the
start is dropped.
"""

from __future__ import annotations

import gzip
import io
import math
import operator
import os
import stat
import tempfile
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast, overload

from camber.errors import InputError, SettingsError

#: A gzip file may hold so many bytes whatever its size, or else so many times its size (see :func:`most_unpacked`).
FREE_BYTES, GZIP_RATIO = 100_000_000, 100.0
#: Bytes that are decoded together.
_BLOCK = 1 << 20
#: The variable that names another ratio; the flag ``--gzip-ratio`` sets it.
RATIO_VARIABLE = "CAMBER_GZIP_RATIO"


def most_unpacked(packed: int) -> float:
    """Return how many bytes a gzip file of `packed` bytes may hold: some small files unpack to more than memory has.

    >>> most_unpacked(10) == FREE_BYTES, most_unpacked(FREE_BYTES) == 100 * FREE_BYTES
    (True, True)
    """
    given = os.environ.get(RATIO_VARIABLE, "")
    try:
        ratio = float(given) if given else GZIP_RATIO
    except ValueError:
        ratio = math.nan
    if not ratio >= 1:
        raise SettingsError(f"{RATIO_VARIABLE} is {given!r}; expected a number, 1 or more")
    return max(FREE_BYTES, ratio * packed)


class Bounded(io.RawIOBase):
    """What a packed file holds, up to `most` bytes."""

    def __init__(self, stream: IO[bytes], path: str | Path, most: float, kind: str) -> None:
        self.stream, self.path, self.most, self.kind, self.total = stream, path, most, kind, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self.stream.read(len(buffer))
        buffer[: len(piece)] = piece
        self.total += len(piece)
        if self.total > self.most:
            raise InputError(
                f"this {self.kind} file holds more than {self.most:,.0f} bytes, far more than its own size",
                self.path,
                remedy="unpack it, or allow it: --gzip-ratio 2000 before the command",
            )
        return len(piece)


def _unpacked(packed: IO[bytes], path: str | Path) -> Bounded:
    """Return the content of a gzip file, up to what such a file may hold."""
    facts = os.fstat(packed.fileno())
    most = most_unpacked(facts.st_size) if stat.S_ISREG(facts.st_mode) else math.inf
    return Bounded(cast(IO[bytes], gzip.GzipFile(fileobj=packed)), path, most, "gzip")


@contextmanager
def open_bytes(path: str | Path) -> Iterator[IO[bytes]]:
    """Open the content of a plain or gzip file, told apart by content, not by name."""
    try:
        with open(path, "rb") as raw:
            if raw.peek(2)[:2] == b"\x1f\x8b":
                with io.BufferedReader(_unpacked(raw, path), 1 << 16) as stream:
                    yield stream
            else:
                yield raw
    except FileNotFoundError:
        raise InputError("no such file", path, remedy="check the path") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"damaged gzip file ({error})", path, remedy="copy or compress it again") from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path) from None


def read_bytes(path: str | Path) -> bytes:
    """Return the whole content of a plain or gzip file."""
    if "\0" in str(path):
        raise InputError("no such file", repr(str(path)), remedy="check the path")
    with open_bytes(path) as stream:
        return stream.read()


def exists(path: str | Path) -> bool:
    """Say whether there is something of that name; one that no file can have is that of none."""
    try:
        return Path(path).exists()
    except OSError:
        return False


def content_size(path: str | Path) -> float:
    """Return how many bytes a plain file is, or a gzip file holds; infinitely many for a pipe, which is gone."""
    if not Path(path).is_file():
        return math.inf
    with open_bytes(path) as stream:
        if isinstance(stream, io.BufferedReader) and not isinstance(stream.raw, Bounded):
            return os.fstat(stream.fileno()).st_size
        return sum(map(len, iter(lambda: stream.read(1 << 20), b"")))


def is_unicode(text: str) -> bool:
    """Say whether a string can be written: JSON can escape half a surrogate pair, UTF-8 cannot hold it.

    >>> is_unicode("é"), is_unicode("\\ud800")
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def decode_lines(data: bytes, path: str | Path = "standard input", *, exact: bool = False) -> list[str]:
    """Split UTF-8 bytes into lines; `path` is only for error messages.

    With `exact` a byte-order mark and carriage returns are kept: for files of our own, where they belong to a word.

    >>> decode_lines(b"one\\r\\ntwo\\n")
    ['one', 'two']
    """
    if not exact:
        data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"invalid UTF-8 (byte 0x{data[error.start]:02x})", path, line, remedy="convert the file to UTF-8"
        ) from None
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    if "\r" in text and not exact:
        lines = [line.removesuffix("\r") for line in lines]
    return lines


class Lines(Sequence[str]):
    """Lines of a text that stay as they are in the file until one is asked for: a third of what strings take.

    >>> Lines(b"one\\r\\ntwo\\n")[1], len(Lines(b"one"))
    ('two', 1)
    """

    def __init__(self, data: bytes, path: str | Path = "standard input") -> None:
        self._data = data.removeprefix(b"\xef\xbb\xbf")
        ends = array("q")
        at = 0
        while at < len(self._data):
            # what is decoded later must be whole now
            upto = self._data.rfind(b"\n", at, at + _BLOCK) + 1 or self._data.find(b"\n", at) + 1 or len(self._data)
            block = self._data[at:upto]
            try:
                block.decode("utf-8")
            except UnicodeDecodeError:
                decode_lines(data, path)
            end = block.find(b"\n")
            while end >= 0:
                ends.append(at + end)
                end = block.find(b"\n", end + 1)
            at = upto
        if self._data and not self._data.endswith(b"\n"):
            ends.append(len(self._data))
        self._ends = ends

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, number: int) -> str: ...

    @overload
    def __getitem__(self, number: slice) -> list[str]: ...

    def __getitem__(self, number: int | slice) -> str | list[str]:
        if isinstance(number, slice):
            return [self[line] for line in range(*number.indices(len(self)))]
        number = operator.index(number)
        if number < 0:
            number += len(self)
        if not 0 <= number < len(self):
            raise IndexError(f"line {number} of {len(self)}")
        start = self._ends[number - 1] + 1 if number else 0
        return self._data[start : self._ends[number]].removesuffix(b"\r").decode("utf-8")


def read_packed(source: str | Path, *targets: str | Path) -> list[Lines]:
    """Return the lines of files as :func:`read_parallel` does, packed."""
    sides = [Lines(read_bytes(path), path) for path in (source, *targets)]
    _check_parallel(sides, source, targets)
    return sides


def read_lines(path: str | Path, *, may_be_empty: bool = False) -> list[str]:
    """Return the lines of a text file, without line ends; an empty file is an error unless it may be one."""
    lines = decode_lines(read_bytes(path), path)
    if not lines and not may_be_empty:
        raise InputError("the file is empty", path, remedy="give a file with one sentence per line")
    return lines


def read_parallel(source: str | Path, *targets: str | Path) -> list[list[str]]:
    """Return the lines of files that must be parallel: as many in each."""
    sides = [read_lines(path) for path in (source, *targets)]
    _check_parallel(sides, source, targets)
    return sides


def _check_parallel(sides: Sequence[Sequence[str]], source: str | Path, targets: Sequence[str | Path]) -> None:
    """Refuse files that are empty, or of different lengths."""
    for path, lines in zip((source, *targets), sides, strict=True):
        if not lines:
            raise InputError("the file is empty", path, remedy="give a file with one sentence per line")
    for path, lines in zip(targets, sides[1:], strict=True):
        if len(lines) != len(sides[0]):
            shorter, count = (path, len(lines)) if len(lines) < len(sides[0]) else (source, len(sides[0]))
            raise InputError(
                f"{len(sides[0]):,} lines in {source} but {len(lines):,} in {path}: this file ends too early",
                shorter,
                count + 1,
                remedy="line n of one file must be the translation of line n of the other",
            )


def words(line: str) -> list[str]:
    """Split a tokenised line at spaces, tabs and line ends only (a no-break space is part of a word).

    >>> words("a  10\\u00a0000 b")
    ['a', '10\\xa0000', 'b']
    """
    # A stray line end would become a second line wherever the word is written again.
    for blank in "\t\r\n":
        if blank in line:
            line = line.replace(blank, " ")
    pieces = line.split(" ")
    return [word for word in pieces if word] if "" in pieces else pieces


def check_outputs(*paths: str | Path | None, inputs: Iterable[str | Path | None] = ()) -> None:
    """Raise :class:`InputError` if a file cannot be written to one of these places: before long work, not after it.

    None stands for an output that nobody asked for. Two outputs cannot have one place, and none that of an input.
    """
    taken: set[str] = set()
    read = {os.path.realpath(path) for path in inputs if path is not None and not is_special(path)}
    for path in paths:
        if path is None:
            continue
        place = Path(path)
        if os.path.realpath(place) in taken and not is_special(place):
            raise InputError("is asked to hold two different outputs", path, remedy="give another name to one of them")
        if os.path.realpath(place) in read:
            raise InputError("would be overwritten by an output", path, remedy="give another name to one of them")
        taken.add(os.path.realpath(place))
        if place.is_dir():
            raise InputError("cannot be written: it is a folder", path, remedy="give the name of a file")
        # what is renamed into place needs a folder that can be written, anything else must take it itself
        written = place if is_special(place) else Path(os.path.realpath(place)).parent
        if not written.exists():
            raise InputError("cannot be written: there is no such folder", path, remedy=f"make the folder {written}")
        if not (written.is_dir() or is_special(place)) or not os.access(written, os.W_OK):
            raise InputError("cannot be written", path, remedy=f"check {written} and its permissions")


def is_special(path: str | Path) -> bool:
    """Say whether `path` is a device, a pipe or the like, or an open file by its number: nothing to be replaced."""
    numbered = os.path.abspath(path).startswith(("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/"))
    path = Path(path)
    return path.exists() and not path.is_dir() and (numbered or not path.is_file())


@contextmanager
def write_whole(path: str | Path) -> Iterator[IO[str]]:
    """Open a text file (gzip if its name ends in .gz) for writing that appears only when it is complete.

    The text goes to a temporary file beside it, which is renamed at the end; after an error nothing remains. A
    symbolic link stays one: its target is replaced. A device or a pipe is written to as it is.
    """
    with _place_for(path) as place, _open_text(place, packed=Path(path).suffix == ".gz") as stream:
        yield stream


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write a whole file (gzip if its name ends in .gz) as :func:`write_whole` does."""
    with write_whole_bytes(path) as stream:
        stream.write(data)


@contextmanager
def write_whole_bytes(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file (gzip if its name ends in .gz) for bytes as :func:`write_whole` does for text."""
    with _place_for(path) as place, open(place, "wb") as raw:
        if Path(path).suffix == ".gz":
            with gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed:
                yield cast(IO[bytes], packed)
        else:
            yield raw


@contextmanager
def _place_for(path: str | Path) -> Iterator[Path]:
    """Yield a place to write to whose content becomes that of `path` at the end."""
    check_outputs(path)
    path = Path(path)
    if is_special(path):
        yield path
        return
    place = Path(os.path.realpath(path))
    try:
        handle, name = tempfile.mkstemp(prefix=f".{place.name}.", dir=place.parent)
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror})", path, remedy="check the folder") from None
    os.close(handle)
    try:
        yield Path(name)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, place)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextmanager
def _open_text(path: Path, packed: bool) -> Iterator[IO[str]]:
    """Open a file for UTF-8 text with LF ends, packed by gzip or not."""
    if not packed:
        with open(path, "w", encoding="utf-8", newline="\n") as stream:
            yield stream
        return
    with open(path, "wb") as raw, _packing(raw) as stream:
        yield stream


@contextmanager
def _packing(raw: IO[bytes]) -> Iterator[IO[str]]:
    """Write UTF-8 text with LF ends into a stream, packed by gzip."""
    # no time stamp and no name inside: the same text gives the same bytes
    with (
        gzip.GzipFile("", "wb", 6, raw, mtime=0) as bytes_out,
        io.TextIOWrapper(bytes_out, encoding="utf-8", newline="\n") as stream,
    ):
        yield stream


def packed_lines(lines: Iterable[str]) -> bytes:
    """Return what :func:`write_lines` writes into a file whose name ends in .gz."""
    raw = io.BytesIO()
    with _packing(raw) as stream:
        stream.writelines(line + "\n" for line in lines)
    return raw.getvalue()


def write_lines(path: str | Path, lines: Iterable[str]) -> None:
    """Write lines with LF ends, all or nothing."""
    with write_whole(path) as stream:
        stream.writelines(line + "\n" for line in lines)
