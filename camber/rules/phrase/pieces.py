"""A rule store that is made piece by piece: each has the rules of some source phrases, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from camber.arrays.files import GrowingArray
from camber.arrays.ragged import offsets_from
from camber.corpus.vocabulary import Vocabulary
from camber.rules.phrase.features import SCORE_NAMES
from camber.rules.phrase.store import ARRAYS, REORDERING_NAMES, RuleStore, save_words

#: arrays of offsets, which go on where those of the piece before ended
_OFFSETS = frozenset(name for name in ARRAYS if name.endswith("_offsets"))


def joined(pieces: Sequence[RuleStore]) -> RuleStore:
    """Put pieces together, with the words of the first.

    >>> joined([RuleStore.empty(), RuleStore.empty()]).phrases
    0
    """
    if len(pieces) == 1:
        return pieces[0]
    arrays: dict[str, Any] = {
        name: offsets_from(np.concatenate([np.diff(getattr(piece, name)) for piece in pieces]))
        if name in _OFFSETS
        else np.concatenate([getattr(piece, name) for piece in pieces])
        for name in ARRAYS
    }
    return replace(pieces[0], **arrays, max_phrase_length=max(piece.max_phrase_length for piece in pieces))


class StoreWriter:
    """Write the files of a rule store while its pieces come."""

    def __init__(self, folder: Path, *, reordering: bool) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        widths = {
            "scores": (len(SCORE_NAMES),), "counts": (2,), "links": (2,),
            "reordering": (len(REORDERING_NAMES) if reordering else 0,),
        }  # fmt: skip
        self.folder, self.longest = folder, 0
        self._files = {
            name: GrowingArray(folder / f"{name}.npy", kind, widths.get(name, ())) for name, (kind, _) in ARRAYS.items()
        }
        self._ends = dict.fromkeys(_OFFSETS, 0)
        for name in _OFFSETS:
            self._files[name].append(np.zeros(1, np.int64))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in self._files.values():
            file.abandon()

    def add(self, piece: RuleStore) -> None:
        """Write rules of source phrases that come after those before."""
        for name, file in self._files.items():
            rows = getattr(piece, name)
            if name in _OFFSETS:
                rows = rows[1:] + self._ends[name]
                self._ends[name] += int(getattr(piece, name)[-1])
            file.append(rows)
        self.longest = max(self.longest, piece.max_phrase_length)

    def finish(self, source: Vocabulary, target: Vocabulary) -> None:
        """Make the files whole, and write what belongs to them."""
        for file in self._files.values():
            file.close()
        save_words(self.folder, source, target, self.longest)
