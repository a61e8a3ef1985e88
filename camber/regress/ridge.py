"""Least squares regression with a ridge (wang2007, 2.2): solve (K + λ I) v = k, K the Gram matrix of n-gram vectors.

    gram = GramSolver.of(rows, ridge=0.01)
    gram.solve(right)                       # right[sentences, k], all columns at once

Eq. 4 wants K⁻¹, but K is singular as soon as a source sentence repeats; hence the ridge. For a few sentences the matrix
is factorised (Cholesky). For many, it is never made: conjugate gradients need only products with it, and K = R Rᵀ with
sparse rows R. Three things make them quick:

- A column that stands in one row only adds to the diagonal, so it is folded into it.
- The preconditioner is exact for the most frequent n-grams and diagonal for the rest: P = D + F Fᵀ, which Woodbury's
  formula inverts with a matrix as large as there are frequent n-grams.
- All right-hand sides, such as the prefixes of a sentence, share each pass over the matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from camber.arrays.sparse import Counts
from camber.arrays.types import F8, I8
from camber.errors import CamberError
from camber.kernel import kernel
from camber.regress.cholesky import cholesky, solve
from camber.regress.spectrum import occurrences, of_columns, transposed

#: up to so many sentences the Gram matrix is made and factorised
SMALL = 1500
#: n-grams that the preconditioner knows exactly
FREQUENT = 1000
TOLERANCE = 1e-4
_MOST_STEPS = 500


class Solution(NamedTuple):
    """What solves (K + λ I) v = right."""

    values: F8  # [sentences, right-hand sides]
    steps: int  # of conjugate gradients; 0: a factor was at hand
    residual: float  # the largest over right-hand sides, relative to these


class GramSolver(Protocol):
    """Whatever solves with K + λ I."""

    def solve(self, right: F8) -> Solution:
        """Solve for all columns of `right`, float64[sentences, k]."""
        ...


def gram_solver(rows: Counts, ridge: float, *, tolerance: float = TOLERANCE, frequent: int = FREQUENT) -> GramSolver:
    """Return the solver that suits the number of rows."""
    if not ridge > 0.0:
        raise CamberError(f"a ridge of {ridge}; expected more than 0: sentences that repeat make the matrix singular")
    if len(rows) <= SMALL:
        return Factorised.of(rows, ridge)
    return Gradients.of(rows, ridge, tolerance=tolerance, frequent=frequent)


@dataclass(frozen=True, eq=False)
class Factorised:
    """The factor of the whole matrix, for a few sentences."""

    factor: F8

    @classmethod
    def of(cls, rows: Counts, ridge: float) -> Factorised:
        """Make the Gram matrix and factorise it."""
        gram = np.zeros((len(rows), len(rows)))
        columns = transposed(rows)
        _gram(columns.offsets, columns.columns, columns.values, np.ones(rows.width), gram)
        gram[np.diag_indices(len(rows))] += ridge
        return cls(cholesky(gram))

    def solve(self, right: F8) -> Solution:
        """Solve by substitution."""
        values = np.array(right, np.float64, order="C")
        solve(self.factor, values)
        return Solution(values, 0, 0.0)


class _Matrix(NamedTuple):
    """K + λ I: rows, the same by columns, and the diagonal of what is folded."""

    row_offsets: I8
    row_columns: object
    row_values: object
    column_offsets: I8
    column_rows: object
    column_values: object
    diagonal: F8


@dataclass(frozen=True, eq=False)
class Gradients:
    """Preconditioned conjugate gradients on the sparse rows; the most frequent columns come first."""

    matrix: _Matrix
    frequent: int
    remaining: F8  # [sentences]: the diagonal of what the preconditioner does not know exactly
    factor: F8  # of I + Fᵀ D⁻¹ F
    tolerance: float

    @classmethod
    def of(cls, rows: Counts, ridge: float, *, tolerance: float = TOLERANCE, frequent: int = FREQUENT) -> Gradients:
        """Prepare for right-hand sides to come."""
        often = occurrences(rows)
        shared = np.flatnonzero(often > 1)
        shared = shared[np.argsort(-often[shared], kind="stable")]
        known = min(frequent, len(shared))
        squares = np.zeros(len(rows)), np.zeros(len(rows)), np.zeros(len(rows))
        group = np.full(rows.width, 2, np.int64)  # 0: frequent, 1: shared, 2: in one row only
        group[shared] = 1
        group[shared[:known]] = 0
        _squares(rows.offsets, rows.columns, rows.values, group, *squares)
        _, rest, alone = squares
        inner = of_columns(rows, shared)
        columns = transposed(inner)
        remaining = ridge + alone + rest
        small = np.zeros((known, known))
        _gram(inner.offsets, inner.columns, inner.values, 1.0 / remaining, small)
        small[np.diag_indices(known)] += 1.0
        matrix = _Matrix(
            inner.offsets,
            inner.columns,
            inner.values,
            columns.offsets,
            columns.columns,
            columns.values,
            ridge + alone,
        )
        return cls(matrix, known, remaining, cholesky(small), tolerance)

    def solve(self, right: F8) -> Solution:
        """Solve to the tolerance: the residual's length relative to that of the right-hand side."""
        right = np.ascontiguousarray(right, np.float64)
        rows, width = right.shape
        values, direction, product = (np.zeros((rows, width)) for _ in range(3))
        residual = right.copy()
        inside = np.empty((len(self.matrix.column_offsets) - 1, width))
        start = _lengths(residual)
        goal = self.tolerance**2 * start
        length, slope_before = start, np.zeros(width)
        steps = 0
        while steps < _MOST_STEPS and (length > goal).any():
            preconditioned = self._precondition(residual, inside[: self.frequent])
            slope = _products(residual, preconditioned)
            turn = np.where(slope_before > 0.0, slope / np.where(slope_before > 0.0, slope_before, 1.0), 0.0)
            _turn(direction, preconditioned, turn)
            _multiply(self.matrix, direction, inside, product)
            curvature = _products(direction, product)
            step = np.where(curvature > 0.0, slope / np.where(curvature > 0.0, curvature, 1.0), 0.0)
            _advance(values, residual, direction, product, step)
            length, slope_before = _lengths(residual), slope
            steps += 1
        worst = float(np.sqrt((length / np.where(start > 0.0, start, 1.0)).max(initial=0.0)))
        return Solution(values, steps, worst)

    def _precondition(self, residual: F8, room: F8) -> F8:
        """Return P⁻¹ residual by Woodbury's formula."""
        out = np.empty_like(residual)
        matrix = self.matrix
        _to_frequent(matrix, residual, self.remaining, room)
        solve(self.factor, room)
        _from_frequent(matrix, self.frequent, residual, self.remaining, room, out)
        return out


