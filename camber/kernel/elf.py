"""Object files of the compiler (ELF, x86-64) made images: their sections side by side, and what is to be filled in.

The compiler writes its code for memory of any size, so that all references are whole addresses (`R_X86_64_64`), and
what it refers to by name has a place of its own or belongs to somebody else. Anything else that an object file could
have is refused: then the kernel is kept as Numba keeps it.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np

from camber.kernel.image import Image, ImageError

_IDENTITY = b"\x7fELF\x02\x01\x01"
_HEADER = struct.Struct("<HHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QIIq")
_RELOCATABLE, _X86_64 = 1, 62  # kinds of files and processors
_CONTENT, _SYMBOLS, _RELOCATIONS = 1, 2, 4  # kinds of sections
_WRITABLE, _LOADED = 1, 2  # flags of sections
_UNDEFINED, _COMMON, _LARGE_COMMON = 0, 0xFFF2, 0xFF02  # sections of symbols that have none
_ADDRESS = 1  # R_X86_64_64
#: what is only for unwinding
_UNNEEDED = (b".eh_frame",)
#: Variables with these beginnings point to an object with what code needs of Python; code that needs nothing only asks
#: whether there is one.
_ENVIRONMENTS = (b"_ZN08NumbaEnv", b".numba.env")
_ANY_OBJECT = "_Py_NoneStruct"


class _Section(NamedTuple):
    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int


class _Symbol(NamedTuple):
    name: int
    info: int
    other: int
    section: int
    value: int
    size: int


def image_of(data: bytes, entry: str) -> Image:
    """Make an image of an object file, whose function for Python is called `entry`."""
    if not data.startswith(_IDENTITY):
        raise ImageError("no such object file")
    kind, machine, _, _, _, table, _, _, _, _, size, count, named = _HEADER.unpack_from(data, 16)
    if (kind, machine) != (_RELOCATABLE, _X86_64):
        raise ImageError(f"an object file of kind {kind} for processor {machine}")
    sections = [_Section(*_SECTION.unpack_from(data, table + number * size)) for number in range(count)]
    content = bytearray()
    places = {}  # of sections
    for number, section in enumerate(sections):
        name = _text(data, sections[named], section.name)
        if not section.flags & _LOADED or name in _UNNEEDED:
            continue
        if section.kind != _CONTENT or section.flags & _WRITABLE:
            raise ImageError(f"a section {name.decode()}")
        places[number] = _room(content, section.size, section.alignment)
        content[places[number] :] = data[section.offset : section.offset + section.size]
    targets, names, environments = _symbols(data, sections, places, content)
    begin = [place for name, place in targets.values() if name == entry.encode() and place >= 0]
    if len(begin) != 1:
        raise ImageError(f"no function {entry}")
    inside, outside = [], []
    numbers = {name: number for number, name in enumerate(names)}
    for section in sections:
        if section.kind != _RELOCATIONS or section.info not in places:
            continue
        for at in range(section.offset, section.offset + section.size, _RELOCATION.size):
            offset, what, symbol, added = _RELOCATION.unpack_from(data, at)
            if what != _ADDRESS:
                raise ImageError(f"a reference of kind {what}")
            name, place = targets[symbol]
            if place >= 0:
                inside.append((places[section.info] + offset, place + added))
            else:
                outside.append((places[section.info] + offset, numbers[name.decode()], added))
    outside += [(place, numbers[_ANY_OBJECT], 0) for place in environments]
    return Image(
        bytes(content),
        begin[0],
        np.array(inside, np.int64).reshape(-1, 2),
        np.array(outside, np.int64).reshape(-1, 3),
        tuple(names),
    )


def _symbols(
    data: bytes, sections: list[_Section], places: dict[int, int], content: bytearray
) -> tuple[dict[int, tuple[bytes, int]], list[str], list[int]]:
    """Return each symbol's name and place (-1: elsewhere), the names of what is elsewhere, and the environments.

    Variables without a section get room at the end of `content`.
    """
    targets: dict[int, tuple[bytes, int]] = {}
    outside, environments = {_ANY_OBJECT: None}, []
    for table in (section for section in sections if section.kind == _SYMBOLS):
        for number in range(1, table.size // _SYMBOL.size):
            symbol = _Symbol(*_SYMBOL.unpack_from(data, table.offset + number * _SYMBOL.size))
            name = _text(data, sections[table.link], symbol.name)
            if symbol.section in places:
                targets[number] = (name, places[symbol.section] + symbol.value)
            elif symbol.section == _UNDEFINED:
                targets[number] = (name, -1)
                outside[name.decode()] = None
            elif symbol.section in (_COMMON, _LARGE_COMMON):
                if not name.startswith(_ENVIRONMENTS):
                    raise ImageError(f"a variable {name.decode()}")
                targets[number] = (name, _room(content, symbol.size, symbol.value))
                environments.append(targets[number][1])
    return targets, list(outside), environments


def _room(content: bytearray, size: int, alignment: int) -> int:
    """Make `content` longer by `size` bytes that begin at a multiple of `alignment`; return where."""
    place = -(-len(content) // max(1, alignment)) * max(1, alignment)
    content.extend(bytes(place + size - len(content)))
    return place


def _text(data: bytes, strings: _Section, offset: int) -> bytes:
    start = strings.offset + offset
    return data[start : data.index(b"\0", start)]
