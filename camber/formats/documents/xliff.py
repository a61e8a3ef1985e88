"""XLIFF that is translated in place, all versions; SDL's segments each by itself."""

from __future__ import annotations

from collections.abc import Sequence

from camber.errors import InputError
from camber.formats.bilingual.languages import Languages, direction
from camber.formats.bilingual.unit import NEW
from camber.formats.bilingual.xliff import CONF, MADE_BY, is_preformatted, may_be_translated, state_in_older
from camber.formats.documents.document import Document, Edit, LanguagesDiffer, Slot, decoded_xml
from camber.formats.documents.line_ends import with_marks, without_marks
from camber.formats.documents.tree import Node, blank_before, tree_of, without_cdata
from camber.text.tags import XLIFF

#: what the state of a machine's translation is: in XLIFF 1.x, and in XLIFF 2
REVIEW, TRANSLATED = "needs-review-translation", "translated"


def open_xliff(data: bytes, path: str, languages: Languages, *, everything: bool = False) -> Document:
    """Find the places for translations: of all units, or of those that have none."""
    text, encoding = decoded_xml(data, path)
    root = tree_of(data, text, path)
    if root.name != "xliff":
        raise InputError(f"the root element is {root.name}, expected xliff", path)
    document = Document(path, text, encoding, "xliff-inline")
    newer = (root.get("version") or "").startswith("2")
    others: list[Languages] = []
    for file in root.iter("file"):
        own = (
            Languages(root.get("srcLang") or "", root.get("trgLang") or "")
            if newer
            else Languages(file.get("source-language") or "", file.get("target-language") or "")
        )
        if direction(own, languages) != 1:
            others.append(own)
            document.counts[f"from {own.source} to {own.target or 'any'}"] += sum(1 for _ in _units(file, newer))
            continue
        for unit in _units(file, newer):
            if not may_be_translated(unit):
                document.counts["not to be translated"] += 1
            elif newer:
                _newer(document, unit, everything)
            else:
                _older(document, unit, everything)
    if others and not document.slots and not document.counts["already translated"]:
        raise LanguagesDiffer(path, others[0], languages)
    if newer and root.get("trgLang") is None and languages.target:
        document.always += root.setting("trgLang", languages.target)
    return document


def _units(file: Node, newer: bool) -> list[Node]:
    return list(file.iter("unit" if newer else "trans-unit"))


def _is_blank(node: Node | None) -> bool:
    return node is None or not without_cdata(node.content).strip()


def _text_of(node: Node) -> str:
    """Return what is in an element as the translator takes it; lines of preformatted text stay lines."""
    content = without_cdata(node.content)
    return with_marks(content, XLIFF) if "\n" in content and is_preformatted(node) else content


def _newer(document: Document, unit: Node, everything: bool) -> None:
    """Add the segments of a unit of XLIFF 2."""
    for segment in unit.children:
        if segment.name != "segment":
            continue
        source, target = segment.child("source"), segment.child("target")
        if source is None:
            raise InputError("a segment without a source", document.path, segment.line)
        if _is_blank(source):
            document.counts["empty source"] += 1
        elif not _is_blank(target) and not everything:
            document.counts["already translated"] += 1
        else:
            document.slots.append(_slot_of_newer(document, segment, source, target))


def _slot_of_newer(document: Document, segment: Node, source: Node, target: Node | None) -> Slot:
    def edits(texts: Sequence[str]) -> list[Edit]:
        state = segment.setting("state", TRANSLATED) + segment.setting("subState", MADE_BY)
        content = without_marks(texts[0], document.line_end)
        return [*_joined(state), *_put(document.text, source, source, target, content)]

    return Slot(source.start, (_text_of(source),), edits)


def _joined(edits: list[Edit]) -> list[Edit]:
    """Join insertions at one place."""
    if len(edits) == 2 and edits[0][:2] == edits[1][:2]:
        return [Edit(edits[0].start, edits[0].end, edits[0].text + edits[1].text)]
    return edits


