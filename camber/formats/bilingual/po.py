"""PO, the files of gettext: entries with the places of their parts, and what they give as units."""

from __future__ import annotations

import codecs
import gettext
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO

from camber.errors import InputError
from camber.formats.bilingual.languages import Languages, direction
from camber.formats.bilingual.unit import FUZZY, NEW, OBSOLETE, TRANSLATED, TURNED, Segment, Tally, Unit

_line = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|$)")
_word = re.compile(r"(msgctxt|msgid_plural|msgid|msgstr)(?:\[(\d{1,3})\])?[ \t]*(?=\")")
_text = re.compile(r'"((?:[^"\\]|\\.)*+)"')
_escape = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|(.))", re.S)
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_charset = re.compile(rb"charset=([\w.:-]+)")


@dataclass
class Part:
    """A text of an entry, and where its quoted lines stand in the file."""

    start: int  # of the first quotation mark
    end: int  # behind the last one
    pieces: list[str] = field(default_factory=list)  # of each line, with escapes

    @property
    def text(self) -> str:
        """The text as it is meant."""
        return unescaped("".join(self.pieces))


@dataclass
class Entry:
    """An entry of a file; `parts` are its texts by their keywords, such as ``msgstr[0]``."""

    line: int
    start: int = 0  # where its first line begins: a comment, or its first keyword
    words: int = 0  # where the line of its first keyword begins
    parts: dict[str, Part] = field(default_factory=dict)
    flags: list[str] = field(default_factory=list)
    flag_lines: list[tuple[int, int]] = field(default_factory=list)  # where lines of flags are
    obsolete: bool = False

    @property
    def is_header(self) -> bool:
        """Whether it says what the file is."""
        return "msgctxt" not in self.parts and "msgid" in self.parts and not self.parts["msgid"].text

    @property
    def translations(self) -> dict[str, Part]:
        """The texts in the target language."""
        return {name: part for name, part in self.parts.items() if name.startswith("msgstr")}


def unescaped(text: str) -> str:
    r"""Return what a quoted text means.

    >>> unescaped(r"a\tb\\\"\x41\101")
    'a\tb\\"AA'
    """

    def meant(found: re.Match[str]) -> str:
        if found[1] or found[2]:
            return chr(int(found[1], 8) & 255 if found[1] else int(found[2], 16))
        return _PLAIN.get(found[3], found[3])

    return _escape.sub(meant, text) if "\\" in text else text


def decoded(data: bytes, path: str) -> tuple[str, str]:
    """Return the text of a file and its encoding: UTF-8 if that is what it is, else what its header names."""
    for mark, name in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if data.startswith(mark):
            return _decoded(data, name, path), name
    try:  # many files are in UTF-8 though their header has an older name
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        named = _charset.search(data)
        charset = named[1].decode() if named else "utf-8"
    try:
        if codecs.lookup(charset).name in ("utf-7", "utf-16", "utf-32") or not codecs.lookup(charset)._is_text_encoding:
            raise LookupError
        return _decoded(data, charset, path), charset
    except LookupError:
        problem = f"the encoding {charset[:40]!r} is not known"
        raise InputError(problem, path, remedy="convert the file to UTF-8, and say so in its header") from None


def _decoded(data: bytes, charset: str, path: str) -> str:
    try:
        return data.decode(charset)
    except UnicodeError as error:
        start = getattr(error, "start", 0)
        problem = f"not the {charset} that it should be (byte 0x{data[start : start + 1].hex()})"
        raise InputError(problem, path, data.count(b"\n", 0, start) + 1, remedy="convert the file to UTF-8") from None


def entries_of(text: str, path: str) -> Iterator[Entry]:
    """Yield the entries of a file; what is no line of PO is an error.

    >>> [entry.parts["msgstr"].text for entry in entries_of('msgid "a"\\nmsgstr "b"\\n"c"\\n', "x.po")]
    ['bc']
    """
    entry = Entry(1)
    part: Part | None = None
    for number, found in enumerate(_line.finditer(text), 1):
        line, start = found[0].rstrip("\r\n"), found.start()
        bare = line.lstrip(" \t\ufeff")
        if not bare.rstrip():
            if found.end() == len(text) and not found[0]:
                break
            if entry.parts:
                yield _whole(entry, path)
                entry = Entry(number + 1)
            part = None
            continue
        obsolete = bare.startswith("#~")
        if obsolete:
            bare = bare[2:].lstrip(" \t")
            if bare.startswith("|") or not bare:
                continue
        if bare.startswith("#"):
            if any(name.startswith("msgstr") for name in entry.parts):
                yield _whole(entry, path)
                entry = Entry(number)
            if not entry.parts and not entry.line:
                entry.line = number
            if not entry.parts and entry.start < start and not entry.flag_lines and entry.words == 0:
                entry.start = entry.start or start
            if bare.startswith("#,"):
                entry.flags += [flag.strip() for flag in bare[2:].split(",")]
                entry.flag_lines.append((start, start + len(line)))
            part = None
            continue
        at = start + len(line) - len(bare)
        keyword = _word.match(bare)
        if keyword:
            name = keyword[1] + (f"[{int(keyword[2])}]" if keyword[2] else "")
            opens = name == "msgctxt" or (name == "msgid" and list(entry.parts) != ["msgctxt"])
            if entry.parts and opens:
                yield _whole(entry, path)
                entry = Entry(number)
            if name in entry.parts or (keyword[1] == "msgstr" and "msgid" not in entry.parts):
                problem = f"{name} twice" if name in entry.parts else f"{name} without msgid"
                raise InputError(problem, path, number, remedy="put an empty line between entries")
            if not entry.parts:
                entry.line, entry.words, entry.obsolete = number, start, obsolete
            part = entry.parts[name] = Part(at + keyword.end(), at + keyword.end())
            bare, at = bare[keyword.end() :], at + keyword.end()
        elif part is None or not bare.startswith('"'):
            raise InputError(f"no line of PO: {bare[:40]!r}", path, number, remedy="check it with msgfmt -c")
        quoted = _text.match(bare)
        if quoted is None or bare[quoted.end() :].strip():
            what = "a quotation mark is not closed" if quoted is None else "there is text behind the quotation marks"
            raise InputError(what, path, number, remedy='close it, and write \\" for one inside')
        part.pieces.append(quoted[1])
        part.end = at + quoted.end()
    if entry.parts:
        yield _whole(entry, path)


