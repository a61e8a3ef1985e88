"""TMX, versions 1.1 to 1.4: units with a text in each of several languages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from camber.errors import InputError
from camber.formats.bilingual.elements import elements, language_of, segment_of
from camber.formats.bilingual.languages import EXACT, OTHER, Languages, nearest, nearness
from camber.formats.bilingual.unit import TRANSLATED, Segment, Tally, Unit, pairs_of

ALL = "*all*"


def read_tmx(stream: IO[bytes], path: str, languages: Languages, tally: Tally) -> Iterator[Unit]:
    """Yield the units between two languages.

    A unit's languages are compared with the wanted ones by their codes; of several texts of one language, each comes
    with the first of the other.
    """
    if not languages.source or not languages.target:
        raise InputError("TMX has texts of several languages", path, remedy="say which: source_lang, target_lang")
    header, root = "", False
    for event, element, name in elements(stream, path, ("tmx", "header", "tu"), ("tu",)):
        if event == "start":
            if name == "tmx":
                root = True
            elif name == "header":
                header = element.get("srclang") or ""
            continue
        if not root:
            break
        yield from _units(element, header, path, languages, tally)
    if not root:
        raise InputError("no element tmx", path, remedy="give a translation memory in TMX")


def _units(tu: Any, header: str, path: str, languages: Languages, tally: Tally) -> Iterator[Unit]:
    """Yield the pairs of one unit."""
    codes: list[str] = []
    texts: list[tuple[Any, Any]] = []  # tuv, seg
    context = ""
    for child in tu:
        tag = child.tag
        if not isinstance(tag, str):
            continue
        if tag.endswith("tuv"):
            for seg in child:
                if isinstance(seg.tag, str) and seg.tag.endswith("seg"):
                    code = language_of(child)
                    if not code:
                        raise InputError("a text without a language", path, child.sourceline, remedy="give xml:lang")
                    codes.append(code)
                    texts.append((child, seg))
                    break
        elif tag.endswith("prop") and "context" in (child.get("type") or "").lower():
            context = context or (child.text or "")
    sources = nearest(codes, languages.source)
    if not sources:
        tally.skipped["no text in the source language"] += 1
        return
    targets = nearest(codes, languages.target, sources)
    if not targets and nearness(languages.source, languages.target) < OTHER and len(sources) > 1:
        # variants of one language: what was taken for the source may be the target
        targets = nearest(codes, languages.target)[:1]
        sources = [place for place in sources if place not in targets][:1]
    if not targets:
        tally.skipped["no text in the target language"] += 1
        return
    declared = tu.get("srclang") or header
    if len(sources) > 1 and declared and declared.lower() != ALL:  # what the file calls the source comes first
        sources.sort(key=lambda place: nearness(codes[place], declared) != EXACT)
    elif (
        declared
        and declared.lower() != ALL
        and nearness(declared, languages.source) > nearness(declared, languages.target)
    ):
        tally.handled["of the other direction"] += 1
    if others := len(texts) - len(sources) - len(targets):
        tally.handled["texts of other languages ignored"] += others
    if len(sources) + len(targets) > 2:
        tally.handled["several texts of one language"] += 1
    for source, target in pairs_of(sources, targets):
        yield from _pair(tu, texts[source], texts[target], context, path, tally)


def _pair(
    tu: Any, first: tuple[Any, Any], second: tuple[Any, Any], context: str, path: str, tally: Tally
) -> Iterator[Unit]:
    """Yield a pair, and what is apart in its codes."""
    own: tuple[list[Any], list[Any]] = [], []
    source = segment_of(first[1], path, own[0].append)
    target = segment_of(second[1], path, own[1].append)
    tuv, get = second[0], second[0].get
    author = get("changeid") or get("creationid") or tu.get("changeid") or tu.get("creationid") or ""
    date = get("changedate") or get("creationdate") or tu.get("changedate") or tu.get("creationdate") or ""
    name, line = tu.get("tuid") or "", tuv.sourceline or 0
    tally.units += 1
    yield Unit(source, target, TRANSLATED, line, name, context, author, date)
    if own[0] or own[1]:
        yield from apart(own[0], own[1], path, tally, Unit(Segment(), None, TRANSLATED, line, name, context))


def apart(sources: list[Any], targets: list[Any], path: str, tally: Tally, like: Unit) -> Iterator[Unit]:
    """Yield the texts inside of codes as units of their own, if both sides have as many."""
    if len(sources) != len(targets):
        tally.handled["texts in codes (sub) without a counterpart"] += max(len(sources), len(targets))
        return
    for one, two in zip(sources, targets, strict=True):
        tally.units += 1
        tally.handled["texts in codes (sub) taken apart"] += 1
        yield like._replace(source=segment_of(one, path), target=segment_of(two, path))
