"""What trees are grown on: distinct rows in codes, column by column, and indicators as lists of rows that have them.

A row stands for as many parts as its count says. Of 190 features some 170 are indicators that few parts have: a list of
rows costs nothing where an indicator is 0, and what is absent counts as 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from camber.arrays.ragged import offsets_from
from camber.arrays.types import F8, I4, I8, U1, Bools
from camber.bend.trees.binning import ABSENT, MOST_BINS, edges_of, encode, sampled
from camber.bend.trees.collapse import Collapsed, collapse
from camber.errors import CamberError, SettingsError
from camber.features.feature import INDICATOR, RULE, Feature, names_of
from camber.features.parts import Parts
from camber.kernel import kernel

#: An indicator is on from here on; trees split it here.
ON = 0.5
#: Indicators that more rows than this share have are columns like the others.
DENSEST = 0.1


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of codes; feature ``columns[c]`` has the codes ``codes[c]``, feature ``indicators[i]`` a list of rows.

    >>> rows = Rows.of_dense((Feature("x"),), [[1.0], [1.0], [3.0]])
    >>> len(rows), rows.edges[0].tolist(), rows.counts.tolist(), rows.parts
    (3, [2.0], [1.0, 1.0, 1.0], 3)
    """

    features: tuple[Feature, ...]
    edges: tuple[F8, ...]  # of every feature
    columns: I8  # [dense] which features are columns
    codes: U1  # [dense, rows]
    indicators: I8  # [sparse] which features are lists of rows
    offsets: I8  # [sparse + 1]
    lists: I4  # rows that have an indicator, rising
    counts: F8  # [rows] parts of each
    slopes: I8  # [slopes] which features leaves may be linear in
    slope_values: F8  # [slopes, rows] what a linear model takes of them; 0 where absent
    numbers: I4 | None = None  # [parts] the row of each part; None: every row is one part

    @classmethod
    def of_parts(
        cls, parts: Parts, most: int = MOST_BINS, slopes: Sequence[str] = (), same: Collapsed | None = None
    ) -> Rows:
        """Collapse equal parts (`same`: which are, if that is known); leaves may be linear in the features `slopes`."""
        same = same or collapse(parts)
        table_rows = parts.rows[same.firsts]
        often = np.bincount(table_rows, same.counts, len(parts.table)).astype(np.int64)
        inside = [column for column, feature in enumerate(parts.features) if feature.scope == RULE]
        outside = [column for column, feature in enumerate(parts.features) if feature.scope != RULE]
        table = _Block.of([parts.features[column] for column in inside], parts.table, often, most)
        context = _Block.of(
            [parts.features[column] for column in outside], parts.context[same.firsts], same.counts, most
        )
        table = table.spread(table_rows)
        edges = dict(zip(inside + outside, table.edges + context.edges, strict=True))
        offsets = np.concatenate([table.offsets, table.offsets[-1] + context.offsets[1:]])
        chosen = _places(parts.features, slopes)
        slope_values = np.empty((len(chosen), len(same.counts)))
        for place, feature in enumerate(chosen.tolist()):
            if feature in inside:
                linear = parts.features[feature].linear(parts.table[:, inside.index(feature)])[table_rows]
            else:
                linear = parts.features[feature].linear(parts.context[same.firsts, outside.index(feature)])
            slope_values[place] = np.nan_to_num(linear, nan=0.0)
        return cls(
            parts.features,
            tuple(edges[column] for column in range(len(parts.features))),
            np.array([inside[at] for at in table.columns] + [outside[at] for at in context.columns], np.int64),
            np.concatenate([table.codes, context.codes]),
            np.array([inside[at] for at in table.indicators] + [outside[at] for at in context.indicators], np.int64),
            offsets,
            np.concatenate([table.lists, context.lists]),
            same.counts.astype(np.float64),
            chosen,
            slope_values,
            same.numbers,
        )

    @classmethod
    def of_dense(
        cls,
        features: Sequence[Feature],
        values: npt.ArrayLike,
        counts: npt.ArrayLike | None = None,
        most: int = MOST_BINS,
        slopes: Sequence[str] = (),
    ) -> Rows:
        """Take rows float64[rows, features] as they are; each stands for so many parts (`counts`), one by default."""
        table = np.ascontiguousarray(values, np.float64)
        if table.ndim != 2 or table.shape[1] != len(features):
            raise CamberError(f"rows of the shape {table.shape} for {len(features)} features")
        often = None if counts is None else np.asarray(counts, np.int64)
        block = _Block.of(features, table, often, most)
        chosen = _places(features, slopes)
        linear = [np.nan_to_num(features[place].linear(table[:, place]), nan=0.0) for place in chosen.tolist()]
        return cls(
            tuple(features),
            block.edges,
            np.array(block.columns, np.int64),
            block.codes,
            np.array(block.indicators, np.int64),
            block.offsets,
            block.lists,
            np.ones(len(table)) if often is None else often.astype(np.float64),
            chosen,
            np.array(linear).reshape(len(chosen), len(table)),
        )

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.codes.shape[1] if len(self.codes) else len(self.counts)

    @cached_property
    def parts(self) -> int:
        """The number of parts."""
        return int(self.counts.sum())

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        arrays = (self.codes, self.lists, self.counts, self.slope_values)
        return sum(array.nbytes for array in arrays) + (0 if self.numbers is None else self.numbers.nbytes)

    @cached_property
    def by_row(self) -> tuple[I8, I4]:
        """The lists turned round: offsets int64[rows + 1] and the indicators of each row (places in `indicators`)."""
        offsets = np.zeros(len(self) + 1, np.int64)
        turned = np.empty(len(self.lists), np.int32)
        _turn(self.offsets, self.lists, offsets, turned)
        return offsets, turned

    def on(self, feature: int) -> I4:
        """Return the rows that have an indicator."""
        place = int(np.flatnonzero(self.indicators == feature)[0])
        return self.lists[self.offsets[place] : self.offsets[place + 1]]

    def goes_left(self, feature: int, edge: int, *, absent_left: bool) -> Bools:
        """Return which rows have a value below an edge of a feature, bool[rows]."""
        codes, goes_right = self.sides(feature, edge, absent_left=absent_left)
        if codes is not None:
            return goes_right[codes] == 0
        left = np.ones(len(self), bool)
        left[self.on(feature)] = False
        return left

    def sides(self, feature: int, edge: int, *, absent_left: bool) -> tuple[U1 | None, U1]:
        """Return the codes of a feature (None if it is a list of rows), and which of 256 codes go right: 0 or 1.

        Of a list, those that are on it (1) go right.
        """
        goes_right = np.ones(256, np.uint8)
        if feature in self.indicators:
            goes_right[0] = 0
            return None, goes_right
        goes_right[: edge + 1] = 0
        goes_right[ABSENT] = not absent_left
        return self.codes[int(np.flatnonzero(self.columns == feature)[0])], goes_right


