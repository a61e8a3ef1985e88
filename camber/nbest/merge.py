"""Merge hypotheses of the same sentences: what a decoder came upon over several iterations, without repeats.

kept = first_of_each(owners, statistics, features)      # rows, by sentence and in the order of discovery
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from camber.arrays.distinct import number_rows
from camber.arrays.types import I8


def first_of_each(owners: I8, *columns: npt.NDArray[np.generic]) -> I8:
    """Return the hypotheses to keep: of equal ones, the first; by sentence, and in their order.

    owners int64[hypotheses] are the sentences, columns [hypotheses] or [hypotheses, any] what makes hypotheses equal.

    >>> first_of_each(np.array([1, 0, 1, 1]), np.array([7.0, 7.0, 8.0, 7.0])).tolist()
    [1, 0, 2]
    """
    table = np.column_stack([owners, *columns]).astype(np.float64)
    table += 0.0  # -0.0 becomes 0.0: the same value, other bits
    firsts, _ = number_rows(table)
    return firsts[np.argsort(owners[firsts], kind="stable")]
