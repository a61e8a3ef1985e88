"""Mixtures by maximum likelihood: one Gaussian, split in two again and again, each time trained by EM (nguyen2007).

fitted = fit_mixture(points, 1024)
fitted.mixture, fitted.rounds
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from camber.arrays.types import F8
from camber.bend.mixtures.expectation import Cloud, Sums, expect
from camber.bend.mixtures.leaves import checked
from camber.bend.mixtures.mixture import Mixture
from camber.engine import LOCAL, Engine
from camber.errors import SettingsError
from camber.progress import counting, log
from camber.settings import Settings, setting

#: A kernel with less mass than this, in points, is empty.
EMPTY = 1e-6
#: Splits beyond the fewest that could do: kernels that become empty are made up for.
_SPARE = 4


@dataclass(frozen=True)
class EmSettings(Settings):
    """How a mixture is trained."""

    iterations: int = setting(8, "rounds of EM after every split, at most", low=1)
    gain: float = setting(0.0005, "end them when the log likelihood of a point rises by less than this", low=0.0)
    floor: float = setting(0.001, "least variance, as a share of the feature's own", low=0.0)
    shift: float = setting(0.7, "standard deviations that both halves of a kernel are moved by", low=0.01)


class Round(NamedTuple):
    """One round of EM: how well the kernels that it began with explain the points."""

    kernels: int
    log_likelihood: float  # of a point, on average


class Fitted(NamedTuple):
    """A mixture, and how it came about."""

    mixture: Mixture
    rounds: tuple[Round, ...]


def fit_mixture(
    points: F8, kernels: int, settings: EmSettings | None = None, *, seed: int = 1, engine: Engine = LOCAL
) -> Fitted:
    """Fit a mixture of so many kernels to points float64[points, features].

    All kernels are split each time, as long as that gives no more than asked for; then those with the most mass. Empty
    ones are dropped before a split and at the end, so there may be fewer in the end. The same seed gives the same bytes
    on any engine.

    >>> points = np.concatenate([np.linspace(-1, 1, 50), np.linspace(7, 9, 50)])[:, None]
    >>> np.sort(fit_mixture(points, 2).mixture.means.round(2).ravel()).tolist()
    [0.0, 8.0]
    """
    settings = settings or EmSettings()
    points = checked(points, np.shape(points)[-1])
    if not 1 <= kernels <= len(points):
        raise SettingsError(f"{kernels} kernels for {len(points)} points; expected 1 to as many as points")
    rng = np.random.default_rng(seed)
    whole = points.var(0)
    floors = np.where(whole > 0, settings.floor * whole, 1.0)
    cloud = Cloud.of(points)
    mixture = Mixture(points.mean(0)[None], np.where(whole > 0, whole, 1.0)[None], np.zeros(1))
    rounds: list[Round] = []
    with counting("fit kernels", unit="rounds") as work:
        for _ in range((kernels - 1).bit_length() + _SPARE):
            if len(mixture) == kernels:
                break
            mixture = split(mixture, min(2 * len(mixture), kernels), settings.shift, rng)
            before = len(rounds)
            while len(rounds) < before + settings.iterations:
                sums = expect(mixture, cloud, engine=engine)
                work.add()
                rounds.append(Round(len(mixture), sums.log_likelihood / len(points)))
                mixture = maximise(mixture, sums, floors)
                if len(rounds) > before + 1 and rounds[-1].log_likelihood - rounds[-2].log_likelihood < settings.gain:
                    break
            log.info("mixture: %d kernels, log likelihood %.4f", *rounds[-1])
            mixture = _without_empty(mixture, len(points))
    return Fitted(mixture, tuple(rounds))


def maximise(mixture: Mixture, sums: Sums, floors: F8) -> Mixture:
    """Return the mixture that explains points best, given the posteriors; no variance is below `floors` [features].

    Empty kernels stay where they are, with the little prior that they have.
    """
    there = (sums.masses > EMPTY)[:, None]
    with np.errstate(divide="ignore"):
        log_priors = np.log(sums.masses / sums.masses.sum())
    return Mixture(
        np.where(there, sums.means, mixture.means),
        np.where(there, np.maximum(sums.variances, floors), np.broadcast_to(mixture.variances, mixture.means.shape)),
        log_priors,
    )


def split(mixture: Mixture, kernels: int, shift: float, rng: np.random.Generator) -> Mixture:
    """Split the kernels with the greatest priors in two, until there are so many (at most twice as many as now).

    Halves lie `shift` standard deviations on either side of the mean, along a diagonal of the features
    that is drawn.
    """
    heaviest = np.sort(np.argsort(-mixture.log_priors, kind="stable")[: kernels - len(mixture)])
    signs = rng.integers(0, 2, (len(heaviest), mixture.means.shape[1])) * 2.0 - 1.0
    moves = shift * signs * np.sqrt(mixture.variances[heaviest] / mixture.means.shape[1])
    means, log_priors = mixture.means.copy(), mixture.log_priors.copy()
    means[heaviest] -= moves
    log_priors[heaviest] -= np.log(2.0)
    return Mixture(
        np.concatenate([means, mixture.means[heaviest] + moves]),
        np.concatenate([mixture.variances, mixture.variances[heaviest]]),
        np.concatenate([log_priors, log_priors[heaviest]]),
    )


def _without_empty(mixture: Mixture, points: int) -> Mixture:
    there = mixture.log_priors > np.log(EMPTY / points)
    return Mixture(mixture.means[there], mixture.variances[there], mixture.log_priors[there])
