"""What the writers of n-best lists share: numbers that come back as they were, rows as lists."""

from __future__ import annotations

from collections.abc import Iterator

from camber.arrays.types import F8

#: Rows that become Python numbers at a time.
_BLOCK = 1000


def shortest(value: float) -> str:
    """Write a number so that it comes back exactly, whole ones without a point.

    >>> shortest(-9.0), shortest(0.1)
    ('-9', '0.1')
    """
    text = repr(value)
    return text[:-2] if text.endswith(".0") else text


def listed(table: F8) -> Iterator[list[float]]:
    """Yield the rows of a matrix as lists, without holding all of them.

    >>> import numpy as np
    >>> list(listed(np.array([[1.0, 2.0], [3.0, 4.0]])))
    [[1.0, 2.0], [3.0, 4.0]]
    """
    for first in range(0, len(table), _BLOCK):
        yield from table[first : first + _BLOCK].tolist()
