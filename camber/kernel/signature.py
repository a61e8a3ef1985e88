"""The types of a kernel's arguments: machine code is for one combination of them, and would read others wrongly.

    types_of((np.zeros(3), 7))      # (('float64' as a dtype, 1 dimension, in C order, writable), 'int64')
    described(types)                # the same as a text, by which files are named

A type here is one of the compiler's: it tells arrays by what is in them, their dimensions and order, and whether they
may be written, and tuples by what is in them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

#: numbers, by class
_PLAIN: dict[type, str] = {bool: "bool", int: "int64", float: "float64", type(None): "none", np.bool_: "bool"} | {
    kind: np.dtype(kind).name
    for kind in (
        *(np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
        *(np.float32, np.float64),
    )
}
_C, _FORTRAN, _WRITABLE = 0x1, 0x2, 0x400
_SEEN = _C | _FORTRAN | _WRITABLE
#: what matters of an array's flags: C order goes before Fortran's (an array may have both)
_LAYOUT = {flags: flags & ~_FORTRAN if flags & _C else flags for flags in range(_SEEN + 1) if flags & _SEEN == flags}


class UnknownTypeError(TypeError):
    """An argument of a class that is not told here; the compiler may know it."""


def types_of(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the types of some arguments, as a key."""
    types: list[Any] = []
    for argument in arguments:
        kind = type(argument)
        if kind is ndarray:
            types.append((argument.dtype, argument.ndim, _LAYOUT[argument.flags.num & _SEEN]))
        elif kind in _PLAIN:
            types.append(_PLAIN[kind])
        elif issubclass(kind, tuple):
            types.append((kind, *types_of(argument)))
        elif kind is np.memmap:
            types.append((argument.dtype, argument.ndim, _LAYOUT[argument.flags.num & _SEEN]))
        else:
            raise UnknownTypeError(kind)
    return tuple(types)


def described(types: tuple[Any, ...]) -> str:
    """Return a text that is the same in every process, and differs where types do."""
    return " ".join(map(_described, types))


def _described(kind: Any) -> str:
    if isinstance(kind, str):
        return kind
    first, *rest = kind
    if isinstance(first, np.dtype):
        dimensions, flags = rest
        return f"{first!r}[{dimensions}, {flags}]"
    fields = ", ".join(getattr(first, "_fields", ()))
    return f"{first.__module__}.{first.__qualname__}<{fields}>({described(tuple(rest))})"
