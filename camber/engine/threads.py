"""Threads of this machine. Kernels release the GIL, which is why threads are enough here."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

from camber.engine.engine import Base, Engine, Part, Piece, Result, Shared
from camber.errors import SettingsError

#: pieces that are under way, for each thread: enough to keep all busy, few enough to bound memory
AHEAD = 2


def default_threads() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True)
class Threads:
    """Run tasks on so many threads (0: one per core).

    >>> list(Threads(2).map(pow, 2, [1, 2, 3]))
    [2, 4, 8]
    """

    count: int = 0

    def __post_init__(self) -> None:
        if self.count < 0:
            raise SettingsError(f"{self.count} threads; expected 0 (one per core) or more")

    def map(self, task: Callable[[Shared, Piece], Result], shared: Shared, pieces: Iterable[Piece]) -> Iterator[Result]:
        """Yield ``task(shared, piece)`` for every piece, in their order."""
        threads = self.count or default_threads()
        if threads == 1:
            for piece in pieces:
                yield task(shared, piece)
            return
        with ThreadPoolExecutor(threads) as pool:
            waiting: deque[Future[Result]] = deque()
            try:
                for piece in pieces:
                    waiting.append(pool.submit(task, shared, piece))
                    if len(waiting) >= AHEAD * threads:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                for future in waiting:
                    future.cancel()

    @property
    def parts(self) -> int:
        """One: threads share their memory, so results are merged where they come."""
        return 1

    def exchange(
        self,
        split: Callable[[Shared, Piece], Sequence[Part]],
        shared: Shared,
        pieces: Iterable[Piece],
        merge: Callable[[Base, Iterable[Part]], Result],
        bases: Sequence[Base],
    ) -> Iterator[Result]:
        """Yield each base merged with its parts of all pieces; those of a single one are merged as they come."""
        found = self.map(split, shared, pieces)
        if len(bases) == 1:
            yield merge(bases[0], (part for (part,) in found))
            return
        rows = list(found)
        yield from self.map(_merged, merge, ((base, [row[k] for row in rows]) for k, base in enumerate(bases)))


def _merged(merge: Callable[[Base, Iterable[Part]], Result], both: tuple[Base, list[Part]]) -> Result:
    return merge(*both)


#: all cores of this machine
LOCAL = Threads()


def for_python(engine: Engine) -> Engine:
    """Return where tasks run best that hold the GIL: not on several threads of one process."""
    return Threads(1) if isinstance(engine, Threads) else engine


class PerThread(threading.local):
    """Attributes of which every thread has its own. A copy in another process begins without any."""

    def __reduce__(self) -> tuple[type[PerThread], tuple[()]]:
        return PerThread, ()


class Lock:
    """A lock among the threads of a process. A copy in another process is open."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[type[Lock], tuple[()]]:
        return Lock, ()


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
