"""What the writers of n-best lists share: numbers that come back as they were, rows as lists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from camber.nbest.nbest import NBest


def shortest(value: float) -> str:
    """Write a number so that it comes back exactly, whole ones without a point.

    >>> shortest(-9.0), shortest(0.1)
    ('-9', '0.1')
    """
    text = repr(value)
    return text[:-2] if text.endswith(".0") else text


def listed_features(nbest: NBest) -> Iterator[list[float]]:
    """Yield the features of every hypothesis as a list, without holding all of them.

    >>> from camber.nbest import NBest
    >>> list(listed_features(NBest.of_hypotheses(("x", "y"), [0, 2], ["a", "b"], [[1.0, 2.0], [3.0, 4.0]])))
    [[1.0, 2.0], [3.0, 4.0]]
    """
    for block in nbest.hypothesis_blocks():
        yield from block.tolist()
