"""What the readers of n-best lists share: lines one by one (lists are long), and the sentences' bounds."""

from __future__ import annotations

import gzip
import math
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np

from camber.arrays.types import I8
from camber.errors import InputError

#: Cells of the feature table: 2 GB
MOST_CELLS = 250_000_000
MOST_SENTENCES = 100_000_000  # a larger number is a damaged line rather than a sentence


@contextmanager
def _opened(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a plain or gzip file, told apart by content."""
    try:
        with open(path, "rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            if packed:
                with gzip.GzipFile(fileobj=raw) as stream:
                    yield stream  # type: ignore[misc]
            else:
                yield raw
    except FileNotFoundError:
        raise InputError("no such file", path, remedy="check the path") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"damaged gzip file ({error})", path, remedy="copy or compress it again") from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path) from None


def numbered_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Yield (1-based number, line without its end) of every line that is not blank."""
    empty = True
    with _opened(path) as stream:
        for number, raw in enumerate(stream, 1):
            if number == 1:
                raw = raw.removeprefix(b"\xef\xbb\xbf")
            try:
                line = raw.decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                bad = f"invalid UTF-8 (byte 0x{raw[error.start]:02x})"
                raise InputError(bad, path, number, remedy="convert the file to UTF-8") from None
            if line and not line.isspace():
                empty = False
                yield number, line
    if empty:
        raise InputError("the file is empty", path, remedy="give an n-best list")


def check_table(rows: int, names: int, path: str | Path, given: int = 0) -> None:
    """Refuse a table of features that would not fit: lists with many rare features need a choice.

    Cells that are `given` for certain do not count: whoever has a file of so many numbers means them.
    """
    if rows * names - given > MOST_CELLS:
        raise InputError(
            f"{names:,} features × {rows:,} hypotheses would take {rows * names * 8 / 1e9:,.0f} GB; "
            f"the most is {MOST_CELLS * 8 / 1e9:.0f} GB",
            path,
            remedy="leave out rare features: at_least=10 (--at-least 10) keeps those that 10 hypotheses have",
        )


def number(text: str, what: str, path: str | Path, line: int, remedy: str = "") -> float:
    """Return a finite number, or raise an error that names what it should have been."""
    try:
        value = float(text)
    except ValueError:
        raise InputError(f"{what} {text.strip()!r} is not a number", path, line, remedy=remedy) from None
    if not math.isfinite(value):
        raise InputError(f"{what} is {value}; expected a finite number", path, line)
    return value


class SentenceBounds:
    """Collect how many hypotheses each sentence has, while they are read in the order of the sentences."""

    def __init__(self, path: str | Path) -> None:
        self.path = path
        self.last = -1
        self.offsets: list[int] = []
        self.count = 0

    def add(self, sentence: int, number: int) -> None:
        """Count a hypothesis of `sentence`, which line `number` holds."""
        if sentence != self.last:
            if sentence < self.last:
                raise InputError(
                    f"a hypothesis of sentence {sentence} after those of sentence {self.last}",
                    self.path,
                    number,
                    remedy="keep the hypotheses of a sentence together, sentences in rising order",
                )
            if sentence > MOST_SENTENCES:
                raise InputError(f"sentence number {sentence} is too large", self.path, number)
            self.offsets.extend([self.count] * (sentence - self.last))  # sentences left out have none
            self.last = sentence
        self.count += 1

    def finished(self, sentences: int | None) -> I8:
        """Return int64[sentences + 1]; with a number of sentences, check it."""
        total = self.last + 1 if sentences is None else sentences
        if total <= self.last:
            raise InputError(
                f"hypotheses up to sentence {self.last} (from 0), but there are only {total} sentences",
                self.path,
                remedy="is this the list of that text?",
            )
        return np.array(self.offsets + [self.count] * (total - self.last), np.int64)
