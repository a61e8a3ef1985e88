"""Soft edges of bins (nguyen2007, section 3.4.2): a value is in several bins at once, and moves smoothly between them.

With the inner edges e of a feature's bins, their widths w and the logistic function s, a value x is in bin b by

    s((x - e_b) / w_b) - s((x - e_{b+1}) / w_{b+1}),

where the first term is 1 for the first bin and the second is 0 for the last: memberships sum to 1. An edge lies midway
between the greatest value of one bin and the least of the next; its width is `softness` times the narrower of the two
bins. Sigmoids of very different widths would cross, and a membership fall below 0; so a width is at most that of the
next edge plus 1/16 of the way to it. Then they cross only where both are 0 or 1 for all we care (`REACH` widths away
from the edge, 1e-7), which is where they are cut off: few bins are hit, the nearest.

    soft = SoftEdges.of([bins], softness=0.25)
    soft.memberships(table)                      # [rows, bins] in sparse rows
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from camber.arrays.ragged import offsets_from
from camber.arrays.sparse import Counts
from camber.arrays.types import F8, I8
from camber.bend.bins import Bins
from camber.errors import CamberError
from camber.kernel import kernel

#: How many widths from an edge a sigmoid is cut off.
REACH = 16.0


@dataclass(frozen=True, eq=False)
class SoftEdges:
    """The edges of several features' bins; those of feature `f` are ``firsts[f]`` … ``firsts[f + 1] - 1``, rising.

    >>> soft = SoftEdges.of([Bins.make([0.0, 1.0, 2.0], bits=2)], softness=0.25)
    >>> soft.memberships([[1.0], [1.5], [9.0], [float("nan")]]).dense().round(2).tolist()
    [[0.02, 0.96, 0.02], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    """

    firsts: I8  # [features + 1]
    edges: F8
    widths: F8
    bins: I8  # [features]: 0, or one more than edges

    @classmethod
    def of(cls, features: Sequence[Bins], softness: float) -> SoftEdges:
        """Make the edges of several features' bins."""
        pairs = [_edges(bins, softness) for bins in features]
        return cls(
            offsets_from(len(edges) for edges, _ in pairs),
            np.concatenate([np.zeros(0), *(edges for edges, _ in pairs)]),
            np.concatenate([np.zeros(0), *(widths for _, widths in pairs)]),
            np.array([len(bins) for bins in features], np.int64),
        )

    def memberships(self, table: npt.ArrayLike) -> Counts:
        """Return how much every row is in every bin: float64[rows, features], NaN where absent → [rows, all bins]."""
        values = self._checked(table)
        offsets = np.zeros(len(values) + 1, np.int64)
        room = _reached(values, self.firsts, self.edges, self.widths, self.bins)
        columns, shares = np.empty(room, np.int32), np.empty(room, np.float32)
        _fill(values, self.firsts, self.edges, self.widths, self.bins, offsets, columns, shares)
        total = int(offsets[-1])
        return Counts(int(self.bins.sum()), offsets, columns[:total].copy(), shares[:total].copy())

    def worth(self, table: npt.ArrayLike, bin_values: npt.ArrayLike) -> F8:
        """Return the mean of the values of a row's bins, summed over features: float64[rows, features] → [rows].

        bin_values float64[all bins]. What is absent (NaN) adds nothing.
        """
        values, worth = self._checked(table), np.ascontiguousarray(bin_values, np.float64)
        if worth.shape != (int(self.bins.sum()),):
            raise CamberError(f"{worth.size} values for {int(self.bins.sum())} bins")
        out = np.empty(len(values))
        _weigh(values, self.firsts, self.edges, self.widths, self.bins, worth, out)
        return out

    def _checked(self, table: npt.ArrayLike) -> F8:
        values = np.ascontiguousarray(table, np.float64)
        if values.ndim != 2 or values.shape[1] != len(self.bins):
            raise CamberError(
                f"values of shape {values.shape}; expected {len(self.bins)} columns, one for each feature"
            )
        return values


def _edges(bins: Bins, softness: float) -> tuple[F8, F8]:
    """Return the inner edges of bins and their widths, float64[bins - 1] each."""
    if len(bins) < 2:
        return np.zeros(0), np.zeros(0)
    with np.errstate(over="ignore"):
        edges = bins.highs[:-1] + 0.5 * (bins.lows[1:] - bins.highs[:-1])
        # between two neighbouring floats there is nothing; the greater one is the edge, as it is for hard bins
        edges = np.where(edges > bins.highs[:-1], edges, bins.lows[1:])
        sizes = np.diff(np.concatenate([bins.lows[:1], edges, bins.highs[-1:]]))
    if not np.isfinite(sizes).all():
        raise CamberError("the values of a feature lie too far apart for soft edges; scale it, or take hard ones")
    widths = np.maximum(softness * np.minimum(sizes[:-1], sizes[1:]), np.spacing(np.abs(edges)))
    ways = np.diff(edges) / REACH
    for here, there, way in (
        *((b + 1, b, b) for b in range(len(ways))),
        *((b, b + 1, b) for b in range(len(ways) - 1, -1, -1)),
    ):
        widths[here] = min(widths[here], widths[there] + ways[way])
    return edges, widths


@kernel
def _span(x, first, last, edges, widths):
    """Return the edges first … last - 1 whose sigmoid is neither 0 nor 1 at x, as a range.

    Widths grow by no more than 1/REACH of the way, so that beyond an edge that is out of reach all are.
    """
    low, high = first, last
    while low < high:  # edges at or below x
        middle = (low + high) >> 1
        if edges[middle] <= x:
            low = middle + 1
        else:
            high = middle
    high = low
    while low > first and x - edges[low - 1] < REACH * widths[low - 1]:
        low -= 1
    while high < last and edges[high] - x < REACH * widths[high]:
        high += 1
    return low, high


@kernel
def _membership(x, edge, high, before, edges, widths):
    """Return how much x is in the bin below `edge`, and the sigmoid there; `before` is that of the edge below."""
    here = 1.0 / (1.0 + np.exp((edges[edge] - x) / widths[edge])) if edge < high else 0.0
    return max(0.0, before - here), here


@kernel
def _reached(values, firsts, edges, widths, bins):
    """Return how many bins are hit in all, at most."""
    room = 0
    for row in range(len(values)):
        for feature in range(len(bins)):
            x = values[row, feature]
            if x == x and bins[feature] > 0:
                low, high = _span(x, firsts[feature], firsts[feature + 1], edges, widths)
                room += high - low + 1
    return room


@kernel
def _fill(values, firsts, edges, widths, bins, offsets, columns, shares):
    at = 0
    for row in range(len(values)):
        first_bin = 0
        for feature in range(len(bins)):
            x = values[row, feature]
            if x == x and bins[feature] > 0:
                low, high = _span(x, firsts[feature], firsts[feature + 1], edges, widths)
                before = 1.0
                for edge in range(low, high + 1):
                    share, before = _membership(x, edge, high, before, edges, widths)
                    if np.float32(share) > 0.0:
                        columns[at] = first_bin + edge - firsts[feature]
                        shares[at] = share
                        at += 1
            first_bin += bins[feature]
        offsets[row + 1] = at


@kernel
def _weigh(values, firsts, edges, widths, bins, worth, out):
    for row in range(len(values)):
        total = 0.0
        first_bin = 0
        for feature in range(len(bins)):
            x = values[row, feature]
            if x == x and bins[feature] > 0:
                low, high = _span(x, firsts[feature], firsts[feature + 1], edges, widths)
                before = 1.0
                for edge in range(low, high + 1):
                    share, before = _membership(x, edge, high, before, edges, widths)
                    total += share * worth[first_bin + edge - firsts[feature]]
            first_bin += bins[feature]
        out[row] = total
