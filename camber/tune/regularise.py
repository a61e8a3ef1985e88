"""Regularisers: a penalty on weights with its gradient, to be added to a loss that is minimised."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from camber.arrays.types import F8
from camber.bend.neighbours import Penalty, Tie
from camber.errors import SettingsError

#: How many pairs PRO keeps of a sentence. Other tuners divide a regulariser by it (and, where their objective is not
#: summed, by the number of sentences), so that its strength means about the same to all of them.
PAIRS = 50


@dataclass(frozen=True)
class L2:
    """A Gaussian prior: ``strength / 2 * |weights - centre|²``; the centre is 0 unless given.

    >>> L2(2.0).value_and_gradient(np.array([3.0]))
    (9.0, array([6.]))
    """

    strength: float
    centre: F8 | None = None

    def __post_init__(self) -> None:
        if not self.strength >= 0.0 or not np.isfinite(self.strength):
            raise SettingsError(f"the strength of L2 is {self.strength}; expected at least 0")

    def ties(self) -> list[Tie]:
        return []

    def value_and_gradient(self, weights: F8) -> tuple[float, F8]:
        away = weights if self.centre is None else weights - self.centre
        return 0.5 * self.strength * float(away @ away), self.strength * away


@dataclass(frozen=True)
class Home:
    """A Gaussian prior around weights, each in its own unit: ``strength / 2 * |(weights - centre) * scales|²``.

    >>> Home(2.0, np.array([1.0]), np.array([10.0])).value_and_gradient(np.array([1.5]))
    (25.0, array([100.]))
    """

    strength: float
    centre: F8
    scales: F8

    def value_and_gradient(self, weights: F8) -> tuple[float, F8]:
        away = (weights - self.centre) * self.scales
        return 0.5 * self.strength * float(away @ away), self.strength * away * self.scales


@dataclass(frozen=True)
class Scaled:
    """A penalty times a number."""

    penalty: Penalty
    factor: float

    def value_and_gradient(self, weights: F8) -> tuple[float, F8]:
        value, gradient = self.penalty.value_and_gradient(weights)
        return self.factor * value, self.factor * gradient


@dataclass(frozen=True)
class Sum:
    """Several penalties at once."""

    parts: tuple[Penalty, ...]

    def value_and_gradient(self, weights: F8) -> tuple[float, F8]:
        total, slope = 0.0, np.zeros(len(weights))
        for part in self.parts:
            value, gradient = part.value_and_gradient(weights)
            total += value
            slope += gradient
        return total, slope
