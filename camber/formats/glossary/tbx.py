"""Glossaries in TBX, versions 2 (martif) and 3 (tbx), in its dialects: concepts with terms in several languages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from camber.errors import InputError
from camber.formats.glossary.glossary import ALLOWED, FORBIDDEN, Row, same_language, status_of
from camber.formats.xml import local_name, parse_xml

_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_CONCEPTS, _LANGUAGES = ("termEntry", "conceptEntry"), ("langSet", "langSec")
_TERMS = ("tig", "ntig", "termSec")
#: notes that say whether a term may be used
_STATUS = ("administrativestatus", "normativeauthorization", "status", "usagestatus")
#: terms that a concept may have in a language: each goes with each one of the other language
MOST_TERMS = 100


def read_tbx(data: bytes, path: str | Path, source_lang: str, target_lang: str) -> list[Row]:
    """Read the terms of one language with those of another: a row for each pair of terms of a concept."""
    root = parse_xml(data, path)
    if local_name(root) not in ("martif", "tbx"):
        problem = f"the root element is {local_name(root)}, expected martif or tbx"
        raise InputError(problem, path, root.sourceline, remedy="give a glossary in TBX, or a table")
    if not source_lang or not target_lang:
        raise InputError("TBX has terms of several languages", path, remedy="say which: source_lang, target_lang")
    rows = []
    for concept in root.iter():
        if local_name(concept) in _CONCEPTS:
            terms = list(_terms(concept, path))
            source, target = (
                [term for term in terms if same_language(term[0], language)] for language in (source_lang, target_lang)
            )
            if max(len(source), len(target)) > MOST_TERMS:
                problem = f"a concept with {max(len(source), len(target)):,} terms in one language"
                remedy = f"give {MOST_TERMS} at most; others belong to concepts of their own"
                raise InputError(problem, path, concept.sourceline, remedy=remedy)
            rows += [Row(text, (other,), status) for _, text, _ in source for _, other, status in target]
    return rows


def _terms(concept: Any, path: str | Path) -> Iterator[tuple[str, str, str]]:
    """Yield the terms of a concept: language, text, and whether they may be used."""
    for section in concept:
        if local_name(section) not in _LANGUAGES:
            continue
        language = section.get(_LANG) or section.get("lang") or ""
        if not language:
            raise InputError(f"a {local_name(section)} without a language", path, section.sourceline)
        for group in section:
            if local_name(group) in _TERMS:
                term = next((element for element in group.iter() if local_name(element) == "term"), None)
                text = " ".join("".join(term.itertext()).split()) if term is not None else ""
                if not text:
                    raise InputError("a term without words", path, group.sourceline, remedy="give its text")
                yield language, text, _status(group, path)


def _status(group: Any, path: str | Path) -> str:
    """Return the status of a term; one note that forbids it is enough."""
    status = ALLOWED
    for note in group.iter():
        # a note says its type in an attribute, or, in other dialects, by its name
        kind = (note.get("type") or local_name(note)) if local_name(note) else ""
        if kind.replace("-", "").lower() in _STATUS and (note.text or "").strip():
            meaning = status_of(note.text, path, note.sourceline)
            status = meaning if status != FORBIDDEN else status
    return status
