"""Forward stagewise regression (Hastie et al. 2006): many small steps, each along the column that fits the rest best.

    fits = stagewise_fits(sources, targets, iterations=100, step=0.1)

A step moves the weight of the column with the largest |x · residual| by `step`; it never goes beyond the weight that is
best for this column alone. (With steps of a fixed size the weights of frequent columns, for which a step is too much,
would swing to and fro for ever.) The way of the weights comes near to that of the lasso, from a large penalty to none,
and the number of iterations takes the place of the penalty. Of columns that fit equally well (up to rounding),
the one of the first n-gram is moved; columns that are equal move together and share the weight (`collapse`).

All targets share the Gram matrix XᵀX of the columns, which is sparse: with it a step changes the products of all
columns with the residual, and the residual itself is never needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.types import F8
from camber.kernel import kernel
from camber.regress.sparse.coefficients import Coefficients
from camber.regress.sparse.collapse import (
    CollapsedSources,
    Columns,
    DistinctColumns,
    by_rows,
    collapse_sources,
    distinct_columns,
    squares_of,
)
from camber.regress.sparse.fits import Fits
from camber.regress.sparse.problem import Problem
from camber.settings import Settings, setting

#: products that differ by less than this share are the same: values are float32, so that √2 · √2 is not quite 2
_SAME = 1e-6
#: a product of this share of the first one is rounding: nothing is left to fit
_NOTHING = 1e-6
#: weights that a call of the kernel has room for, besides those of one target column
_BLOCK = 1 << 16


@dataclass(frozen=True)
class Stagewise(Settings):
    """The lasso as bicici has it: approximated by forward stagewise regression.

    >>> from camber.arrays.sparse import Counts
    >>> one = Counts.of_dense([[1.0], [1.0]])
    >>> problem = Problem(one, one, Counts.of_dense([[3.0]]), np.ones(1, np.uint8), np.ones(1, np.uint8))
    >>> Stagewise(iterations=2, step=0.25).predict(problem).tolist()
    [1.5]
    """

    linear: ClassVar[bool] = True

    iterations: int = setting(100, "steps for each target n-gram", low=1)
    step: float = setting(0.1, "what a step adds to a weight, at most", low=1e-6)

    def coefficients(self, problem: Problem) -> Coefficients:
        """Return W of the sentence's n-grams."""
        return self.fits(problem).coefficients(problem.asked)

    def predict(self, problem: Problem) -> F8:
        """Return W Φ_X."""
        return self.fits(problem).predict(problem.own)

    def fits(self, problem: Problem) -> Fits:
        """Fit all target n-grams."""
        sources, targets = collapse_sources(problem.source), distinct_columns(problem.target)
        return stagewise_fits(sources, targets, iterations=self.iterations, step=self.step)


def stagewise_fits(sources: CollapsedSources, targets: DistinctColumns, *, iterations: int, step: float) -> Fits:
    """Fit every target column by so many steps at most; fewer where nothing is left to fit."""
    rows, gram = by_rows(sources.columns, sources.height), gram_columns(sources)
    width = len(sources)
    weights, products = np.zeros(width), np.zeros(width)
    squares = squares_of(sources.columns)
    counts, found, done = np.zeros(len(targets), np.int64), [(np.zeros(0, np.int32), np.zeros(0))], 0
    while done < len(targets):
        directions, values = np.empty(width + _BLOCK, np.int32), np.empty(width + _BLOCK)
        done, size = _walk_all(
            rows, gram, squares, targets.columns, done, iterations, step, weights, products, counts, directions, values
        )
        found.append((directions[:size], values[:size]))
    return Fits(sources, targets, offsets_from(counts), *(np.concatenate(some) for some in zip(*found, strict=True)))


def gram_columns(sources: CollapsedSources) -> Columns:
    """Return XᵀX by its columns; within one, rows come as they are met."""
    rows = by_rows(sources.columns, sources.height)
    counts, place = np.zeros(len(sources), np.int64), np.zeros(len(sources), np.int64)
    _count_gram(sources.columns, rows, place, counts)
    offsets = offsets_from(counts)
    gram = Columns(offsets, np.empty(offsets[-1], np.int32), np.zeros(offsets[-1]))
    place[:] = 0
    _fill_gram(sources.columns, rows, place, gram)
    return gram


@kernel
def _count_gram(columns, rows, seen, counts):
    """Count the columns that have a row in common with each; `seen` starts with zeros."""
    for c in range(len(counts)):
        for k in range(columns.offsets[c], columns.offsets[c + 1]):
            i = columns.rows[k]
            for j in range(rows.offsets[i], rows.offsets[i + 1]):
                if seen[rows.rows[j]] <= c:
                    seen[rows.rows[j]] = c + 1
                    counts[c] += 1


@kernel
def _fill_gram(columns, rows, place, gram):
    """Sum up the products; `place` starts with zeros, and is behind each column's entry."""
    at = 0
    for c in range(len(place)):
        for k in range(columns.offsets[c], columns.offsets[c + 1]):
            i = columns.rows[k]
            for j in range(rows.offsets[i], rows.offsets[i + 1]):
                other = rows.rows[j]
                if place[other] <= gram.offsets[c]:
                    gram.rows[at] = other
                    at += 1
                    place[other] = at
                gram.values[place[other] - 1] += columns.values[k] * rows.values[j]


@kernel
def _walk_all(rows, gram, squares, targets, first, iterations, step, weights, products, counts, directions, values):
    """Fit target columns from `first` on, while there is room for the weights; return the next one, and the size."""
    size = 0
    for t in range(first, len(counts)):
        if len(values) - size < len(weights):
            return t, size
        for c in range(len(products)):
            products[c] = 0.0
        for k in range(targets.offsets[t], targets.offsets[t + 1]):
            i = targets.rows[k]
            for j in range(rows.offsets[i], rows.offsets[i + 1]):
                products[rows.rows[j]] += targets.values[k] * rows.values[j]
        _walk(gram, squares, iterations, step, weights, products)
        begin = size
        for c in range(len(weights)):
            if weights[c] != 0.0:
                directions[size] = c
                values[size] = weights[c]
                size += 1
                weights[c] = 0.0
        counts[t] = size - begin
    return len(counts), size


@kernel
def _walk(gram, squares, iterations, step, weights, products):
    """Go the steps of one target column, whose `products` with all columns are those of a residual without weights."""
    nothing = _NOTHING * _largest(products)
    for _ in range(iterations):
        largest = _largest(products)
        if largest <= nothing:
            break
        bound = largest * (1.0 - _SAME)
        c = 0
        while abs(products[c]) < bound:
            c += 1
        move = min(step, abs(products[c]) / squares[c])  # the latter leads to the column's own optimum
        if products[c] < 0.0:
            move = -move
        weights[c] += move
        for k in range(gram.offsets[c], gram.offsets[c + 1]):
            products[gram.rows[k]] -= move * gram.values[k]


@kernel
def _largest(products):
    """Return the largest absolute value; four at once, as one would wait for itself."""
    m0 = m1 = m2 = m3 = 0.0
    stop = len(products) // 4 * 4
    for c in range(0, stop, 4):
        m0 = max(m0, abs(products[c]))
        m1 = max(m1, abs(products[c + 1]))
        m2 = max(m2, abs(products[c + 2]))
        m3 = max(m3, abs(products[c + 3]))
    for c in range(stop, len(products)):
        m0 = max(m0, abs(products[c]))
    return max(max(m0, m1), max(m2, m3))
