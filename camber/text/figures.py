"""Numbers as another language writes them: decimal comma or point, what stands between thousands, space before %."""

from __future__ import annotations

import re

from camber.text.tokenise import base_language

_NARROW, _FIXED = "\u202f", "\u00a0"
#: languages that write 1.234,5 and 1 234,5; others write 1,234.5
_POINTS = "de nl it es pt tr id el da sl hr sr ro ca gl is vi"
_SPACES = "fr fi sv no nb nn cs sk pl ru uk be bg hu lv lt et"
#: languages with a space between a number and %
_SPACED_PERCENT = "fr de es fi sv no nb nn da cs sk ru uk be bg lt lv et sl hr ro"
_spaces = f"[{_NARROW}{_FIXED} ]"


def marks_of(language: str) -> tuple[str, str]:
    """Return a language's decimal sign, and what it puts between thousands."""
    code = base_language(language)
    if code in _SPACES.split():
        return ",", _NARROW if code == "fr" else _FIXED
    return (",", ".") if code in _POINTS.split() else (".", ",")


def percent_gap(language: str) -> str:
    """Return what stands between a number and a percent sign."""
    return _FIXED if base_language(language) in _SPACED_PERCENT.split() else ""


def as_written_in(figure: str, source: str, target: str) -> str:
    """Return a number of one language as another one writes it; what is not surely such a number stays.

    >>> as_written_in("1,234.5", "en", "de"), as_written_in("3,14", "fr", "en"), as_written_in("10:30", "en", "de")
    ('1.234,5', '3.14', '10:30')
    """
    (decimal, thousands), (point, between) = marks_of(source), marks_of(target)
    if (decimal, thousands) == (point, between):
        return figure
    group = _spaces if thousands in (_NARROW, _FIXED) else re.escape(thousands)
    found = re.fullmatch(rf"([+\u2212-]?(?:\d{{1,3}}(?:{group}\d{{3}})+|\d+))(?:{re.escape(decimal)}(\d+))?", figure)
    if found is None:
        return figure
    whole, part = found.groups()
    pieces = re.split(group, whole)
    return between.join(pieces) + ("" if part is None else point + part)
