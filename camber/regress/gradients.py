"""Conjugate gradients for K + λ I, K = R Rᵀ, on the sparse rows R: the Gram matrix is never made.

    solver = Gradients.of(rows, ridge=0.1)
    solver.solve(right)                     # right[sentences, k], all columns at once

What makes them quick:

- Equal sentences are one row, n-grams of the same sentences one column, and a column of one row adds to the diagonal
  (`camber.regress.collapsed`). With z the sum of the multipliers of m equal sentences, (K + λ/m) z is the mean of
  their right-hand sides.
- The preconditioner is exact for the most frequent n-grams and diagonal for the rest: P = D + F Fᵀ, which Woodbury's
  formula inverts with a matrix as large as there are frequent n-grams.
- K + λ I = P + G Gᵀ - diag(G Gᵀ), G being the other n-grams. So with P z = r, (K + λ I) z is r and a product with G:
  the frequent ones, half of all entries, are only met in solving P z = r, and products with directions follow from
  those with z.
- Values are counts, so a column that counts twice is written twice, and no values are read.
- Rows are sorted by their numbers of entries: a processor foresees the ends of loops that are all alike.
- Vectors over rows are in single precision, unless a tolerance asks for more: what is read at random fits nearer to the
  processor. Sums over rows are not, because errors that many rows share would grow with their number.
- The first step is as long as the preconditioner says; what conjugate gradients would make of it leaves a residual that
  takes several more. The error is larger at equal residuals, so the tolerance is less than it would be otherwise.
- All right-hand sides, such as the prefixes of a sentence, share each pass over the matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from camber.arrays.sparse import Counts
from camber.arrays.types import F8, I4, I8
from camber.kernel import kernel
from camber.regress.cholesky import cholesky, solve
from camber.regress.collapsed import Collapsed
from camber.regress.solution import Solution

#: so many n-grams the preconditioner knows exactly, of those in so many sentences or more
FREQUENT, OFTEN = 1000, 16
#: relative residual at which to stop. Frequent n-grams dominate it, so rare ones may be off by more: with
#: 29,000 pairs of Multi30k, the worst n-gram of a reference by 0.05 on average (`benchmarks/regression.py`)
TOLERANCE = 7e-4
#: tolerances below this one need double precision throughout
_FINE = 1e-4
_MOST_STEPS = 500


class _Matrix(NamedTuple):
    """K + λ I and its preconditioner; rows are in the order of the solver.

    An entry is a column; one that counts twice is there twice. The values of a column are its scale times counts.
    """

    frequent_offsets: I8  # [rows + 1]
    frequent: npt.NDArray[np.uint16]  # F
    other_offsets: I8
    others: I4  # G
    squares: F8  # [other columns]: squared scales
    inverse: F8  # [rows]: D⁻¹, D being λ, what is folded, and diag(G Gᵀ)
    excess: F8  # [rows]: diag(G Gᵀ)


@dataclass(frozen=True, eq=False)
class Gradients:
    """Preconditioned conjugate gradients on the sparse rows."""

    matrix: _Matrix
    row_of: I8  # [sentences]: the solver's row of each
    sizes: F8  # [rows]: how many sentences are equal
    ridge: float
    factor: F8  # of S⁻¹ (I + Fᵀ D⁻¹ F) S⁻¹, S being the scales of the frequent columns
    tolerance: float

    @classmethod
    def of(cls, rows: Counts, ridge: float, *, tolerance: float = TOLERANCE, frequent: int = FREQUENT) -> Gradients:
        """Prepare for right-hand sides to come.

        Values must be counts times a number that their column has, as those of n-gram vectors are.
        """
        collapsed = Collapsed.of(rows)
        often = np.diff(collapsed.offsets)
        width, count = len(often), len(collapsed.sizes)
        known = min(frequent, int((often >= min(OFTEN, count)).sum()), 1 << 16)
        order = np.lexsort((collapsed.entries(known, width), collapsed.entries(0, known)))
        place = np.empty(count, np.int64)
        place[order] = np.arange(count)
        frequent_offsets, columns = collapsed.by_rows(0, known, order)
        other_offsets, others = collapsed.by_rows(known, width, order)
        sizes, excess = collapsed.sizes[order], collapsed.squared(known, width)[order]
        inverse = 1.0 / (ridge / sizes + collapsed.alone[order] + excess)
        small = np.zeros((known, known))
        _add_pairs(frequent_offsets, columns, inverse, small)
        small[np.diag_indices(known)] += 1.0 / collapsed.squares[:known]
        matrix = _Matrix(
            frequent_offsets, columns.astype(np.uint16), other_offsets, others,
            collapsed.squares[known:].copy(), inverse, excess,
        )  # fmt: skip
        return cls(matrix, place[collapsed.row_of], sizes, ridge, cholesky(small), tolerance)

    def solve(self, right: F8, tolerances: F8 | None = None) -> Solution:
        """Solve to the tolerance: the residual's length relative to that of the right-hand side.

        Both lengths are over different sentences; the right-hand sides of equal ones count by their mean.
        """
        right = np.asarray(right, np.float64)
        means = self._sums(right) / self.sizes[:, None]
        wanted = np.full(right.shape[1], self.tolerance) if tolerances is None else tolerances
        found, steps, residual = _conjugate(self.matrix, self.factor, means, wanted)
        values = (found / self.sizes[:, None])[self.row_of]
        if len(self.sizes) < len(right):  # what sets equal sentences apart
            values += (right - means[self.row_of]) / self.ridge
        return Solution(values, steps, residual)

    def _sums(self, right: F8) -> F8:
        sums = np.zeros((len(self.sizes), right.shape[1]))
        _add_rows(self.row_of, np.ascontiguousarray(right), sums)
        return sums


def _conjugate(matrix: _Matrix, factor: F8, right: F8, tolerances: F8) -> tuple[F8, int, float]:
    """Solve with the matrix; return the solution, the steps, and the largest relative residual."""
    kind = np.float32 if tolerances.min(initial=1.0) >= _FINE else np.float64
    matrix = matrix._replace(
        squares=matrix.squares.astype(kind), inverse=matrix.inverse.astype(kind), excess=matrix.excess.astype(kind)
    )
    width = right.shape[1]
    start = np.einsum("rk,rk->k", right, right)
    goal = tolerances**2 * start
    single = width == 1
    residual = right.astype(kind)
    if single:
        residual = residual[:, 0].copy()  # a path of its own, without loops over columns
    values, direction, product, moved = (np.zeros_like(residual) for _ in range(4))
    columns = residual.shape[1:]
    inside, outside = np.zeros((len(factor), *columns)), np.zeros((len(matrix.squares), *columns), kind)
    length, before, row = start.copy(), np.zeros(width), np.zeros(width)
    step, steps = np.zeros(width), 0
    while True:
        if single:
            length[0] = _advance_one(matrix, step[0], direction, product, values, residual, inside)
        else:
            _advance(matrix, step, direction, product, values, residual, inside, length)
        if steps >= _MOST_STEPS or (length <= goal).all():
            break
        solve(factor, inside)
        if single:
            slope = np.array([_precondition_one(matrix, residual, inside, moved, outside)])
            turn = _ratio(slope, before)
            curvature = np.array([_turn_one(matrix, residual, moved, outside, turn[0], direction, product)])
        else:
            slope, curvature = np.zeros(width), np.zeros(width)
            _precondition(matrix, residual, inside, moved, outside, slope, row)
            turn = _ratio(slope, before)
            _turn(matrix, residual, moved, outside, turn, direction, product, curvature, row)
        if steps or not len(factor):
            step, before = _ratio(slope, curvature), slope
        else:
            step = np.ones(width)  # begin at P⁻¹ right, which frequent n-grams make better than nothing
        steps += 1
    return values.reshape(right.shape).astype(np.float64), steps, float(np.sqrt(_ratio(length, start).max(initial=0.0)))


def _ratio(over: F8, under: F8) -> F8:
    """Divide; what is divided by 0 is 0, as a right-hand side that is solved stays so."""
    positive = under > 0.0
    return np.where(positive, over / np.where(positive, under, 1.0), 0.0)


@kernel
def _add_rows(row_of, right, sums):
    """Add every row to that which it belongs to."""
    for s in range(len(row_of)):
        out = sums[row_of[s]]
        for k in range(len(out)):
            out[k] += right[s, k]


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
        left = np.float64(residual[r])
        for i in range(matrix.frequent_offsets[r], matrix.frequent_offsets[r + 1]):
            left -= inside[matrix.frequent[i]]
        left *= matrix.inverse[r]
        moved[r] = left
        total += left * residual[r]
        rounded = moved[r]
        for i in range(matrix.other_offsets[r], matrix.other_offsets[r + 1]):
            outside[matrix.others[i]] += rounded
    for c in range(len(outside)):
        outside[c] *= matrix.squares[c]
    return total


@kernel
def _turn_one(matrix, residual, moved, outside, turn, direction, product):
    """Set the direction and its product with K + λ I; return the product of both."""
    total = 0.0
    for r in range(len(residual)):
        own = np.float64(residual[r]) - matrix.excess[r] * moved[r]
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
            lengths[k] += np.float64(left[k]) * left[k]
        weight = np.float64(matrix.inverse[r])
        for i in range(matrix.frequent_offsets[r], matrix.frequent_offsets[r + 1]):
            out = inside[matrix.frequent[i]]
            for k in range(width):
                out[k] += weight * left[k]


@kernel
def _precondition(matrix, residual, inside, moved, outside, slopes, left):
    """The same as :func:`_precondition_one` for several right-hand sides; `left` is room for a row."""
    width = len(slopes)
    outside[:] = 0.0
    for r in range(len(residual)):
        for k in range(width):
            left[k] = residual[r, k]
        for i in range(matrix.frequent_offsets[r], matrix.frequent_offsets[r + 1]):
            known = inside[matrix.frequent[i]]
            for k in range(width):
                left[k] -= known[k]
        rounded = moved[r]
        for k in range(width):
            left[k] *= matrix.inverse[r]
            rounded[k] = left[k]
            slopes[k] += left[k] * residual[r, k]
        for i in range(matrix.other_offsets[r], matrix.other_offsets[r + 1]):
            out = outside[matrix.others[i]]
            for k in range(width):
                out[k] += rounded[k]
    for c in range(len(outside)):
        for k in range(width):
            outside[c, k] *= matrix.squares[c]


@kernel
def _turn(matrix, residual, moved, outside, turn, direction, product, curvatures, own):
    """The same as :func:`_turn_one` for several right-hand sides; `own` is room for a row."""
    width = len(turn)
    for r in range(len(residual)):
        for k in range(width):
            own[k] = residual[r, k] - matrix.excess[r] * moved[r, k]
        for i in range(matrix.other_offsets[r], matrix.other_offsets[r + 1]):
            more = outside[matrix.others[i]]
            for k in range(width):
                own[k] += more[k]
        for k in range(width):
            there = moved[r, k] + turn[k] * direction[r, k]
            with_matrix = own[k] + turn[k] * product[r, k]
            direction[r, k] = there
            product[r, k] = with_matrix
            curvatures[k] += there * with_matrix
