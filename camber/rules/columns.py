"""The features of rules as decoders see them: columns that all rules have, and indicators, of which a rule has few."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from camber.arrays.types import F4, F8, I2, I8
from camber.kernel import kernel, kernel_inlined


class Indicators(NamedTuple):
    """The indicators of rules; those of rule r are ``numbers[offsets[r]:offsets[r + 1]]``."""

    numbers: I2  # [indicators of all rules]
    offsets: I8  # [rules + 1]
    places: I8  # [numbers] the column of an indicator behind those that all rules have, -1: not chosen


class RuleColumns(NamedTuple):
    """The raw features of rules; those of rule r are ``table[r]`` and ``indicators[offsets[r]:offsets[r + 1]]``."""

    table: F4 | F8  # [rules, dense features]: NaN where a rule lacks one
    indicators: I2  # [indicators of all rules] their numbers
    offsets: I8  # [rules + 1] into `indicators`
    places: I8  # [numbers] the column of an indicator behind those of the table, -1: not chosen
    width: int  # columns of the table and of the indicators

    @classmethod
    def of(cls, table: F4 | F8, indicators: Indicators | None = None) -> Self:
        """Put the columns that all rules have, and their indicators, if there are any, beside each other."""
        if indicators is None:
            return cls(table, np.zeros(0, np.int16), np.zeros(1, np.int64), np.zeros(0, np.int64), table.shape[1])
        return cls(table, *indicators, table.shape[1] + int((indicators.places >= 0).sum()))

    def values(self, rows: I8) -> F8:
        """Return the features of some rules, raw: float64[rows, width]; all are NaN for the row -1."""
        values = np.empty((len(rows), self.width))
        fill_values(self, rows, values)
        return values


@kernel
def fill_values(columns, rows, values):
    """Fill the raw features of rules, the first columns of values float64[rows, at least width]; NaN for the row -1."""
    for k in range(len(rows)):
        fill_row(columns, rows[k], values, k)


@kernel
def fill_row(columns, rule, values, row):
    """Fill the raw features of one rule into a row of values; NaN for the rule -1."""
    dense = columns.table.shape[1]
    for f in range(dense):
        values[row, f] = np.nan if rule < 0 else np.float64(columns.table[rule, f])
    if columns.width > dense:
        for f in range(dense, columns.width):
            values[row, f] = np.nan if rule < 0 else 0.0
        if rule >= 0:
            for hit in range(columns.offsets[rule], columns.offsets[rule + 1]):
                place = columns.places[columns.indicators[hit]]
                if place >= 0:
                    values[row, dense + place] = 1.0


@kernel_inlined
def rule_value(columns, rule, column):
    """Return one raw feature of a rule."""
    dense = columns.table.shape[1]
    if column < dense:
        return np.float64(columns.table[rule, column])
    value = 0.0
    for hit in range(columns.offsets[rule], columns.offsets[rule + 1]):
        if columns.places[columns.indicators[hit]] == column - dense:
            value = 1.0
    return value
