"""Least squares regression with a ridge (wang2007, 2.2): solve (K + λ I) v = k, K the Gram matrix of n-gram vectors.

    gram = gram_solver(rows, ridge=10.0)
    gram.solve(right)                       # right[sentences, k], all columns at once

Eq. 4 wants K⁻¹, but K is singular as soon as a source sentence repeats; hence the ridge. For a few sentences the matrix
is factorised (Cholesky). For many, it is never made: conjugate gradients need only products with it, and K = R Rᵀ with
sparse rows R. What makes them quick:

- A column that stands in one row only adds to the diagonal, so it is folded into it.
- The preconditioner is exact for the most frequent n-grams and diagonal for the rest: P = D + F Fᵀ, which Woodbury's
  formula inverts with a matrix as large as there are frequent n-grams.
- K + λ I = P + G Gᵀ - diag(G Gᵀ), G being the other n-grams. So with P z = r, (K + λ I) z is r and a product with G:
  the frequent ones, half of all entries, are only met in solving P z = r, and products with directions follow from
  those with z.
- Values are counts, so a column that counts twice is written twice, and no values are read.
- Rows are sorted by their numbers of entries: a processor foresees the ends of loops that are all alike.
- All right-hand sides, such as the prefixes of a sentence, share each pass over the matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.sparse import Counts
from camber.arrays.types import F8, I4, I8
from camber.errors import CamberError
from camber.kernel import kernel
from camber.regress.cholesky import cholesky, solve
from camber.regress.spectrum import occurrences, transposed

#: up to so many sentences the Gram matrix is made and factorised
SMALL = 1500
#: so many n-grams the preconditioner knows exactly, of those in so many sentences or more
FREQUENT, OFTEN = 1000, 16
#: relative residual at which to stop. Frequent n-grams dominate it, so rare ones may be off by more: with
#: 29,000 pairs of Multi30k, the worst n-gram of a reference by 0.05 on average (`benchmarks/regression.py`)
TOLERANCE = 1e-3
_MOST_STEPS = 500


class Solution(NamedTuple):
    """What solves (K + λ I) v = right."""

    values: F8  # [sentences, right-hand sides]
    steps: int  # of conjugate gradients; 0: a factor was at hand
    residual: float  # the largest over right-hand sides, relative to these


class GramSolver(Protocol):
    """Whatever solves with K + λ I."""

    def solve(self, right: F8, tolerances: F8 | None = None) -> Solution:
        """Solve for all columns of `right`, float64[sentences, k]; `tolerances` [k] stand for the solver's own."""
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
        _gram(columns.offsets, columns.columns, columns.values, gram)
        gram[np.diag_indices(len(rows))] += ridge
        return cls(cholesky(gram))

    def solve(self, right: F8, tolerances: F8 | None = None) -> Solution:
        """Solve by substitution, exactly."""
        values = np.array(right, np.float64, order="C")
        solve(self.factor, values)
        return Solution(values, 0, 0.0)


class _Matrix(NamedTuple):
    """K + λ I and its preconditioner; rows are in the order of the solver.

    An entry is a column; one that counts twice is there twice. The values of a column are its scale times counts.
    """

    frequent_offsets: I8  # [rows + 1]
    frequent: I4  # F
    other_offsets: I8
    others: I4  # G
    squares: F8  # [other columns]: squared scales
    inverse: F8  # [rows]: D⁻¹, D being λ, what is folded, and diag(G Gᵀ)
    excess: F8  # [rows]: diag(G Gᵀ)


