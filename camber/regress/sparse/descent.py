"""The lasso of all target columns of one sentence, by coordinate descent on small active sets to a duality gap.

    fits, gaps, work = lasso_fits(sources, targets, penalty=0.5, gap=1e-4, rounds=200)
    fits.weights                            # by target column, over source directions
    gaps                                    # of each target column, relative to ‖y‖²

Minimised is ‖y - X w‖² + λ ‖w‖₁ (bicici Eq. 2), without a half: scikit-learn's α is λ / (2 · instances). Half of it,
½ ‖y - X w‖² + μ ‖w‖₁ with μ = λ / 2, is what the kernels see. Its dual is ½ ‖y‖² - ½ ‖y - θ‖² over all θ with
|Xᵀ θ| ≤ μ, and the residual, scaled, is such a θ; the difference of both is the gap, which bounds how far the solution
is from the best one.

What makes it quick:

- Columns are collapsed (`collapse`): a third of the columns and half of the targets are left.
- Columns join the active set by what one step along them would gain, the best ones first. A target n-gram of one
  instance is mostly explained by an n-gram of that instance alone, and is done after one step.
- A residual is zero in most instances: a target n-gram stands in few, and what explains it in few others. So products
  with all columns are sums over the rows where it is not.
- All columns but a few have a weight of 0. Descent goes over an active set; products with all columns are only taken
  to see which others must join it.
- Passes over correlated columns creep; every few of them an extrapolation is tried.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.types import F8, I8, Array
from camber.kernel import kernel
from camber.regress.sparse.collapse import CollapsedSources, DistinctColumns, by_rows, squares_of
from camber.regress.sparse.extrapolation import PASSES, extrapolate
from camber.regress.sparse.fits import Fits

#: a column joins the active set if it promises at least this share of what the best one does
_SHARE = 0.5
#: descent on an active set goes on to this share of the gap, or to this share of the gap that is asked for
_INNER, _LAST = 0.2, 0.3
#: passes over one active set at most, in blocks of `PASSES`
_BLOCKS = 200
#: weights that a call of the kernel has room for, besides those of one target column
_BLOCK = 1 << 16


class _Matrix(NamedTuple):
    """X by its columns and by its rows."""

    offsets: Array  # int64[columns + 1]
    rows: Array  # int32
    values: Array  # float64
    squares: Array  # float64[columns]: of the length
    row_offsets: Array  # int64[rows + 1]
    row_columns: Array  # int32
    row_values: Array  # float64


class _Room(NamedTuple):
    """Work arrays of one target column."""

    residual: Array  # float64[rows]
    weights: Array  # float64[columns]
    slopes: Array  # float64[columns]: Xᵀ residual
    active: Array  # int64[columns]
    inside: Array  # uint8[columns]
    history: Array  # float64[passes + 1, columns]: active weights after each pass
    system: Array  # float64[passes, passes]
    mix: Array  # float64[passes]
    trial: Array  # float64[rows]


def lasso_fits(
    sources: CollapsedSources, targets: DistinctColumns, *, penalty: float, gap: float, rounds: int
) -> tuple[Fits, F8, I8]:
    """Fit every target column until its gap is at most `gap` ‖y‖², in so many rounds at most.

    Return the fits, the gap of each column, and the work that was done: rounds, passes, extrapolations that were taken.
    """
    matrix = _matrix(sources)
    width = len(sources)
    room = _Room(
        np.zeros(sources.height),
        np.zeros(width),
        np.zeros(width),
        np.zeros(width, np.int64),
        np.zeros(width, np.uint8),
        np.zeros((PASSES + 1, width)),
        np.zeros((PASSES, PASSES)),
        np.zeros(PASSES),
        np.zeros(sources.height),
    )
    counts, gaps, work = np.zeros(len(targets), np.int64), np.zeros(len(targets)), np.zeros(3, np.int64)
    found, done = [(np.zeros(0, np.int32), np.zeros(0))], 0
    while done < len(targets):
        directions, weights = np.empty(width + _BLOCK, np.int32), np.empty(width + _BLOCK)
        done, size = _fit_all(
            matrix, targets.columns, done, penalty / 2.0, gap, rounds, room, counts, directions, weights, gaps, work
        )
        found.append((directions[:size], weights[:size]))
    joined = [np.concatenate(some) for some in zip(*found, strict=True)]
    return Fits(sources, targets, offsets_from(counts), *joined), gaps, work


def _matrix(sources: CollapsedSources) -> _Matrix:
    columns = sources.columns
    return _Matrix(*columns, squares_of(columns), *by_rows(columns, sources.height))


@kernel
def _fit_all(matrix, targets, first, penalty, gap, rounds, room, counts, directions, weights, gaps, work):
    """Fit target columns from `first` on, while there is room for the weights; return the next one, and the size."""
    size = 0
    for t in range(first, len(counts)):
        if len(weights) - size < len(room.weights):
            return t, size
        residual = room.residual
        for i in range(len(residual)):
            residual[i] = 0.0
        square = 0.0
        for i in range(targets.offsets[t], targets.offsets[t + 1]):
            residual[targets.rows[i]] = targets.values[i]
            square += targets.values[i] * targets.values[i]
        gaps[t] = _fit(matrix, targets, t, square, penalty, gap, rounds, room, work)
        begin = size
        for c in range(len(room.weights)):
            if room.weights[c] != 0.0:
                directions[size] = c
                weights[size] = room.weights[c]
                size += 1
                room.weights[c] = 0.0
        counts[t] = size - begin
    return len(counts), size


@kernel
def _fit(matrix, targets, t, square, penalty, gap, rounds, room, work):
    """Fit one target column, whose residual is that column yet; return its gap, relative to its squared length."""
    if square == 0.0:
        return 0.0
    size = 0
    relative = 0.0
    for _ in range(rounds):
        work[0] += 1
        steepest = _slopes(matrix, room.residual, room.slopes)
        relative = _gap(targets, t, square, penalty, room, size, steepest)
        if relative <= gap:
            break
        best = 0.0
        for c in range(len(room.slopes)):
            over = abs(room.slopes[c]) - penalty
            if over > 0.0 and not room.inside[c]:
                best = max(best, over * over / matrix.squares[c])
        for c in range(len(room.slopes)):
            over = abs(room.slopes[c]) - penalty
            if over > 0.0 and not room.inside[c] and over * over > _SHARE * best * matrix.squares[c]:
                room.inside[c] = 1
                room.active[size] = c
                size += 1
        _descend(matrix, targets, t, square, penalty, max(_LAST * gap, _INNER * relative), room, size, work)
    for a in range(size):
        room.inside[room.active[a]] = 0
    return relative


@kernel
def _slopes(matrix, residual, slopes):
    """Fill Xᵀ residual, and return the largest absolute value."""
    for c in range(len(slopes)):
        slopes[c] = 0.0
    for i in range(len(residual)):
        left = residual[i]
        if left != 0.0:
            for k in range(matrix.row_offsets[i], matrix.row_offsets[i + 1]):
                slopes[matrix.row_columns[k]] += left * matrix.row_values[k]
    steepest = 0.0
    for c in range(len(slopes)):
        steepest = max(steepest, abs(slopes[c]))
    return steepest


@kernel
def _gap(targets, t, square, penalty, room, size, steepest):
    """Return primal minus dual over ½ ‖y‖²; the dual's point is the residual, scaled as far as slopes allow."""
    length, product, norm = 0.0, 0.0, 0.0
    for i in range(len(room.residual)):
        length += room.residual[i] * room.residual[i]
    for i in range(targets.offsets[t], targets.offsets[t + 1]):
        product += targets.values[i] * room.residual[targets.rows[i]]
    for a in range(size):
        norm += abs(room.weights[room.active[a]])
    scale = 0.0
    if length > 0.0:
        scale = product / length  # where the dual is highest along the residual
        if steepest > 0.0:
            scale = min(max(scale, -penalty / steepest), penalty / steepest)
    primal = 0.5 * length + penalty * norm
    dual = scale * product - 0.5 * scale * scale * length
    return max(primal - dual, 0.0) / (0.5 * square)


