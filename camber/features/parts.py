"""Parts: every use of a rule in some hypothesis, with its features in context, in columns.

Millions of parts share some thousand rules. So what is known before the search (the scope "rule") stands once for each
distinct row in a table that parts point to, and each part has columns of its own only for the rest. All values are raw,
and NaN where a part lacks a feature. Parts that are no rules, such as a word that is passed through, have a row too.

    parts = Parts.of_dense(features, values, rules)       # float64[parts, features] → a table and columns
    parts.linear_sums(part_offsets)                       # what a linear model takes, summed over hypotheses
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from camber.arrays.distinct import number_rows
from camber.arrays.ragged import offsets_from, places_of
from camber.arrays.types import F8, I4, I8
from camber.errors import CamberError
from camber.features.feature import RULE, Feature, linear_table, names_of
from camber.kernel import kernel

#: Hypotheses whose parts are summed at a time.
_BLOCK = 1 << 16


@dataclass(frozen=True, eq=False)
class Parts:
    """Raw features of parts; those of part `p` are ``table[rows[p]]`` (scope "rule") and ``context[p]`` (the others).

    >>> p, lm = Feature("p", "probability", "rule"), Feature("lm", "number", "context")
    >>> parts = Parts.of_dense((p, lm), [[1.0, -2.0], [1.0, -3.0], [np.nan, -1.0]], [4, 4, -1])
    >>> len(parts), len(parts.table), parts.dense().tolist()
    (3, 2, [[1.0, -2.0], [1.0, -3.0], [nan, -1.0]])
    """

    features: tuple[Feature, ...]
    table: F8  # [distinct rows, features of the scope "rule"]
    rows: I4  # [parts] into `table`
    context: F8  # [parts, other features]
    rules: I4  # [parts] the number of the rule, whatever it counts; below 0: the part is no rule

    def __post_init__(self) -> None:
        for name, kind in (("table", np.float64), ("rows", np.int32), ("context", np.float64), ("rules", np.int32)):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), kind))
        object.__setattr__(self, "features", tuple(self.features))
        parts, inside = len(self.rows), len(self._table_columns)
        for shape, expected, what in (
            (self.table.shape, (len(self.table), inside), "table"),
            (self.context.shape, (parts, len(self.features) - inside), "context"),
            (self.rules.shape, (parts,), "rules"),
        ):
            if shape != expected:
                raise ValueError(f"{what} of parts has the shape {shape}, expected {expected}")
        if parts and not 0 <= self.rows.min() <= self.rows.max() < len(self.table):
            raise ValueError(f"a part points outside the {len(self.table)} rows of the table")

    @classmethod
    def of_dense(cls, features: Sequence[Feature], values: npt.ArrayLike, rules: npt.ArrayLike | None = None) -> Parts:
        """Take apart values float64[parts, features]; without `rules`, every part is taken for one."""
        dense = np.asarray(values, np.float64)
        if dense.ndim != 2:
            dense = dense.reshape(-1, len(features))
        if dense.shape[1] != len(features):
            raise ValueError(f"values of parts has the shape {dense.shape}, expected {(len(dense), len(features))}")
        inside = np.array([feature.scope == RULE for feature in features], bool)
        table, rows = distinct_rows(dense.take(np.flatnonzero(inside), axis=1))  # in rows, where a mask gives columns
        numbers = np.zeros(len(dense), np.int32) if rules is None else np.asarray(rules)
        return cls(tuple(features), table, rows, dense[:, ~inside] if inside.any() else dense, numbers)

    @classmethod
    def join(cls, pieces: Sequence[Parts], features: Sequence[Feature] = ()) -> Parts:
        """Put parts with the same features behind each other; equal rows of their tables become one."""
        if not pieces:
            return cls.of_dense(features, np.zeros((0, len(features))))
        first = pieces[0]
        if any(piece.features != first.features for piece in pieces):
            raise CamberError("parts with different features cannot be put behind each other")
        starts = np.cumsum([0, *(len(piece.table) for piece in pieces)])
        table, places = distinct_rows(np.concatenate([piece.table for piece in pieces]))
        return cls(
            first.features,
            table,
            np.concatenate([places[start + piece.rows] for start, piece in zip(starts, pieces, strict=False)]),
            np.concatenate([piece.context for piece in pieces]),
            np.concatenate([piece.rules for piece in pieces]),
        )

    def __len__(self) -> int:
        """Return the number of parts."""
        return len(self.rows)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        return names_of(self.features)

    @property
    def nbytes(self) -> int:
        """Bytes of all columns."""
        return self.table.nbytes + self.rows.nbytes + self.context.nbytes + self.rules.nbytes

    @cached_property
    def _table_columns(self) -> list[int]:
        return [column for column, feature in enumerate(self.features) if feature.scope == RULE]

    @cached_property
    def _context_columns(self) -> list[int]:
        return [column for column, feature in enumerate(self.features) if feature.scope != RULE]

    def column(self, name: str) -> F8:
        """Return the raw values of one feature, float64[parts]."""
        if name not in self.names:
            raise CamberError(f"parts have no feature {name!r}; they have: {', '.join(self.names)}")
        place = self.names.index(name)
        if place in self._table_columns:
            return self.table[self.rows, self._table_columns.index(place)]
        return self.context[:, self._context_columns.index(place)]

    def map_column(self, name: str, function: Callable[[F8], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """Return a function of the raw values of one feature, [parts]; of rules' features it is computed once a row."""
        place = self.names.index(name)
        if place in self._table_columns:
            return function(np.ascontiguousarray(self.table[:, self._table_columns.index(place)]))[self.rows]
        return function(np.ascontiguousarray(self.column(name)))

    def dense(self) -> F8:
        """Return all raw values, float64[parts, features]."""
        values = np.empty((len(self), len(self.features)))
        values[:, self._table_columns] = self.table[self.rows]
        values[:, self._context_columns] = self.context
        return values

    def take(self, parts: npt.NDArray[np.integer]) -> Parts:
        """Return some parts, in the order asked for; the table stays."""
        return replace(self, rows=self.rows[parts], context=self.context[parts], rules=self.rules[parts])

    def select(self, columns: Sequence[int]) -> Parts:
        """Return the same parts with some features only (columns), in the order asked for."""
        chosen = tuple(self.features[column] for column in columns)
        inside = [self._table_columns.index(column) for column in columns if column in self._table_columns]
        outside = [self._context_columns.index(column) for column in columns if column in self._context_columns]
        table, places = distinct_rows(self.table[:, inside])
        return Parts(chosen, table, places[self.rows], self.context[:, outside], self.rules)

    def arranged(self, features: Sequence[Feature]) -> Parts:
        """Return the same parts with these features only, in the order asked for; what they lack is absent.

        A feature of the same name that is another one, such as a logarithm where a probability is asked for, is an
        error.
        """
        known = {feature.name: feature for feature in self.features}
        for feature in features:
            own = known.get(feature.name, feature)
            if own != feature:
                raise CamberError(
                    f"{feature.name} of parts is a {own.kind} ({own.scope}) here, expected a {feature.kind} "
                    f"({feature.scope}); give a list that was made as the first one was"
                )

        def laid_out(values: F8, columns: list[int], *, of_rules: bool) -> F8:
            wanted = [feature.name for feature in features if (feature.scope == RULE) is of_rules]
            places = {self.features[column].name: place for place, column in enumerate(columns)}
            chosen = np.full((len(values), len(wanted)), np.nan)
            for at, name in enumerate(wanted):
                if name in places:
                    chosen[:, at] = values[:, places[name]]
            return chosen

        table, rows = distinct_rows(laid_out(self.table, self._table_columns, of_rules=True))
        context = laid_out(self.context, self._context_columns, of_rules=False)
        return Parts(tuple(features), table, rows[self.rows], context, self.rules)

    def with_feature(self, feature: Feature, values: npt.ArrayLike) -> Parts:
        """Return the same parts with one more feature behind the others, given part by part: float64[parts]."""
        column = np.asarray(values, np.float64).reshape(len(self), 1)
        if feature.scope == RULE:
            return Parts.of_dense((*self.features, feature), np.hstack([self.dense(), column]), self.rules)
        return replace(self, features=(*self.features, feature), context=np.hstack([self.context, column]))

    def linear_sums(self, offsets: I8, chosen: Sequence[int] | None = None) -> F8:
        """Return what a linear model takes of every hypothesis: sums over its parts, float64[hypotheses, features].

        The parts of hypothesis `h` are ``offsets[h]`` … ``offsets[h + 1] - 1``. Absent values add nothing; a feature
        that all parts of a hypothesis lack is NaN. `chosen` are the features (columns) to look at, all by default.
        """
        sums = np.empty((len(offsets) - 1, len(self.features) if chosen is None else len(chosen)))
        first = 0
        for block in self.linear_blocks(offsets, chosen, _BLOCK):
            sums[first : first + len(block)] = block
            first += len(block)
        return sums

    def linear_blocks(self, offsets: I8, chosen: Sequence[int] | None = None, size: int = 1000) -> Iterator[F8]:
        """Yield the rows of :meth:`linear_sums`, so many at a time: together they may be larger than the parts."""
        wanted = range(len(self.features)) if chosen is None else chosen
        table = linear_table([self.features[column] for column in self._table_columns], self.table)
        others = [self.features[column] for column in self._context_columns]
        logarithmic = any(feature.logarithmic for feature in others)
        inside, outside = (
            np.array([columns.index(column) if column in columns else -1 for column in wanted], np.int64)
            for columns in (self._table_columns, self._context_columns)
        )
        for first in range(0, len(offsets) - 1, size):
            bounds = np.ascontiguousarray(offsets[first : first + size + 1], np.int64)
            block = slice(bounds[0], bounds[-1])
            context = linear_table(others, self.context[block]) if logarithmic else self.context[block]
            sums = np.empty((len(bounds) - 1, len(wanted)))
            _sum_parts(bounds - bounds[0], self.rows[block], table, context, inside, outside, sums)
            yield sums


