"""W of a regression, in sparse rows: what a source n-gram adds to the value of a target n-gram."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from camber.arrays.ragged import offsets_from, owners_of
from camber.arrays.types import F8, I4, I8
from camber.kernel import kernel


@dataclass(frozen=True, eq=False)
class Coefficients:
    """W [target n-grams, source n-grams] (bicici Eq. 1-2), without its zeros; sources rise within a row.

    Regressors return the columns of the sentence's own n-grams alone; what the others are is not said.

    >>> weights = Coefficients.of_columns(np.array([[0.5, 0.0], [0.0, 2.0]]), np.array([1, 3]), width=4)
    >>> weights.dense().tolist()
    [[0.0, 0.5, 0.0, 0.0], [0.0, 0.0, 0.0, 2.0]]
    >>> weights.predict([1, 1, 1, 3]).tolist()
    [0.5, 6.0]
    """

    width: int  # source n-grams
    offsets: I8  # [target n-grams + 1]
    sources: I4
    values: F8

    @classmethod
    def of_columns(cls, columns: F8, sources: I8, width: int) -> Coefficients:
        """Take some columns of W, float64[target n-grams, len(sources)]."""
        targets, places = np.nonzero(columns)
        offsets = offsets_from(np.bincount(targets, minlength=len(columns)))
        return cls(width, offsets, sources[places].astype(np.int32), columns[targets, places])

    def __len__(self) -> int:
        """Return the number of target n-grams."""
        return len(self.offsets) - 1

    @property
    def targets(self) -> I8:
        """The target n-gram of every value."""
        return owners_of(self.offsets)

    def predict(self, vector: npt.ArrayLike) -> F8:
        """Return W · vector: float64[source n-grams] → [target n-grams]."""
        predicted = np.zeros(len(self))
        _multiply(self.offsets, self.sources, self.values, np.ascontiguousarray(vector, np.float64), predicted)
        return predicted

    def dense(self) -> F8:
        """Return W as float64[target n-grams, source n-grams]."""
        table = np.zeros((len(self), self.width))
        table[self.targets, self.sources] = self.values
        return table


@kernel
def _multiply(offsets, columns, values, vector, products):
    for r in range(len(products)):
        total = 0.0
        for i in range(offsets[r], offsets[r + 1]):
            total += values[i] * vector[columns[i]]
        products[r] = total
