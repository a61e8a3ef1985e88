"""TMX, versions 1.1 to 1.4: units with a text in each of several languages."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import IO, Any, NamedTuple

from camber.errors import InputError
from camber.formats.bilingual.elements import LANG, elements, segment_of
from camber.formats.bilingual.languages import EXACT, OTHER, Languages, nearest, nearness
from camber.formats.bilingual.unit import ABSENT, REVIEW, TRANSLATED, TURNED, Segment, Tally, Unit, pairs_of
from camber.formats.xml import local_name

ALL = "*all*"
#: who made our own translations, until somebody changes them
MAKER = "camber"


def read_tmx(stream: IO[bytes], path: str, languages: Languages, tally: Tally) -> Iterator[Unit]:
    """Yield the units between two languages, and those with a text in the source language alone.

    A unit's languages are compared with the wanted ones by their codes; of several texts of one language, each comes
    with the first of the other.
    """
    if not languages.source or not languages.target:
        raise InputError("TMX has texts of several languages", path, remedy="say which: source_lang, target_lang")
    header, checked = "", False
    for _, element, name in elements(stream, path, (), ("header", "tu")):
        if not checked:
            checked = local_name(element.getroottree().getroot()) == "tmx"
            if not checked:
                break
        if name == "header":
            header = element.get("srclang") or ""
        else:
            yield from _units(element, header, path, languages, tally)


class _Choice(NamedTuple):
    """Which texts of a unit are pairs, by their places."""

    pairs: tuple[tuple[int, int], ...]
    source: int  # a text without a translation; -1: none
    handled: tuple[tuple[str, int], ...]


@lru_cache(maxsize=1000)
def _choice(codes: tuple[str, ...], languages: Languages, declared: str) -> _Choice:
    """Choose among texts in these languages, of which the file calls one its source."""
    sources = nearest(codes, languages.source)
    if not sources:
        return _Choice((), -1, ())
    targets = nearest(codes, languages.target, sources)
    if not targets and nearness(languages.source, languages.target) < OTHER and len(sources) > 1:
        # variants of one language: what was taken for the source may be the target
        targets = nearest(codes, languages.target)[:1]
        sources = [place for place in sources if place not in targets][:1]
    if not targets:
        return _Choice((), sources[0], ())
    declared = "" if declared.lower() == ALL else declared
    handled = []
    if len(sources) > 1 and declared:  # what the file calls the source comes first
        sources.sort(key=lambda place: nearness(codes[place], declared) != EXACT)
    elif declared and nearness(declared, languages.source) > nearness(declared, languages.target):
        handled.append((TURNED, 1))
    if others := len(codes) - len(sources) - len(targets):
        handled.append(("texts of other languages ignored", others))
    if len(sources) + len(targets) > 2:
        handled.append(("several texts of one language", 1))
    return _Choice(tuple(pairs_of(sources, targets)), -1, tuple(handled))


def _units(tu: Any, header: str, path: str, languages: Languages, tally: Tally) -> list[Unit]:
    """Return the pairs of one unit."""
    codes: list[str] = []
    texts: list[tuple[Any, Any]] = []  # tuv, seg
    context = ""
    for child in tu:
        tag = child.tag
        if tag == "tuv" or (isinstance(tag, str) and tag.endswith("}tuv")):
            for seg in child:
                kind = seg.tag
                if kind == "seg" or (isinstance(kind, str) and kind.endswith("}seg")):
                    code = child.get(LANG) or child.get("lang")
                    if not code:
                        raise InputError("a text without a language", path, child.sourceline, remedy="give xml:lang")
                    codes.append(code)
                    texts.append((child, seg))
                    break
        elif isinstance(tag, str) and tag.endswith("prop") and "context" in (child.get("type") or "").lower():
            context = context or (child.text or "")
    pairs, alone, handled = _choice(tuple(codes), languages, tu.get("srclang") or header)
    if not pairs:
        tally.languages.update(codes)
    if alone >= 0:
        tuv, seg = texts[alone]
        tally.units += 1
        return [Unit(segment_of(seg, path), None, ABSENT, tuv.sourceline or 0, tu.get("tuid") or "", context)]
    if not pairs:
        tally.skipped["no text in the source language"] += 1
    for what, count in handled:
        tally.handled[what] += count
    units: list[Unit] = []
    for source, target in pairs:
        units += _pair(tu, texts[source], texts[target], context, path, tally)
    return units


def _pair(
    tu: Any, first: tuple[Any, Any], second: tuple[Any, Any], context: str, path: str, tally: Tally
) -> list[Unit]:
    """Return a pair, and what is apart in its codes."""
    own: tuple[list[Any], list[Any]] = [], []
    source = segment_of(first[1], path, own[0].append)
    target = segment_of(second[1], path, own[1].append)
    tuv, get = second[0], second[0].get
    author = get("changeid") or get("creationid") or tu.get("changeid") or tu.get("creationid") or ""
    date = get("changedate") or get("creationdate") or tu.get("changedate") or tu.get("creationdate") or ""
    name, line = tu.get("tuid") or "", tuv.sourceline or 0
    state = REVIEW if author == MAKER else TRANSLATED
    tally.units += 1
    units = [Unit(source, target, state, line, name, context, author, date)]
    if own[0] or own[1]:
        units += apart(own[0], own[1], path, tally, Unit(Segment(), None, state, line, name, context))
    return units


def apart(sources: list[Any], targets: list[Any], path: str, tally: Tally, like: Unit) -> Iterator[Unit]:
    """Yield the texts inside of codes as units of their own, if both sides have as many."""
    if len(sources) != len(targets):
        tally.handled["texts in codes (sub) without a counterpart"] += max(len(sources), len(targets))
        return
    for one, two in zip(sources, targets, strict=True):
        tally.units += 1
        tally.handled["texts in codes (sub) taken apart"] += 1
        yield like._replace(source=segment_of(one, path), target=segment_of(two, path))
