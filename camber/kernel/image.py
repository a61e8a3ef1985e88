"""Machine code as it is kept on disk and put into memory, without a compiler or a linker.

An image is a piece of memory with a function that Python can call, all of whose parts have their places within it
already. What remains is to write addresses: of the image's own parts (`inside`), and of what Python, NumPy's side of
the compiler, and the library of mathematics have (`outside`). `elf` makes images of what the compiler makes.

    callable = placed(Image.of_bytes(data))
    callable(array, 3)

The function takes Python's arguments to pieces by itself, but believes their types: see `signature`.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.machinery
import importlib.util
import mmap
import os
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

#: symbols of this beginning are functions that the compiler's library has for compiled code
HELPER = "numba_"
_HEAD = struct.Struct("<6q")
_WIDTH = 8  # bytes of an address


class ImageError(Exception):
    """Code that cannot be made an image, or an image that cannot be placed here."""


def usable() -> bool:
    """Say whether images are for this system: they are of Linux on x86-64."""
    return (
        sys.platform == "linux"
        and os.uname().machine == "x86_64"
        and sys.implementation.name == "cpython"
        and struct.calcsize("P") == _WIDTH
    )


class Image(NamedTuple):
    """Machine code, where its function begins, and which addresses are still to be written into it."""

    content: bytes
    entry: int
    inside: npt.NDArray[np.int64]  # [n, 2]: where an address of a part is to stand, and where the part is
    outside: npt.NDArray[
        np.int64
    ]  # [n, 3]: where one of something else is to stand, its number in `names`, and what to add
    names: tuple[str, ...]

    def addresses(self) -> npt.NDArray[np.int64]:
        """Return where all that has a name is; ImageError if anything is not there."""
        return np.array([_address(name) for name in self.names], np.int64)

    def to_bytes(self) -> bytes:
        """Return the content of a file."""
        names = "\n".join(self.names).encode()
        head = _HEAD.pack(
            self.entry, len(self.content), len(self.inside), len(self.outside), len(names), len(self.names)
        )
        return b"".join((head, self.inside.tobytes(), self.outside.tobytes(), names, self.content))

    @classmethod
    def of_bytes(cls, data: bytes) -> Image:
        """Read the content of a file."""
        entry, size, inside, outside, letters, _ = _HEAD.unpack_from(data)
        at = _HEAD.size
        here = np.frombuffer(data, np.int64, inside * 2, at).reshape(-1, 2)
        at += here.nbytes
        there = np.frombuffer(data, np.int64, outside * 3, at).reshape(-1, 3)
        at += there.nbytes
        names = data[at : at + letters].decode()
        return cls(data[at + letters : at + letters + size], entry, here, there, tuple(names.split("\n")))


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_VARARGS, _KEYWORDS = 0x1, 0x2  # how Python calls a function: Include/methodobject.h


def placed(image: Image) -> Callable[..., Any]:
    """Put an image into memory, where it stays, and return its function."""
    size = len(image.content)
    system = _system()
    start = system.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    if start in (None, ctypes.c_void_p(-1).value):
        raise ImageError("no memory for machine code")
    ctypes.memmove(start, _with_addresses(image, start), size)
    if system.mprotect(start, size, mmap.PROT_READ | mmap.PROT_EXEC):
        system.munmap(start, size)
        raise ImageError("this system does not let machine code be loaded")
    definition = _MethodDef(b"kernel", start + image.entry, _VARARGS | _KEYWORDS, None)
    # A function looks at its description whenever garbage is collected, also when Python ends and modules are gone, so
    # that no variable may hold it: it is never given back.
    _keep_for_ever()(definition)
    made: Callable[..., Any] = _new_function()(ctypes.byref(definition), None, None)
    return made


def _with_addresses(image: Image, start: int) -> bytes:
    """Return the content of an image as it is when it stands at `start`."""
    content = np.frombuffer(image.content, np.uint8).copy()
    known = image.addresses()
    places = np.concatenate([image.inside[:, 0], image.outside[:, 0]])
    addresses = np.concatenate([image.inside[:, 1] + start, known[image.outside[:, 1]] + image.outside[:, 2]])
    content[places[:, None] + np.arange(_WIDTH)] = addresses.view(np.uint8).reshape(-1, _WIDTH)
    return content.tobytes()


@functools.cache
def _address(name: str) -> int:
    """Return where a function or an object is that machine code refers to."""
    if name.startswith(HELPER):
        try:
            return int(_helpers()[name.removeprefix(HELPER)])
        except KeyError:
            raise ImageError(f"the compiler's library has no {name}") from None
    try:
        return ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, name))
    except ValueError:
        raise ImageError(f"nothing is called {name}") from None


@functools.cache
def _helpers() -> dict[str, int]:
    """Return the addresses of what compiled code calls, of the compiler's library, without the compiler."""
    spec = importlib.util.find_spec("numba")
    for folder in (spec and spec.submodule_search_locations) or ():
        for ending in importlib.machinery.EXTENSION_SUFFIXES:
            path = Path(folder, "_helperlib" + ending)
            if path.is_file():
                loader = importlib.machinery.ExtensionFileLoader("numba._helperlib", str(path))
                described = importlib.util.spec_from_file_location("numba._helperlib", path, loader=loader)
                assert described is not None
                module = importlib.util.module_from_spec(described)
                loader.exec_module(module)
                helpers: dict[str, int] = module.c_helpers
                return helpers
    raise ImageError("the compiler's library is not there")


@functools.cache
def _system() -> ctypes.CDLL:
    system = ctypes.CDLL(None)
    address = ctypes.c_void_p
    system.mmap.restype = address
    system.mmap.argtypes = (address, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
    system.mprotect.argtypes = (address, ctypes.c_size_t, ctypes.c_int)
    system.munmap.argtypes = (address, ctypes.c_size_t)
    return system


@functools.cache
def _new_function() -> Any:
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype = ctypes.py_object
    new.argtypes = (ctypes.POINTER(_MethodDef), ctypes.c_void_p, ctypes.c_void_p)
    return new


@functools.cache
def _keep_for_ever() -> Any:
    keep = ctypes.pythonapi.Py_IncRef
    keep.restype = None
    keep.argtypes = (ctypes.py_object,)
    return keep
