"""PO that is translated in place; translations are marked as fuzzy until somebody has looked at them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from camber.formats.bilingual.languages import Languages, direction
from camber.formats.bilingual.po import Entry, decoded, entries_of, header_of, languages_of, plural_rule
from camber.formats.documents.document import Document, Edit, LanguagesDiffer, Slot, decoded_exactly
from camber.formats.documents.line_ends import with_marks, without_marks

_WIDTH = 77
_ESCAPES = {
    "\\": "\\\\",
    '"': '\\"',
    "\n": "\\n",
    "\t": "\\t",
    "\r": "\\r",
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\v": "\\v",
}


def open_po(data: bytes, path: str, languages: Languages, *, everything: bool = False) -> Document:
    """Find the entries that have no translation, or all of them that are not obsolete."""
    text, encoding = decoded(data, path)
    if encoding in ("utf-8-sig", "utf-16"):
        encoding = "utf-8" if encoding == "utf-8-sig" else "utf-16-le" if data[:1] == b"\xff" else "utf-16-be"
    text = decoded_exactly(data, encoding, path)
    document = Document(path, text, encoding, "text")
    rule = plural_rule({})
    for entry in entries_of(text, path):
        if entry.is_header:
            header = header_of(entry)
            if direction(languages_of(header), languages) != 1:
                raise LanguagesDiffer(path, languages_of(header), languages)
            rule = plural_rule(header)
            continue
        if entry.obsolete:
            document.counts["obsolete"] += 1
            continue
        parts = entry.translations
        forms = [name for name, part in parts.items() if everything or not part.text]
        if not forms:
            document.counts["already translated" if parts else "without a place for a translation"] += 1
            continue
        one = "msgid_plural" not in entry.parts
        sources = [
            entry.parts["msgid" if one or name == f"msgstr[{rule(1)}]" else "msgid_plural"].text for name in forms
        ]
        if not any(map(str.strip, sources)):
            document.counts["empty source"] += 1
            continue
        document.slots.append(_slot(document, entry, forms, sources))
    return document


def _slot(document: Document, entry: Entry, forms: Sequence[str], sources: Sequence[str]) -> Slot:
    """Return the place of an entry's translations; line ends are those of the source, or of what is remembered."""
    texts = [source.strip("\n") for source in sources]  # a message begins and ends as its source does

    def edits(translations: Sequence[str]) -> list[Edit]:
        changes, end = _flagged(document.text, entry, document.line_end), document.line_end
        for name, source, inner, translation in zip(forms, sources, texts, translations, strict=True):
            part, whole = entry.parts[name], source.replace(inner, without_marks(translation), 1) if inner else source
            changes.append(Edit(part.start, part.end, quoted(whole, len(name) + 1, end)))
        return changes

    return Slot(entry.words, tuple(map(with_marks, texts)), edits)


def _flagged(text: str, entry: Entry, end: str) -> list[Edit]:
    """Return what gives an entry the flag fuzzy."""
    if "fuzzy" in entry.flags:
        return []
    if entry.flag_lines:
        start, _ = entry.flag_lines[0]
        at = text.index("#,", start) + 2
        return [Edit(at, at, " fuzzy,")]
    return [Edit(entry.words, entry.words, f"#, fuzzy{end}")]


def quoted(text: str, before: int, end: str = "\n") -> str:
    r"""Return a text as it is written behind a keyword, on several lines if it is long or has several.

    >>> print(quoted('a "b"\nc', 7))
    ""
    "a \"b\"\n"
    "c"
    """
    if "\n" not in text.removesuffix("\n") and before + len(text) <= _WIDTH and len(_escaped(text)) <= _WIDTH:
        return f'"{_escaped(text)}"'
    lines = [piece for line in re.findall(r"[^\n]*\n|[^\n]+", text) for piece in _wrapped(line)]
    return end.join(['""', *(f'"{line}"' for line in lines)])


def _escaped(text: str) -> str:
    return "".join(_ESCAPES.get(char, char) for char in text)


def _wrapped(line: str) -> list[str]:
    """Cut a long line behind spaces, with escapes."""
    lines, current = [], ""
    for piece in map(_escaped, re.findall(r"[^ ]+ *|^ +", line)):
        if current and len(current) + len(piece.rstrip()) > _WIDTH:
            lines.append(current)
            current = ""
        current += piece
    return [*lines, current]