def _lengths(table: F8) -> F8:
    return _products(table, table)


def _products(left: F8, right: F8) -> F8:
    sums = np.zeros(left.shape[1])
    _dot(left, right, sums)
    return sums


@kernel
def _gram(offsets, columns, values, weights, gram):
    """Add Σ over rows r of weight_r · value · value to the pairs of columns of r, among the first `len(gram)`."""
    size = len(gram)
    for r in range(len(offsets) - 1):
        for i in range(offsets[r], offsets[r + 1]):
            one = columns[i]
            if one >= size:
                continue
            value = values[i] * weights[r]
            for j in range(offsets[r], offsets[r + 1]):
                other = columns[j]
                if other < size:
                    gram[one, other] += value * values[j]


@kernel
def _squares(offsets, columns, values, group, first, second, third):
    for r in range(len(offsets) - 1):
        for i in range(offsets[r], offsets[r + 1]):
            square = np.float64(values[i]) * values[i]
            kind = group[columns[i]]
            if kind == 0:
                first[r] += square
            elif kind == 1:
                second[r] += square
            else:
                third[r] += square


@kernel
def _multiply(matrix, direction, inside, product):
    """product = (R Rᵀ + diagonal) direction."""
    width = direction.shape[1]
    for c in range(len(inside)):
        out = inside[c]
        for k in range(width):
            out[k] = 0.0
        for i in range(matrix.column_offsets[c], matrix.column_offsets[c + 1]):
            value = np.float64(matrix.column_values[i])
            row = direction[matrix.column_rows[i]]
            for k in range(width):
                out[k] += value * row[k]
    for r in range(len(product)):
        out = product[r]
        own = matrix.diagonal[r]
        for k in range(width):
            out[k] = own * direction[r, k]
        for i in range(matrix.row_offsets[r], matrix.row_offsets[r + 1]):
            value = np.float64(matrix.row_values[i])
            row = inside[matrix.row_columns[i]]
            for k in range(width):
                out[k] += value * row[k]


@kernel
def _to_frequent(matrix, residual, remaining, room):
    """room = Fᵀ D⁻¹ residual."""
    width = residual.shape[1]
    for c in range(len(room)):
        for k in range(width):
            room[c, k] = 0.0
        for i in range(matrix.column_offsets[c], matrix.column_offsets[c + 1]):
            r = matrix.column_rows[i]
            value = matrix.column_values[i] / remaining[r]
            for k in range(width):
                room[c, k] += value * residual[r, k]


@kernel
def _from_frequent(matrix, frequent, residual, remaining, room, out):
    """out = D⁻¹ (residual - F room)."""
    width = residual.shape[1]
    for r in range(len(out)):
        for k in range(width):
            out[r, k] = residual[r, k]
        for i in range(matrix.row_offsets[r], matrix.row_offsets[r + 1]):
            c = matrix.row_columns[i]
            if c < frequent:
                value = np.float64(matrix.row_values[i])
                for k in range(width):
                    out[r, k] -= value * room[c, k]
        for k in range(width):
            out[r, k] /= remaining[r]


@kernel
def _dot(left, right, sums):
    for r in range(len(left)):
        for k in range(len(sums)):
            sums[k] += left[r, k] * right[r, k]


@kernel
def _turn(direction, preconditioned, turn):
    for r in range(len(direction)):
        for k in range(len(turn)):
            direction[r, k] = preconditioned[r, k] + turn[k] * direction[r, k]


@kernel
def _advance(values, residual, direction, product, step):
    for r in range(len(values)):
        for k in range(len(step)):
            values[r, k] += step[k] * direction[r, k]
            residual[r, k] -= step[k] * product[r, k]
