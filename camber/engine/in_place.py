"""Pickles for other machines that see the same folder: arrays that are mapped from its files go by name, not by value.

A model's arrays are memory-mapped. To send them would take as long as to read them all, and every process would keep a
copy of its own. So what comes from a file below a folder that all machines have under one name is opened there again.
"""

from __future__ import annotations

import hashlib
import io
import mmap
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from camber.errors import CamberError

AnyArray = npt.NDArray[Any]
#: smaller arrays travel by value
LEAST = 1 << 16
#: bytes at either end that tell whether a file is the same
_ENDS = 4096


def dumped(value: Any, folder: Path | None) -> bytes:
    """Pickle a value; arrays that are mapped from files below `folder` are opened where it is read."""
    import cloudpickle

    class Pickler(cloudpickle.Pickler):
        def reducer_override(self, item: Any) -> Any:
            if folder is not None and type(item) is np.ndarray and item.nbytes >= LEAST:
                place = mapped_from(item, folder)
                if place is not None:
                    return _opened, place
            return super().reducer_override(item)

    out = io.BytesIO()
    Pickler(out, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
    return out.getvalue()


def mapped_from(array: AnyArray, folder: Path) -> tuple[str, int, Any, tuple[int, ...], str] | None:
    """Return file, offset, type, shape and digest of an array that is mapped from a file below a folder."""
    base: Any = array
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
    if not isinstance(base, np.memmap) or base.filename is None or not array.flags.c_contiguous:
        return None
    while isinstance(base.base, np.memmap):
        base = base.base
    path = Path(str(base.filename)).resolve()
    offset = int(base.offset) + array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    if not path.is_relative_to(folder) or array.dtype.hasobject or not _is_there(path, offset, array):
        return None
    return str(path), offset, array.dtype.descr if array.dtype.names else array.dtype.str, array.shape, _digest(array)


def _is_there(path: Path, offset: int, array: AnyArray) -> bool:
    """Say whether the file still has what was mapped: it may have been replaced."""
    try:
        with open(path, "rb") as stream:
            return _digest_of_file(stream, offset, array.nbytes) == _digest(array)
    except OSError:
        return False


def _digest(array: AnyArray) -> str:
    data = array.reshape(-1).view(np.uint8)
    return hashlib.sha256(data[:_ENDS].tobytes() + data[-_ENDS:].tobytes()).hexdigest()[:16]


def _digest_of_file(stream: Any, offset: int, size: int) -> str:
    stream.seek(offset)
    first = stream.read(min(_ENDS, size))
    stream.seek(offset + max(0, size - _ENDS))
    return hashlib.sha256(first + stream.read(min(_ENDS, size))).hexdigest()[:16]


def _opened(path: str, offset: int, kind: Any, shape: tuple[int, ...], digest: str) -> AnyArray:
    """Open an array where it is read."""
    dtype = np.dtype(kind)
    size = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
    try:
        with open(path, "rb") as stream:
            if os.fstat(stream.fileno()).st_size < offset + size or _digest_of_file(stream, offset, size) != digest:
                raise CamberError(f"{path}: on {os.uname().nodename} it is not the file that it is where work began")
            start = offset - offset % mmap.ALLOCATIONGRANULARITY
            pages = mmap.mmap(stream.fileno(), offset - start + size, access=mmap.ACCESS_COPY, offset=start)
    except OSError as error:
        raise CamberError(
            f"{path}: cannot be opened on {os.uname().nodename} ({error.strerror}); every machine must see the folder "
            "under this name"
        ) from None
    return np.frombuffer(pages, dtype, count=-1 if not shape else int(np.prod(shape)), offset=offset - start).reshape(
        shape
    )
