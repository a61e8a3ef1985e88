"""The learnt response of one feature: what each of its bins adds to the score, and what shape that makes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from camber.arrays.types import F8, I8, Bools
from camber.errors import CamberError
from camber.numbers import is_whole

#: the columns of :meth:`Response.to_rows`
COLUMNS = ("feature", "bin", "low", "high", "population", "value")

#: steps below this share of the response's range are what an optimiser leaves, not a change of direction
_STILL = 1e-6


@dataclass(frozen=True)
class LogCurve:
    """The curve ``level + slope ln(x)`` that is nearest to a response."""

    level: float
    slope: float
    explained: float | None  # share of the variance (R²); None where the response does not vary
    bins: int  # how many bins have positive values: the curve is fitted to these

    def __call__(self, x: npt.ArrayLike) -> F8:
        """Return the curve at positive `x`."""
        return np.asarray(self.level + self.slope * np.log(np.asarray(x, np.float64)))


@dataclass(frozen=True, eq=False)
class Response:
    """One value for each bin of a feature, bins in rising order.

    `lows` and `highs` are the lowest and highest value that was seen in a bin, float64[bins] (equal: one value);
    `populations` says how many values it was made from, int64[bins]; `values` is what the bin adds to the score: in its
    middle, where edges are soft and there is a `curve`.

    >>> response = Response("p", [0.1, 0.2, 0.4, 0.8], [0.1, 0.3, 0.5, 1.0], [5, 5, 5, 5], [-2.0, -1.0, -1.5, 0.0])
    >>> response.direction, response.violations.tolist()
    (1, [False, False, True, False])
    """

    feature: str
    lows: F8
    highs: F8
    populations: I8
    values: F8
    curve: F8 | None = None  # [points, 2]: x rising, and what it adds; where bins have soft edges

    def __post_init__(self) -> None:
        """Make arrays of what was given, and refuse what is no response."""
        for name, kind in (("lows", np.float64), ("highs", np.float64), ("populations", np.int64),
                           ("values", np.float64)):  # fmt: skip
            given = getattr(self, name)
            array: npt.NDArray[np.generic] = np.array(given, kind)
            if array.ndim != 1 or len(array) != np.size(self.values) or not len(array):
                raise CamberError(
                    f"response of {self.feature}: {name} of shape {array.shape}; expected one entry for each of its "
                    f"{np.size(self.values)} bins, and at least one bin"
                )
            if not np.isfinite(array).all():
                raise CamberError(f"response of {self.feature}: {name} are not all finite: there is no curve to draw")
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        if self.curve is not None and not np.isfinite(self.curve).all():
            raise CamberError(f"response of {self.feature}: its curve is not all finite: there is nothing to draw")
        if (self.highs < self.lows).any() or (self.lows[1:] < self.highs[:-1]).any():
            raise CamberError(f"response of {self.feature}: bins overlap or are not in rising order")
        if (self.populations < 0).any():
            raise CamberError(f"response of {self.feature}: a bin has a population below 0")

    def __len__(self) -> int:
        """Return the number of bins."""
        return len(self.values)

    @cached_property
    def positions(self) -> F8:
        """Where the bins stand on the axis, float64[bins]: the middle of the range.

        It is the geometric middle where the whole range is positive, as befits skewed probabilities and counts.
        """
        middles = self.lows / 2 + self.highs / 2
        positive = self.lows > 0
        middles[positive] = np.sqrt(self.lows[positive]) * np.sqrt(self.highs[positive])
        # rounding must not move a middle out of its bin
        return np.asarray(np.clip(middles, self.lows, self.highs))

    @cached_property
    def spread(self) -> float:
        """The distance between the highest and the lowest value of the response."""
        return float(self.values.max() - self.values.min())

    @cached_property
    def straight(self) -> bool:
        """Whether the response is a line over the middles of three bins or more, as of a feature that did not bend."""
        middles = self.lows / 2 + self.highs / 2
        if len(self) < 3 or self.spread == 0.0 or not middles[-1] - middles[0] < np.inf:
            return False
        slope = (self.values[-1] - self.values[0]) / (middles[-1] - middles[0])
        away = self.values - self.values[0] - slope * (middles - middles[0])
        return bool(np.abs(away).max() < _STILL * self.spread)

    @cached_property
    def direction(self) -> int:
        """1 if the response rises on the whole, -1 if it falls, 0 if it is flat.

        That is the sign of the covariance of response and rank (weighted by population): any monotone change of the
        feature's scale leaves it as it is. A response that rises as much as it falls counts as rising.
        """
        if self.spread == 0.0:
            return 0
        weights = self.populations if self.populations.any() else np.ones(len(self))
        shares = weights / weights.sum()
        ranks = np.cumsum(shares) - shares / 2
        steady = (self.values - self.values.min()) / self.spread
        covariance = float(np.sum(shares * (ranks - 0.5) * (steady - np.sum(shares * steady))))
        return -1 if covariance < -1e-12 else 1

    @cached_property
    def violations(self) -> Bools:
        """Which bins go against the direction: they lie on the wrong side of the bin before, bool[bins]."""
        against = np.zeros(len(self), np.bool_)
        against[1:] = self.direction * np.diff(self.values) < -_STILL * self.spread
        return against

    @cached_property
    def log_curve(self) -> LogCurve | None:
        """The nearest ``a + b ln(x)`` by least squares, weighted by population, over the bins at positive values.

        None where it cannot be fitted; :attr:`no_log_curve` says why.
        """
        if self.no_log_curve:
            return None
        used = (self.positions > 0) & (self.populations > 0)
        x, y = np.log(self.positions[used]), self.values[used]
        shares = self.populations[used] / self.populations[used].sum()
        x0, y0 = float(shares @ x), float(shares @ y)
        slope = float(shares @ ((x - x0) * (y - y0))) / float(shares @ (x - x0) ** 2)
        level = y0 - slope * x0
        total = float(shares @ (y - y0) ** 2)
        left = float(shares @ (y - level - slope * x) ** 2)
        varies = total > (1e-12 * float(np.abs(y).max())) ** 2
        return LogCurve(level, slope, max(0.0, 1.0 - left / total) if varies else None, int(used.sum()))

    @cached_property
    def no_log_curve(self) -> str:
        """Why no log curve can be fitted; empty where one can."""
        positive = self.positions > 0
        if not positive.any():
            return "no positive values"
        used = np.log(self.positions[positive & (self.populations > 0)])
        if len(used) < 2:
            return "positive values in one bin only" if len(used) else "no population at positive values"
        if math.isclose(used[0], used[-1], rel_tol=1e-12, abs_tol=1e-12):
            return "positive values too close to each other"
        return ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON: bin `j` has the values from ``edges[j - 1]`` on and below ``edges[j]``.

        Where edges are soft, the points of the curve are there, too.

        >>> Response("p", [0.1, 0.2], [0.1, 0.3], [5, 5], [-2.0, -1.0]).to_dict()["edges"]
        [0.2]
        """
        return {
            "feature": self.feature,
            "edges": self.lows[1:].tolist(),
            "lows": self.lows.tolist(),
            "highs": self.highs.tolist(),
            "populations": self.populations.tolist(),
            "values": self.values.tolist(),
            **({} if self.curve is None else {"curve": self.curve.tolist()}),
        }

    def to_rows(self) -> list[list[str]]:
        """Return a row of text for each bin, with the columns :data:`COLUMNS`; numbers are exact."""
        return [
            [self.feature, str(k), repr(low), repr(high), str(population), repr(value)]
            for k, (low, high, population, value) in enumerate(
                zip(
                    self.lows.tolist(),
                    self.highs.tolist(),
                    self.populations.tolist(),
                    self.values.tolist(),
                    strict=True,
                )
            )
        ]

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[str]]) -> list[Response]:
        """Make responses of the rows that :meth:`to_rows` gave, features in order of their first row."""
        features: dict[str, list[tuple[float, float, int, float]]] = {}
        for row in rows:
            if len(row) != len(COLUMNS):
                raise CamberError(f"a response row of {len(row)} columns; expected {', '.join(COLUMNS)}")
            feature, number, low, high, population, value = row
            bins = features.setdefault(feature, [])
            try:
                if not (is_whole(population) and is_whole(number)):
                    raise ValueError
                bins.append((float(low), float(high), int(population), float(value)))
                in_order = int(number) == len(bins) - 1
            except ValueError:
                raise CamberError(f"response of {feature}: {' '.join(row[1:])!r} are not all numbers") from None
            if not in_order:
                raise CamberError(f"response of {feature}: bin {number} where bin {len(bins) - 1} is expected")
        return [
            cls(feature, *(np.array(column) for column in zip(*bins, strict=True)))
            for feature, bins in features.items()
        ]