@dataclass(frozen=True, eq=False)
class Gradients:
    """Preconditioned conjugate gradients on the sparse rows."""

    matrix: _Matrix
    order: I8  # the solver's row → the row
    factor: F8  # of S⁻¹ (I + Fᵀ D⁻¹ F) S⁻¹, S being the scales of the frequent columns
    tolerance: float

    @classmethod
    def of(cls, rows: Counts, ridge: float, *, tolerance: float = TOLERANCE, frequent: int = FREQUENT) -> Gradients:
        """Prepare for right-hand sides to come.

        Values must be counts times a number that their column has, as those of n-gram vectors are.
        """
        often = occurrences(rows)
        shared = np.flatnonzero(often > 1)
        shared = shared[np.argsort(-often[shared], kind="stable")]
        known = min(frequent, int((often >= min(OFTEN, len(rows))).sum()))
        place = np.full(rows.width, -1, np.int32)  # the most frequent columns come first; -1: in one row only
        place[shared] = np.arange(len(shared))
        scales = np.full(len(shared), np.inf, np.float32)
        _smallest(rows.columns, rows.values, place, scales)
        sizes, squares = np.zeros((2, len(rows)), np.int64), np.zeros((2, len(rows)))
        if not _measure(rows.offsets, rows.columns, rows.values, place, scales, known, sizes, squares):
            raise CamberError("vectors that are not counts times one number per column; expected those of n-grams")
        order = np.lexsort((sizes[1], sizes[0]))
        alone, rest = squares[:, order]
        offsets = [offsets_from(some[order]) for some in sizes]
        entries = [np.empty(int(some[-1]), np.int32) for some in offsets]
        _write(order, rows.offsets, rows.columns, rows.values, place, scales, known, *entries)
        inverse = 1.0 / (ridge + alone + rest)
        small = np.zeros((known, known))
        _add_pairs(offsets[0], entries[0], inverse, small)
        small[np.diag_indices(known)] += scales[:known].astype(np.float64) ** -2
        squared = scales[known:].astype(np.float64) ** 2
        matrix = _Matrix(offsets[0], entries[0], offsets[1], entries[1], squared, inverse, rest)
        return cls(matrix, order, cholesky(small), tolerance)

    def solve(self, right: F8, tolerances: F8 | None = None) -> Solution:
        """Solve to the tolerance: the residual's length relative to that of the right-hand side."""
        residual = np.asarray(right, np.float64)[self.order]
        start = np.einsum("rk,rk->k", residual, residual)
        if residual.shape[1] == 1:
            residual = residual[:, 0].copy()  # a path of its own, without loops over columns
        values, direction, product, moved = (np.zeros_like(residual) for _ in range(4))
        columns = residual.shape[1:]
        inside, outside = np.zeros((len(self.factor), *columns)), np.zeros((len(self.matrix.squares), *columns))
        single = not columns
        goal = (self.tolerance if tolerances is None else tolerances) ** 2 * start
        length, before = start.copy(), np.zeros(len(start))
        step, steps = np.zeros(len(start)), 0
        while True:
            if single:
                length[0] = _advance_one(self.matrix, step[0], direction, product, values, residual, inside)
            else:
                _advance(self.matrix, step, direction, product, values, residual, inside, length)
            if steps >= _MOST_STEPS or (length <= goal).all():
                break
            solve(self.factor, inside)
            if single:
                slope = np.array([_precondition_one(self.matrix, residual, inside, moved, outside)])
                turn = _ratio(slope, before)
                curvature = np.array([_turn_one(self.matrix, residual, moved, outside, turn[0], direction, product)])
            else:
                slope, curvature = np.zeros(len(start)), np.zeros(len(start))
                _precondition(self.matrix, residual, inside, moved, outside, slope)
                turn = _ratio(slope, before)
                _turn(self.matrix, residual, moved, outside, turn, direction, product, curvature)
            step, before = _ratio(slope, curvature), slope
            steps += 1
        solution = np.empty((len(values), len(start)))
        solution[self.order] = values.reshape(solution.shape)
        return Solution(solution, steps, float(np.sqrt(_ratio(length, start).max(initial=0.0))))


def _ratio(over: F8, under: F8) -> F8:
    """Divide; what is divided by 0 is 0, as a right-hand side that is solved stays so."""
    positive = under > 0.0
    return np.where(positive, over / np.where(positive, under, 1.0), 0.0)


@kernel
def _gram(offsets, columns, values, gram):
    """Add Σ over rows of value · value to the pairs of columns."""
    for r in range(len(offsets) - 1):
        for i in range(offsets[r], offsets[r + 1]):
            value = np.float64(values[i])
            for j in range(offsets[r], offsets[r + 1]):
                gram[columns[i], columns[j]] += value * values[j]


@kernel
def _smallest(columns, values, place, scales):
    """Find the smallest value of every column."""
    for i in range(len(columns)):
        c = place[columns[i]]
        if c >= 0 and values[i] < scales[c]:
            scales[c] = values[i]


@kernel
def _measure(offsets, columns, values, place, scales, known, sizes, squares):
    """Count the entries of rows (frequent, others), and sum squares (alone, others); 0: values that are no counts."""
    for r in range(len(offsets) - 1):
        for i in range(offsets[r], offsets[r + 1]):
            c = place[columns[i]]
            square = np.float64(values[i]) * values[i]
            if c < 0:
                squares[0, r] += square
                continue
            ratio = np.float64(values[i]) / scales[c]
            count = np.rint(ratio)
            if not (scales[c] > 0.0 and abs(ratio - count) < 1e-4 * count):
                return 0
            if c < known:
                sizes[0, r] += np.int64(count)
            else:
                sizes[1, r] += np.int64(count)
                squares[1, r] += square
    return 1


@kernel
def _write(order, offsets, columns, values, place, scales, known, frequent, others):
    """Write the entries of all rows in an order."""
    at = 0
    other_at = 0
    for o in range(len(order)):
        r = order[o]
        for i in range(offsets[r], offsets[r + 1]):
            c = place[columns[i]]
            if c < 0:
                continue
            for _ in range(np.int64(np.rint(np.float64(values[i]) / scales[c]))):
                if c < known:
                    frequent[at] = c
                    at += 1
                else:
                    others[other_at] = c - known
                    other_at += 1


