"""What was added to a model since it was trained: the pairs as they were given, and what rules they make.

A line that repeats the source of an added pair comes back as its translation, whatever the rules say. The pairs of a
hierarchical model stand in its index; a phrase model keeps an index of the added pairs beside its rules.

    my-model/added/source.txt, target.txt    the raw lines of the pairs
    my-model/added/tokens.txt                the source lines as the model sees them
    my-model/added/index/                    of a phrase model: the indexed pairs
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from camber.errors import ModelError
from camber.files import decode_lines, read_bytes, write_lines
from camber.model.directory import ModelDirectory

if TYPE_CHECKING:
    from camber.rules.phrase.overlay import Overlay
    from camber.rules.phrase.store import RuleStore

FOLDER = "added"
INDEX = "added/index"
LEXICON = "align/lexicon.npy"
_FILES = ("source.txt", "target.txt", "tokens.txt")


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

    def recall(self, line: str, tokens: Sequence[str]) -> str | None:
        """Return the target of the pair with this source line, or else with these tokens; the latest of several."""
        found = self._lines.get(line)
        return self._sentences.get(" ".join(tokens)) if found is None else found

    def extended(self, other: Memory) -> Memory:
        """Return a memory with more pairs at its end."""
        return Memory(
            [*self.source, *other.source], [*self.target, *other.target], [*self.tokens, *other.tokens]
        )  # fmt: skip

    @cached_property
    def _lines(self) -> dict[str, str]:
        return dict(zip(self.source, self.target, strict=True))

    @cached_property
    def _sentences(self) -> dict[str, str]:
        return dict(zip(self.tokens, self.target, strict=True))

    def save(self, folder: Path) -> None:
        """Write three text files into `folder`."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, lines in zip(_FILES, (self.source, self.target, self.tokens), strict=True):
            write_lines(folder / name, lines)

    @classmethod
    def open(cls, directory: ModelDirectory) -> Memory | None:
        """Return the memory of a model, None if nothing was ever added to it."""
        if f"{FOLDER}/{_FILES[0]}" not in directory:
            return None
        paths = [directory.file(f"{FOLDER}/{name}") for name in _FILES]
        sides = [decode_lines(read_bytes(path), path, exact=True) for path in paths]
        if len({len(side) for side in sides}) > 1:
            raise ModelError(f"{directory.path / FOLDER}: files of different lengths; copy or train the model again")
        return cls(*sides)


def open_overlay(directory: ModelDirectory, store: RuleStore) -> Overlay | None:
    """Return the rules of a phrase model with those of the added pairs, None if nothing was ever added to it."""
    if f"{INDEX}/index.json" not in directory:
        return None
    from camber.align.lexical import LexicalTable
    from camber.rules.hiero.index import CorpusIndex
    from camber.rules.phrase.overlay import Overlay

    longest = directory.settings.get("rules", {}).get("max_phrase_length", store.max_phrase_length)
    lexicon = LexicalTable.load(directory.file(LEXICON)) if LEXICON in directory else None
    return Overlay(store, CorpusIndex.load(directory.path / INDEX), int(longest), lexicon)
