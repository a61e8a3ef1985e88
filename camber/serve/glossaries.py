"""Glossaries that clients of a server make: kept in memory, and as files where there is a folder for them."""

from __future__ import annotations

import csv
import io
import json
import re
import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from camber.errors import CamberError
from camber.files import write_whole
from camber.formats.glossary.glossary import Glossary
from camber.serve.calls import Refusal

#: of all glossaries of a server
_MOST, _MOST_ENTRIES = 1000, 50_000
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True)
class Kept:
    """A glossary with its name, for texts from one language to another."""

    id: str
    name: str
    source: str
    target: str
    created: str
    entries: tuple[tuple[str, str], ...]

    @cached_property
    def glossary(self) -> Glossary:
        """The entries as terms for a translator."""
        return Glossary.of(dict(self.entries))

    @property
    def tsv(self) -> str:
        """The entries as lines of source, tab, target."""
        return "\n".join("\t".join(entry) for entry in self.entries)


def read_entries(text: str, format: str) -> tuple[tuple[str, str], ...]:
    """Read entries as clients send them, "tsv" or "csv"; what is wrong is refused with its line.

    >>> read_entries("maison\\thome\\nporte\\tdoor", "tsv")
    (('maison', 'home'), ('porte', 'door'))
    """
    if format not in ("tsv", "csv"):
        raise Refusal(400, f"Value for 'entries_format' not supported: {format}")
    rows: Iterator[list[str]]
    rows = _csv(text) if format == "csv" else (line.split("\t") for line in text.splitlines())
    entries: dict[str, str] = {}
    for number, row in enumerate(rows, 1):
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        # two more columns of CSV are the languages
        if len(cells) not in (2, 4) or (format == "tsv" and len(cells) != 2) or not cells[0] or not cells[1]:
            raise Refusal(400, f"Invalid glossary entries: line {number} needs a source and a target")
        if cells[0] in entries:
            raise Refusal(400, f"Invalid glossary entries: line {number} repeats the source of another one")
        entries[cells[0]] = cells[1]
    if not entries:
        raise Refusal(400, "Invalid glossary entries: there are none")
    if len(entries) > _MOST_ENTRIES:
        raise Refusal(400, f"Invalid glossary entries: more than {_MOST_ENTRIES}")
    return tuple(entries.items())


def _csv(text: str) -> Iterator[list[str]]:
    rows = csv.reader(io.StringIO(text, newline=""))
    try:
        yield from rows
    except csv.Error as error:
        raise Refusal(400, f"Invalid glossary entries: line {rows.line_num} is no CSV ({error})") from None


class Glossaries:
    """All of them, by id; with a folder, each in a file of its own."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self._kept: dict[str, Kept] = {}
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            for path in sorted(folder.glob("*.json")):
                if _ID.fullmatch(path.stem):
                    self._kept[path.stem] = _read(path)

    def __iter__(self) -> Iterator[Kept]:
        return iter(sorted(self._kept.values(), key=lambda kept: kept.created))

    def find(self, id: str) -> Kept:
        """Return a glossary, or refuse."""
        if id not in self._kept:
            raise Refusal(404, "Glossary not found")
        return self._kept[id]

    def make(self, name: str, source: str, target: str, entries: tuple[tuple[str, str], ...]) -> Kept:
        """Keep a new glossary."""
        if len(self._kept) >= _MOST:
            raise Refusal(456, f"there are {_MOST} glossaries already; delete some")
        created = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        kept = Kept(str(uuid.uuid4()), name, source, target, created, entries)
        if self.folder is not None:
            with write_whole(self.folder / f"{kept.id}.json") as stream:
                json.dump(asdict(kept), stream, ensure_ascii=False)
        self._kept[kept.id] = kept
        return kept

    def delete(self, id: str) -> None:
        """Forget a glossary."""
        self.find(id)
        if self.folder is not None:
            (self.folder / f"{id}.json").unlink(missing_ok=True)
        del self._kept[id]


def _read(path: Path) -> Kept:
    try:
        content = json.loads(path.read_text("utf-8"))
        entries = tuple((str(source), str(target)) for source, target in content.pop("entries"))
        texts = {name: str(content[name]) for name in ("name", "source", "target", "created")}
        return Kept(path.stem, **texts, entries=entries)
    except (ValueError, TypeError, KeyError, AttributeError, OSError) as error:
        raise CamberError(f"{path}: no glossary of a server ({error!r:.80}); remove it") from None
