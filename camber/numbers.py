"""Numbers that files spell, as errors that name file and line where they are none.

Python's `int` refuses more than 4,300 digits with an error of its own, takes digits of any script, and knows no bounds;
what goes into an array must have some.
"""

from __future__ import annotations

import math
from pathlib import Path

from camber.errors import InputError

#: The largest whole number that an array holds.
LARGEST = 2**63 - 1
_DIGITS = len(str(LARGEST))


def shown(text: str, most: int = 60) -> str:
    """Return text as messages show it: quoted, and not all of it where it is long.

    >>> shown("7x"), shown("1" * 5000, most=5)
    ("'7x'", "'11111…' (5,000 characters)")
    """
    return repr(text) if len(text) <= most else f"{text[:most] + '…'!r} ({len(text):,} characters)"


def is_whole(text: str) -> bool:
    """Say whether a text is a whole number from 0 on that an array can hold: ASCII digits and nothing else.

    >>> is_whole("07"), is_whole("-7"), is_whole("٣"), is_whole("9" * 5000)
    (True, False, False, False)
    """
    if not (text.isascii() and text.isdecimal()):
        return False
    return len(text) < _DIGITS or (len(text) <= 2 * _DIGITS and int(text) <= LARGEST)


def whole_number(
    text: str, what: str, path: str | Path, line: int | None = None, *, most: int = LARGEST, remedy: str = ""
) -> int:
    """Return a whole number from 0 to `most`, or raise an error that names what it should have been."""
    text = text.strip()
    if not (text.isascii() and text.isdecimal()):
        raise InputError(f"{what} {shown(text)} is not a whole number", path, line, remedy=remedy)
    if not is_whole(text) or int(text) > most:
        raise InputError(f"{what} {shown(text)} is too large; the most is {most:,}", path, line, remedy=remedy)
    return int(text)


def number(text: str, what: str, path: str | Path, line: int | None = None, remedy: str = "") -> float:
    """Return a finite number, or raise an error that names what it should have been."""
    try:
        value = float(text)
    except ValueError:
        raise InputError(f"{what} {shown(text.strip())} is not a number", path, line, remedy=remedy) from None
    if not math.isfinite(value):
        raise InputError(f"{what} is {value}; expected a finite number", path, line)
    return value
