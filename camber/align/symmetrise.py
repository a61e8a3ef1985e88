"""Make one alignment out of two directional ones (Och & Ney 2003; Koehn, Och & Marcu 2003).

`grow-diag` starts from the links that both directions have and adds neighbouring links of either, as long as one of
their words has no link yet; `final` then adds links of either direction to words that still have none: one of the two
words (`grow-diag-final`) or both (`grow-diag-final-and`).
"""

from __future__ import annotations

import numpy as np

from camber.align.pharaoh import Alignment
from camber.arrays.types import I8
from camber.errors import SettingsError
from camber.kernel import kernel

#: The methods, in the order of their codes in the kernel.
METHODS = ("intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and")

# (source, target) steps to the neighbours, sides before diagonals
_NEIGHBOURS = np.array([(0, -1), (-1, 0), (0, 1), (1, 0), (-1, -1), (1, -1), (-1, 1), (1, 1)], np.int64)


def symmetrise(forward: Alignment, backward: Alignment, method: str = "grow-diag-final-and") -> Alignment:
    """Combine two alignments of the same pairs, both as (source, target) links.

    >>> one, two = Alignment.from_pairs([[(0, 0), (1, 1)]]), Alignment.from_pairs([[(0, 0), (1, 0)]])
    >>> symmetrise(one, two, "intersection").links.tolist(), symmetrise(one, two, "grow-diag").links.tolist()
    ([[0, 0]], [[0, 0], [1, 0], [1, 1]])
    """
    if method not in METHODS:
        raise SettingsError(f"unknown symmetrisation {method!r}; expected one of {', '.join(METHODS)}")
    if len(forward) != len(backward):
        raise ValueError(f"{len(forward)} forward but {len(backward)} backward alignments")
    most = np.maximum(_extents(forward), _extents(backward))  # [pairs, 2]
    grid = np.zeros(int((most[:, 0] * most[:, 1]).max(initial=0)), np.uint8)
    covered = np.zeros((2, int(most.max(initial=0))), np.uint8)
    links = np.empty((len(forward.links) + len(backward.links), 2), np.int32)
    offsets = np.zeros(len(forward) + 1, np.int64)
    total = _symmetrise(
        forward.links,
        forward.offsets,
        backward.links,
        backward.offsets,
        most,
        METHODS.index(method),
        _NEIGHBOURS,
        grid,
        covered,
        links,
        offsets,
    )
    return Alignment(links[:total].copy(), offsets)


def _extents(alignment: Alignment) -> I8:
    """Return int64[pairs, 2]: one more than the largest source and target position of every pair."""
    extents = np.zeros((len(alignment), 2), np.int64)
    some = np.flatnonzero(np.diff(alignment.offsets))
    if len(some):
        extents[some] = np.maximum.reduceat(alignment.links, alignment.offsets[some], axis=0) + 1
    return extents


@kernel
def _symmetrise(
    forward, forward_offsets, backward, backward_offsets, most, method, neighbours, grid, covered, links, offsets
):
    """Fill `links` and `offsets`, return how many links there are. A grid cell is 1 forward + 2 backward + 4 chosen."""
    total = 0
    for s in range(len(offsets) - 1):
        sources, targets = most[s, 0], most[s, 1]
        for cell in range(sources * targets):
            grid[cell] = 0
        covered[0, :sources] = 0
        covered[1, :targets] = 0
        for k in range(forward_offsets[s], forward_offsets[s + 1]):
            grid[forward[k, 0] * targets + forward[k, 1]] |= 1
        for k in range(backward_offsets[s], backward_offsets[s + 1]):
            grid[backward[k, 0] * targets + backward[k, 1]] |= 2
        for i in range(sources):
            for j in range(targets):
                directions = grid[i * targets + j]
                if directions == 3 or (directions and method == 1):
                    grid[i * targets + j] |= 4
                    covered[0, i] = 1
                    covered[1, j] = 1
        grown = method >= 2
        while grown:
            grown = False
            for j in range(targets):
                for i in range(sources):
                    if grid[i * targets + j] < 4:
                        continue
                    for n in range(8):
                        x, y = i + neighbours[n, 0], j + neighbours[n, 1]
                        if x < 0 or y < 0 or x >= sources or y >= targets or (covered[0, x] and covered[1, y]):
                            continue
                        if grid[x * targets + y] in (1, 2):
                            grid[x * targets + y] |= 4
                            covered[0, x] = 1
                            covered[1, y] = 1
                            grown = True
        for side in range(1, 3 if method >= 3 else 1):
            for j in range(targets):
                for i in range(sources):
                    directions = grid[i * targets + j]
                    if directions != side:
                        continue
                    free = 2 - covered[0, i] - covered[1, j]
                    if free == 2 or (free == 1 and method == 3):
                        grid[i * targets + j] |= 4
                        covered[0, i] = 1
                        covered[1, j] = 1
        for i in range(sources):
            for j in range(targets):
                if grid[i * targets + j] >= 4:
                    links[total, 0] = i
                    links[total, 1] = j
                    total += 1
        offsets[s + 1] = total
    return total
