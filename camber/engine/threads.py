"""Engines: where maps over batches of sentences run.

A stage hands over a function and a list of batches and gets the results in the same order, so the outcome does not
depend on how many threads there are. Kernels release the GIL, which is why threads are enough on one machine.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def default_threads() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_order(function: Callable[[Item], Result], batches: Iterable[Item], threads: int = 0) -> Iterator[Result]:
    """Yield ``function(batch)`` for every batch, in order, on `threads` threads (0: one per core).

    >>> list(in_order(lambda x: x * x, [1, 2, 3], threads=2))
    [1, 4, 9]
    """
    threads = threads or default_threads()
    if threads == 1:
        yield from map(function, batches)
        return
    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(function, batches)


def split_evenly(total: int, pieces: int) -> list[range]:
    """Cut ``range(total)`` into at most `pieces` contiguous, non-empty ranges of nearly equal length.

    >>> split_evenly(7, 3)
    [range(0, 3), range(3, 5), range(5, 7)]
    """
    pieces = max(1, min(pieces, total))
    size, extra = divmod(total, pieces)
    cuts = [0]
    for piece in range(pieces):
        cuts.append(cuts[-1] + size + (piece < extra))
    return [range(a, b) for a, b in pairwise(cuts) if b > a]
