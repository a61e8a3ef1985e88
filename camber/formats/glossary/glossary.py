"""A glossary: how words of the source shall be translated, or left alone, and which translations are not wanted.

glossary = Glossary.read("terms.csv", source_lang="de", target_lang="en")
glossary = Glossary.of({"Vertrag": ["contract", "agreement"], "Camber": None})
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from camber.errors import InputError

#: what a status says about a target: it may be used, it must not be, or the source is left as it is
ALLOWED, FORBIDDEN, KEPT = "allowed", "forbidden", "kept"
STATUSES = {
    **dict.fromkeys(("", "approved", "preferred", "admitted", "standardized", "legal", "new", "active"), ALLOWED),
    **dict.fromkeys(("forbidden", "deprecated", "superseded", "notrecommended", "rejected", "obsolete"), FORBIDDEN),
    **dict.fromkeys(("dnt", "donottranslate", "untranslatable", "keep"), KEPT),
}


@dataclass(frozen=True)
class Entry:
    """What one source text shall become: one of the targets, itself if it is kept, and nothing that is forbidden."""

    source: str
    targets: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    kept: bool = False


@dataclass(frozen=True)
class Row:
    """One line of a glossary: a source and a target, or several, with their status."""

    source: str
    targets: tuple[str, ...]
    status: str = ALLOWED


class Glossary:
    """Entries, one for every source text; case makes no difference between them.

    >>> Glossary.of({"maison": ["home", "house"], "Camber": None}).entries[1]
    Entry(source='Camber', targets=(), forbidden=(), kept=True)
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.entries = tuple(entries)

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self.entries)

    @classmethod
    def read(cls, path: str | Path, source_lang: str = "", target_lang: str = "") -> Glossary:
        """Read a glossary: TBX if it is XML, else a table. Entries between other languages than these are left out.

        Tables have a source and a target for each line (in quotation marks where need be), one more target perhaps, or
        the columns that a header names: source, target, variants, languages, status. Lines with nothing but a source
        say that it is not translated.
        """
        from camber.files import read_bytes
        from camber.formats.glossary.table import read_table
        from camber.formats.glossary.tbx import read_tbx

        data = read_bytes(path)
        start = data[:4].removeprefix(b"\xef\xbb\xbf")
        if data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<" or start[:2] in (b"\xff\xfe", b"\xfe\xff"):
            rows = read_tbx(data, path, source_lang, target_lang)
        else:
            rows = read_table(data, path, source_lang, target_lang)
        glossary = cls.of_rows(rows)
        if not len(glossary):
            languages = f" from {source_lang or 'any language'} to {target_lang or 'any'}"
            raise InputError(f"no entry{languages}", path, remedy="give a glossary for the model's languages")
        return glossary

    @classmethod
    def of(cls, entries: Mapping[str, str | Sequence[str] | None]) -> Glossary:
        """Make a glossary: a target, or several of which any may be used, for each source; None: leave it as it is."""
        return cls.of_rows(
            Row(source, (), KEPT)
            if targets is None
            else Row(source, (targets,) if isinstance(targets, str) else tuple(targets))
            for source, targets in entries.items()
        )

    @classmethod
    def of_rows(cls, rows: Iterable[Row]) -> Glossary:
        """Put the rows for one source into one entry."""
        together: dict[str, list[Row]] = {}
        for row in rows:
            together.setdefault(" ".join(row.source.split()).casefold(), []).append(row)
        return cls(
            Entry(
                some[0].source,
                tuple(dict.fromkeys(text for row in some if row.status == ALLOWED for text in row.targets)),
                tuple(dict.fromkeys(text for row in some if row.status == FORBIDDEN for text in row.targets)),
                any(row.status == KEPT for row in some),
            )
            for some in together.values()
        )


def status_of(text: str, path: str | Path, line: int) -> str:
    """Return what a status means, as glossaries write it.

    >>> status_of("preferredTerm-admn-sts", "g.tbx", 1), status_of("Do not translate", "g.csv", 1)
    ('allowed', 'kept')
    """
    plain = re.sub(r"[^a-z]", "", re.sub(r"(term)?-admn-sts$", "", text.strip(), flags=re.I).lower())
    plain = plain.removesuffix("term")
    if plain not in STATUSES:
        known = ", ".join(filter(None, STATUSES))
        raise InputError(f"the status {text!r} is not known", path, line, remedy=f"known are {known}")
    return STATUSES[plain]


def same_language(code: str, wanted: str) -> bool:
    """Say whether a language is the wanted one, or the same without its country; none is any.

    >>> same_language("de_DE", "de"), same_language("pt-BR", "pt-PT"), same_language("", "en")
    (True, False, True)
    """
    one, two = (re.split(r"[-_]", text.lower()) for text in (code, wanted))
    if not code or not wanted:
        return True
    return one[0] == two[0] and (len(one) == 1 or len(two) == 1 or one[1:] == two[1:] or "xx" in (one[1], two[1]))
