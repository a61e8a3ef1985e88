"""Arrays on disk: one ``.npy`` file each, never pickled, opened memory-mapped."""

from __future__ import annotations

from collections.abc import Mapping
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
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: cannot be opened ({error}); {remedy}") from None
    if array.dtype != kind or array.ndim != dimensions:
        raise ModelError(
            f"{path}: {array.ndim} dimensions of {array.dtype}, expected {dimensions} of {np.dtype(kind)}; {remedy}"
        )
    return array.view(np.ndarray)