@dataclass(frozen=True, eq=False)
class HypothesisParts:
    """The parts of hypotheses: those of hypothesis `h` are ``starts[h]`` … ``ends[h] - 1``.

    Taking the parts of some hypotheses copies none of them.

    >>> parts = Parts.of_dense((Feature("x"),), [[1.0], [2.0], [3.0], [4.0]], [7, -1, 7, 8])
    >>> two, offsets = HypothesisParts.of(parts, np.array([0, 1, 4])).take(np.array([1])).of_rules()
    >>> two.dense().tolist(), offsets.tolist()
    ([[3.0], [4.0]], [0, 2])
    """

    parts: Parts
    starts: I8  # [hypotheses]
    ends: I8  # [hypotheses]

    @classmethod
    def of(cls, parts: Parts, offsets: I8) -> HypothesisParts:
        """Take parts that lie behind each other, those of hypothesis `h` from ``offsets[h]`` on."""
        return cls(parts, offsets[:-1], offsets[1:])

    def __len__(self) -> int:
        """Return the number of hypotheses."""
        return len(self.starts)

    def take(self, hypotheses: I8) -> HypothesisParts:
        """Return those of some hypotheses, in the order asked for."""
        return replace(self, starts=self.starts[hypotheses], ends=self.ends[hypotheses])

    def any_rule(self) -> bool:
        """Say whether some part is a rule."""
        rules = offsets_from(self.parts.rules >= 0)
        return bool((rules[self.ends] > rules[self.starts]).any())

    def of_rules(self) -> tuple[Parts, I8]:
        """Return the parts that are rules, those of hypothesis `h` from ``offsets[h]`` on, and these offsets."""
        sizes = self.ends - self.starts
        places = places_of(self.starts, sizes)
        rules = self.parts.rules[places] >= 0
        return self.parts.take(places[rules]), offsets_from(rules)[offsets_from(sizes)]


def distinct_rows(values: npt.ArrayLike) -> tuple[F8, I4]:
    """Return the distinct rows of values float64[n, width] in the order of their first use, and the row of each.

    Rows are the same if they have the same numbers, NaN included; 0 and -0 differ.

    >>> table, rows = distinct_rows([[1.0], [2.0], [1.0]])
    >>> table.tolist(), rows.tolist()
    ([[1.0], [2.0]], [0, 1, 0])
    """
    dense = np.ascontiguousarray(values, np.float64)
    firsts, rows = number_rows(dense)
    return dense[firsts], rows


@kernel
def _sum_parts(offsets, rows, table, context, inside, outside, sums):
    for h in range(len(sums)):
        first, last = offsets[h], offsets[h + 1]
        for f in range(sums.shape[1]):
            total = 0.0
            there = first == last
            column = inside[f]
            if column >= 0:
                for part in range(first, last):
                    value = table[rows[part], column]
                    if value == value:
                        total = total + value if there else value  # of a single -0.0, it is -0.0
                        there = True
            else:
                for part in range(first, last):
                    value = context[part, outside[f]]
                    if value == value:
                        total = total + value if there else value
                        there = True
            sums[h, f] = total if there else np.nan
