"""What a fold's model found in a round, on disk: columns of the hypotheses that no earlier round had.

    with writing_columns(folder, facts) as columns:
        columns.add(hypotheses, statistics, rows)       # some sentences at a time
    found = FoldColumns.open(folder)
    found.features[found.rows_of([7])]                  # mapped: only what is used is read

Features are what the weights multiply, one row for each hypothesis. Files are plain numbers without a head, because
they grow while the search goes on; ``facts.json`` says how many rows there are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import numpy as np

from camber.arrays.distinct import number_pieces
from camber.arrays.ragged import cut, offsets_from, places_of
from camber.arrays.types import F8, I4, I8
from camber.corpus import Sentences
from camber.decode.derivation import HypothesisColumns
from camber.nbest.merge import first_of_each

_FACTS = "facts.json"
#: the columns and their types; sizes are numbers of words
_KINDS = {"counts": np.int64, "features": np.float64, "statistics": np.int32, "sizes": np.int32, "words": np.int32}


class ColumnsWriter:
    """Append the hypotheses of sentence after sentence."""

    def __init__(self, streams: Mapping[str, IO[bytes]]) -> None:
        self._streams = streams

    def add(self, hypotheses: HypothesisColumns, statistics: I8, rows: I8) -> None:
        """Write some hypotheses, `rows`, which are in the order of their sentences."""
        words, offsets = cut(hypotheses.words.ids, hypotheses.words.offsets[rows], hypotheses.words.lengths[rows])
        owners = np.repeat(np.arange(len(hypotheses.counts)), hypotheses.counts)[rows]
        self._append("counts", np.bincount(owners, minlength=len(hypotheses.counts)))
        self._append("features", hypotheses.features[rows])
        self._append("statistics", statistics[rows])
        self._append("sizes", np.diff(offsets))
        self._append("words", words)

    def _append(self, name: str, values: Any) -> None:
        np.ascontiguousarray(values, _KINDS[name]).tofile(self._streams[name])


@contextmanager
def writing_columns(folder: Path, facts: Mapping[str, Any]) -> Iterator[ColumnsWriter]:
    """Open the columns of a folder for writing; `facts` are written at the end, and may be completed till then.

    They name the features (``names``) and the number of ``statistics``, at least.
    """
    with ExitStack() as files:
        yield ColumnsWriter({name: files.enter_context(open(folder / name, "wb")) for name in _KINDS})
    (folder / _FACTS).write_text(json.dumps(facts) + "\n", encoding="utf-8")


@dataclass(frozen=True)
class FoldColumns:
    """Hypotheses of a fold's sentences; those of sentence `s` are rows ``offsets[s]`` … ``offsets[s + 1] - 1``."""

    folder: Path
    facts: dict[str, Any]

    @classmethod
    def open(cls, folder: Path) -> FoldColumns:
        """Open what was written there."""
        return cls(folder, json.loads((folder / _FACTS).read_text(encoding="utf-8")))

    @property
    def names(self) -> list[str]:
        """The features."""
        return list(self.facts["names"])

    def _mapped(self, name: str, width: int = 1) -> Any:
        path = self.folder / name
        if path.stat().st_size == 0:  # nothing cannot be mapped
            return np.zeros((0, width), _KINDS[name])
        return np.memmap(path, _KINDS[name], "r").view(np.ndarray).reshape(-1, width)

    @cached_property
    def counts(self) -> I8:
        """How many hypotheses each sentence has, int64[sentences]."""
        return np.array(self._mapped("counts")[:, 0])

    @cached_property
    def offsets(self) -> I8:
        """Where the hypotheses of each sentence begin, int64[sentences + 1]."""
        return offsets_from(self.counts)

    @cached_property
    def features(self) -> F8:
        """float64[hypotheses, features], mapped."""
        return np.asarray(self._mapped("features", len(self.names)))

    @cached_property
    def statistics(self) -> I4:
        """Of the metric, int32[hypotheses, columns], mapped."""
        return np.asarray(self._mapped("statistics", self.facts["statistics"]))

    @cached_property
    def word_offsets(self) -> I8:
        """Where the words of each hypothesis begin, int64[hypotheses + 1]."""
        return offsets_from(self._mapped("sizes")[:, 0])

    def words_of(self, rows: I8) -> tuple[I4, I8]:
        """Return the words of some hypotheses, and where those of each begin."""
        starts = self.word_offsets[rows]
        return cut(self._mapped("words")[:, 0], starts, self.word_offsets[rows + 1] - starts)

    def rows_of(self, sentences: I8) -> I8:
        """Return the rows of some sentences, in their order."""
        return places_of(self.offsets[sentences], self.counts[sentences])


def new_rows(before: Sequence[FoldColumns], first: int, hypotheses: HypothesisColumns) -> I8:
    """Return which hypotheses no earlier round found, by their sentences and in order; `first` is the first sentence.

    Hypotheses are the same if they have the same words and features.
    """
    sentences = np.arange(first, first + len(hypotheses.counts))
    owners, features, ids, sizes = [], [], [], []
    for found in before:
        rows = found.rows_of(sentences)
        words, offsets = found.words_of(rows)
        owners.append(np.repeat(sentences, found.counts[sentences]))
        features.append(found.features[rows])
        ids.append(words)
        sizes.append(np.diff(offsets))
    known = sum(map(len, owners))
    owners.append(np.repeat(sentences, hypotheses.counts))
    texts: Sentences = hypotheses.words
    numbers = number_pieces(np.concatenate([*ids, texts.ids]), offsets_from(np.concatenate([*sizes, texts.lengths])))
    kept = first_of_each(np.concatenate(owners), numbers, np.concatenate([*features, hypotheses.features]))
    return kept[kept >= known] - known
