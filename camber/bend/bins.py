"""Uniform-population binning (clark2014, section 3.2): cut the values of a feature into bins of nearly equal weight.

A frequent value may outweigh a bin of ideal size, and no value is ever split over two bins. So frequencies are first
cut down to the ideal size `u`, which depends on the cut frequencies in turn: ``N u = sum of min(f_i, u)``. The paper
iterates (Eq. 5-6, whose divisor must be the number of bins); this is a water-filling problem that sorting solves at
once. Then a greedy pass (Algorithm 1) fills bin after bin, and gives a value that straddles an ideal edge to the side
that holds more than half of it.

Everything is compared in whole numbers: with ``u = amount / shares``, frequencies are multiplied by `shares`. So the
partition depends on nothing but the order of the values and their counts: any strictly increasing transform of a
feature leaves it as it is. A decreasing one turns the order round, and bins are filled from below; where a value
straddles an edge, it may then go to the other side. No method is free of that: of three values seen equally often, two
bins can only be made by putting the middle one to one side, and mirroring the values puts it to the other.

    bins = Bins.make(values, bits=8)    # at most 256 bins
    bins.of([0.3, np.nan])              # array([17, -1]): NaN is an absent feature and is in no bin
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from camber.arrays.types import F8, I8
from camber.errors import CamberError, SettingsError

MOST_BITS = 30
#: Weighted counts stay below this, so that no product of whole numbers overflows.
MOST = 2**62


@dataclass(frozen=True, eq=False)
class Bins:
    """Bin `j` holds the values in ``[lows[j], lows[j + 1])``; the first reaches down to -∞, the last up to +∞.

    `lows` and `highs` are the least and the greatest value that was seen in each bin, `populations` how often its
    values were seen. There may be no bin at all, where no value was seen.

    >>> bins = Bins.make([0.1, 0.1, 0.1, 0.2, 0.3, 0.4], bits=1)
    >>> bins.lows.tolist(), bins.highs.tolist(), bins.populations.tolist()
    ([0.1, 0.2], [0.1, 0.4], [3, 3])
    >>> bins.of([-5.0, 0.15, 0.2, 7.0, float("nan")]).tolist()
    [0, 0, 1, 1, -1]
    """

    lows: F8  # [bins]
    highs: F8  # [bins]
    populations: I8  # [bins]

    def __post_init__(self) -> None:
        for name, kind in (("lows", np.float64), ("highs", np.float64), ("populations", np.int64)):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), kind))
        shapes = {self.lows.shape, self.highs.shape, self.populations.shape}
        if len(shapes) != 1 or self.lows.ndim != 1:
            raise CamberError(f"lows, highs and populations of bins have the shapes {sorted(shapes)}; expected one")
        # a NaN anywhere makes a comparison false
        if not (np.all(self.lows <= self.highs) and np.all(self.highs[:-1] < self.lows[1:])):
            raise CamberError("the edges of bins must rise: low <= high < next low")
        if not np.all(self.populations >= 0):
            raise CamberError("the population of a bin is negative")

    @classmethod
    def make(cls, values: npt.ArrayLike, bits: int, counts: npt.ArrayLike | None = None) -> Bins:
        """Cut `values` float64[any shape] into ``min(2**bits, distinct values)`` bins; NaN is absent and left out.

        `counts` (whole numbers, of the same shape) say how often each value was seen: once each by default. Values may
        repeat either way; those with a count of 0 are left out.
        """
        if not 0 <= bits <= MOST_BITS:
            raise SettingsError(f"{bits} bits for bins; expected 0 to {MOST_BITS}")
        return cls.at_most(1 << bits, values, counts)

    @classmethod
    def at_most(cls, most: int, values: npt.ArrayLike, counts: npt.ArrayLike | None = None) -> Bins:
        """Cut `values` as :meth:`make` does, into ``min(most, distinct values)`` bins."""
        distinct, frequencies = _distinct(values, counts)
        bins = min(most, len(distinct))
        firsts = _cut(frequencies, bins)  # the first value of every bin
        if not bins:
            return cls(np.empty(0), np.empty(0), np.empty(0, np.int64))
        lasts = np.append(firsts[1:], len(distinct)) - 1
        return cls(distinct[firsts], distinct[lasts], np.add.reduceat(frequencies, firsts))

    def __len__(self) -> int:
        """Return the number of bins."""
        return len(self.lows)

    def of(self, values: npt.ArrayLike) -> I8:
        """Return the bin of every value, int64 of the same shape; -1 for NaN, which is an absent feature."""
        numbers = np.asarray(values, np.float64)
        # the first bin is open below, so its low is no edge; searchsorted puts NaN behind everything
        bins = np.searchsorted(self.lows[1:], numbers, side="right")
        return np.where(np.isnan(numbers) | (len(self) == 0), -1, bins).astype(np.int64)


def ideal_size(frequencies: npt.ArrayLike, bins: int) -> tuple[int, int]:
    """Return the ideal population of a bin as a fraction (amount, shares): the largest `u`, ``bins * u = Σ min(f, u)``.

    With no more values than bins it is the least frequency: every value then fills a bin of its own.

    >>> ideal_size([10, 1, 1, 1], 2)  # the frequent value fills one bin, the others share the second
    (3, 1)
    """
    falling = np.sort(np.asarray(frequencies, np.int64))[::-1]
    if len(falling) <= bins:
        return int(falling[-1]), 1
    rest = int(falling.sum())
    # With the `frequent` largest cut down to u, u = rest / (bins - frequent). Cutting one value off can only lower u,
    # so the first count for which the next value fits is the answer; it is below `bins`, as there are more values.
    for frequent, most in enumerate(falling[:bins].tolist()):
        if most * (bins - frequent) <= rest:
            return rest, bins - frequent
        rest -= most
    raise AssertionError("more values than bins, yet no ideal size")  # impossible: the last share always suffices


def _distinct(values: npt.ArrayLike, counts: npt.ArrayLike | None) -> tuple[F8, I8]:
    """Return the distinct values, rising, and how often each was seen."""
    numbers = np.asarray(values, np.float64).ravel()
    if counts is None:
        present = ~np.isnan(numbers)
        kept = numbers[present] if not present.all() else numbers
        distinct, frequencies = np.unique(kept, return_counts=True)
        return distinct + 0.0, frequencies.astype(np.int64)  # + 0.0: never -0
    weights = np.asarray(counts).ravel()
    if weights.shape != numbers.shape:
        raise CamberError(f"{weights.size:,} counts for {numbers.size:,} values of a feature")
    whole = weights.astype(np.int64)
    if not np.array_equal(whole, weights) or (len(whole) and whole.min() < 0):
        raise CamberError("the counts of a feature's values must be whole numbers, not below 0")
    present = ~np.isnan(numbers) & (whole > 0)
    numbers, whole = numbers[present], whole[present]
    order = np.argsort(numbers, kind="stable")
    numbers, whole = numbers[order], whole[order]
    starts = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1])) if len(numbers) else np.empty(0, np.int64)
    if not len(starts):
        return numbers, whole
    return numbers[starts] + 0.0, np.add.reduceat(whole, starts)


def _cut(frequencies: I8, bins: int) -> I8:
    """Return the first value of each of `bins` bins by Algorithm 1, int64[bins]; there are at least as many values."""
    values = len(frequencies)
    if values == bins:
        return np.arange(bins)
    amount, shares = ideal_size(frequencies, bins)
    if amount * bins >= MOST:
        raise CamberError(f"the values of a feature were seen too often to be put into {bins:,} bins")
    # f' · shares; then the ideal size is `amount`. What is cut anyway is cut before it is multiplied, too.
    cut = np.minimum(np.minimum(frequencies, amount // shares + 1) * shares, amount)
    ends = np.cumsum(cut)  # ends[i]: all mass up to and including value i
    # all values that end at or before the ideal edge j · u, whatever the earlier bins took
    fitting = np.searchsorted(ends, amount * np.arange(1, bins + 1), side="right").tolist()
    firsts, first = [], 0
    for j in range(bins):
        firsts.append(first)
        beyond = values - (bins - j - 1)  # R(j), half open: every later bin still gets one value
        first = min(max(fitting[j], first), beyond)
        if first < beyond:
            size = int(cut[first])
            room = amount * (j + 1) - (int(ends[first]) - size)  # C(j)
            if 2 * (size - room) < size:  # less than half of the value lies beyond the ideal edge
                first += 1
    return np.array(firsts, np.int64)
