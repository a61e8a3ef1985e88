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
import numpy.typing as npt

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
#: Beyond, the exponential of it is 0 or infinite.
_MOST_LEAST = 700.0


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
        if not (abs(self.least) <= _MOST_LEAST and math.isfinite(self.plus)):
            raise CamberError(
                f"{self.name}: a logarithm of at least {self.least}, after {self.plus} is added; expected numbers, the "
                f"former from {-_MOST_LEAST} to {_MOST_LEAST}"
            )

    @property
    def logarithmic(self) -> bool:
        """Whether a linear model takes its logarithm."""
        return self.kind in (PROBABILITY, COUNT)

    def linear(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return what a linear model multiplies by a weight, float64 of the same shape; NaN (absent) stays NaN."""
        if not self.logarithmic:
            return np.asarray(values, np.float64)
        table = np.array(values, np.float64).reshape(-1, 1)
        take_logarithms(table, *logarithms_of((self,)))
        return table.reshape(np.shape(values))


def names_of(features: Iterable[Feature]) -> tuple[str, ...]:
    """Return the names of features."""
    return tuple(feature.name for feature in features)


def linear_table(features: Sequence[Feature], values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return what a linear model takes of raw values float64[rows, features], as a new array."""
    table = np.array(values, np.float64, order="C")
    if any(feature.logarithmic for feature in features):
        take_logarithms(table, *logarithms_of(features))
    return table


def logarithms_of(
    features: Sequence[Feature],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return, for every feature, whether its logarithm is taken, what is added first, and the least argument and value.

    int64[features] of 0 or 1, and three times float64[features]: what kernels must know.
    """
    least = [feature.least for feature in features]
    return (
        np.array([feature.logarithmic for feature in features], np.int64),
        np.array([feature.plus for feature in features], np.float64),
        np.array([math.exp(value) for value in least], np.float64),
        np.array([math.log(math.exp(value)) for value in least], np.float64),
    )


@kernel
def take_logarithms(table, logarithmic, plus, smallest, least):
    """Replace columns of table float64[rows, width] by natural logarithms, in place; NaN stays NaN."""
    for row in range(len(table)):
        for column in range(len(logarithmic)):
            if logarithmic[column] != 0:
                value = table[row, column] + plus[column]
                table[row, column] = least[column] if value < smallest[column] else math.log(value)
