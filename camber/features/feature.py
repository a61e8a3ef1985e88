"""A feature: its name, what kind of number it is, and when it is known.

One name means one value in one unit everywhere. Values are kept raw: a probability is a number from 0 to 1, a count a
whole number. What a linear model multiplies by a weight is made of them by a bend, the plainest of which takes
logarithms (:meth:`Feature.linear`).

    Feature("p_t_given_s", PROBABILITY, RULE)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from camber.arrays.types import F8, I8
from camber.errors import CamberError
from camber.kernel import kernel

#: Kinds. A number is taken as it is, an indicator is 0 or 1.
PROBABILITY, COUNT, NUMBER, INDICATOR = "probability", "count", "number", "indicator"
KINDS = (PROBABILITY, COUNT, NUMBER, INDICATOR)
#: Scopes: known before the search, when a part is placed, or only at the end.
RULE, CONTEXT, HYPOTHESIS = "rule", "context", "hypothesis"
SCOPES = (RULE, CONTEXT, HYPOTHESIS)
#: The logarithm of what is impossible: -inf times 0 would be a NaN.
LEAST = -100.0


@dataclass(frozen=True)
class Feature:
    """A name with a kind and a scope.

    >>> Feature("p", PROBABILITY, RULE).linear(np.array([1.0, 0.0, np.nan])).tolist()
    [0.0, -100.0, nan]
    """

    name: str
    kind: str = NUMBER
    scope: str = HYPOTHESIS
    least: float = LEAST  # what the logarithm of a probability or count is at least
    plus: float = 0.0  # what is added to a count before its logarithm is taken

    def __post_init__(self) -> None:
        if self.kind not in KINDS or self.scope not in SCOPES:
            raise CamberError(
                f"{self.name}: a feature of the kind {self.kind!r} and the scope {self.scope!r}; expected one of "
                f"{', '.join(KINDS)} and of {', '.join(SCOPES)}"
            )

    @property
    def logarithmic(self) -> bool:
        """Whether a linear model takes its logarithm."""
        return self.kind in (PROBABILITY, COUNT)

    def linear(self, values: F8) -> F8:
        """Return what a linear model multiplies by a weight, float64 of the same shape; NaN (absent) stays NaN."""
        if not self.logarithmic:
            return np.asarray(values, np.float64)
        table = np.array(values, np.float64).reshape(-1, 1)
        take_logarithms(table, *_rules((self,)))
        return table.reshape(np.shape(values))


def names_of(features: Iterable[Feature]) -> tuple[str, ...]:
    """Return the names of features."""
    return tuple(feature.name for feature in features)


def linear_table(features: Sequence[Feature], values: F8) -> F8:
    """Return what a linear model takes of raw values float64[rows, features], as a new array."""
    table = np.array(values, np.float64, order="C")
    if any(feature.logarithmic for feature in features):
        take_logarithms(table, *_rules(features))
    return table


def _rules(
    features: Sequence[Feature],
) -> tuple[I8, F8, F8, F8]:
    """Return the columns whose logarithms are taken, what is added first, the smallest argument, and its logarithm."""
    chosen = [column for column, feature in enumerate(features) if feature.logarithmic]
    least = np.array([features[column].least for column in chosen], np.float64)
    plus = np.array([features[column].plus for column in chosen], np.float64)
    smallest = np.array([math.exp(value) for value in least.tolist()], np.float64)
    return np.array(chosen, np.int64), plus, smallest, np.array([math.log(x) for x in smallest.tolist()], np.float64)


@kernel
def take_logarithms(table, columns, plus, smallest, least):
    """Replace some columns of table float64[rows, width] by natural logarithms, in place; NaN stays NaN."""
    for row in range(len(table)):
        for k in range(len(columns)):
            value = table[row, columns[k]] + plus[k]
            table[row, columns[k]] = least[k] if value < smallest[k] else math.log(value)
