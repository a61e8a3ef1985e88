"""What every engine offers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

Shared = TypeVar("Shared")
Piece = TypeVar("Piece")
Result = TypeVar("Result")


class Engine(Protocol):
    """Where maps over pieces of work run."""

    def map(self, task: Callable[[Shared, Piece], Result], shared: Shared, pieces: Iterable[Piece]) -> Iterator[Result]:
        """Yield ``task(shared, piece)`` for every piece, in their order; an error of a task is raised in its place.

        `task` must be a function of a module, and neither it nor its result may depend on anything but its arguments.
        """
        ...
