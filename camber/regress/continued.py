"""Maximum margin regression with pairs that came later: multipliers for them alone.

The multipliers of the pairs that were there stay. Those of new pairs go to their best values beside them, by the same
coordinate descent as in `camber.regress.margin`, but on the rows of the dual problem that belong to new pairs, which
are made for some of them at a time. Means, and with them all lengths, are those of all pairs. So a few pairs
cost little, whatever the size of the corpus; the duality gap of the whole is no longer known.
"""

from __future__ import annotations

import numpy as np

from camber.arrays.sparse import Counts
from camber.arrays.types import F8
from camber.kernel import kernel
from camber.regress.margin import Centred
from camber.regress.prediction import Vectors

#: new pairs whose multipliers are found together
TOGETHER = 64
#: passes over them at most, and the largest change of a multiplier, relative to C, that ends them before
_PASSES, _STILL = 1000, 1e-6


def continued(vectors: Vectors, alphas: F8, cost: float) -> F8:
    """Return multipliers of all pairs, float64[pairs]; `alphas` are those of the first ones, which are kept."""
    known = len(alphas)
    everything = np.concatenate((alphas, np.zeros(len(vectors) - known)))
    if known == len(vectors):
        return everything
    sides = (
        (Centred.of(vectors.source), vectors.source_columns),
        (Centred.of(vectors.target), vectors.target_columns),
    )
    for first in range(known, len(vectors), TOGETHER):
        last = min(first + TOGETHER, len(vectors))
        quadratic = np.ones((last - first, len(vectors)))
        for side, columns in sides:
            quadratic *= _centred_kernels(side, columns, first, last)
        margins = quadratic[:, :first] @ everything[:first]  # what all earlier pairs give
        own = np.ascontiguousarray(quadratic[:, first:last])
        _descend(own, margins, cost, _PASSES, _STILL * cost, everything[first:last])
    return everything


def _centred_kernels(side: Centred, columns: Counts, first: int, last: int) -> F8:
    """Return the products of some centred, normalised rows with those of all pairs: float64[last - first, pairs]."""
    rows = side.rows
    table = np.zeros((last - first, len(rows)))
    _add_products(
        rows.offsets, rows.columns, rows.values, columns.offsets, columns.columns, columns.values, first, table
    )
    square = float(side.mean @ side.mean)
    table += square - side.onto_mean[None, :] - side.onto_mean[first:last, None]
    table /= side.lengths[None, :] * side.lengths[first:last, None]
    return table


@kernel
def _add_products(offsets, columns, values, column_offsets, column_rows, column_values, first, table):
    for r in range(len(table)):
        out = table[r]
        for i in range(offsets[first + r], offsets[first + r + 1]):
            value = np.float64(values[i])
            for j in range(column_offsets[columns[i]], column_offsets[columns[i] + 1]):
                out[column_rows[j]] += value * column_values[j]


@kernel
def _descend(quadratic, margins, cost, passes, still, alphas):
    """Take the multipliers to their best values, one after the other; `margins` are what other pairs give."""
    for _ in range(passes):
        largest = 0.0
        for r in range(len(quadratic)):
            own = quadratic[r, r]
            if not own > 0.0:
                continue
            margin = margins[r]
            for j in range(len(alphas)):
                margin += quadratic[r, j] * alphas[j]
            old = alphas[r]
            new = min(max(old - (margin - 1.0) / own, 0.0), cost)
            alphas[r] = new
            largest = max(largest, abs(new - old))
        if largest <= still:
            return
