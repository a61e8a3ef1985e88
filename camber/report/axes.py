"""Axes of pictures: from values to places, round ticks, and numbers as people write them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from camber.arrays.types import F8

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float, digits: int = 3) -> str:
    """Write a number with about `digits` significant digits.

    >>> number(-0.02345), number(12345.0), number(3.2e-7), number(1e-5)
    ('−0.0234', '12,345', '3.2 × 10⁻⁷', '10⁻⁵')
    """
    size = abs(value)
    sign = "−" if value < 0 else ""
    if size == 0.0:
        return "0"
    if size < 1e6 and size == int(size):
        return f"{sign}{int(size):,}"
    power = math.floor(math.log10(float(f"{size:.{digits - 1}e}")))
    if -4 <= power < 6:
        return sign + (f"{size:,.0f}" if power >= digits else f"{size:.{digits}g}")
    factor = f"{size:.{digits - 1}e}".split("e")[0]
    factor = factor.rstrip("0").rstrip(".") if "." in factor else factor
    raised = f"10{str(power).translate(_SUPERSCRIPTS)}"
    return f"{sign}{raised}" if factor == "1" else f"{sign}{factor} × {raised}"


def numbers(values: Sequence[float], digits: int = 3) -> list[str]:
    """Write the values of an axis: with more digits where different ones would look alike.

    >>> numbers([1.0, 1.0005, 1.001])
    ['1', '1.0005', '1.001']
    """
    for more in range(digits, 17):
        texts = [number(value, more) for value in values]
        if len(set(texts)) == len(set(values)):
            break
    return texts


def signed(value: float, digits: int = 2) -> str:
    """Write a difference with its sign.

    >>> signed(0.5), signed(-0.114, 3), signed(-0.001)
    ('+0.50', '−0.114', '0.00')
    """
    text = fixed(value, digits)
    return text if text.startswith("−") or not float(text) else f"+{text}"


def fixed(value: float, digits: int = 2) -> str:
    """Write a number with so many digits behind the point.

    >>> fixed(0.5), fixed(-0.114, 3), fixed(-0.001)
    ('0.50', '−0.114', '0.00')
    """
    text = f"{abs(value):.{digits}f}"
    return f"−{text}" if value < 0 and float(text) else text


def percent(share: float, digits: int = 0) -> str:
    """Write a share.

    >>> percent(0.794), percent(0.0123, 2)
    ('79 %', '1.23 %')
    """
    return f"{100 * share:.{digits}f} %"


def round_values(low: float, high: float, most: int) -> list[float]:
    """Choose at most `most` round values between `low` and `high` (at least one step apart).

    >>> round_values(-0.13, 0.42, 6)
    [-0.1, 0.0, 0.1, 0.2, 0.3, 0.4]
    """
    if not high > low:
        return [low]
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    for factor in (1.0, 2.0, 2.5, 5.0, 10.0, 20.0, 50.0):
        step = factor * power
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first + 1 <= most:
            break
    # through text, so that 3 × 0.1 is 0.3
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


def round_edges(values: npt.ArrayLike, most: int = 12) -> list[float]:
    """Choose round edges of at most `most` bars of equal width that hold all values.

    >>> round_edges([24.83, 25.31, 25.02], 6)
    [24.8, 24.9, 25.0, 25.1, 25.2, 25.3, 25.4]
    """
    numbers = np.asarray(values, np.float64)
    low, high = float(numbers.min()), float(numbers.max())
    if not high - low > 1e-9 * max(abs(low), abs(high)):
        half = 0.5 * abs(low) * 0.01 or 0.5
        return [low - half, low + half]
    inner = round_values(low, high, most - 1)
    step = inner[1] - inner[0] if len(inner) > 1 else high - low
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


@dataclass(frozen=True)
class Scale:
    """A map from values `low` … `high` to places `begin` … `end`, linear or logarithmic (then both are positive)."""

    low: float
    high: float
    begin: float
    end: float
    logarithmic: bool = False

    def __call__(self, values: npt.ArrayLike) -> F8:
        """Return the places of values; on a logarithmic axis, what is not positive is put at the beginning."""
        x = np.asarray(values, np.float64)
        if self.logarithmic:
            x = np.log(np.maximum(x, self.low))
            low, high = math.log(self.low), math.log(self.high)
        else:
            low, high = self.low, self.high
        return np.asarray(self.begin + (self.end - self.begin) * ((x - low) / (high - low)))

    def at(self, value: float) -> float:
        """Return the place of one value."""
        return float(self(value))

    def ticks(self, most: int) -> list[float]:
        """Choose at most `most` round values on the axis."""
        if not self.logarithmic:
            return round_values(self.low, self.high, most)
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        finer = [f * 10.0**k for k in range(first - 1, last + 1) for f in (1, 2, 5)]
        finer = [x for x in finer if self.low * (1 - 1e-9) <= x <= self.high * (1 + 1e-9)]
        if last - first < 1:  # less than two powers of ten: 1, 2, 5, or what is round between
            return finer if len(finer) >= 2 else [x for x in round_values(self.low, self.high, most) if x > 0]
        powers = range(first, last + 1)
        if len(powers) <= most // 3:
            return finer
        step = -(-len(powers) // most)
        return [10.0**k for k in powers if k % step == 0]
