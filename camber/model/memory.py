"""The memory of a model: lines that were added with their translations, which come back word for word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from camber.errors import ModelError
from camber.files import decode_lines, read_bytes
from camber.model.directory import ModelDirectory

# version 0.1 kept raw lines, and the source lines as the model sees them, in files instead of a journal
_FILES = ("added/source.txt", "added/target.txt", "added/tokens.txt")


@dataclass(frozen=True)
class Memory:
    """Added pairs in the order in which they came.

    >>> memory = Memory(["Ein Haus."], ["A house."], ["ein Haus ."])
    >>> memory.recall("ein  Haus.", ["ein", "Haus", "."])
    'A house.'
    """

    source: Sequence[str]  # raw lines
    target: Sequence[str]
    tokens: Sequence[str]  # of the source lines, with blanks between them

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.source)

    def recall(self, line: str, tokens: Sequence[str] = ()) -> str | None:
        """Return the target of the pair with this source line, or else with these tokens; the latest of several."""
        target = self._lines.get(line)
        return self._sentences.get(" ".join(tokens)) if target is None else target

    @cached_property
    def _lines(self) -> dict[str, str]:
        return dict(zip(self.source, self.target, strict=True))

    @cached_property
    def _sentences(self) -> dict[str, str]:
        return dict(zip(self.tokens, self.target, strict=True))

    @classmethod
    def open(cls, directory: ModelDirectory) -> Memory | None:
        """Return the memory of a model, None if nothing was ever added to it."""
        sides: list[list[str]] = [[], [], []]
        if _FILES[0] in directory:
            paths = [directory.file(name) for name in _FILES]
            sides = [decode_lines(read_bytes(path), path, exact=True) for path in paths]
            if len({len(side) for side in sides}) > 1:
                raise ModelError(f"{paths[0].parent}: files of different lengths; copy or train the model again")
        pairs = [pair for call in directory.journal.calls for pair in call.pairs]
        sides[0] += [pair.source for pair in pairs]
        sides[1] += [pair.target for pair in pairs]
        sides[2] += [pair.tokens for pair in pairs]
        return cls(*sides) if sides[0] else None
