"""TMX that is translated in place: units get a text in one more language."""

from __future__ import annotations

from collections.abc import Sequence

from camber.errors import InputError
from camber.formats.bilingual.languages import Languages, nearest
from camber.formats.bilingual.tmx import MAKER
from camber.formats.documents.document import Document, Edit, LanguagesDiffer, Slot, decoded_xml
from camber.formats.documents.tree import Node, blank_before, tree_of, without_cdata


def open_tmx(data: bytes, path: str, languages: Languages, *, everything: bool = False) -> Document:
    """Find the units with a text in the source language, and the places of their translations."""
    if not languages.source or not languages.target:
        raise InputError("TMX has texts of several languages, and the model does not say which it translates", path)
    text, encoding = decoded_xml(data, path)
    root = tree_of(data, text, path)
    if root.name != "tmx":
        raise InputError(f"the root element is {root.name}, expected tmx", path)
    document = Document(path, text, encoding, "xliff-inline")
    other = ""
    for unit in root.iter("tu"):
        variants = [child for child in unit.children if child.name == "tuv" and child.child("seg") is not None]
        codes = [variant.get("xml:lang") or variant.get("lang") or "" for variant in variants]
        sources = nearest(codes, languages.source)
        if not sources:
            document.counts["no text in the source language"] += 1
            other = other or next(iter(codes), "")
            continue
        targets = nearest(codes, languages.target, sources)
        source, target = variants[sources[0]], variants[targets[0]] if targets else None
        segment = source.child("seg")
        assert segment is not None
        if not segment.content.strip():
            document.counts["empty source"] += 1
            continue
        filled = None if target is None else target.child("seg")
        if filled is not None and filled.content.strip() and not everything:
            document.counts["already translated"] += 1
            continue
        document.slots.append(_slot(text, source, segment, target, filled, languages.target))
    if other and not document.slots and not document.counts["already translated"]:
        raise LanguagesDiffer(path, Languages(other), languages)
    return document


def _slot(text: str, source: Node, segment: Node, target: Node | None, filled: Node | None, language: str) -> Slot:
    def edits(texts: Sequence[str]) -> list[Edit]:
        if target is not None and filled is not None:
            who = "changeid" if target.get("changeid") is not None else "creationid"
            return [*target.setting(who, MAKER), *filled.filling(texts[0])]
        lang = "xml:lang" if source.get("xml:lang") is not None else "lang"
        tuv, seg = source.qualified, segment.qualified
        made = f'<{tuv} {lang}="{language}" creationid="{MAKER}"><{seg}>{texts[0]}</{seg}></{tuv}>'
        return [Edit(source.end, source.end, blank_before(text, source.start) + made)]

    return Slot(source.start, (without_cdata(segment.content),), edits)
