"""How the posteriors of a mixture change with its kernels: gradients in means, variances and priors (nguyen2007, 3.5).

With scores ``Σ_m λ_m h_m`` of posteriors ``h_m = w_m N(h; μ_m, C_m) / Σ_r w_r N(h; μ_r, C_r)`` and ``a_m`` the
logarithm of a kernel's numerator, a posterior pulls at its own kernel and pushes at all others:

    ∂h_m / ∂a_m = h_m (1 - h_m),   ∂h_r / ∂a_m = - h_r h_m,   so   ∂ score / ∂a_m = h_m (λ_m - Σ_r λ_r h_r),
    ∂a_m / ∂μ_m = C_m⁻¹ (h - μ_m),   ∂a_m / ∂ log C_m = ½ (C_m⁻¹ (h - μ_m)² - 1),   ∂a_m / ∂ log w_m = 1.

(The print has a factor w_m too many, and the wrong sign for r ≠ m.) Variances are moved by their logarithms, which
keeps them positive.

A point keeps posteriors of a few kernels only. While kernels move, these stay the same few, and so does the mass that
they hold together: their posteriors are computed anew among themselves. Gradients are exact for that.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from camber.arrays.types import F8
from camber.bend.mixtures.mixture import Mixture, Posteriors
from camber.engine import LOCAL, Engine, split_evenly
from camber.errors import CamberError
from camber.kernel import kernel

#: Pieces of work when gradients are summed: not the number of threads, so that this changes nothing.
_PIECES = 4


class KernelGradient(NamedTuple):
    """Derivatives of an objective in the parameters of kernels."""

    means: F8  # [kernels, features]
    log_variances: F8  # as the variances: [kernels, features], or [1, features]
    log_priors: F8  # [kernels]


class _Forms(NamedTuple):
    """A mixture, as kernels take it."""

    means: F8
    precisions: F8  # [kernels, features], or [1, features]
    heights: F8  # [kernels]: the logarithm of prior and density at the mean, up to a constant


class KeptPosteriors:
    """The posteriors that points keep, while the kernels move.

    `bandwidth` is that of the posteriors. Kernels that were left out for a point (its own sentence's) stay out.

    >>> mixture = Mixture(np.array([[0.0], [2.0]]), np.ones((1, 1)), np.log([0.5, 0.5]))
    >>> kept = KeptPosteriors(np.array([[1.0]]), mixture.posteriors(np.array([[1.0]])))
    >>> kept.update(mixture)
    >>> kept.scores(np.array([1.0, 3.0])).tolist(), kept.gradient(np.array([1.0, 3.0]), np.ones(1)).means.tolist()
    ([2.0], [[-0.5], [-0.5]])
    """

    def __init__(self, points: F8, posteriors: Posteriors, bandwidth: float = 1.0) -> None:
        sparse = posteriors.sparse
        if len(points) != len(sparse):
            raise CamberError(f"{len(points)} points, but posteriors of {len(sparse)}")
        self.points = np.ascontiguousarray(points, np.float64)
        self.offsets, self.columns, self.width = sparse.offsets, sparse.columns, sparse.width
        self.mass = sparse.products(np.ones(sparse.width))  # [points]: of the posteriors that are kept
        self.bandwidth = bandwidth
        self.values = np.empty(len(self.columns))  # the posteriors, which `update` fills
        self._forms: _Forms | None = None

    def update(self, mixture: Mixture) -> None:
        """Compute the posteriors by a mixture that is changed in all but its number of kernels."""
        if len(mixture) != self.width or mixture.means.shape[1] != self.points.shape[1]:
            raise CamberError(f"a mixture of shape {mixture.means.shape} for posteriors of {self.width} kernels")
        variances = mixture.variances * self.bandwidth**2
        heights = mixture.log_priors - 0.5 * np.log(variances).sum(1)
        self._forms = _Forms(np.ascontiguousarray(mixture.means), 1.0 / variances, heights)
        _share(self.points, self.offsets, self.columns, self.mass, *self._forms, self.values)

    def scores(self, weights: F8) -> F8:
        """Return what kernels of these weights float64[kernels] add to the score of every point, float64[points]."""
        sums = np.empty(len(self.points))
        _score(self.offsets, self.columns, self.values, np.ascontiguousarray(weights), sums)
        return sums

    def in_weights(self, slopes: F8) -> F8:
        """Return the gradient in the weights of kernels, given derivatives in the scores: [points] → [kernels]."""
        gradient = np.zeros(self.width)
        _project(self.offsets, self.columns, self.values, np.ascontiguousarray(slopes), gradient)
        return gradient

    def gradient(self, weights: F8, slopes: F8, engine: Engine = LOCAL) -> KernelGradient:
        """Return the gradient in the kernels, given derivatives in the scores float64[points]."""
        if self._forms is None:
            raise CamberError("posteriors that were not computed yet; update them first")
        shared = self, np.ascontiguousarray(weights, np.float64), np.ascontiguousarray(slopes, np.float64)
        total: KernelGradient | None = None
        for piece in engine.map(_gradient_of_piece, shared, split_evenly(len(self.points), _PIECES)):
            if total is None:
                total = piece
            else:
                for sum_, more in zip(total, piece, strict=True):
                    sum_ += more
        return self._nothing() if total is None else total

    def _nothing(self) -> KernelGradient:
        assert self._forms is not None
        return KernelGradient(
            np.zeros_like(self._forms.means), np.zeros_like(self._forms.precisions), np.zeros(self.width)
        )


def _gradient_of_piece(shared: tuple[KeptPosteriors, F8, F8], piece: range) -> KernelGradient:
    kept, weights, slopes = shared
    gradient = kept._nothing()
    forms = kept._forms
    assert forms is not None
    _pull(
        piece.start, piece.stop, kept.points, kept.offsets, kept.columns, kept.mass, kept.values, forms.means,
        forms.precisions, weights, slopes, gradient.means, gradient.log_variances, gradient.log_priors,
    )  # fmt: skip
    return gradient


@kernel
def _share(points, offsets, columns, mass, means, precisions, heights, values):
    """Fill `values` with the posteriors among the kernels that a point keeps, times their mass."""
    one = len(precisions) == 1
    for p in range(len(points)):
        start, end = offsets[p], offsets[p + 1]
        highest = -np.inf
        for i in range(start, end):
            m = columns[i]
            v = 0 if one else m
            far = 0.0
            for f in range(points.shape[1]):
                away = points[p, f] - means[m, f]
                far += away * away * precisions[v, f]
            values[i] = heights[m] - 0.5 * far
            highest = max(highest, values[i])
        total = 0.0
        for i in range(start, end):
            values[i] = np.exp(values[i] - highest)
            total += values[i]
        for i in range(start, end):
            values[i] *= mass[p] / total


@kernel
def _score(offsets, columns, values, weights, sums):
    for p in range(len(sums)):
        total = 0.0
        for i in range(offsets[p], offsets[p + 1]):
            total += weights[columns[i]] * values[i]
        sums[p] = total


@kernel
def _project(offsets, columns, values, slopes, gradient):
    for p in range(len(slopes)):
        for i in range(offsets[p], offsets[p + 1]):
            gradient[columns[i]] += slopes[p] * values[i]


@kernel
def _pull(
    first, last, points, offsets, columns, mass, values, means, precisions, weights, slopes, by_mean, by_variance,
    by_prior,
):  # fmt: skip
    """Add the gradients of points first … last - 1."""
    one = len(precisions) == 1
    for p in range(first, last):
        start, end = offsets[p], offsets[p + 1]
        if start == end or slopes[p] == 0.0:
            continue
        middle = 0.0  # the mean weight of the kernels that the point keeps
        for i in range(start, end):
            middle += weights[columns[i]] * values[i]
        middle /= mass[p]
        for i in range(start, end):
            m = columns[i]
            v = 0 if one else m
            pull = slopes[p] * values[i] * (weights[m] - middle)
            by_prior[m] += pull
            for f in range(points.shape[1]):
                away = points[p, f] - means[m, f]
                strain = away * precisions[v, f]
                by_mean[m, f] += pull * strain
                by_variance[v, f] += 0.5 * pull * (away * strain - 1.0)
