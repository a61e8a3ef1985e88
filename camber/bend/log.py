"""The plainest bend: a weight for each logarithm of a probability or count. That is the classical linear model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from camber.arrays.types import F8, I8
from camber.bend.bend import LOCAL, Design, Seen
from camber.bend.neighbours import Regulariser
from camber.bend.response import Response
from camber.bend.settings import BendSettings
from camber.features.feature import Feature, logarithms_of, names_of
from camber.features.parts import Parts
from camber.kernel import kernel

if TYPE_CHECKING:
    from camber.bend.trees.context import ContextTrees
    from camber.bend.trees.description import WeighedTree
    from camber.bend.weighing import Weighing


@dataclass(frozen=True, eq=False)
class LogBend:
    """A weight for every input: for its logarithm, if it is a probability or a count.

    >>> bend = LogBend((Feature("p", "probability", "rule"),))
    >>> bend.worth("p", np.array([1.0, 0.5]), np.array([2.0])).round(3).tolist()
    [0.0, -1.386]
    """

    inputs: tuple[Feature, ...]
    FILE: ClassVar[str] = ""
    kind: ClassVar[str] = "none"
    scope: ClassVar[str] = LOCAL
    width: ClassVar[int] = 0
    grows: ClassVar[bool] = False

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the inputs."""
        return names_of(self.inputs)

    @classmethod
    def settings(cls, kind: str) -> tuple[str, ...]:
        """Return none: there is nothing to set."""
        return ()

    @classmethod
    def make(cls, kind: str, inputs: Sequence[Feature], seen: Seen, settings: BendSettings) -> LogBend:
        """Make it; nothing is to be learnt from values."""
        return cls(tuple(inputs))

    def start(self, old: Weighing, seen: Seen) -> dict[str, float]:
        """Return the slopes of the straight lines through what the logarithms of values were worth."""
        weights = old.linear_by_name()
        for feature in self.inputs:
            if feature.name in seen:
                values, often = seen[feature.name]
                weights[feature.name] = slope(feature.linear(values), old.worth(feature.name, values), often)
        return weights

    def linear_weights(self, weights: F8) -> F8:
        """Return the weights."""
        return weights.copy()

    def rule_worth(self, values: F8, columns: I8, weights: F8) -> F8:
        """Return the weighted sums of logarithms, float64[rules]."""
        worth = np.empty(len(values))
        _weigh(
            np.ascontiguousarray(values, np.float64),
            weights[columns],
            *logarithms_of([self.inputs[column] for column in columns.tolist()]),
            worth,
        )
        return worth

    def worth(self, name: str, values: F8, weights: F8) -> F8:
        """Return the weight of an input times its logarithms, float64[values]."""
        place = self.names.index(name)
        return np.asarray(weights[place] * self.inputs[place].linear(values))

    def beyond_linear(self, name: str, values: F8, weights: F8) -> F8:
        """Return zeros: there is nothing beyond."""
        return np.zeros(len(values))

    def in_context(self, columns: I8, weights: F8) -> ContextTrees | None:
        """Return nothing: all is known before the search."""
        return None

    def design(self, parts: Parts, offsets: I8) -> Design:
        """Return the sums of logarithms over the parts of every hypothesis."""
        return Design(np.nan_to_num(parts.linear_sums(offsets), copy=False), None)

    def penalty(self, settings: BendSettings, tuned: Sequence[str]) -> Regulariser | None:
        """Tie nothing."""
        return None

    def show(self, weights: Mapping[str, float]) -> list[Response]:
        """Return no curves: all of them are straight."""
        return []

    def trees(self, weights: Mapping[str, float]) -> list[WeighedTree]:
        """There are none."""
        return []

    def write(self, path: str | Path) -> None:
        """Write nothing: a model without the file of a bend has this one."""

    @classmethod
    def read(cls, path: str | Path, inputs: Sequence[Feature] | None = None) -> LogBend:
        """Return the bend of a model that has no file for one."""
        return cls(tuple(inputs or ()))


def slope(x: F8, y: F8, often: I8) -> float:
    """Return the slope of the weighted least squares line of y over x; through the origin where x does not vary.

    Without any value there is nothing to go by, and the slope is 0.
    """
    if not len(x):
        return 0.0
    middle = float(np.average(x, weights=often))
    if (x == middle).all():
        return float(np.average(y, weights=often)) / middle if middle else 0.0
    x = x - middle
    spread = float((often * x * x).sum())
    return float((often * x * y).sum()) / spread if spread > 0 else 0.0


@kernel
def _weigh(values, weights, logarithmic, plus, smallest, least, worth):
    """Fill worth float64[rules]; `logarithmic` int64[columns] says of which columns logarithms are taken."""
    rules, width = values.shape
    for rule in range(rules):
        total = 0.0
        for column in range(width):
            value = values[rule, column]
            if weights[column] != 0.0 and value == value:
                if logarithmic[column] != 0:
                    value += plus[column]
                    value = least[column] if value < smallest[column] else np.log(value)
                total += weights[column] * value
        worth[rule] = total
