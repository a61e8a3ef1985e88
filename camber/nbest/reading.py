"""What the readers of n-best lists share: lines one by one (lists are long), and the sentences' bounds."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from camber.arrays.types import I8
from camber.errors import InputError
from camber.files import content_size, open_bytes
from camber.numbers import shown, whole_number
from camber.progress import each

#: Cells of the feature table: 2 GB
MOST_CELLS = 250_000_000
#: Of these, a list of any size may have so many (160 MB), and more for each of its bytes: few lines with a feature of
#: their own each are a large table already.
FREE_CELLS, CELLS_PER_BYTE = 20_000_000, 1.5
#: A larger number is a damaged line rather than a sentence: those before it need room, even if none is in the list.
MOST_SENTENCES = 5_000_000


def numbered_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Yield (1-based number, line without its end) of every line that is not blank."""
    empty = True
    with open_bytes(path) as stream:
        for number, raw in enumerate(each(stream, f"read {path}", unit="lines"), 1):
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
    cells = rows * names - given
    if cells <= min(FREE_CELLS, MOST_CELLS):
        return
    most = min(MOST_CELLS, FREE_CELLS + CELLS_PER_BYTE * content_size(path))
    if cells > most:
        raise InputError(
            f"{names:,} features × {rows:,} hypotheses would take {rows * names * 8 / 1e9:,.1f} GB; "
            f"the most is {most * 8 / 1e9:.1f} GB for a list of this size",
            path,
            remedy="leave out rare features: at_least=10 (--at-least 10) keeps those that 10 hypotheses have",
        )


def sentence_number(text: str, path: str | Path, line: int, remedy: str = "") -> int:
    """Return the number of a sentence, or raise an error that names its line."""
    return whole_number(text, "sentence number", path, line, most=MOST_SENTENCES, remedy=remedy)


class SentenceBounds:
    """Collect how many hypotheses each sentence has, while they are read in the order of the sentences."""

    def __init__(self, path: str | Path) -> None:
        self.path = path
        self.last = -1
        self.offsets = array("q")
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
                told = f"sentence number {shown(str(sentence))} is too large; the most is {MOST_SENTENCES:,}"
                raise InputError(told, self.path, number)
            # sentences left out have none
            self.offsets.extend(array("q", [self.count]) * (sentence - self.last))
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
        self.offsets.extend(array("q", [self.count]) * (total - self.last))
        return np.frombuffer(self.offsets, np.int64)
