"""XLIFF, versions 1.0 to 1.2 and 2.x, with what SDL's tools put into it: segments inside of a unit, and their state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import IO, Any

from camber.errors import InputError
from camber.formats.bilingual.elements import elements, segment_of
from camber.formats.bilingual.languages import Languages, direction
from camber.formats.bilingual.tmx import apart
from camber.formats.bilingual.unit import CONFIRMED, NEW, REVIEW, TRANSLATED, TURNED, Segment, Tally, Unit
from camber.formats.xml import local_name

#: what states say, in either version; needs-… in 1.x says more than this table
STATES = {
    "new": NEW, "needs-translation": NEW, "initial": REVIEW, "translated": TRANSLATED, "final": CONFIRMED,
    "signed-off": CONFIRMED, "reviewed": CONFIRMED,
}  # fmt: skip
#: where a text with one of these came from is no translator
GUESSES = frozenset(
    ["exact-match-machine", "fuzzy-match", "id-match-machine", "leveraged-mt", "mt-suggestion", "leveraged-inherited"]
)
#: how our own translations are marked in XLIFF 2, which has no state for what nobody has looked at
MADE_BY = "camber:mt"
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
#: what SDL's tools say of a segment
CONF = {
    "Draft": REVIEW, "Unspecified": REVIEW, "Translated": TRANSLATED, "ApprovedTranslation": CONFIRMED,
    "ApprovedSignOff": CONFIRMED, "RejectedTranslation": REVIEW, "RejectedSignOff": REVIEW,
}  # fmt: skip


def read_xliff(stream: IO[bytes], path: str, languages: Languages, tally: Tally) -> Iterator[Unit]:
    """Yield the units of all files inside that are between two languages, in one direction or the other."""
    version, file, turn = "", Languages(), 1
    for event, element, name in elements(stream, path, ("xliff", "file"), ("trans-unit", "unit")):
        if event == "start":
            if name == "xliff":
                version = element.get("version") or "1.0"
                file = Languages(element.get("srcLang") or "", element.get("trgLang") or "")
                turn = direction(file, languages)
            elif element.get("source-language"):
                file = Languages(element.get("source-language"), element.get("target-language") or "")
                turn = direction(file, languages)
            continue
        if not version:
            break
        if not turn:
            tally.skipped[f"from {file.source or 'any'} to {file.target or 'any'}"] += 1
            continue
        units = _newer(element, path, tally) if name == "unit" else _older(element, path, tally)
        for unit in units:
            yield unit if turn > 0 else _turned(unit, tally)
    if not version:
        raise InputError("no element xliff", path, remedy="give a file in XLIFF")


def _turned(unit: Unit, tally: Tally) -> Unit:
    tally.handled[TURNED] += 1
    return unit._replace(source=unit.target or Segment(), target=unit.source)


def may_be_translated(element: Any) -> bool:
    """Say whether an element, or what is around it, allows its translation."""
    while element is not None:
        said = element.get("translate")
        if said is not None:
            return bool(said != "no")
        element = element.getparent()
    return True


def is_preformatted(element: Any) -> bool:
    """Say whether the lines of an element are lines of its text (``xml:space``)."""
    while element is not None:
        said = element.get(_SPACE) or element.get("xml:space")
        if said is not None:
            return bool(said == "preserve")
        element = element.getparent()
    return False


def children_of(element: Any) -> dict[str, Any]:
    """Return the children of an element by name; of several of one name, the first."""
    found: dict[str, Any] = {}
    for child in element:
        found.setdefault(local_name(child), child)
    return found


def segments_within(element: Any) -> dict[str, Any]:
    """Return the marked segments inside an element by their numbers."""
    if element is None or not len(element):
        return {}
    return {mark.get("mid") or "": mark for mark in element.iter("{*}mrk") if mark.get("mtype") == "seg"}


def state_in_older(unit: Any, target: Any) -> str:
    """Return the state of a translation in XLIFF 1.x; the state of the target says more than `approved`."""
    said = (target.get("state") or "").lower()
    if said in STATES:
        return STATES[said] if said != "initial" else TRANSLATED
    if said.startswith("needs-") or (target.get("state-qualifier") or "").lower() in GUESSES:
        return REVIEW
    return CONFIRMED if unit.get("approved") == "yes" else TRANSLATED


def _older(element: Any, path: str, tally: Tally) -> Iterator[Unit]:
    """Yield the segments of a unit of XLIFF 1.x."""
    parts = children_of(element)
    source, target = parts.get("source"), parts.get("target")
    if source is None:
        raise InputError("a trans-unit without a source", path, element.sourceline, remedy="export the file again")
    if count := sum(local_name(child) == "alt-trans" for child in element):
        tally.handled["proposals (alt-trans) ignored"] += count
    if element.get("approved") == "yes":
        tally.handled["approved"] += 1
    translate = may_be_translated(element)
    name, line = element.get("id") or "", source.sourceline or 0
    context = element.get("resname") or ""
    state = NEW if target is None else state_in_older(element, target)
    like = Unit(Segment(), None, state, line, name, context, translate=translate)
    segments = segments_within(parts.get("seg-source"))
    if not segments:
        yield from _unit(source, target, path, tally, like)
        return
    if len(segments) > 1:
        tally.handled["units in several segments (seg-source)"] += 1
    translated, conf = segments_within(target), _confirmations(element)
    for mid, segment in segments.items():
        own = translated.get(mid)
        said = conf.get(mid, {})
        state = CONF.get(said.get("conf") or "", like.state)
        if said.get("origin") in ("mt", "nmt", "amt") and state == TRANSLATED and "conf" not in said:
            state = REVIEW
        if own is None:
            state = NEW
        yield from _unit(segment, own, path, tally, like._replace(state=state, line=segment.sourceline or line))


def _confirmations(unit: Any) -> dict[str, Mapping[str, str]]:
    """Return what SDL's tools say of the segments of a unit."""
    return {seg.get("id") or "": dict(seg.items()) for seg in unit.iterfind(".//{*}seg-defs/{*}seg")}