def _put(text: str, source: Node, after: Node, target: Node | None, content: str, attributes: str = "") -> list[Edit]:
    """Return what puts a translation into its element, or makes one behind another."""
    if target is not None:
        return target.filling(content)
    name = source.qualified.removesuffix("source") + "target"
    made = f"{blank_before(text, source.start)}<{name}{attributes}>{content}</{name}>"
    return [Edit(after.end, after.end, made)]


def _older(document: Document, unit: Node, everything: bool) -> None:
    """Add a unit of XLIFF 1.x, or the segments in it."""
    source, target, parted = unit.child("source"), unit.child("target"), unit.child("seg-source")
    if source is None:
        raise InputError("a trans-unit without a source", document.path, unit.line)
    marks = [] if parted is None else [mark for mark in parted.iter("mrk") if mark.get("mtype") == "seg"]
    if parted is not None and marks:
        _in_segments(document, unit, source, target, parted, marks, everything)
        return
    if _is_blank(source):
        document.counts["empty source"] += 1
        return
    done = target is not None and not _is_blank(target) and state_in_older(unit, target) != NEW
    if done and not everything:
        document.counts["already translated"] += 1
        return

    def edits(texts: Sequence[str]) -> list[Edit]:
        content = without_marks(texts[0], document.line_end)
        return [*_states(unit, target), *_put(document.text, source, parted or source, target, content, _STATE)]

    document.slots.append(Slot(source.start, (_text_of(source),), edits))


_STATE = f' state="{REVIEW}"'


def _states(unit: Node, target: Node | None) -> list[Edit]:
    """Return what says that nobody has looked at a translation yet."""
    edits = unit.setting("approved", "no") if unit.get("approved") == "yes" else []
    if target is not None:
        edits += target.setting("state", REVIEW)
        if target.get("state-qualifier") is not None:
            edits += target.setting("state-qualifier", "leveraged-mt")
    return edits


def _is_locked(segment: Node | None) -> bool:
    """Say whether SDL's tools keep a segment from changing."""
    return segment is not None and segment.get("locked") == "true"


def _in_segments(
    document: Document, unit: Node, source: Node, target: Node | None, parted: Node, marks: list[Node], everything: bool
) -> None:
    """Add the marked segments of a unit; a target without such marks gets those of the source."""
    there = (
        {} if target is None else {mark.get("mid"): mark for mark in target.iter("mrk") if mark.get("mtype") == "seg"}
    )
    said = {seg.get("id"): seg for defs in unit.iter("seg-defs") for seg in defs.iter("seg")}
    whole = not there
    if whole and not _is_blank(target) and not everything:
        document.counts["already translated"] += len(marks)
        return
    wanted = []
    for mark in marks:
        own = there.get(mark.get("mid"))
        if _is_blank(mark):
            document.counts["empty source"] += 1
        elif _is_locked(said.get(mark.get("mid"))):
            document.counts["locked"] += 1
        elif not whole and own is None:
            document.counts["without a place in the target"] += 1
        elif not whole and not _is_blank(own) and not everything:
            document.counts["already translated"] += 1
        else:
            wanted.append(mark)
    if not wanted:
        return

    def edits(translations: Sequence[str]) -> list[Edit]:
        texts = [without_marks(translation, document.line_end) for translation in translations]
        changes: list[Edit] = []
        for mark in wanted:
            seg = said.get(mark.get("mid"))
            if seg is not None:
                changes += _joined(seg.setting("conf", next(name for name in CONF)) + seg.setting("origin", "mt"))
                changes += seg.setting("percent", None)
        if whole:
            content, done = "", parted.inner
            now = dict(zip((mark.start for mark in wanted), texts, strict=True))
            for mark in marks:
                blank = mark.content if _is_blank(mark) else ""
                content += document.text[done : mark.inner] + now.get(mark.start, blank)
                done = mark.close
            content += document.text[done : parted.close]
            state = "" if said else _STATE
            changes += _put(document.text, source, parted, target, content, state)
        else:
            for mark, translation in zip(wanted, texts, strict=True):
                changes += there[mark.get("mid")].filling(translation)
        if not said:
            changes += _states(unit, target)
        elif unit.get("approved") == "yes":
            changes += unit.setting("approved", "no")
        return changes

    document.slots.append(Slot(wanted[0].start, tuple(map(_text_of, wanted)), edits, len(wanted)))
