"""Translate a file in place: XLIFF, PO, TMX, HTML, or lines of text."""

from __future__ import annotations

from collections import Counter as Counts
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from camber.engine import LOCAL, Engine
from camber.errors import CamberError, InputError
from camber.files import check_outputs, decode_lines, read_bytes, write_bytes
from camber.formats.bilingual.languages import Languages
from camber.formats.bilingual.unit import MARK
from camber.formats.documents.document import Document, Slot
from camber.formats.documents.files import kind_of, open_document
from camber.formats.documents.tree import is_sound
from camber.formats.glossary.glossary import Glossary
from camber.model.translator import Translation, Translator, load
from camber.progress import Watcher, each, log, watched
from camber.text.tags import REMARKS, TEXT, XLIFF, find_tags

Name = str | Path

LINES = "lines"


@dataclass
class FileReport:
    """What became of the segments of a file."""

    path: str
    format: str  # "lines": text whose lines are translated one by one
    translated: int = 0
    kept: Counts[str] = field(default_factory=Counts)  # why others are as they were
    notes: list[tuple[int, str]] = field(default_factory=list)  # (line, what could not be had in it)

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON holds."""
        notes = [{"line": line, "note": note} for line, note in self.notes]
        return {"format": self.format, "translated": self.translated, "kept": dict(self.kept), "notes": notes}

    def __str__(self) -> str:
        total = self.translated + sum(self.kept.values())
        kept = ", ".join(f"{count:,} {reason}" for reason, count in self.kept.most_common())
        return f"{self.path}: {self.translated:,} of {total:,} segments translated" + (f" ({kept})" if kept else "")


@watched
def translate_file(
    model: Name | Translator[Any],
    input: Name,
    output: Name,
    *,
    everything: bool = False,
    glossary: Glossary | None = None,
    fuzzy: float | None = None,
    engine: Engine = LOCAL,
    progress: Watcher | None = None,
) -> FileReport:
    """Translate a file; all of it but the translations stays as it is, and what is written is written whole.

    XLIFF (SDL's too), PO, TMX and HTML are told by their content, and their segments are translated; in XLIFF and PO
    they are marked as translations that nobody has looked at yet. Those that have a translation keep it, unless
    `everything` is asked for. Of any other text, the lines are translated. `glossary` and `fuzzy` are those of
    `Translator.translate`.

    >>> camber.translate_file("my-model", "manual.xliff", "manual.de.xliff")          # doctest: +SKIP
    """
    check_outputs(output)
    translator = load(model) if isinstance(model, str | Path) else model
    data, report = translate_data(
        translator, read_bytes(input), str(input), everything=everything, glossary=glossary, fuzzy=fuzzy, engine=engine
    )
    write_bytes(output, data)
    return report


def translate_data(
    translator: Translator[Any],
    data: bytes,
    name: str = "the file",
    *,
    everything: bool = False,
    glossary: Glossary | None = None,
    fuzzy: float | None = None,
    engine: Engine = LOCAL,
) -> tuple[bytes, FileReport]:
    """Return the translation of a file's bytes (see :func:`translate_file`); `name` is for messages."""
    text = translator.text.settings
    document = open_document(data, name, Languages(text.source_lang, text.target_lang), everything=everything)
    if document is None:
        return _translate_lines(translator, data, name, glossary=glossary, fuzzy=fuzzy, engine=engine)
    if document.format != TEXT and not translator.text.protects:
        raise CamberError(f"{name}: files with tags need a model that was trained with protected text, on raw text")
    report = FileReport(name, kind_of(data, name), 0, document.counts)
    lines = (line for slot in document.slots for line in slot.texts)
    found = translator.translations(lines, engine=engine, glossary=glossary, fuzzy=fuzzy, format=document.format)
    translations: list[Sequence[str] | None] = []
    slots = zip(document.slots, document.lines(), strict=True)
    for slot, line in each(slots, f"translate {name}", len(document.slots), "segments"):
        best = [item[0] for item in islice(found, len(slot.texts))]
        translations.append(_checked(document, slot, best, line, report))
    return document.bytes_with(translations), report


def _checked(
    document: Document, slot: Slot, best: Sequence[Translation], line: int, report: FileReport
) -> Sequence[str] | None:
    """Return the translations of a slot; None if one would break the file."""
    report.notes += [(line, note) for item in best for note in item.notes]
    texts = [item.text for item in best]
    if document.format != TEXT:
        for source, text in zip(slot.texts, texts, strict=True):
            if _tags(source, document.format) != _tags(text, document.format) or (
                document.format == XLIFF and not is_sound(text)
            ):
                report.kept["with tags that could not be put back"] += slot.segments
                log.warning("%s:%d: its tags could not be put back; it is left as it was", document.path, line)
                return None
    report.translated += slot.segments
    return texts


def _tags(text: str, format: str) -> list[str]:
    tags = (tag for tag in find_tags(text, format) if format != XLIFF or tag.name not in REMARKS)
    return sorted(tag for tag in (text[tag.start : tag.end] for tag in tags) if tag != MARK)


def _translate_lines(translator: Translator[Any], data: bytes, name: str, **how: Any) -> tuple[bytes, FileReport]:
    """Translate a text line by line; a byte-order mark, line ends and empty lines stay."""
    decode_lines(data, name)  # says where it is no UTF-8
    text = data.decode("utf-8")
    if "\0" in text:
        raise InputError("not a text", name, remedy="give XLIFF, PO, TMX, HTML or text")
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    rows = text.removeprefix(mark).split("\n")
    report = FileReport(name, LINES)

    def lines() -> Iterator[str]:
        for row in rows:
            yield row.removesuffix("\r")

    out = []
    both = zip(rows, translator.translations(lines(), **how), strict=True)
    for number, (row, best) in enumerate(each(both, f"translate {name}", len(rows), "lines"), 1):
        out.append(best[0].text + "\r" * row.endswith("\r"))
        report.notes += [(number, note) for note in best[0].notes]
        if row.strip():
            report.translated += 1
    return (mark + "\n".join(out)).encode("utf-8"), report