@dataclass(frozen=True, eq=False)
class _Block:
    """The features of one matrix: columns in codes, and indicators as lists."""

    edges: tuple[F8, ...]
    columns: list[int]
    codes: U1
    indicators: list[int]
    offsets: I8
    lists: I4

    @classmethod
    def of(cls, features: Sequence[Feature], values: F8, counts: I8 | None, most: int) -> _Block:
        rows = len(values)
        candidates = np.array([at for at, feature in enumerate(features) if feature.kind == INDICATOR], np.int64)
        sizes = np.zeros(len(candidates), np.int64)
        _sizes(values, candidates, ON, sizes)
        sparse = candidates[sizes <= DENSEST * rows]
        offsets = offsets_from(sizes[sizes <= DENSEST * rows])
        lists = np.empty(int(offsets[-1]), np.int32)
        _fill_lists(values, sparse, ON, offsets[:-1].copy(), lists)
        listed = set(sparse.tolist())
        dense = [at for at in range(len(features)) if at not in listed]
        edges = [np.array([ON])] * len(features)
        chosen = sampled(rows)
        often = None if counts is None else counts[chosen]
        binned = [at for at in dense if features[at].kind != INDICATOR]
        # row by row, as they lie in memory
        sample = values[:, binned] if isinstance(chosen, slice) else values[chosen[:, None], np.array(binned, np.int64)]
        for place, at in enumerate(binned):
            edges[at] = edges_of(np.ascontiguousarray(sample[:, place]), often, most)
        codes = encode(values, [edges[at] for at in dense], dense)
        return cls(tuple(edges), dense, codes, sparse.tolist(), offsets, lists)

    def spread(self, rows: I4) -> _Block:
        """Return the same with row ``rows[r]`` in place `r`."""
        offsets, lists = _spread_lists(self, rows)
        return _Block(self.edges, self.columns, self.codes[:, rows], self.indicators, offsets, lists)


def _spread_lists(block: _Block, rows: I4) -> tuple[I8, I4]:
    height = block.codes.shape[1]
    starts = np.zeros(height + 1, np.int64)
    turned = np.empty(len(block.lists), np.int32)
    _turn(block.offsets, block.lists, starts, turned)
    sizes = np.zeros(len(block.indicators), np.int64)
    _spread_sizes(starts, turned, rows, sizes)
    offsets = offsets_from(sizes)
    lists = np.empty(int(offsets[-1]), np.int32)
    _spread(starts, turned, rows, offsets[:-1].copy(), lists)
    return offsets, lists


def _places(features: Sequence[Feature], names: Sequence[str]) -> I8:
    known = names_of(features)
    if unknown := [name for name in names if name not in known]:
        raise SettingsError(f"leaves cannot be linear in {', '.join(unknown)}; the features are {', '.join(known)}")
    return np.array([known.index(name) for name in names], np.int64)


@kernel
def _sizes(values, candidates, on, sizes):
    for row in range(len(values) if len(candidates) else 0):
        for place in range(len(candidates)):
            if values[row, candidates[place]] >= on:  # NaN is not
                sizes[place] += 1


@kernel
def _fill_lists(values, sparse, on, places, lists):
    for row in range(len(values) if len(sparse) else 0):
        for place in range(len(sparse)):
            if values[row, sparse[place]] >= on:
                lists[places[place]] = row
                places[place] += 1


@kernel
def _turn(offsets, lists, starts, turned):
    """Fill starts int64[rows + 1] and turned int32[items]: the lists by row instead of by list."""
    for item in range(len(lists)):
        starts[lists[item] + 1] += 1
    for row in range(len(starts) - 1):
        starts[row + 1] += starts[row]
    for place in range(len(offsets) - 1):
        for item in range(offsets[place], offsets[place + 1]):
            row = lists[item]
            turned[starts[row]] = place
            starts[row] += 1
    for row in range(len(starts) - 1, 0, -1):
        starts[row] = starts[row - 1]
    starts[0] = 0


@kernel
def _spread_sizes(starts, turned, rows, sizes):
    for row in range(len(rows)):
        for item in range(starts[rows[row]], starts[rows[row] + 1]):
            sizes[turned[item]] += 1


@kernel
def _spread(starts, turned, rows, places, lists):
    for row in range(len(rows)):
        for item in range(starts[rows[row]], starts[rows[row] + 1]):
            place = turned[item]
            lists[places[place]] = row
            places[place] += 1