def _whole(entry: Entry, path: str) -> Entry:
    if "msgid" not in entry.parts:
        raise InputError("an entry without msgid", path, entry.line, remedy="check it with msgfmt -c")
    return entry


def header_of(entry: Entry) -> dict[str, str]:
    """Return the lines of a header by their names, which are in small letters."""
    lines = entry.parts["msgstr"].text.split("\n") if "msgstr" in entry.parts else []
    pairs = (line.partition(":") for line in lines)
    return {name.strip().lower(): value.strip() for name, _, value in pairs if value}


def plural_rule(header: dict[str, str]) -> Callable[[int], int]:
    """Return which form goes with a number, as a header says; two forms if it says nothing that can be understood."""
    found = re.search(r"plural\s*=\s*([^;]+)", re.sub(r"nplurals\s*=[^;]*;?", "", header.get("plural-forms", "")))
    if found and len(found[1]) < 1000:
        try:
            rule: Callable[[int], int] = gettext.c2py(found[1])
            rule(1), rule(2)
            return rule
        except (ValueError, RecursionError, ZeroDivisionError, OverflowError):
            pass
    return lambda n: int(n != 1)


def languages_of(header: dict[str, str]) -> Languages:
    """Return the languages that a header names."""
    return Languages(header.get("x-source-language", ""), header.get("language", "") or header.get("x-language", ""))


def read_po(stream: IO[bytes], path: str, languages: Languages, tally: Tally) -> Iterator[Unit]:
    """Yield the entries of a file that is between two languages; each form of a plural is a unit."""
    text, _ = decoded(stream.read(), path)
    yield from units_of(entries_of(text, path), languages, tally)


def units_of(entries: Iterator[Entry], languages: Languages, tally: Tally) -> Iterator[Unit]:
    """Yield what entries give as units."""
    rule = plural_rule({})
    turn, named = 1, Languages()
    for entry in entries:
        if entry.is_header:
            if "header" not in tally.handled:
                header = header_of(entry)
                rule, named = plural_rule(header), languages_of(header)
                turn = direction(named, languages)
            tally.handled["header"] += 1
            continue
        if not turn:
            tally.skipped[f"from {named.source or 'any'} to {named.target}"] += 1
            continue
        for unit in _units(entry, rule, tally):
            tally.units += 1
            if turn < 0:
                tally.handled[TURNED] += 1
                unit = unit._replace(source=unit.target or Segment(), target=unit.source)
            yield unit


def _units(entry: Entry, rule: Callable[[int], int], tally: Tally) -> Iterator[Unit]:
    """Yield an entry as one unit, or as one for each form of its plural."""
    source = entry.parts["msgid"].text
    context = entry.parts["msgctxt"].text if "msgctxt" in entry.parts else ""
    if context:
        tally.handled["with a context"] += 1
    state = OBSOLETE if entry.obsolete else FUZZY if "fuzzy" in entry.flags else TRANSLATED
    texts = {name: part.text for name, part in entry.translations.items()}
    if "msgid_plural" not in entry.parts and set(texts) <= {"msgstr"}:
        yield _unit(source, texts.get("msgstr", ""), state, entry.line, context)
        return
    tally.handled["plurals"] += 1
    plural = entry.parts["msgid_plural"].text if "msgid_plural" in entry.parts else source
    forms = Counter(_form(rule, n) for n in range(2, 200))
    one = _form(rule, 1)
    names = sorted(texts, key=lambda name: -forms[_number(name)]) or ["msgstr[0]"]
    if f"msgstr[{one}]" in texts and len(texts) > 1:
        yield _unit(source, texts[f"msgstr[{one}]"], state, entry.line, context)
    for name in names:
        if _number(name) != one or len(names) == 1:
            yield _unit(plural, texts.get(name, ""), state, entry.line, context)


def _form(rule: Callable[[int], int], n: int) -> int:
    try:
        return int(rule(n))
    except (ValueError, RecursionError, ZeroDivisionError, OverflowError):
        return 0


def _number(name: str) -> int:
    return int(re.sub(r"\D", "", name) or 0)


def _unit(source: str, target: str, state: str, line: int, context: str) -> Unit:
    segment = Segment((source,)).in_lines if source else Segment()
    if not target:
        return Unit(segment, None, OBSOLETE if state == OBSOLETE else NEW, line, "", context)
    return Unit(segment, Segment((target,)).in_lines, state, line, "", context)
