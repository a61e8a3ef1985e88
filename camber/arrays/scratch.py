"""How much memory a computation may take, and where it puts what is more: files that live as long as it does.

    with Scratch(memory=2_000_000_000, beside="my-model.work") as scratch:
        table = scratch.empty((10**9, 7), np.int32)          # too large: an array that is mapped from a file

Without a limit everything stays in memory. Results never depend on the limit. The files are in a folder of their own,
which is removed at the end; one that a killed process left is removed by the next that works at the same place.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import tempfile
from contextlib import suppress
from itertools import count
from math import prod
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt

from camber.arrays.types import AnyArray
from camber.errors import CamberError, SettingsError
from camber.lock import Lock

#: names of such folders, and of the file in them that its process holds
PREFIX, LOCK = ".camber-scratch-", "lock"
#: bytes of zeros that are written at a time
_BLOCK = 1 << 20
#: where nobody knows how much memory is free
_UNKNOWN = 4 << 30
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)\s*([KMGT]?)i?B?", re.IGNORECASE)


def memory_size(text: str) -> int:
    """Return the bytes of a size such as ``2G``, ``500M`` or ``1.5 GB``.

    >>> memory_size("2G"), memory_size("0.5k")
    (2147483648, 512)
    """
    match = _SIZE.fullmatch(text.strip())
    size = int(float(match[1]) * _UNITS[match[2].upper()]) if match else 0
    if size < 1:
        raise SettingsError(f"{text!r} is no amount of memory; expected one such as 2G or 500M")
    return size


def memory_of(given: int | str | None) -> int:
    """Return bytes of memory: a number as it is, a size as people write it, or half of what is free now."""
    if given is None:
        return half_of_what_is_free()
    return memory_size(given) if isinstance(given, str) else given


def half_of_what_is_free() -> int:
    """Return how much memory a computation may take where nobody says: half of what is free now."""
    return max(1, min(_free(), _left_to_group()) // 2)


def _free() -> int:
    with suppress(OSError, AttributeError, ValueError):
        if match := re.search(r"^MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text("ascii"), re.MULTILINE):
            return int(match[1]) << 10
    with suppress(OSError, AttributeError, ValueError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    return _UNKNOWN


def _left_to_group() -> int:
    """Return what a container may still take: a limit that the whole machine knows nothing of."""
    with suppress(OSError, ValueError):
        folder = Path("/sys/fs/cgroup")
        most, used = ((folder / name).read_text("ascii").strip() for name in ("memory.max", "memory.current"))
        return max(0, int(most) - int(used))  # "max": there is none
    return 1 << 62


class Scratch:
    """So much memory, and a folder for the rest.

    `memory` is in bytes, None for no limit; the folder is made when it is needed, in `beside` (by default where the
    system has temporary files).
    """

    def __init__(self, memory: int | None = None, beside: str | Path | None = None) -> None:
        self.memory = memory
        self._beside = beside
        self._folder: Path | None = None
        self._lock: Lock | None = None
        self._numbers = count()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        folder, self._folder = self._folder, None
        lock, self._lock = self._lock, None
        if lock is not None:
            lock.__exit__(kind, error, trace)
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)

    def share(self, parts: int) -> int:
        """Return how many bytes one of several things may take that are in memory at a time."""
        return 1 << 62 if self.memory is None else max(1, self.memory // parts)

    def path(self, name: str) -> Path:
        """Return a new place for a file."""
        if self._folder is None:
            self._folder = self._made()
        return self._folder / f"{next(self._numbers)}.{name}"

    def empty(self, shape: tuple[int, ...], kind: npt.DTypeLike, parts: int = 8) -> AnyArray:
        """Return an array to be filled: in memory, or, if it is more than that part of it, mapped from a file.

        Numbers in it are 0 only if it is mapped.
        """
        size = prod(shape) * np.dtype(kind).itemsize
        if size <= self.share(parts):
            return np.empty(shape, kind)
        path = self.path("array")
        _reserve(path, size)
        mapped: AnyArray = np.memmap(path, kind, "r+", shape=shape).view(np.ndarray)
        return mapped

    def zeros(self, shape: tuple[int, ...], kind: npt.DTypeLike, parts: int = 8) -> AnyArray:
        """Return an array of zeros, as :meth:`empty` does."""
        size = prod(shape) * np.dtype(kind).itemsize
        return np.zeros(shape, kind) if size <= self.share(parts) else self.empty(shape, kind, parts)

    def _made(self) -> Path:
        """Make the folder, and remove those of dead processes beside it."""
        beside = Path(tempfile.gettempdir() if self._beside is None else self._beside)
        for leftover in beside.glob(f"{PREFIX}*/{LOCK}"):
            with suppress(CamberError, OSError), Lock(leftover, "leftover"):
                shutil.rmtree(leftover.parent, ignore_errors=True)
        try:
            folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=beside))
            self._lock = Lock(folder / LOCK, f"{folder}").__enter__()
        except OSError as error:
            raise CamberError(
                f"{beside}: no room for what does not fit into memory ({error.strerror}); make some"
            ) from None
        return folder


def _reserve(path: Path, size: int) -> None:
    """Make a file of zeros that has its room on the disk: where a mapped page finds none, the process is killed."""
    with open(path, "wb") as stream:
        if hasattr(os, "posix_fallocate"):
            try:
                os.posix_fallocate(stream.fileno(), 0, size)
                return
            except OSError as error:
                if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):  # what a file system says that cannot do it
                    raise
        for start in range(0, size, _BLOCK):
            stream.write(bytes(min(_BLOCK, size - start)))


#: everything stays in memory
UNLIMITED = Scratch()
