"""What is regressed for one sentence: the vectors of the pairs that were selected for it, and its own.

problem = Problem.of(pairs, sentence, Spectrum(2, "weighted"))     # numbers the n-grams of these pairs
problem.of_lengths((2,))                                           # the same with 2-grams alone
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from camber.arrays.sparse import Counts
from camber.arrays.types import F8, I4, I8, U1
from camber.corpus.bitext import Bitext, Sentences
from camber.errors import CamberError
from camber.regress.spectrum import NgramMap, Spectrum, of_columns, transposed


@dataclass(frozen=True, eq=False)
class Problem:
    """The selected instances of a sentence: M_X and M_Y of bicici's Eq. 1, transposed, and Φ_X of the sentence.

    A value is √weight times a count; a p-gram of the weighted spectrum has the weight p.

    >>> pairs = Bitext.encode([["das", "Haus"], ["Haus"]], [["the", "house"], ["house"]])
    >>> problem = Problem.of(pairs, pairs.source[1], Spectrum(1))
    >>> problem.source.dense().tolist(), problem.row.dense().tolist()
    ([[1.0, 1.0], [0.0, 1.0]], [[0.0, 1.0]])
    """

    source: Counts  # [instances, source n-grams]
    target: Counts  # [instances, target n-grams]
    row: Counts  # [1, source n-grams]: those of the sentence that the instances know
    source_lengths: U1  # [source n-grams]: words
    target_lengths: U1  # [target n-grams]

    def __post_init__(self) -> None:
        if len(self.source) != len(self.target):
            raise CamberError(f"{len(self.source)} source but {len(self.target)} target vectors of instances")
        if len(self.row) != 1 or self.row.width != self.source.width:
            raise CamberError("the sentence's own vector must be one row over the source n-grams of its instances")

    @classmethod
    def of(cls, pairs: Bitext, sentence: I4, spectrum: Spectrum) -> Problem:
        """Number the n-grams of the selected pairs, and find those of a sentence (words of the same vocabulary)."""
        source_grams, source = NgramMap.of(pairs.source, spectrum)
        target_grams, target = NgramMap.of(pairs.target, spectrum)
        words = np.ascontiguousarray(sentence, np.int32)
        row = source_grams.rows(Sentences(words, np.array([0, len(words)]), pairs.source.vocabulary))
        return cls(source, target, row, source_grams.lengths, target_grams.lengths)

    def of_lengths(self, lengths: Collection[int]) -> Problem:
        """Return the problem of the n-grams of some lengths alone, numbered anew in their order."""
        kept = [np.flatnonzero(np.isin(some, list(lengths))) for some in (self.source_lengths, self.target_lengths)]
        source, row = (of_columns(rows, kept[0]) for rows in (self.source, self.row))
        target = of_columns(self.target, kept[1])
        return Problem(source, target, row, self.source_lengths[kept[0]], self.target_lengths[kept[1]])

    def __len__(self) -> int:
        """Return the number of instances."""
        return len(self.source)

    @property
    def asked(self) -> I8:
        """The source n-grams of the sentence, rising: the columns of W that a prediction needs."""
        return self.row.columns.astype(np.int64)

    @cached_property
    def source_columns(self) -> Counts:
        """The source side by its n-grams: the instances of each."""
        return transposed(self.source)

    @cached_property
    def target_columns(self) -> Counts:
        """The target side by its n-grams."""
        return transposed(self.target)

    @property
    def own(self) -> F8:
        """The sentence's own vector, float64[source n-grams]."""
        return self.row.dense()[0]