@kernel
def _add_pairs(offsets, columns, weights, table):
    """Add the weight of every row to all pairs of its entries."""
    for r in range(len(offsets) - 1):
        for i in range(offsets[r], offsets[r + 1]):
            row = table[columns[i]]
            for j in range(offsets[r], offsets[r + 1]):
                row[columns[j]] += weights[r]


@kernel
def _advance_one(matrix, step, direction, product, values, residual, inside):
    """Go a step, fill inside = Fᵀ D⁻¹ residual, and return the residual's squared length."""
    for c in range(len(inside)):
        inside[c] = 0.0
    total = 0.0
    for r in range(len(values)):
        values[r] += step * direction[r]
        left = residual[r] - step * product[r]
        residual[r] = left
        total += left * left
        weighed = left * matrix.inverse[r]
        for i in range(matrix.frequent_offsets[r], matrix.frequent_offsets[r + 1]):
            inside[matrix.frequent[i]] += weighed
    return total


@kernel
def _precondition_one(matrix, residual, inside, moved, outside):
    """moved = P⁻¹ residual = D⁻¹ (residual - F inside), outside = Gᵀ moved; return residual · moved."""
    for c in range(len(outside)):
        outside[c] = 0.0
    total = 0.0
    for r in range(len(residual)):
        left = residual[r]
        for i in range(matrix.frequent_offsets[r], matrix.frequent_offsets[r + 1]):
            left -= inside[matrix.frequent[i]]
        left *= matrix.inverse[r]
        moved[r] = left
        total += left * residual[r]
        for i in range(matrix.other_offsets[r], matrix.other_offsets[r + 1]):
            outside[matrix.others[i]] += left
    for c in range(len(outside)):
        outside[c] *= matrix.squares[c]
    return total


@kernel
def _turn_one(matrix, residual, moved, outside, turn, direction, product):
    """Set the direction and its product with K + λ I; return the product of both."""
    total = 0.0
    for r in range(len(residual)):
        own = residual[r] - matrix.excess[r] * moved[r]
        for i in range(matrix.other_offsets[r], matrix.other_offsets[r + 1]):
            own += outside[matrix.others[i]]
        there = moved[r] + turn * direction[r]
        with_matrix = own + turn * product[r]
        direction[r] = there
        product[r] = with_matrix
        total += there * with_matrix
    return total


@kernel
def _advance(matrix, step, direction, product, values, residual, inside, lengths):
    """The same as :func:`_advance_one` for several right-hand sides."""
    width = len(step)
    inside[:] = 0.0
    lengths[:] = 0.0
    for r in range(len(values)):
        left = residual[r]
        for k in range(width):
            values[r, k] += step[k] * direction[r, k]
            left[k] -= step[k] * product[r, k]
            lengths[k] += left[k] * left[k]
        weight = matrix.inverse[r]
        for i in range(matrix.frequent_offsets[r], matrix.frequent_offsets[r + 1]):
            out = inside[matrix.frequent[i]]
            for k in range(width):
                out[k] += weight * left[k]


@kernel
def _precondition(matrix, residual, inside, moved, outside, slopes):
    """The same as :func:`_precondition_one` for several right-hand sides."""
    width = len(slopes)
    outside[:] = 0.0
    for r in range(len(residual)):
        left = moved[r]
        for k in range(width):
            left[k] = residual[r, k]
        for i in range(matrix.frequent_offsets[r], matrix.frequent_offsets[r + 1]):
            known = inside[matrix.frequent[i]]
            for k in range(width):
                left[k] -= known[k]
        for k in range(width):
            left[k] *= matrix.inverse[r]
            slopes[k] += left[k] * residual[r, k]
        for i in range(matrix.other_offsets[r], matrix.other_offsets[r + 1]):
            out = outside[matrix.others[i]]
            for k in range(width):
                out[k] += left[k]
    for c in range(len(outside)):
        for k in range(width):
            outside[c, k] *= matrix.squares[c]


@kernel
def _turn(matrix, residual, moved, outside, turn, direction, product, curvatures):
    """The same as :func:`_turn_one` for several right-hand sides."""
    width = len(turn)
    for r in range(len(residual)):
        out = product[r]
        for k in range(width):
            out[k] = residual[r, k] - matrix.excess[r] * moved[r, k] + turn[k] * out[k]
        for i in range(matrix.other_offsets[r], matrix.other_offsets[r + 1]):
            more = outside[matrix.others[i]]
            for k in range(width):
                out[k] += more[k]
        for k in range(width):
            direction[r, k] = moved[r, k] + turn[k] * direction[r, k]
            curvatures[k] += direction[r, k] * out[k]
