"""Regularisers: a penalty on weights with its gradient, to be added to a loss that is minimised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from camber.errors import SettingsError
from camber.tune.data import Array


class Regulariser(Protocol):
    """A penalty on weights float64[n]."""

    def value_and_gradient(self, weights: Array) -> tuple[float, Array]:
        """Return the penalty and its gradient, float64[n]."""
        ...


@dataclass(frozen=True)
class L2:
    """A Gaussian prior: ``strength / 2 * |weights - centre|²``; the centre is 0 unless given.

    >>> L2(2.0).value_and_gradient(np.array([3.0]))
    (9.0, array([6.]))
    """

    strength: float
    centre: Array | None = None

    def __post_init__(self) -> None:
        if not self.strength >= 0.0 or not np.isfinite(self.strength):
            raise SettingsError(f"the strength of L2 is {self.strength}; expected at least 0")

    def value_and_gradient(self, weights: Array) -> tuple[float, Array]:
        away = weights if self.centre is None else weights - self.centre
        return 0.5 * self.strength * float(away @ away), self.strength * away


@dataclass(frozen=True)
class Sum:
    """Several penalties at once."""

    parts: tuple[Regulariser, ...]

    def value_and_gradient(self, weights: Array) -> tuple[float, Array]:
        total, slope = 0.0, np.zeros(len(weights))
        for part in self.parts:
            value, gradient = part.value_and_gradient(weights)
            total += value
            slope += gradient
        return total, slope
