"""The formats of n-best lists, each in a file of its own, told apart by their first lines and by the endings of names.

    format_of_file("dev.nbest").name         # by content
    format_to_write("list.jsonl.gz").name    # by the ending

Other packages add formats by entry points of the group ``camber.nbest_formats``, each of which is a `Format`. A format
may have several names, if several engines write it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from camber.errors import InputError, SettingsError
from camber.registry import Entry, Registry

if TYPE_CHECKING:
    from camber.nbest.nbest import NBest

#: What stands for any format: the file tells.
AUTO = "auto"
_LOGGED = 1000  # lines of other programs' messages before the list


@dataclass(frozen=True)
class Format:
    """How lists are read and written, and how they are recognised."""

    name: str
    endings: tuple[str, ...]  # of files that are written in this format, such as ".jsonl"
    looks_like: Callable[[str, int], bool]  # (line, its number from 1) → whether a list begins so
    read: Callable[..., NBest]  # (path, sentences or None, at_least), and candidates if `counted`: see NBest.read
    write: Callable[[NBest, str | Path], None]
    holds_extra: bool = False  # whether outside scores have a place in it
    holds_parts: bool = False  # whether parts and their raw features have a place in it
    any_feature: bool = True  # whether features may have any names
    separator: str = ""  # what texts cannot hold
    counted: bool = False  # whether the file does not tell where a sentence ends, so that the reader is told
    #: (piece of a list, whether it is the first) → its lines, if lists can be written piece by piece; None: they cannot
    lines: Callable[[NBest, bool], Iterator[str]] | None = None
    names_first: bool = False  # whether the first line names all features that any hypothesis has


FORMATS: Registry[Format] = Registry(
    "n-best format",
    "camber.nbest_formats",
    {
        "moses": Entry("camber.nbest.moses:MOSES", "labels and values"),
        "marian": Entry("camber.nbest.moses:MOSES", "as Moses'"),
        "joshua": Entry("camber.nbest.moses:JOSHUA", "as Moses', but name=value"),
        "cdec": Entry("camber.nbest.moses:JOSHUA", "as Joshua's"),
        "fairseq": Entry("camber.nbest.fairseq:FAIRSEQ", "the output of fairseq-generate"),
        "jsonl": Entry("camber.nbest.jsonl:JSONL", "JSON Lines: everything, with parts"),
        "tsv": Entry("camber.nbest.tsv:TSV", "a table with names in its first line"),
        "flat": Entry("camber.nbest.flat:FLAT", "texts alone, as many lines for every sentence"),
    },
)


@cache
def formats() -> tuple[Format, ...]:
    """Return all formats, those of other packages last.

    >>> [format.name for format in formats()][:5]
    ['moses', 'joshua', 'fairseq', 'jsonl', 'tsv']
    """
    return tuple(dict.fromkeys(FORMATS.load_all().values()))


def format_named(name: str) -> Format:
    """Return a format by any of its names."""
    if name not in FORMATS:
        raise SettingsError(f"unknown n-best format {name!r}; known: {', '.join([AUTO, *FORMATS])}")
    return FORMATS.load(name)


def format_of_file(path: str | Path, name: str = AUTO) -> Format:
    """Return the format of a list that is there; `auto`: by its first lines."""
    from camber.nbest.reading import numbered_lines

    if name != AUTO:
        return format_named(name)
    for number, line in numbered_lines(path):
        for format in formats():
            if format.looks_like(line, number):
                return format
        if number > _LOGGED:  # fairseq's output may begin with messages
            break
    raise InputError(
        "the format of this list is not known",
        path,
        1,
        remedy=f"name it: {', '.join(FORMATS)} (flat is N lines of text for every sentence)",
    )


def format_to_write(path: str | Path, name: str = AUTO) -> Format:
    """Return the format in which a list is written; `auto`: by the name's ending, Moses' format without any.

    >>> [format_to_write(*given).name for given in (("list.jsonl.gz",), ("list",), ("list", "cdec"))]
    ['jsonl', 'moses', 'joshua']
    """
    if name != AUTO:
        return format_named(name)
    ending = Path(str(path).removesuffix(".gz")).suffix
    return next((format for format in formats() if ending in format.endings), format_named("moses"))
