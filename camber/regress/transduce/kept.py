"""What was made of sentences, kept while it has room: tuning translates the same sentences again and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

Made = TypeVar("Made")

#: bytes that are kept at most
ROOM = 1 << 30


class Kept(Generic[Made]):
    """Things by the words of a sentence; threads may make one twice, and overdraw the room by one each."""

    def __init__(self, size: Callable[[Made], int], room: int = ROOM) -> None:
        """Keep things of which `size` tells the bytes."""
        self._things: dict[tuple[str, ...], Made] = {}
        self._size, self._room = size, room

    def get(self, tokens: Sequence[str], make: Callable[[], Made]) -> Made:
        """Return what was made of a sentence, or make it."""
        key = tuple(tokens)
        thing = self._things.get(key)
        if thing is None:
            thing = make()
            size = self._size(thing)
            if size <= self._room:
                self._room -= size
                self._things[key] = thing
        return thing
