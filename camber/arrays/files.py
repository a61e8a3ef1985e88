"""Arrays on disk: one ``.npy`` file each, never pickled, opened memory-mapped; beside them a few facts as JSON."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from camber.arrays.types import AnyArray
from camber.errors import ModelError

#: array → its type and its number of dimensions
Shapes = Mapping[str, tuple[npt.DTypeLike, int]]


def save_arrays(folder: Path, arrays: Mapping[str, AnyArray], shapes: Shapes | None = None) -> None:
    """Write every array as ``<name>.npy``, in the types that `shapes` gives, if it does."""
    for name, array in arrays.items():
        kind = shapes[name][0] if shapes else array.dtype
        np.save(folder / f"{name}.npy", np.ascontiguousarray(array, kind), allow_pickle=False)


class GrowingArray:
    """An array that is written piece by piece; the file is what :func:`save_arrays` writes of the whole.

    Until it is closed it has no header, so that nobody takes a part for the whole.
    """

    def __init__(self, path: Path, kind: npt.DTypeLike, width: tuple[int, ...] = ()) -> None:
        self.kind, self.width, self.count = np.dtype(kind), width, 0
        self._stream = open(path, "wb")  # noqa: SIM115 - it is closed by those who append
        self._stream.write(bytes(len(self._header())))

    def append(self, rows: AnyArray) -> None:
        """Write rows behind those that are there."""
        if rows.shape[1:] != self.width:
            raise ValueError(f"rows of shape {rows.shape[1:]}, expected {self.width}")
        np.ascontiguousarray(rows, self.kind).tofile(self._stream)
        self.count += len(rows)

    def close(self) -> None:
        """Write the header: the array is whole."""
        self._stream.seek(0)
        self._stream.write(self._header())
        self._stream.close()

    def abandon(self) -> None:
        """Close the file as it is; what was closed stays whole."""
        self._stream.close()

    def _header(self) -> bytes:
        """Return the header of a file with so many rows: NumPy makes it as long for any other number."""
        header = io.BytesIO()
        facts = {"descr": np.lib.format.dtype_to_descr(self.kind), "fortran_order": False}
        np.lib.format.write_array_header_1_0(header, {**facts, "shape": (self.count, *self.width)})
        return header.getvalue()


def open_arrays(folder: Path, shapes: Shapes, remedy: str = "train the model again") -> dict[str, Any]:
    """Open what :func:`save_arrays` wrote; a type or number of dimensions that is not as expected is an error."""
    return {name: open_array(folder / f"{name}.npy", *shape, remedy) for name, shape in shapes.items()}


def open_array(path: Path, kind: npt.DTypeLike, dimensions: int, remedy: str = "train the model again") -> AnyArray:
    """Open an array, memory-mapped; writing to it changes this process's copy only.

    Kernels see a writable array, which keeps them at one signature.
    """
    try:
        empty = path.stat().st_size <= 128  # an array without elements cannot be mapped
        array = np.load(path, mmap_mode=None if empty else "c", allow_pickle=False)
    except Exception as error:  # a damaged header makes NumPy raise anything from SyntaxError to MemoryError
        raise ModelError(f"{path}: cannot be opened ({error}); {remedy}") from None
    if array.dtype != kind or array.ndim != dimensions:
        raise ModelError(
            f"{path}: {array.ndim} dimensions of {array.dtype}, expected {dimensions} of {np.dtype(kind)}; {remedy}"
        )
    if not array.flags.c_contiguous:  # kernels would be compiled anew for it
        raise ModelError(f"{path}: stored by columns, expected by rows; {remedy}")
    return array.view(np.ndarray)


def save_facts(path: Path, version: int, facts: Mapping[str, Any]) -> None:
    """Write a format's version and a few facts."""
    path.write_text(json.dumps({"format": version, **facts}) + "\n", encoding="utf-8")


def read_facts(path: Path, what: str, version: int, kinds: Mapping[str, Callable[[Any], Any]]) -> dict[str, Any]:
    """Read what :func:`save_facts` wrote: the facts of these kinds, if they belong to `what` of this version.

    `what` is for the message, with its article: "an aligner".
    """
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        actual, values = facts["format"], {name: kind(facts[name]) for name, kind in kinds.items()}
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise ModelError(f"{path.parent}: not {what} ({error}); train the model again") from None
    if actual != version:
        noun = what.split(" ", 1)[1]
        raise ModelError(f"{path.parent}: {noun} of format {actual!r}, expected {version}; train the model again")
    return values
