"""Penalties that hold curves to the line that they are anchored to: how far bins walk away from it, and which way.

A response is a line plus what bins add. What they add may walk from bin to bin, and pays for every step by its square
over the distance of the two bins in quantiles. So a walk costs the same however finely values are cut: with more and
more bins it becomes ``strength * ∫ (dδ/dq)² dq``, q being the share of the values that lie below.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from camber.arrays.types import F8, I8
from camber.bend.neighbours import Tie
from camber.errors import SettingsError

#: how many times more a step against the direction of a line costs than one with it, where it is to be monotone
AGAINST = 1000.0


@dataclass(frozen=True, eq=False)
class RandomWalk:
    """Let the weights of a chain walk: ``strength * Σ (w[j+1] - w[j])² / gap[j]``.

    `chains` int64[chains, 2] are ranges of weights, half-open, that do not overlap; `gaps` float64[weights of all
    chains] is the distance from each to the next one of its chain (of the last one it does not matter).

    >>> RandomWalk(1.0, [(0, 3)], np.array([0.5, 0.25, 0.0])).value_and_gradient(np.array([0.0, 1.0, 1.0]))
    (2.0, array([-4.,  4.,  0.]))
    """

    strength: float
    chains: npt.ArrayLike
    gaps: F8
    stiffness: F8 = field(init=False, repr=False)  # of the step from each weight to the one behind it

    def __post_init__(self) -> None:
        if not 0.0 <= self.strength < np.inf:
            raise SettingsError(f"the strength of a random walk is {self.strength}; expected at least 0")
        ranges = np.asarray(self.chains, np.int64).reshape(-1, 2)
        stiffness, at = np.zeros(max(1, int(ranges.max(initial=0)))), 0
        for first, last in ranges.tolist():
            inner = self.gaps[at : at + last - first - 1] if last > first else self.gaps[:0]
            if not (inner > 0.0).all():
                raise SettingsError("bins without any distance between them: their populations must be positive")
            stiffness[first : first + len(inner)] = self.strength / inner
            at += last - first
        object.__setattr__(self, "stiffness", stiffness)

    def ties(self) -> Sequence[Tie]:
        """Return the chains with their curvature, which is exact: the penalty is quadratic."""
        ties = []
        for first, last in np.asarray(self.chains, np.int64).reshape(-1, 2).tolist():
            if last - first > 1 and self.strength > 0.0:
                own = 2.0 * self.stiffness[first : last - 1]
                bands = np.zeros((2, last - first))
                bands[0, 1:] = -own
                bands[1, 1:] += own
                bands[1, :-1] += own
                ties.append(Tie(first, bands))
        return ties

    def value_and_gradient(self, weights: F8) -> tuple[float, F8]:
        """Return the penalty and its gradient."""
        steps = np.diff(weights[: len(self.stiffness)])
        slopes = 2.0 * self.stiffness[:-1] * steps
        gradient = np.zeros(len(weights))
        gradient[: len(steps)] -= slopes
        gradient[1 : len(steps) + 1] += slopes
        return 0.5 * float(slopes @ steps), gradient


@dataclass(frozen=True, eq=False)
class OneWay:
    """A random walk whose line may never turn: a step of the response against its line's direction costs far more.

    The step of the response from bin to bin is that of the line, ``w[line] * rises``, and that of the walk. What of it
    goes against the sign of the line's weight is squared, over the gap, times `strength`.
    """

    walk: RandomWalk
    strength: float
    lines: I8  # [weights of all chains]: the weight of the line that belongs to each
    rises: F8  # [weights of all chains]: what the line rises by from each to the next, for a weight of 1

    def ties(self) -> Sequence[Tie]:
        """Return those of the walk: which steps go the wrong way is not known beforehand."""
        return self.walk.ties()

    def value_and_gradient(self, weights: F8) -> tuple[float, F8]:
        """Return the penalty and its gradient."""
        value, gradient = self.walk.value_and_gradient(weights)
        at = 0
        for first, last in np.asarray(self.walk.chains, np.int64).reshape(-1, 2).tolist():
            inner = slice(at, at + max(0, last - first - 1))
            at += last - first
            if inner.stop == inner.start:
                continue
            line, rises = int(self.lines[inner.start]), self.rises[inner]
            sign = np.sign(weights[line])
            against = np.minimum(0.0, sign * (weights[line] * rises + np.diff(weights[first:last])))
            slopes = 2.0 * self.strength * sign * against / self.walk.gaps[inner]
            value += self.strength * float(against @ (against / self.walk.gaps[inner]))
            gradient[line] += float(slopes @ rises)
            gradient[first : last - 1] -= slopes
            gradient[first + 1 : last] += slopes
        return value, gradient
