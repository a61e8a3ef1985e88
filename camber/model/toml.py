"""A writer for the part of TOML that a model needs; the standard library only reads it.

Tables of strings, integers, floats, booleans and lists of these. `None` is left out (TOML has no such value), so a
setting whose value is None comes back as its default.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
_SPECIAL = re.compile(r'["\\\x00-\x1f\x7f\u0085\u2028\u2029]')


def write_toml(table: Mapping[str, Any]) -> str:
    """Return `table` as TOML text: plain values first, then sub-tables, in the given order.

    >>> print(write_toml({"format": 1, "files": {"lm/a.npy": {"bytes": 7}}}), end="")
    format = 1
    <BLANKLINE>
    [files."lm/a.npy"]
    bytes = 7
    """
    lines: list[str] = []
    _write_table(table, (), lines)
    return "\n".join(lines).lstrip("\n") + "\n"


def _write_table(table: Mapping[str, Any], path: tuple[str, ...], lines: list[str]) -> None:
    plain = {name: value for name, value in table.items() if not isinstance(value, Mapping) and value is not None}
    tables = {name: value for name, value in table.items() if isinstance(value, Mapping)}
    if path and (plain or not tables):  # an empty table still is one
        lines += ["", f"[{'.'.join(map(_key, path))}]"]
    lines += [f"{_key(name)} = {_value(value)}" for name, value in plain.items()]
    for name, value in tables.items():
        _write_table(value, (*path, name), lines)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _string(name)


def _string(text: str) -> str:
    return '"' + _SPECIAL.sub(lambda match: _ESCAPES.get(match[0]) or f"\\u{ord(match[0]):04x}", text) + '"'


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        if math.isnan(value):
            raise ValueError("NaN cannot be recorded in a model")
        return repr(float(value))  # repr gives back the same number; "inf" and "1e-05" are legal TOML
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, PathLike):
        return _string(fspath(value))
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    if hasattr(value, "item"):  # a NumPy scalar
        return _value(value.item())
    raise TypeError(f"{type(value).__name__} cannot be recorded in a model")
