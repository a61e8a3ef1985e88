"""Cholesky's factorisation and solves with it, in an order of sums that no number of threads changes.

    factor = cholesky(matrix)             # L with L Lᵀ = matrix in the lower triangle, Lᵀ in the upper
    solve(factor, right)                  # right[n, k] in place: matrix⁻¹ right

A library's would be faster for large matrices, but its last digits depend on how many threads it takes. Both triangles
are kept so that a solve reads along rows on its way down and on its way up.
"""

from __future__ import annotations

import numpy as np

from camber.arrays.types import F8
from camber.errors import CamberError
from camber.kernel import kernel


def cholesky(matrix: F8) -> F8:
    """Return L with L Lᵀ = `matrix` float64[n, n], and Lᵀ above it; a matrix that is not positive is an error.

    >>> cholesky(np.array([[4.0, 2.0], [2.0, 5.0]])).tolist()
    [[2.0, 1.0], [1.0, 2.0]]
    """
    factor = np.array(matrix, np.float64, order="C")
    if _factorise(factor) < 0:
        raise CamberError("the matrix is not positive definite: give the regression a ridge above 0")
    return factor


def solve(factor: F8, right: F8) -> None:
    """Replace `right`, float64[n, k] or [n], by the solution of (L Lᵀ) x = right."""
    if right.ndim == 1:
        _solve_one(factor, right)
    else:
        _solve(factor, right)


_BLOCK = 64


@kernel
def _factorise(a):
    """Factorise by blocks of columns, which stay in the cache while the rows below go by."""
    n = len(a)
    for first in range(0, n, _BLOCK):
        last = min(first + _BLOCK, n)
        for i in range(first, n):
            for j in range(first, min(last, i + 1)):
                total = a[i, j]
                row, other = a[i], a[j]
                s0 = s1 = s2 = s3 = 0.0  # four sums at once: a single one would wait for itself
                stop = first + (j - first) // 4 * 4
                for k in range(first, stop, 4):
                    s0 += row[k] * other[k]
                    s1 += row[k + 1] * other[k + 1]
                    s2 += row[k + 2] * other[k + 2]
                    s3 += row[k + 3] * other[k + 3]
                for k in range(stop, j):
                    s0 += row[k] * other[k]
                total -= (s0 + s1) + (s2 + s3)
                if i == j:
                    if not total > 0.0:
                        return -1
                    a[i, i] = np.sqrt(total)
                else:
                    a[i, j] = total / a[j, j]
        for i in range(last, n):  # what the block takes from all that is right of it
            row = a[i]
            for j in range(last, i + 1):
                other = a[j]
                s0 = s1 = s2 = s3 = 0.0
                stop = first + (last - first) // 4 * 4
                for k in range(first, stop, 4):
                    s0 += row[k] * other[k]
                    s1 += row[k + 1] * other[k + 1]
                    s2 += row[k + 2] * other[k + 2]
                    s3 += row[k + 3] * other[k + 3]
                for k in range(stop, last):
                    s0 += row[k] * other[k]
                a[i, j] -= (s0 + s1) + (s2 + s3)
    for i in range(n):
        for j in range(i):
            a[j, i] = a[i, j]
    return 0


@kernel
def _solve(factor, right):
    """Take from all rows below, or above, what a row that is solved has of them."""
    n, width = right.shape
    for i in range(n):
        own, row = factor[i], right[i]
        for k in range(width):
            row[k] /= own[i]
        for j in range(i + 1, n):
            for k in range(width):
                right[j, k] -= own[j] * row[k]
    for i in range(n - 1, -1, -1):
        own, row = factor[i], right[i]
        for k in range(width):
            row[k] /= own[i]
        for j in range(i):
            for k in range(width):
                right[j, k] -= own[j] * row[k]


@kernel
def _solve_one(factor, right):
    """The same for one right-hand side, whose numbers lie together."""
    n = len(right)
    for i in range(n):
        own = factor[i]
        value = right[i] / own[i]
        right[i] = value
        for j in range(i + 1, n):
            right[j] -= own[j] * value
    for i in range(n - 1, -1, -1):
        own = factor[i]
        value = right[i] / own[i]
        right[i] = value
        for j in range(i):
            right[j] -= own[j] * value
