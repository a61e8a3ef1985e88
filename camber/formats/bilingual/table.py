"""Tables of pairs: TSV and CSV, with or without a header that names the columns."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import IO

from camber.errors import InputError
from camber.formats.bilingual.languages import OTHER, Languages, nearest, nearness
from camber.formats.bilingual.unit import CONFIRMED, FUZZY, NEW, REVIEW, TRANSLATED, Segment, Tally, Unit

_CODE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8}){0,2}")
_QUOTED = re.compile(r'"(?=.*[^"]"")(?:[^"]|"")++"')
_BOMS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
#: what headers call the columns
_NAMES = {
    "source": "source sourcestring sourcetext sourcesegment src",
    "target": "target targetstring targettext targetsegment tgt trg translation",
    "source_lang": "sourcelang sourcelanguage srclang",
    "target_lang": "targetlang targetlanguage tgtlang trglang",
    "state": "status state",
    "context": "context",
    "author": "author user translator changeid creationid",
    "date": "date changedate creationdate modified",
    "name": "id key name",
}
_COLUMNS = {name: column for column, names in _NAMES.items() for name in names.split()}
_STATES = {
    "new": NEW, "untranslated": NEW, "fuzzy": FUZZY, "draft": REVIEW, "review": REVIEW, "needsreview": REVIEW,
    "approved": CONFIRMED, "confirmed": CONFIRMED, "reviewed": CONFIRMED, "final": CONFIRMED, "signedoff": CONFIRMED,
}  # fmt: skip


def read_table(stream: IO[bytes], path: str, languages: Languages, tally: Tally) -> Iterator[Unit]:
    """Yield the rows of a table that are between two languages.

    A header names the columns (source, target; or their languages); without one there are just two.
    """
    columns: dict[str, int] | None = None
    width = 0
    for line, cells in rows_of(stream, path):
        if columns is None:
            width = len(cells)
            columns = _header(cells, languages, path, line)
            if columns is not None:
                tally.handled["header"] += 1
                continue
            if width != 2:
                problem = f"{width} column{'' if width == 1 else 's'} without a header"
                raise InputError(problem, path, line, remedy="name them in the first line: source, target, …")
            columns = {"source": 0, "target": 1}
        if len(cells) != width:
            problem = f"{len(cells)} column{'' if len(cells) == 1 else 's'}, expected {width}"
            raise InputError(problem, path, line, remedy="check separators and quotation marks")
        row = {name: cells[place] for name, place in columns.items()}
        own = Languages(row.get("source_lang", ""), row.get("target_lang", ""))
        if OTHER in (nearness(own.source, languages.source), nearness(own.target, languages.target)):
            tally.skipped[f"from {own.source} to {own.target}"] += 1
            continue
        tally.units += 1
        state = _STATES.get(re.sub(r"[^a-z]", "", row.get("state", "").lower()), TRANSLATED)
        target = Segment((row["target"],)) if row["target"].strip() else None
        yield Unit(
            Segment((row["source"],)), target, NEW if target is None else state, line, row.get("name", ""),
            row.get("context", ""), row.get("author", ""), row.get("date", ""),
        )  # fmt: skip


def _header(cells: Sequence[str], languages: Languages, path: str, line: int) -> dict[str, int] | None:
    """Return the places of the columns, if the first row says what they are."""
    columns: dict[str, int] = {}
    for place, cell in enumerate(cells):
        name = _COLUMNS.get(re.sub(r"[^a-z0-9]", "", cell.lower()))
        if name:
            columns.setdefault(name, place)
    if "source" in columns and "target" in columns:
        return columns
    codes = [cell.strip() if _CODE.fullmatch(cell.strip()) else "-" for cell in cells]
    if languages.source and languages.target and all(code != "-" for code in codes[:2]):
        source = nearest(codes, languages.source)[:1]
        target = nearest(codes, languages.target, source)[:1]
        if source and target:
            return columns | {"source": source[0], "target": target[0]}
        if all(code != "-" and code.lower() == code for code in codes) and (source or target):
            missing = languages.target if source else languages.source
            raise InputError(f"no column in {missing}", path, line, remedy="give a table with both languages")
    return None


def rows_of(stream: IO[bytes], path: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of all rows that are not empty, with the number of their first line."""
    lines = lines_of(stream, path)
    first = next(lines, None)
    while first is not None and not first[1].strip():
        first = next(lines, None)
    if first is None:
        return
    mark = max("\t;,", key=lambda mark: (first[1].count(mark), mark == ","))
    if "\t" in first[1]:  # tabs need no quotation marks around cells
        yield first[0], _tabbed(first[1])
        for number, line in lines:
            if line.strip():
                yield number, _tabbed(line)
        return
    at = first[0]

    def fed() -> Iterator[str]:
        nonlocal at
        yield first[1] + "\n"
        for number, line in lines:
            at = number
            yield line + "\n"

    reader, start = csv.reader(fed(), delimiter=mark, strict=True), first[0]
    try:
        for cells in reader:
            if any(cells):
                yield start, cells
            start = at + 1
    except csv.Error as error:
        raise InputError(f"not a table ({error})", path, start, remedy="check the quotation marks") from None


def _tabbed(line: str) -> list[str]:
    """Cut a line at its tabs; a cell is quoted where that shows: all quotation marks inside are doubled, as Excel does.

    >>> _tabbed('"A ""b"" c"\\t"d"')
    ['A "b" c', '"d"']
    """
    cells = line.split("\t")
    if '""' not in line:
        return cells
    return [cell[1:-1].replace('""', '"') if _QUOTED.fullmatch(cell) else cell for cell in cells]


def lines_of(stream: IO[bytes], path: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text in UTF-8, or UTF-16 with its mark, without their ends."""
    start = stream.read(2)
    if start in _BOMS:
        text = io.TextIOWrapper(io.BytesIO(start + stream.read()), encoding="utf-16", newline="\n")
        number = 0
        try:
            for number, line in enumerate(text, 1):
                yield number, line.removesuffix("\n").removesuffix("\r")
        except UnicodeError:
            raise InputError("invalid UTF-16", path, number + 1, remedy="convert the file to UTF-8") from None
        return
    number = 0
    for number, data in enumerate(_lines(start, stream), 1):
        try:
            line = data.decode("utf-8")
        except UnicodeDecodeError as error:
            problem = f"invalid UTF-8 (byte 0x{data[error.start]:02x})"
            raise InputError(problem, path, number, remedy="convert the file to UTF-8") from None
        if number == 1:
            line = line.removeprefix("\ufeff")
        yield number, line.removesuffix("\n").removesuffix("\r")


def _lines(start: bytes, stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines of a stream, of which the first bytes were read already."""
    while b"\n" in start:
        line, _, start = start.partition(b"\n")
        yield line + b"\n"
    first = start + stream.readline()
    if first:
        yield first
    yield from stream


def read_plain(stream: IO[bytes], path: str, languages: Languages, tally: Tally) -> Iterator[Unit]:
    """Yield the lines of a text without translations."""
    for number, line in lines_of(stream, path):
        tally.units += 1
        yield Unit(Segment((line,)) if line else Segment(), None, NEW, number)
