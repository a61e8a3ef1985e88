"""Mixtures of Gaussians with diagonal covariances, and the posteriors of their kernels (nguyen2007, section 3.4.3).

A posterior is w N(h; μ, C) / Σ w N(h; μ, C), the sum over all kernels. Only the few greatest of a point are kept, as
the row of a sparse matrix, and it is told how much of the mass the others had.

Points and means are taken as they are: where features differ in scale, scale both before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from camber.arrays.types import F8, I8
from camber.bend.mixtures.leaves import Space, checked
from camber.bend.mixtures.posteriors import Posteriors, Truncation, posteriors_of
from camber.engine import LOCAL, Engine
from camber.errors import CamberError, SettingsError


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
        if not (kernels and features):
            raise CamberError(f"a mixture of {kernels} kernels with {features} features; expected one of each at least")
        if self.variances.shape not in ((kernels, features), (1, features)):
            raise CamberError(f"variances of shape {self.variances.shape} for means of shape {self.means.shape}")
        if self.log_priors.shape != (kernels,) or (self.owners is not None and self.owners.shape != (kernels,)):
            raise CamberError(f"priors and owners must be as many as kernels, {kernels}")
        checked(self.means, features)
        if not (self.log_priors < np.inf).all():
            raise CamberError("a kernel whose prior is no number")
        if not (np.isfinite(self.variances) & (self.variances > 0)).all():
            raise CamberError("a kernel with a variance that is not above 0; use a floor")

    def __len__(self) -> int:
        """Return the number of kernels."""
        return len(self.means)

    def space(self, bandwidth: float = 1.0) -> Space:
        """Return the kernels by place, with all standard deviations multiplied by `bandwidth`."""
        return Space.make(self.means, bandwidth * np.sqrt(self.variances), self.log_priors, self.owners)

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
        """Return the fewest posteriors of every point float64[points, features] that hold the share `mass` of all.

        There are at most `most` of them. All standard deviations are multiplied by `bandwidth` (variances by its
        square). `owners` int64[points] are the sentences of points: kernels of the same sentence are left out, as if
        their prior were 0; -1 is nobody's. A point that no kernel is left for has an empty row, of which nothing was
        dropped.
        """
        if not (bandwidth > 0 and np.isfinite(bandwidth)):
            raise SettingsError(f"bandwidth {bandwidth}: expected a number above 0")
        if not 0 < mass <= 1:
            raise SettingsError(f"mass {mass}: expected a share above 0 and at most 1")
        if most < 1:
            raise SettingsError(f"at most {most} posteriors of a point; expected 1 or more")
        points = checked(points, self.means.shape[1])
        if owners is not None and np.shape(owners) != (len(points),):
            raise CamberError(f"{len(owners)} owners for {len(points)} points")
        whose = owners if self.owners is not None else None
        truncation = Truncation(mass, min(most, len(self)), len(self))
        return posteriors_of(self.space(bandwidth), points, whose, truncation, engine)
