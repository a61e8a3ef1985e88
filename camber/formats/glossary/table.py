"""Glossaries as tables: lines of cells with commas, semicolons or tabs between them.

Without a header, a line has a source, its target, and one or two more targets that may be used as well; or, as some
engines export it, source, target, source language, target language, and anything behind that. Lines of one cell are
texts that are not translated. A header names the columns in any order.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path

from camber.errors import InputError
from camber.files import decode_lines
from camber.formats.glossary.glossary import ALLOWED, KEPT, Row, same_language, status_of

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,4}){0,2}")
#: what headers call the columns
_NAMES = {
    "source": {"source", "sourcestring", "sourceterm", "sourcetext", "sourcephrase", "src", "term"},
    "target": {"target", "targetstring", "targetterm", "targettext", "targetphrase", "tgt", "trg", "translation"},
    "variant": {"variant", "variants", "target2", "target3", "targetvariant", "alternative", "synonym"},
    "source_lang": {"sourcelang", "sourcelanguage", "srclang", "sl"},
    "target_lang": {"targetlang", "targetlanguage", "tgtlang", "trglang", "tl"},
    "status": {"status", "usage", "state"},
    "": {"id", "comment", "comments", "note", "notes", "definition", "description", "pos", "partofspeech", "domain"},
}
_COLUMNS = {name: column for column, names in _NAMES.items() for name in names}


def read_table(data: bytes, path: str | Path, source_lang: str, target_lang: str) -> list[Row]:
    """Read the rows between two languages."""
    rows, mark = _cells(data, path)
    if not rows:
        raise InputError("the file is empty", path, remedy="give a line for each term: source, target")
    columns = _header(rows[0][1], source_lang, target_lang)
    if columns is not None:
        rows = rows[1:]
    else:
        if mark == "\t":  # there may be more targets for some than for others
            width = max(len(cells) for _, cells in rows)
            rows = [(line, cells + [""] * (width - len(cells)) if len(cells) > 1 else cells) for line, cells in rows]
        columns = _without_header(rows, path)
    found = []
    for line, cells in rows:
        if len(cells) != len(columns):
            problem = f"{_counted(len(cells))}, expected {len(columns)}"
            raise InputError(problem, path, line, remedy="check separators and quotation marks")
        row = _row(cells, columns, path, line, source_lang, target_lang)
        if row is not None:
            found.append(row)
    return found


def _cells(data: bytes, path: str | Path) -> tuple[list[tuple[int, list[str]]], str]:
    """Return the cells of all lines that are not empty, with the lines' numbers; and what separates them."""
    text = "\n".join(decode_lines(data, path)) + "\n"
    if "\0" in text:
        raise InputError("a NUL character", path, text.count("\n", 0, text.index("\0")) + 1, remedy="give a text file")
    first = next((line for line in text.split("\n") if line.strip()), "")
    mark = max("\t;,", key=lambda mark: (first.count(mark), mark == ","))
    lines = io.StringIO(text, newline="")
    if mark == "\t":  # tabs need no quotation marks around them
        reader = csv.reader(lines, delimiter=mark, quoting=csv.QUOTE_NONE, strict=True)
    else:
        reader = csv.reader(lines, delimiter=mark, strict=True)
    rows, start = [], 1
    try:
        for cells in reader:
            stripped = [" ".join(cell.split()) for cell in cells]
            if any(stripped):
                rows.append((start, stripped))
            start = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"not a table ({error})", path, start, remedy="check the quotation marks") from None
    return rows, mark


def _header(cells: Sequence[str], source_lang: str, target_lang: str) -> list[str] | None:
    """Return what the columns are, if the first line says so: by name, or by the code of their language."""
    names = [_COLUMNS.get(re.sub(r"[^a-z0-9]", "", cell.lower())) for cell in cells]
    if "source" in names and "target" in names:
        return [name or "" for name in names]
    if source_lang and target_lang and all(_LANGUAGE.fullmatch(cell) for cell in cells[:2]) and len(cells) > 1:
        codes = [
            "source" if same_language(cell, source_lang) else "target" if same_language(cell, target_lang) else ""
            for cell in cells
        ]
        if codes.count("source") == 1 and codes.count("target") == 1:
            return [name if name in ("status", "variant") else code for name, code in zip(names, codes, strict=True)]
    return None


def _without_header(rows: Sequence[tuple[int, list[str]]], path: str | Path) -> list[str]:
    """Return what the columns are, by their number and what stands in them."""
    line, cells = rows[0]
    width = len(cells)
    if width <= 3:
        return ["source", "target", "variant"][:width]
    if all(len(some) > 3 and all(_LANGUAGE.fullmatch(code) for code in some[2:4]) for _, some in rows):
        return ["source", "target", "source_lang", "target_lang", *[""] * (width - 4)]
    if width == 4:
        return ["source", "target", "variant", "variant"]
    raise InputError(
        f"{_counted(width)} without a header", path, line, remedy="name them in the first line: source, target, …"
    )


def _row(
    cells: Sequence[str], columns: Sequence[str], path: str | Path, line: int, source_lang: str, target_lang: str
) -> Row | None:
    """Return a row, None if it is not between the wanted languages."""
    by_name: dict[str, list[str]] = {}
    for cell, column in zip(cells, columns, strict=True):
        by_name.setdefault(column, []).append(cell)
    languages = by_name.get("source_lang", [""])[0], by_name.get("target_lang", [""])[0]
    if not (same_language(languages[0], source_lang) and same_language(languages[1], target_lang)):
        return None
    source, targets = by_name["source"][0], [*by_name.get("target", []), *by_name.get("variant", [])]
    status = status_of(by_name["status"][0], path, line) if "status" in by_name else ALLOWED
    if not source:
        raise InputError("a line without a source", path, line, remedy="give the text that is to be translated")
    if "target" not in by_name:
        return Row(source, (), KEPT)
    if not any(targets) and status != KEPT:
        remedy = "give a target, or the status 'do not translate'"
        raise InputError(f"no target for {source!r}", path, line, remedy=remedy)
    return Row(source, tuple(filter(None, targets)), status)


def _counted(cells: int) -> str:
    return f"{cells} column{'' if cells == 1 else 's'}"
