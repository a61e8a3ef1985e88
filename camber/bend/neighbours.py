"""Penalties that tie the weights of neighbouring bins (clark2014, 3.3), and what a penalty is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from camber.arrays.types import F8
from camber.errors import SettingsError


class Penalty(Protocol):
    """A function of weights float64[n] that is to be small."""

    def value_and_gradient(self, weights: F8) -> tuple[float, F8]:
        """Return the penalty and its gradient, float64[n]."""
        ...


class Tie(NamedTuple):
    """A chain of weights that are tied, and about how strongly: the curvature of the penalty along it."""

    first: int  # the first weight of the chain
    bands: F8  # [diagonals, weights]: a symmetric matrix, its upper triangle, as SciPy's banded solvers take it

    @property
    def chain(self) -> slice:
        """The weights that are tied."""
        return slice(self.first, self.first + self.bands.shape[1])


class Regulariser(Penalty, Protocol):
    """A penalty that ties weights to their neighbours."""

    def ties(self) -> Sequence[Tie]:
        """Return the chains of weights that are tied, with their curvature (at most, where it varies)."""
        ...


@dataclass(frozen=True, eq=False)
class LinearNeighbours:
    """Pull every weight to the middle of its two neighbours (LNR, clark2014 Eq. 9-10).

    The penalty is ``strength * Σ ((w[j-1] + w[j+1]) / 2 - w[j])²`` over the inner weights of every chain. `chains`
    int64[chains, 2] are half-open ranges of weights, one for each binned feature; the two ends of a chain have no term
    of their own, and nothing is compared across chains.

    >>> LinearNeighbours(1.0, [(0, 3)]).value_and_gradient(np.array([0.0, 3.0, 2.0]))
    (4.0, array([-2.,  4., -2.]))
    """

    strength: float
    chains: npt.ArrayLike
    inner: F8 = field(init=False, repr=False)  # 1 for a weight with two neighbours in its chain, else 0

    def __post_init__(self) -> None:
        _check_strength(self.strength, "LNR")
        object.__setattr__(self, "inner", _inner(self.chains))

    def ties(self) -> Sequence[Tie]:
        return second_differences(self.chains, self.strength)

    def value_and_gradient(self, weights: F8) -> tuple[float, F8]:
        left, middle, right = _triples(weights, self.inner)
        off = self.inner[1:-1] * (0.5 * (left + right) - middle)  # Eq. 9
        slope = self.strength * off  # half of the derivative by `off`, which each neighbour gets
        return self.strength * float(np.sum(off * off)), _spread(len(weights), slope, -2.0 * slope, slope)


@dataclass(frozen=True, eq=False)
class MonotoneNeighbours:
    """Pull a weight to the middle of its neighbours only where it leaves the range between them (MNR, Eq. 12-13).

    With ``n = (w[j-1] + w[j+1]) / 2 - w[j]`` and ``d = (w[j-1] - w[j+1]) / 2``, the penalty is
    ``strength * Σ tanh(|n / d|) ** (2 gamma) * n²``. A larger `gamma` makes the bath tub flatter within the range; at
    its rim (a weight equal to one neighbour) the damping is still ``0.76 ** (2 gamma)``.

    Where both neighbours are equal the damping is 1, its limit, and the term is n²; where the weight equals them too,
    the term and its gradient are 0. A term grows with the square of the common scale of (n, d), and its gradient with
    the scale itself: both are continuous everywhere for any gamma > 0. Second derivatives jump at n = d = 0.

    >>> monotone = MonotoneNeighbours(1.0, chains=[(0, 3)])
    >>> [round(monotone.value_and_gradient(np.array([0.0, w, 2.0]))[0], 3) for w in (1.1, 2.0, 5.0)]
    [0.0, 0.336, 15.957]
    """

    strength: float
    gamma: float = 2.0
    chains: npt.ArrayLike = ()
    inner: F8 = field(init=False, repr=False)  # 1 for a weight with two neighbours in its chain, else 0

    def __post_init__(self) -> None:
        _check_strength(self.strength, "MNR")
        if not 0.0 < self.gamma < np.inf:
            raise SettingsError(f"the steepness gamma of MNR is {self.gamma}; expected more than 0")
        object.__setattr__(self, "inner", _inner(self.chains))

    def ties(self) -> Sequence[Tie]:
        return second_differences(self.chains, self.strength)

    def value_and_gradient(self, weights: F8) -> tuple[float, F8]:
        left, middle, right = _triples(weights, self.inner)
        off = self.inner[1:-1] * (0.5 * (left + right) - middle)  # n; where it is 0, so is all that follows
        radius = 0.5 * (left - right)  # d
        far, reach = np.abs(off), np.abs(radius)
        # |n / d|, at most STEEP (beyond it all that depends on the ratio has reached its limit), and 0 for 0 / 0
        ratio = np.zeros(len(off))
        np.divide(far, reach, out=ratio, where=far < STEEP * reach)
        ratio[(far >= STEEP * reach) & (far > 0.0)] = STEEP
        damping = (np.tanh(ratio) ** 2) ** self.gamma  # D, Eq. 12
        # r dD/dr = 2 gamma D r / (sinh r cosh r), whose last factor is 1 at r = 0
        twice = 2.0 * ratio
        rise = np.ones(len(off))
        np.divide(twice, np.sinh(twice), out=rise, where=ratio > 0.0)
        rise *= 2.0 * self.gamma * damping
        by_off = off * (2.0 * damping + rise)  # d(D n²)/dn
        by_radius = -np.sign(radius) * far * ratio * rise  # d(D n²)/dd
        half = 0.5 * self.strength
        return self.strength * float(np.sum(damping * off * off)), _spread(
            len(weights),
            half * (by_off + by_radius),
            -self.strength * by_off,
            half * (by_off - by_radius),
        )


#: A ratio beyond which tanh is 1 and all derivatives by the ratio are 0 in floating point, and sinh is still finite.
STEEP = 300.0


def second_differences(chains: npt.ArrayLike, strength: float) -> list[Tie]:
    """Return the curvature of ``strength * Σ ((w[j-1] + w[j+1]) / 2 - w[j])²`` over the inner weights of chains.

    >>> second_differences([(0, 3)], 1.0)[0].bands.tolist()
    [[0.0, 0.0, 0.5], [0.0, -1.0, -1.0], [0.5, 2.0, 0.5]]
    """
    ties = []
    for first, last in np.asarray(chains, np.int64).reshape(-1, 2).tolist():
        if last - first > 2 and strength > 0.0:
            bands = np.zeros((3, last - first))  # second diagonal, first, main
            bands[2, 1:-1] += 2.0 * strength
            bands[2, :-2] += 0.5 * strength
            bands[2, 2:] += 0.5 * strength
            bands[1, 1:-1] -= strength
            bands[1, 2:] -= strength
            bands[0, 2:] += 0.5 * strength
            ties.append(Tie(first, bands))
    return ties


def _check_strength(strength: float, name: str) -> None:
    if not 0.0 <= strength < np.inf:
        raise SettingsError(f"the strength of {name} is {strength}; expected at least 0")


def _inner(chains: npt.ArrayLike) -> F8:
    """Mark the weights that have a neighbour on both sides within their chain: 1 or 0, up to the end of the chains."""
    ranges = np.asarray(chains, np.int64).reshape(-1, 2)
    rising = ranges[np.lexsort((ranges[:, 1], ranges[:, 0]))]
    if (ranges[:, 0] < 0).any() or (ranges[:, 0] > ranges[:, 1]).any() or (rising[:-1, 1] > rising[1:, 0]).any():
        raise SettingsError(f"chains of bins must be ranges of weights that do not overlap, not {ranges.tolist()}")
    inner = np.zeros(max(2, int(ranges.max(initial=0))))
    for first, end in ranges.tolist():
        inner[first + 1 : max(first + 1, end - 1)] = 1.0
    return inner


def _triples(weights: F8, inner: F8) -> tuple[F8, F8, F8]:
    """Return all weights but the first and the last with their neighbours; slices, since picking costs more."""
    end = len(inner)
    if len(weights) < end and end > 2:
        raise SettingsError(f"a chain of bins reaches weight {end - 1}, but there are {len(weights)}")
    return weights[: end - 2], weights[1 : end - 1], weights[2:end]


def _spread(size: int, left: F8, middle: F8, right: F8) -> F8:
    """Add the derivatives by the three weights of every term into one gradient, float64[size]."""
    gradient = np.zeros(size)
    terms = len(middle)
    gradient[1 : terms + 1] = middle
    gradient[:terms] += left
    gradient[2 : terms + 2] += right
    return gradient