@kernel
def _descend(matrix, targets, t, square, penalty, gap, room, size, work):
    """Pass over the active set until its own gap is small, and extrapolate now and then."""
    history = room.history
    for _ in range(_BLOCKS):
        for a in range(size):
            history[0, a] = room.weights[room.active[a]]
        for p in range(PASSES):
            work[1] += 1
            moved = _pass(matrix, penalty, room, size)
            for a in range(size):
                history[p + 1, a] = room.weights[room.active[a]]
            if not moved:
                break
        norm = 0.0
        steepest = 0.0
        for a in range(size):
            c = room.active[a]
            norm += abs(room.weights[c])
            product = 0.0
            for k in range(matrix.offsets[c], matrix.offsets[c + 1]):
                product += matrix.values[k] * room.residual[matrix.rows[k]]
            steepest = max(steepest, abs(product))
        if not moved or _gap(targets, t, square, penalty, room, size, steepest) <= gap:
            break
        if size > 1:
            work[2] += extrapolate(matrix, targets, t, penalty, room, size, norm)


@kernel
def _pass(matrix, penalty, room, size):
    """Minimise in one active weight after the other; say whether any moved."""
    residual, weights = room.residual, room.weights
    moved = False
    for a in range(size):
        c = room.active[a]
        first, last = matrix.offsets[c], matrix.offsets[c + 1]
        product = 0.0
        for k in range(first, last):
            product += matrix.values[k] * residual[matrix.rows[k]]
        before = weights[c]
        free = product + before * matrix.squares[c]
        after = 0.0
        if free > penalty:
            after = (free - penalty) / matrix.squares[c]
        elif free < -penalty:
            after = (free + penalty) / matrix.squares[c]
        step = after - before
        if step != 0.0:
            moved = True
            weights[c] = after
            for k in range(first, last):
                residual[matrix.rows[k]] -= step * matrix.values[k]
    return moved
