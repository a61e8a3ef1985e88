"""What kernels take for granted about arrays that come from a disk, checked where they are opened.

Kernels do not check bounds, and a checksum tells of accidents only: whoever changes a file can correct that, too. So
whatever a kernel indexes by is checked here, for its range and its order, and the first thing that is wrong is told.

    checks = Checks(folder)
    checks.offsets("source_offsets", store.source_offsets, len(store.source_ids))
    checks.below("source_ids", store.source_ids, len(store.source_vocabulary))
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from camber.arrays.types import AnyArray
from camber.errors import ModelError

#: numbers that are looked at together, so that large arrays need no copy of their size
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Checks:
    """Checks of the arrays of one folder; each raises :class:`ModelError` with the file and the remedy."""

    folder: Path
    remedy: str = "copy or train the model again"

    def fail(self, name: str, problem: str) -> ModelError:
        """Return the error for an array."""
        return ModelError(f"{self.folder / name}.npy: {problem}; {self.remedy}")

    def that(self, holds: bool | np.bool_, name: str, problem: str) -> None:
        """Refuse an array for a reason of its own."""
        if not holds:
            raise self.fail(name, problem)

    def shape(self, name: str, array: AnyArray, *shape: int) -> None:
        """Refuse an array of another shape."""
        self.that(array.shape == shape, name, f"shape {array.shape}, expected {shape}: the files do not fit together")

    def offsets(self, name: str, offsets: npt.NDArray[np.integer], pieces: int, end: int) -> None:
        """Refuse offsets of another number of pieces, or ones that do not rise from 0 to `end`.

        >>> Checks(Path("model")).offsets("rows", np.array([0, 2, 1]), 2, 1)
        Traceback (most recent call last):
        camber.errors.ModelError: model/rows.npy: offsets that fall; copy or train the model again
        """
        self.shape(name, offsets, max(pieces, 0) + 1)
        for first in range(0, pieces, _BLOCK):
            block = offsets[first : first + _BLOCK + 1]
            self.that((block[1:] >= block[:-1]).all(), name, "offsets that fall")
        found = f"offsets from {offsets[0]} to {offsets[-1]}, expected 0 to {end}"
        self.that(offsets[0] == 0 and offsets[-1] == end, name, found)

    def below(self, name: str, numbers: npt.NDArray[np.integer], bound: int, least: int = 0) -> None:
        """Refuse integers outside `least` … `bound` - 1.

        >>> Checks(Path("model")).below("ids", np.array([0, 3]), 3)
        Traceback (most recent call last):
        camber.errors.ModelError: model/ids.npy: numbers from 0 to 3, expected 0 to 2; copy or train the model again
        """
        if numbers.size == 0:
            return
        if least == 0 and numbers.dtype.kind == "i":  # one look is enough: as bits, what is negative is very large
            kind = np.dtype(numbers.dtype.str.replace("i", "u"))
            if int(numbers.view(kind).max()) < min(bound, 1 << (8 * numbers.itemsize - 1)):
                return
        low, high = int(numbers.min()), int(numbers.max())
        self.that(least <= low and high < bound, name, f"numbers from {low} to {high}, expected {least} to {bound - 1}")

    def finite(self, name: str, values: npt.NDArray[np.floating], least: float = -math.inf) -> None:
        """Refuse infinities, values that are no numbers, and values below `least`."""
        if values.size == 0:
            return
        if least == 0.0 and values.dtype.kind == "f":  # as bits, infinity and what is no number or negative are larger
            kind = np.dtype(values.dtype.str.replace("f", "u"))
            if values.view(kind).max() < np.array(np.inf, values.dtype).view(kind):
                return
        low, high = float(values.min()), float(values.max())  # NaN if there is one
        bound = "" if least == -math.inf else f" and at least {least:g}"
        holds = math.isfinite(low) and math.isfinite(high) and low >= least
        self.that(holds, name, f"values from {low:g} to {high:g}, expected finite ones{bound}")

    def names(self, file: str, names: Sequence[Any]) -> None:
        """Refuse names that are no texts, or that are there twice; `file` is where they stand."""
        if not all(isinstance(name, str) for name in names) or len(set(names)) != len(names):
            raise ModelError(f"{self.folder / file}: not a list of different names; {self.remedy}")

    def rising(self, name: str, numbers: npt.NDArray[np.integer]) -> None:
        """Refuse numbers that do not rise from each to the next."""
        self.that((numbers[1:] > numbers[:-1]).all(), name, "numbers that do not rise")
