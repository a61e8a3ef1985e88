"""Raw values as codes of one byte: bins of uniform population, and one code for what is absent.

Between two neighbouring bins lies an edge, half-way from the greatest value of the lower one to the least of the upper
one. A code is the number of edges at or below a value, so that ``value < edges[k]`` and ``code <= k`` say the same: a
tree that was grown on codes can be read, and used, on raw values.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from camber.arrays.types import F8, I8, U1
from camber.bend.bins import Bins
from camber.bend.lookup import Lookup, cell_of
from camber.errors import SettingsError
from camber.kernel import kernel, kernel_inlined

#: At most so many bins; the code after them all is that of an absent value.
MOST_BINS = 255
ABSENT = 255
#: Rows that edges are made from, at most: with more of them quantiles would move by less than a thousandth.
SAMPLE = 1 << 17


def edges_of(values: F8, counts: I8 | None = None, most: int = MOST_BINS) -> F8:
    """Return edges that cut values float64[n] into at most `most` bins of about the same population, rising.

    `counts` say how often each value was seen. NaN is absent, and infinite values lie in the outermost bins.

    >>> edges_of(np.array([1.0, 2.0, 2.0, 4.0, np.nan])).tolist()
    [1.5, 3.0]
    """
    if not 1 <= most <= MOST_BINS:
        raise SettingsError(f"{most} bins for the values of a feature; expected 1 to {MOST_BINS}")
    finite = np.isfinite(values)
    if not finite.all():
        values, counts = values[finite], None if counts is None else counts[finite]
    bins = Bins.at_most(most, values, counts)
    below, above = bins.highs[:-1], bins.lows[1:]
    middle = 0.5 * below + 0.5 * above
    return np.where(middle > below, middle, above)  # two neighbouring numbers have nothing between them


def sampled(rows: int) -> I8 | slice:
    """Return the rows that edges are made from: all, or SAMPLE of them, the same whenever there are so many."""
    return slice(None) if rows <= SAMPLE else np.sort(np.random.default_rng(rows).integers(0, rows, SAMPLE))


def encode(values: F8, edges: Sequence[F8], chosen: Sequence[int] | None = None) -> U1:
    """Return the codes of values float64[rows, columns], column by column: uint8[columns, rows].

    `chosen` are the columns that edges are given for, all by default.

    >>> encode(np.array([[0.0], [1.0], [np.nan]]), [np.array([0.5])]).tolist()
    [[0, 1, 255]]
    """
    lookup = Lookup.of([_bins_between(column) for column in edges])
    padded = np.full((len(edges), MOST_BINS + 2), np.nan)  # no value is at or above NaN
    for row, column in zip(padded, edges, strict=True):
        row[: len(column)] = column
    codes = np.empty((len(edges), len(values)), np.uint8)
    places = np.array(range(len(edges)) if chosen is None else chosen, np.int64)
    _encode(np.ascontiguousarray(values, np.float64), places, lookup.heads, lookup.starts, padded, codes)
    return codes


def _bins_between(edges: F8) -> Bins:
    lows = np.concatenate([[-np.inf], edges])
    return Bins(lows, lows, np.zeros(len(lows), np.int64))


_BLOCK = 512  # rows at a time: their values stay in the cache while the columns go by


@kernel
def _encode(values, places, heads, starts, padded, codes):
    columns, rows = codes.shape
    for first in range(0, rows, _BLOCK):
        last = min(first + _BLOCK, rows)
        for column in range(columns):
            head = heads[column]
            place = places[column]
            cells = head["cells"]
            edges, out = padded[column], codes[column]
            if head["even"] == 1:  # as `cell_of`, with all that is the same for a column taken out of the loop
                low, scale, top = head["low"], head["scale"], np.float64(head["last"])
                for row in range(first, last):
                    value = values[row, place]
                    cell = np.int64(min(max((value - low) * scale, 0.0), top)) if value == value else 0
                    out[row] = _code(edges, starts[cells + cell], value)
            else:
                for row in range(first, last):
                    value = values[row, place]
                    out[row] = _code(edges, starts[cells + cell_of(head, value)], value) if value == value else ABSENT


@kernel_inlined
def _code(edges, start, value):
    """Return how many edges are at or below a value, given that those before `start` are."""
    code = np.int64(start)
    code += edges[code] <= value  # without a branch, since nobody could foretell which way it goes
    code += edges[code] <= value
    while edges[code] <= value:
        code += 1
    return code if value == value else ABSENT
