"""Links that are known beforehand: between tokens that stand for the same protected text on both sides."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from camber.align.pharaoh import Alignment
from camber.arrays.ragged import offsets_from
from camber.arrays.types import I8


def sure_links(links: Sequence[Sequence[tuple[int, int]]]) -> I8:
    """Return the links of many pairs as rows (pair, source, target), int64[links, 3]."""
    rows = [(pair, *link) for pair, those in enumerate(links) for link in those]
    return np.array(rows, np.int64).reshape(-1, 3)


def with_sure_links(alignment: Alignment, sure: I8) -> Alignment:
    """Return an alignment in which the words of sure links have no other ones; `sure` has rows (pair, source, target).

    >>> found = Alignment.from_pairs([[(0, 0), (0, 1), (1, 1)]])
    >>> with_sure_links(found, np.array([[0, 1, 0]])).links.tolist()
    [[0, 1], [1, 0]]
    """
    if not len(sure):
        return alignment
    owners, links = alignment.owners, alignment.links.astype(np.int64)
    width = 1 + max(int(links.max(initial=0)), int(sure[:, 1:].max()))
    taken = np.zeros(len(links), bool)
    for side in (0, 1):
        taken |= np.isin(owners * width + links[:, side], sure[:, 0] * width + sure[:, 1 + side])
    rows = np.concatenate([np.column_stack((owners, links))[~taken], sure])
    rows = rows[np.lexsort(rows.T[::-1])]
    counts = np.bincount(rows[:, 0], minlength=len(alignment))
    return Alignment(rows[:, 1:].astype(np.int32), offsets_from(counts))
