"""What a regression found, by distinct columns: its prediction for a sentence, and its W over n-grams."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from camber.arrays.ragged import offsets_from, places_of
from camber.arrays.types import F8, I4, I8
from camber.regress.sparse.coefficients import Coefficients
from camber.regress.sparse.collapse import CollapsedSources, DistinctColumns


@dataclass(frozen=True, eq=False)
class Fits:
    """Weights of source directions for every distinct target column, without zeros.

    Directions rise within a column.
    """

    sources: CollapsedSources
    targets: DistinctColumns
    offsets: I8  # [target columns + 1]
    directions: I4
    weights: F8

    def predict(self, own: F8) -> F8:
        """Return the value of every target n-gram for a vector over source n-grams."""
        weights = Coefficients(len(self.sources), self.offsets, self.directions, self.weights)
        return weights.predict(self.sources.vector(own))[self.targets.number]

    def coefficients(self, asked: I8) -> Coefficients:
        """Return W with the columns of some source n-grams (rising): of each direction, they have their shares."""
        direction = self.sources.direction[asked]
        used = np.flatnonzero(direction >= 0)
        used = used[np.argsort(direction[used], kind="stable")]  # the n-grams that are asked for, by direction
        counts = np.bincount(direction[used], minlength=len(self.sources))
        starts = offsets_from(counts)
        sizes = counts[self.directions]
        ngrams = asked[used[places_of(starts[self.directions], sizes)]]
        values = np.repeat(self.weights * self.sources.shares[self.directions], sizes)
        owners = np.repeat(np.repeat(np.arange(len(self.targets)), np.diff(self.offsets)), sizes)
        order = np.lexsort((ngrams, owners))
        offsets = offsets_from(np.bincount(owners, minlength=len(self.targets)))
        number = self.targets.number
        row_sizes = np.diff(offsets)[number]
        at = order[places_of(offsets[:-1][number], row_sizes)]
        return Coefficients(
            len(self.sources.direction), offsets_from(row_sizes), ngrams[at].astype(np.int32), values[at]
        )
