"""The n-grams of a few sentences as columns of a sparse matrix.

Sentences are few and their n-grams are used once, so they are numbered by sorting, without a table: n-grams of a length
follow from those that are a word shorter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from camber.arrays.ragged import offsets_from, owners_of, take_ragged
from camber.arrays.sparse import Counts
from camber.arrays.types import I4, I8
from camber.regress.spectrum import of_columns


@dataclass(frozen=True, eq=False)
class NgramRows:
    """Distinct n-grams, shortest first, and how often sentences have them; a p-gram counts √p, as bicici Eq. 5 wants.

    >>> grams = NgramRows.of(np.array([5, 6, 5, 6, 5]), np.array([0, 3, 5]), (2,), words=7)
    >>> [grams.words(column).tolist() for column in range(len(grams))], grams.rows.dense().round(2).tolist()
    ([[5, 6], [6, 5]], [[1.41, 1.41], [0.0, 1.41]])
    """

    ids: I4  # words of all n-grams
    offsets: I8  # [n-grams + 1]
    rows: Counts  # [sentences, n-grams]

    @classmethod
    def of(cls, ids: I4, offsets: I8, lengths: Sequence[int], words: int, barred: Sequence[int] = ()) -> NgramRows:
        """Number the n-grams of some lengths in sentences of words below `words`; what has a word below 0 is none.

        `barred` are words that are no n-grams alone, such as `<s>`.
        """
        tokens = np.asarray(ids, np.int64)
        left = np.repeat(offsets[1:], np.diff(offsets)) - np.arange(len(tokens))
        owner = owners_of(offsets)
        name = tokens.copy()  # of the n-gram that begins at a place; -1: none
        columns, owners, places, sizes = [], [], [], []
        count = 0
        for n in range(1, max(lengths) + 1):
            if n == 1:
                starts = np.flatnonzero((tokens >= 0) & ~np.isin(tokens, barred))
                keys = tokens[starts]
            else:
                starts = np.flatnonzero((left >= n) & (name >= 0))
                starts = starts[tokens[starts + n - 1] >= 0]
                keys = name[starts] * words + tokens[starts + n - 1]
            _, firsts, numbers = np.unique(keys, return_index=True, return_inverse=True)
            if n > 1:
                name = np.full(len(tokens), -1, np.int64)
                name[starts] = numbers
            if n in lengths:
                columns.append(count + numbers)
                owners.append(owner[starts])
                places.append(starts[firsts])
                sizes.append(np.full(len(firsts), n, np.int64))
                count += len(firsts)
        flat, row = np.concatenate(columns), np.concatenate(owners)
        order = np.argsort(row, kind="stable")
        rows = Counts.gather(flat[order], offsets_from(np.bincount(row, minlength=len(offsets) - 1)), count)
        length, start = np.concatenate(sizes), np.concatenate(places)
        rows.values[:] *= np.sqrt(length)[rows.columns]
        gram_offsets = offsets_from(length)
        at = np.arange(int(gram_offsets[-1])) + np.repeat(start - gram_offsets[:-1], length)
        return cls(tokens[at].astype(np.int32), gram_offsets, rows)

    def __len__(self) -> int:
        """Return the number of n-grams."""
        return len(self.offsets) - 1

    @property
    def lengths(self) -> I8:
        """Words of every n-gram."""
        return np.diff(self.offsets)

    def words(self, column: int) -> I4:
        """Return the words of an n-gram."""
        return self.ids[self.offsets[column] : self.offsets[column + 1]]

    def take(self, kept: I8) -> NgramRows:
        """Return some n-grams (rising numbers), numbered anew."""
        return NgramRows(*take_ragged(self.ids, self.offsets, kept), of_columns(self.rows, kept))

    def first_rows(self, count: int) -> Counts:
        """Return the rows of the first sentences."""
        end = self.rows.offsets[count]
        return Counts(
            len(self), self.rows.offsets[: count + 1].copy(), self.rows.columns[:end].copy(),
            self.rows.values[:end].copy(),
        )  # fmt: skip

    def vectors(self, ids: I4, offsets: I8) -> Counts:
        """Return other texts as rows over these n-grams."""
        flat = np.concatenate((self.ids, ids))
        # the n-grams stand before the texts, each as a text of its own, and are numbered with theirs
        ends = np.concatenate((self.offsets, self.offsets[-1] + offsets[1:]))
        lengths = np.unique(self.lengths).tolist()
        together = NgramRows.of(flat, ends, lengths, int(flat.max(initial=0)) + 1)
        own = together.rows.take(np.arange(len(self)))
        whole = together.lengths[own.columns] == self.lengths[owners_of(own.offsets)]  # not what lies inside of them
        place = np.full(len(together), -1, np.int64)
        place[own.columns[whole]] = np.arange(len(self))
        rows = together.rows.take(np.arange(len(self), len(ends) - 1))
        columns = place[rows.columns]
        known = columns >= 0
        sizes = np.bincount(owners_of(rows.offsets)[known], minlength=len(rows))
        return Counts(len(self), offsets_from(sizes), columns[known].astype(np.int32), rows.values[known])
