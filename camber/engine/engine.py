"""What every engine offers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

Shared = TypeVar("Shared")
Piece = TypeVar("Piece")
Result = TypeVar("Result")
Part = TypeVar("Part")
Base = TypeVar("Base")


class Engine(Protocol):
    """Where maps over pieces of work run.

    Tasks must be functions of a module, and neither they nor their results may depend on anything but their arguments.
    """

    def map(self, task: Callable[[Shared, Piece], Result], shared: Shared, pieces: Iterable[Piece]) -> Iterator[Result]:
        """Yield ``task(shared, piece)`` for every piece, in their order; an error of a task is raised in its place."""
        ...

    @property
    def parts(self) -> int:
        """In how many parts it is best to merge what pieces give; no result may depend on it."""
        ...

    def exchange(
        self,
        split: Callable[[Shared, Piece], Sequence[Part]],
        shared: Shared,
        pieces: Iterable[Piece],
        merge: Callable[[Base, Iterable[Part]], Result],
        bases: Sequence[Base],
    ) -> Iterator[Result]:
        """Split each piece into as many parts as there are bases, and yield what becomes of each base and its parts.

        ``merge(bases[k], parts)`` gets part k of ``split(shared, piece)`` of every piece, in the order of the pieces.
        Where pieces are computed by several processes, parts go from one to the other, and not through the caller.
        """
        ...