def _newer(element: Any, path: str, tally: Tally) -> Iterator[Unit]:
    """Yield the segments of a unit of XLIFF 2."""
    translate = may_be_translated(element)
    name = element.get("id") or ""
    segments = [child for child in element if local_name(child) == "segment"]
    for segment in segments:
        parts = children_of(segment)
        source, target = parts.get("source"), parts.get("target")
        if source is None:
            raise InputError("a segment without a source", path, segment.sourceline, remedy="export the file again")
        state = STATES.get((segment.get("state") or "translated").lower(), TRANSLATED)
        if state == TRANSLATED and segment.get("subState") == MADE_BY:
            state = REVIEW
        unit = Unit(
            Segment(), None, NEW if target is None else state, source.sourceline or 0,
            f"{name}/{segment.get('id')}" if segment.get("id") else name, element.get("name") or "",
            translate=translate,
        )  # fmt: skip
        yield from _unit(source, target, path, tally, unit)


def _unit(source: Any, target: Any, path: str, tally: Tally, like: Unit) -> Iterator[Unit]:
    """Yield a unit, and what is apart in its codes."""
    own: tuple[list[Any], list[Any]] = [], []
    first = segment_of(source, path, own[0].append)
    second = None if target is None else segment_of(target, path, own[1].append)
    if any(isinstance(piece, str) and "\n" in piece for piece in first.pieces) and is_preformatted(source):
        first, second = first.in_lines, second and second.in_lines
    if second is not None and not second.pieces and first.pieces:
        second = None
    tally.units += 1
    yield like._replace(source=first, target=second, state=NEW if second is None else like.state)
    if target is not None and (own[0] or own[1]):
        yield from apart(own[0], own[1], path, tally, like)
