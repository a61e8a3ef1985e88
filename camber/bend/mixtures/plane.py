"""What kernels add where two features have some values: a plane through the space that a mixture is over, for people.

What a mixture adds, Σ λ p(m | h), depends on all features. Its mean over the others, given two of them, is again a sum
over kernels: by the mixture's own density it is Σ λ p(m | h₁, h₂), and diagonal covariances make that the posterior of
the same mixture without the other features. Nothing is approximated, but that what truncation drops is counted in, and
that of mixtures with very many kernels a sample is taken.

The two features that matter most are those whose plane explains the largest share of the variance of what is added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from camber.arrays.types import F8, I8
from camber.bend.mixtures.bend import MixtureBend
from camber.errors import CamberError
from camber.features.feature import names_of

#: kernels of the plane at most: of more, a sample
MOST_KERNELS = 4096
#: points drawn from the mixture that tell how much of the variance planes explain
_POINTS = 512
#: features of which pairs are formed at most: those that explain most by themselves
_CANDIDATES = 12
_ROWS = 1024  # points at a time


@dataclass(frozen=True, eq=False)
class Plane:
    """Two features, and the kernels of a mixture as these see them."""

    features: tuple[str, str]
    explained: float  # share of the variance of what the kernels add
    means: F8  # [kernels, 2], in the units of the features
    deviations: F8  # [kernels, 2], the bandwidth included
    reach: float  # of the deviations within which hypotheses are
    log_priors: F8  # [kernels]
    weights: F8  # [kernels], less their mean: the part of them that ranks
    kernels: I8  # [kernels]: their numbers in the mixture, from 0

    def at(self, x: F8, y: F8) -> tuple[F8, F8]:
        """Return what is added on average at points float64[n] of both features, and how many hypotheses are there.

        Both are float64[n]; the latter is a density up to a factor.
        """
        added, density = np.zeros(len(x)), np.zeros(len(x))
        for start in range(0, len(x), _ROWS):
            rows = slice(start, start + _ROWS)
            added[rows], _ = _mean_weight(self._logs(1.0, x[rows], y[rows]), self.weights)
            _, density[rows] = _mean_weight(self._logs(self.reach, x[rows], y[rows]), self.weights)
        return added, density

    def _logs(self, factor: float, *columns: F8) -> F8:
        logs = self.log_priors
        for side, values in enumerate(columns):
            logs = logs + _log_normal(values, self.means[:, side], factor * self.deviations[:, side])
        return logs

    def middle_range(self, side: int, outside: float = 0.005) -> tuple[float, float]:
        """Return between which values of a feature all hypotheses are but a small share at either end."""
        deviations = self.reach * self.deviations[:, side]
        low = float((self.means[:, side] - 6 * deviations).min())
        high = float((self.means[:, side] + 6 * deviations).max())
        values = np.linspace(low, high, 2001)
        logs = self.log_priors + _log_normal(values, self.means[:, side], deviations)
        mass = np.cumsum(np.exp(logs - logs.max()).sum(1))
        first, last = np.searchsorted(mass / mass[-1], [outside, 1.0 - outside])
        return float(values[max(0, first - 1)]), float(values[min(len(values) - 1, last)])


def plane_of(bend: MixtureBend, weights: F8, features: Sequence[str] = ()) -> Plane:
    """Return the plane of the two features that matter most; weights float64[kernels].

    One or both may be named in `features`.
    """
    return planes_of(bend, weights, features)[0]


def planes_of(bend: MixtureBend, weights: F8, features: Sequence[str] = ()) -> list[Plane]:
    """Return planes, the one first that explains most; with `features`, those through all of these."""
    names = names_of(bend.inputs)
    if unknown := [name for name in features if name not in names]:
        raise CamberError(f"no feature {', '.join(unknown)} in this model; known: {', '.join(names)}")
    if len(names) < 2 or len(set(features)) > 2:
        raise CamberError(f"a map has two features, not {len(set(features)) if features else len(names)}")
    chosen = _sample(bend.kernels.log_priors)
    means, log_priors = bend.kernels.means[chosen], bend.kernels.log_priors[chosen]
    spread = np.broadcast_to(bend.kernels.variances, bend.kernels.means.shape)[chosen]
    deviations = bend.bandwidth * np.sqrt(spread)
    ranking = weights[chosen] - weights.mean()
    points = _draw(means, deviations, log_priors)

    def logs_of(k: int) -> F8:
        return _log_normal(points[:, k], means[:, k], deviations[:, k])

    def variance(logs: F8) -> float:
        return float(_mean_weight(log_priors + logs, ranking)[0].var())

    wanted = [names.index(name) for name in dict.fromkeys(features)]
    everything, alone = np.zeros((len(points), len(means))), np.zeros(len(names))
    for k in range(len(names)):
        everything += (own := logs_of(k))
        alone[k] = variance(own)
    total = variance(everything)
    candidates = sorted({*np.argsort(-alone, kind="stable")[:_CANDIDATES].tolist(), *wanted})
    logs = {k: logs_of(k) for k in candidates}
    pairs = [pair for pair in combinations(candidates, 2) if set(wanted) <= set(pair)]
    shares = {pair: variance(logs[pair[0]] + logs[pair[1]]) / total if total else 0.0 for pair in pairs}
    planes = []
    for pair in sorted(pairs, key=lambda pair: -shares[pair]):
        first, second = sorted(pair, key=lambda k: -alone[k])  # what explains more by itself lies across
        at = [first, second]
        planes.append(
            Plane(
                (names[first], names[second]),
                min(1.0, shares[pair]),
                means[:, at] * bend.scale[at] + bend.centre[at],
                deviations[:, at] * bend.scale[at],
                min(1.0, _width(bend) / bend.bandwidth),
                log_priors,
                ranking,
                chosen,
            )
        )
    return planes


def _width(bend: MixtureBend) -> float:
    """Return the bandwidth at which the density of the mixture is about that of hypotheses.

    Kernels of maximum likelihood are as wide as that. Those with one covariance for all are hypotheses themselves, so
    the density is a Parzen estimate, whose windows are narrow.
    """
    return 1.0 if len(bend.kernels.variances) == len(bend.kernels) else 0.25


def _sample(log_priors: F8) -> I8:
    """Return the numbers of all kernels that are ever used or, of very many, of a random sample."""
    used = np.flatnonzero(np.isfinite(log_priors))
    if len(used) > MOST_KERNELS:
        used = np.sort(np.random.default_rng(1).choice(used, MOST_KERNELS, replace=False))
    return used


def _draw(means: F8, deviations: F8, log_priors: F8) -> F8:
    """Draw points from a mixture: each kernel as often as its prior says, as evenly as can be."""
    priors = np.exp(log_priors - log_priors.max())
    places = (np.arange(_POINTS) + 0.5) / _POINTS
    owners = np.minimum(np.searchsorted(np.cumsum(priors) / priors.sum(), places), len(means) - 1)
    noise = np.random.default_rng(1).normal(size=(_POINTS, means.shape[1]))
    return np.asarray(means[owners] + noise * deviations[owners])


def _log_normal(values: F8, means: F8, deviations: F8) -> F8:
    """Return log densities of one feature up to a constant: [n], [kernels], [kernels] → [n, kernels]."""
    return np.asarray(-0.5 * ((values[:, None] - means) / deviations) ** 2 - np.log(deviations))


def _mean_weight(logs: F8, weights: F8) -> tuple[F8, F8]:
    """Return the mean of weights by the posteriors of log densities float64[n, kernels], and the density: each [n]."""
    top = logs.max(1, keepdims=True)
    shares = np.exp(logs - top)
    sums = shares.sum(1)
    return (shares * weights).sum(1) / sums, np.exp(top[:, 0]) * sums
