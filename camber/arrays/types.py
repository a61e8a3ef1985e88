"""The types of arrays, named once: as in NumPy's codes, the kind of an item and its number of bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

F8 = npt.NDArray[np.float64]
F4 = npt.NDArray[np.float32]
I8 = npt.NDArray[np.int64]
I4 = npt.NDArray[np.int32]
I2 = npt.NDArray[np.int16]
U1 = npt.NDArray[np.uint8]
Bools = npt.NDArray[np.bool_]
Records = npt.NDArray[np.void]  # structured: a table that is probed at random
AnyArray = npt.NDArray[Any]

#: an array inside a tuple that kernels take, of the type that the comment beside it says
Array = Any
