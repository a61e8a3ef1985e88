"""Mixtures of Gaussians with diagonal covariances, and the posteriors of their kernels (nguyen2007, section 3.4.3).

A posterior is w N(h; μ, C) / Σ w N(h; μ, C), the sum over all kernels. Only the few greatest of a point are kept, as
the row of a sparse matrix, and it is told how much of the mass the others had.

Points and means are taken as they are: where features differ in scale, scale both before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.sparse import Counts
from camber.arrays.types import F8, I8
from camber.engine import LOCAL, Engine, split_evenly
from camber.errors import CamberError, SettingsError

#: Points of one piece of work.
_BLOCK = 64


class Posteriors(NamedTuple):
    """The greatest posteriors of every point."""

    sparse: Counts  # [points, kernels], columns rising
    dropped: F8  # [points]: the share of the mass that was left out, exact up to rounding


@dataclass(frozen=True, eq=False)
class Mixture:
    """Gaussian kernels with diagonal covariances.

    >>> mixture = Mixture(np.array([[0.0], [2.0]]), np.ones((1, 1)), np.log([0.5, 0.5]))
    >>> kept = mixture.posteriors(np.array([[0.0], [1.0]]), mass=0.85)
    >>> (100 * kept.sparse.dense()).round().tolist(), kept.dropped.round(2).tolist()
    ([[88.0, 0.0], [50.0, 50.0]], [0.12, 0.0])
    """

    means: F8  # [kernels, features]
    variances: F8  # [kernels, features], or [1, features]: one for all
    log_priors: F8  # [kernels], -inf: a kernel that is never used
    owners: I8 | None = None  # [kernels]: the sentence that a kernel comes from, -1: none

    def __post_init__(self) -> None:
        kernels, features = self.means.shape
        if self.variances.shape not in ((kernels, features), (1, features)):
            raise CamberError(f"variances of shape {self.variances.shape} for means of shape {self.means.shape}")
        if self.log_priors.shape != (kernels,) or (self.owners is not None and self.owners.shape != (kernels,)):
            raise CamberError(f"priors and owners must be as many as kernels, {kernels}")
        if not np.isfinite(self.means).all() or np.isnan(self.log_priors).any():
            raise CamberError("a kernel whose mean or prior is not a number")
        if not (np.isfinite(self.variances).all() and (self.variances > 0).all()):
            raise CamberError("a kernel with a variance that is not above 0; use a floor")

    def __len__(self) -> int:
        """Return the number of kernels."""
        return len(self.means)

    def posteriors(
        self,
        points: F8,
        *,
        bandwidth: float = 1.0,
        mass: float = 0.99,
        most: int = 256,
        owners: I8 | None = None,
        engine: Engine = LOCAL,
    ) -> Posteriors:
        """Return the fewest posteriors of every point that hold the share `mass` of all, at most `most`.

        All standard deviations are multiplied by `bandwidth` (variances by its square). `owners` int64[points] are the
        sentences of points: kernels of the same sentence are left out, as if their prior were 0. A point that no kernel
        is left for has an empty row, of which nothing was dropped.
        """
        if not (bandwidth > 0 and np.isfinite(bandwidth)):
            raise SettingsError(f"bandwidth {bandwidth}: expected a number above 0")
        if not 0 < mass <= 1:
            raise SettingsError(f"mass {mass}: expected a share above 0 and at most 1")
        if most < 1:
            raise SettingsError(f"at most {most} posteriors of a point; expected 1 or more")
        points = np.ascontiguousarray(points, np.float64)
        if points.ndim != 2 or points.shape[1] != self.means.shape[1]:
            raise CamberError(f"points of shape {points.shape}; expected {self.means.shape[1]} features")
        if not np.isfinite(points).all():
            raise CamberError(f"point {int(np.argmin(np.isfinite(points).all(1)))} has a feature that is not a number")
        if owners is not None and owners.shape != (len(points),):
            raise CamberError(f"{len(owners)} owners for {len(points)} points")
        shared = (self, points, bandwidth, mass, most, owners)
        pieces = split_evenly(len(points), -(-len(points) // _BLOCK)) if len(points) else []
        blocks = list(engine.map(_posteriors_of_block, shared, pieces))
        dropped = np.concatenate([np.zeros(0), *(block.dropped for block in blocks)])
        return Posteriors(Counts.join([block.sparse for block in blocks], len(self)), dropped)


def _posteriors_of_block(shared: tuple, piece: range) -> Posteriors:
    mixture, points, bandwidth, mass, most, owners = shared
    block = points[piece.start : piece.stop]
    scaled = mixture.variances * bandwidth**2
    distances = ((block[:, None, :] - mixture.means) ** 2 / scaled).sum(2)
    logs = mixture.log_priors - 0.5 * np.log(scaled).sum(1) - 0.5 * distances
    if owners is not None and mixture.owners is not None:
        own = owners[piece.start : piece.stop, None]
        logs[(own == mixture.owners) & (own >= 0)] = -np.inf
    best = logs.max(1, initial=-np.inf, keepdims=True)
    shares = np.exp(logs - np.where(np.isfinite(best), best, 0.0))
    shares /= np.maximum(shares.sum(1, keepdims=True), 1.0 * ~np.isfinite(best))
    order = np.argsort(-shares, axis=1, kind="stable")[:, :most]
    sums = np.cumsum(np.take_along_axis(shares, order, 1), 1)
    before = np.concatenate([np.zeros((len(block), 1)), sums[:, :-1]], 1)
    kept = (before < mass) & (np.take_along_axis(shares, order, 1) > 0)
    rows = [np.sort(columns[keep]) for columns, keep in zip(order, kept, strict=True)]
    values = [share[columns] for share, columns in zip(shares, rows, strict=True)]
    dropped = np.array([max(0.0, 1.0 - v.sum()) if len(v) else 0.0 for v in values])
    sparse = Counts(
        len(mixture),
        offsets_from(map(len, rows)),
        np.concatenate(rows).astype(np.int32),
        np.concatenate(values).astype(np.float32),
    )
    return Posteriors(sparse, dropped)
