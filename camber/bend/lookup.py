"""Find the bin of a value in about constant time, inside kernels.

A table over evenly spaced cells says how many edges lie below each cell; only the few edges inside the value's own cell
are compared. Cells are even either in the order of floating-point numbers as integers, which spaces them about
logarithmically (right for probabilities and counts), or in the values themselves (right for logarithms, and for values
of both signs). Whichever leaves less to compare is taken for each feature. Both orders only need to be monotone, since
the last word is always a comparison with an edge: the answer is exact for every number.

The tables of several features lie in flat arrays, with one record of offsets for each.

    lookup = Lookup.of([bins_a, bins_b])
    lookup.find(0, values)                                       # as bins_a.of(values)
    lookup.score(features, columns, bin_values, weights)         # what each rule adds to the model's score
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from camber.arrays.ragged import offsets_from
from camber.arrays.types import F8, I4, I8, AnyArray
from camber.bend.bins import Bins
from camber.errors import CamberError
from camber.kernel import kernel

#: What a kernel must know about one feature's bins.
HEAD = np.dtype(
    [
        ("bins", np.int64),
        ("values", np.int64),  # where its bins begin among all bins
        ("edges", np.int64),  # where its edges begin: the lows of all bins but the first
        ("cells", np.int64),  # where its cells begin in `starts`
        ("last", np.int64),  # its last cell
        ("even", np.int64),  # 1: cells are even in the values, 0: in their bits
        ("shift", np.int64),
        ("base", np.int64),
        ("top", np.int64),
        ("low", np.float64),
        ("scale", np.float64),
    ]
)
CELLS_PER_BIN = 4


@kernel
def ordered_bits(value):
    """Map a float64 to an integer of 63 bits that never falls as the value rises; both zeros map to 0."""
    bits = np.float64(value + 0.0).view(np.int64)  # + 0.0: never -0
    # negative numbers: a larger magnitude is a smaller number. One bit is dropped so that differences fit in 64.
    return (bits ^ ((bits >> 63) & 0x7FFFFFFFFFFFFFFF)) >> 1


@kernel
def cell_of(head, value):
    """Return the cell of a value that is not NaN; it never falls as the value rises."""
    if head["even"] == 1:
        place = (value - head["low"]) * head["scale"]
        if not place > 0.0:
            return 0
        return np.int64(place) if place < head["last"] else head["last"]
    bits = ordered_bits(value)
    if bits <= head["base"]:
        return 0
    return (min(bits, head["top"]) - head["base"]) >> head["shift"]


@kernel
def find_bin(heads, starts, edges, feature, value):
    """Return the bin of `value` in `feature`: as many as its edges at or below the value; -1 for NaN, or without bins.

    heads HEAD[features], starts int32[all cells], edges float64[all edges].
    """
    head = heads[feature]
    if value != value or head["bins"] == 0:
        return -1
    at = head["cells"] + cell_of(head, value)
    edge = head["edges"]
    low, high = np.int64(starts[at]), np.int64(starts[at + 1])
    while low < high:
        middle = (low + high) >> 1
        if edges[edge + middle] <= value:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def find_bins(heads, starts, edges, feature, values, out):
    """Fill out int64[n] with the bins of values float64[n]."""
    for i in range(len(values)):
        out[i] = find_bin(heads, starts, edges, feature, values[i])


@kernel
def score_rules(features, columns, heads, starts, edges, bin_values, weights, out):
    """Fill out float64[rules]: weighted sum of the linear features, plus the value of every bent feature's bin.

    features float64[rules, F] (NaN: absent, adds nothing), columns int64[bent]: the column of each bent feature (-1: it
    has none, and adds nothing), bin_values float64[all bins], weights float64[F]: 0 for what is bent only.
    """
    rules, width = features.shape
    linear = False
    for column in range(width):
        linear = linear or weights[column] != 0.0
    for rule in range(rules):
        total = 0.0
        if linear:
            for column in range(width):
                value = features[rule, column]
                if weights[column] != 0.0 and value == value:
                    total += weights[column] * value
        out[rule] = total
    for feature in range(len(columns)):  # one feature after the other: its tables stay in the cache
        column = columns[feature]
        if column < 0:
            continue
        first = heads[feature]["values"]
        before, worth = np.nan, 0.0
        for rule in range(rules):
            value = features[rule, column]
            if value != before:  # rules come by source side, and many of its features are the same
                place = find_bin(heads, starts, edges, feature, value)
                worth = bin_values[first + place] if place >= 0 else 0.0
                before = value
            out[rule] += worth


@dataclass(frozen=True, eq=False)
class Lookup:
    """The tables of several features' bins.

    >>> Lookup.of([Bins.make([0.1, 0.2, 0.3], bits=4)]).find(0, [0.05, 0.2, 9.0, float("nan")]).tolist()
    [0, 1, 2, -1]
    """

    heads: AnyArray  # HEAD[features]
    starts: I4  # [cells of all features, one more each]: edges below the cell
    edges: F8

    @classmethod
    def of(cls, features: Sequence[Bins]) -> Lookup:
        """Make the tables of several features."""
        heads = np.zeros(len(features), HEAD)
        starts: list[I4] = []
        values = cells = edges = 0
        for number, bins in enumerate(features):
            inner = bins.lows[1:]
            options = [_table(inner, even) for even in ((False, True) if len(inner) > 1 else (False,))]
            head, table, _ = min(options, key=lambda option: option[2])
            head["bins"], head["values"], head["edges"], head["cells"] = len(bins), values, edges, cells
            heads[number] = head
            starts.append(table)
            values, edges, cells = values + len(bins), edges + len(inner), cells + len(table)
        return cls(
            heads,
            np.concatenate([np.empty(0, np.int32), *starts]),
            np.concatenate([np.empty(0), *(bins.lows[1:] for bins in features)]),
        )

    @property
    def bins(self) -> int:
        """The number of bins of all features."""
        return int(self.heads["bins"].sum())

    def find(self, feature: int, values: npt.ArrayLike) -> I8:
        """Return the bins of `values` in a feature, int64 of the same shape; -1 for NaN."""
        if not 0 <= feature < len(self.heads):
            raise CamberError(f"there is no bent feature {feature}; there are {len(self.heads)}")
        numbers = np.ascontiguousarray(values, np.float64)
        out = np.empty(numbers.size, np.int64)
        find_bins(self.heads, self.starts, self.edges, feature, numbers.ravel(), out)
        return out.reshape(np.shape(values))

    def score(
        self, features: npt.ArrayLike, columns: npt.ArrayLike, bin_values: npt.ArrayLike, weights: npt.ArrayLike
    ) -> F8:
        """Return what each rule's features are worth, float64[rules].

        features float64[rules, F], NaN where absent; columns int64[bent]: where each bent feature is; bin_values
        float64[all bins], feature after feature; weights float64[F] of the linear features, 0 for the others. A column
        of -1: the table does not have this feature.
        """
        table = np.ascontiguousarray(features, np.float64)
        places, worth, linear = (
            np.ascontiguousarray(given, kind)
            for given, kind in ((columns, np.int64), (bin_values, np.float64), (weights, np.float64))
        )
        if table.ndim != 2 or linear.shape != (table.shape[1],):
            raise CamberError(f"{linear.size} weights for a table of features of shape {table.shape}")
        if places.shape != self.heads.shape or (len(places) and not -1 <= places.min() <= places.max() < len(linear)):
            raise CamberError(f"{places.size} columns within {len(linear)} for {len(self.heads)} bent features")
        if worth.shape != (self.bins,):
            raise CamberError(f"{worth.size} values for {self.bins} bins")
        out = np.empty(len(table))
        score_rules(table, places, self.heads, self.starts, self.edges, worth, linear, out)
        return out


def _table(edges: F8, even: bool) -> tuple[Any, I4, float]:
    """Return a head (without offsets), the edges below every cell, and how many edges lie in an edge's own cell."""
    head = np.zeros((), HEAD)
    most = 1 << (max(1, CELLS_PER_BIN * len(edges)) - 1).bit_length()
    usable = edges[np.isfinite(edges)]
    head["even"] = even
    if even:
        span = float(usable[-1]) / most - float(usable[0]) / most if len(usable) > 1 else 0.0
        if not 1e-300 < span < 1e300:
            return head, np.zeros(2, np.int32), np.inf
        head["low"], head["scale"], head["last"] = usable[0], 1.0 / span, most - 1
        with np.errstate(over="ignore"):
            place = (edges - head["low"]) * head["scale"]  # the same operations as in the kernel, so the same cells
        cells = np.clip(place, 0.0, float(head["last"])).astype(np.int64)
    else:
        bits = (edges + 0.0).view(np.int64)
        bits = (bits ^ ((bits >> 63) & 0x7FFFFFFFFFFFFFFF)) >> 1
        if len(bits):
            head["base"], head["top"] = bits[0], bits[-1]
        reach = int(head["top"]) - int(head["base"])
        head["shift"] = max(0, reach.bit_length() - (most.bit_length() - 1))
        head["last"] = reach >> int(head["shift"])
        cells = (bits - head["base"]) >> head["shift"]
    crowds = np.bincount(cells, minlength=int(head["last"]) + 1)
    starts = offsets_from(crowds).astype(np.int32)
    return head, starts, float(crowds[cells].mean()) if len(cells) else 0.0
