"""Parts from hypotheses that come one by one, each naming its own features: rules are kept once each from the start.

    collector = PartsCollector(path)
    collector.know([Feature("p", PROBABILITY, RULE)])                # what is no plain number of the hypothesis
    collector.add_parts(("p", "lm"), 2, values, sums, line)          # once for every hypothesis
    parts = collector.finished(rules, at_least=1)

All values in a matrix [parts, features] would be many times larger than the parts that are made of them. So hypotheses
are put together in blocks; of a block, the rows of rules that were not seen before stay, and what else its parts have,
without room for features that a hypothesis does not name.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.types import F8, I4, I8
from camber.errors import InputError
from camber.features.feature import RULE, Feature, names_of
from camber.features.parts import Parts, distinct_rows
from camber.nbest.reading import check_table

#: Numbers of a block: 16 MB.
_BLOCK = 1 << 21

Names = tuple[str, ...]


class _Alike:
    """Hypotheses of a block that name the same features in the same order."""

    def __init__(self) -> None:
        self.parts, self.values = array("q"), array("d")  # numbers of parts; [parts, features]
        self.sizes, self.sums, self.lines = array("q"), array("d"), array("q")  # of hypotheses that state sums


class PartsCollector:
    """Collect the features of hypotheses in the order of the list."""

    def __init__(self, path: str | Path) -> None:
        self.path = path
        self.kinds: dict[str, Feature] = {}
        self.ruled = False  # whether any feature is one of rules
        self.there: dict[Names, int] = {}  # how many hypotheses name these features
        self.absent: dict[str, int] = {}  # how many of them say that they lack it
        self.total = 0  # parts
        # the block: by names, and whether their hypotheses state sums
        self.block: dict[tuple[Names, bool], _Alike] = {}
        self.begin, self.cells = 0, 0  # its first part, and its numbers
        # features of rules: names → distinct rows (as bytes) → their numbers; `rows` are those of parts
        self.tables: dict[Names, dict[bytes, int]] = {}
        self.distinct, self.rows = 0, array("i")
        # other features: names → parts and their values
        self.contexts: dict[Names, tuple[array[int], array[float]]] = {}
        self.wrong: dict[str, tuple[int, float, float]] = {}  # feature → the first line with a wrong sum; both sums

    def know(self, features: Iterable[Feature]) -> None:
        """Take note of features, before any hypothesis; others are plain numbers of the hypothesis."""
        self.kinds = {feature.name: feature for feature in features}
        self.ruled = any(feature.scope == RULE for feature in self.kinds.values())

    def add_whole(self, names: Names, values: array[float], absent: Sequence[str] = ()) -> None:
        """Add a hypothesis that is one part; NaN, and among `absent`, is what it says to lack."""
        self._count(names, absent)
        if self.ruled:
            self._add_to_block((names, False), 1, values)
        else:
            parts, cells = self._context(names)
            parts.append(self.total)
            cells.extend(values)
            self.total += 1

    def add_parts(
        self, names: Names, size: int, values: array[float], sums: array[float], line: int, absent: Sequence[str] = ()
    ) -> None:
        """Add a hypothesis of so many parts, with values [parts, names] and the sums that it states."""
        self._count(names, absent)
        alike = self._add_to_block((names, True), size, values)
        alike.sizes.append(size)
        alike.sums.extend(sums)
        alike.lines.append(line)
        self.cells += len(sums)

    def _count(self, names: Names, absent: Sequence[str]) -> None:
        self.there[names] = self.there.get(names, 0) + 1
        for name in absent:
            self.absent[name] = self.absent.get(name, 0) + 1

    def _add_to_block(self, key: tuple[Names, bool], size: int, values: array[float]) -> _Alike:
        if self.cells >= _BLOCK:
            self._finish_block()
        alike = self.block.get(key)
        if alike is None:
            alike = self.block[key] = _Alike()
        alike.parts.extend(range(self.total, self.total + size))
        alike.values.extend(values)
        self.total += size
        self.cells += len(values) + 1
        return alike

    def _context(self, names: Names) -> tuple[array[int], array[float]]:
        context = self.contexts.get(names)
        if context is None:
            context = self.contexts[names] = array("q"), array("d")
        return context

    def _features(self, names: Iterable[str]) -> tuple[Feature, ...]:
        return tuple(self.kinds.get(name) or Feature(name) for name in names)

    def _finish_block(self) -> None:
        """Keep rows of rules that are new, and the context of all parts."""
        rows = np.zeros(self.total - self.begin, np.int32)
        for (names, stated), alike in self.block.items():
            features = self._features(names)
            numbers = np.frombuffer(alike.parts, np.int64)
            values = np.frombuffer(alike.values, np.float64).reshape(len(numbers), len(names))
            parts = Parts.of_dense(features, values)
            if stated:
                self._compare(parts, alike)
            if self.ruled:
                places = self._places(names_of(f for f in features if f.scope == RULE), parts.table)
                rows[numbers - self.begin] = places[parts.rows]
            where, cells = self._context(names_of(f for f in features if f.scope != RULE))
            where.extend(alike.parts)
            cells.frombytes(parts.context.tobytes())
        if self.ruled:
            self.rows.frombytes(rows.tobytes())
        self.block = {}
        self.begin, self.cells = self.total, 0

    def _places(self, names: Names, table: F8) -> I4:
        """Return the numbers of rows among all distinct ones, int32[rows]."""
        known = self.tables.setdefault(names, {})
        places = np.empty(len(table), np.int32)
        for row, values in enumerate(table):
            key = values.tobytes()
            place = known.get(key)
            if place is None:
                place = known[key] = self.distinct
                self.distinct += 1
            places[row] = place
        return places

    def _compare(self, parts: Parts, alike: _Alike) -> None:
        """Take note of features of hypotheses that are not the sums over their parts."""
        stated = np.frombuffer(alike.sums, np.float64).reshape(len(alike.sizes), len(parts.names))
        summed = parts.linear_sums(offsets_from(alike.sizes))
        wrong = ~np.isclose(summed, stated, rtol=1e-6, atol=1e-6, equal_nan=True)
        for column in np.flatnonzero(wrong.any(0)).tolist():
            row = int(np.argmax(wrong[:, column]))
            mistake = alike.lines[row], float(stated[row, column]), float(summed[row, column])
            name = parts.names[column]
            if name not in self.wrong or mistake[0] < self.wrong[name][0]:
                self.wrong[name] = mistake

    def finished(self, rules: I4, at_least: int) -> Parts:
        """Return all parts, rules int32[parts], with the features that at least so many hypotheses have."""
        if self.block:
            self._finish_block()
        there = {name: -count for name, count in self.absent.items()}
        order: dict[str, None] = {}
        for names, count in self.there.items():
            for name in names:
                order[name] = None
                there[name] = there.get(name, 0) + count
        features = self._features(name for name in order if at_least <= 1 or there[name] >= at_least)
        context = self._finished_context(names_of(f for f in features if f.scope != RULE))
        table, rows = self._finished_table(names_of(f for f in features if f.scope == RULE))
        self._refuse_wrong_sums(names_of(features))
        return Parts(features, table, rows, context, rules)

    def _finished_context(self, names: Names) -> F8:
        pieces = [
            (own, np.frombuffer(parts, np.int64), np.frombuffer(cells, np.float64).reshape(len(parts), len(own)))
            for own, (parts, cells) in self.contexts.items()
        ]
        self.contexts = {}
        return self._matrix(names, self.total, pieces)

    def _finished_table(self, names: Names) -> tuple[F8, I4]:
        """Return distinct rows in the order of their first use, and the row of each part."""
        if not self.ruled:
            return distinct_rows(np.empty((self.total, 0)))
        pieces = [
            (
                own,
                np.fromiter(known.values(), np.int64, len(known)),
                np.frombuffer(bytearray().join(known), np.float64).reshape(len(known), len(own)),
            )
            for own, known in self.tables.items()
        ]
        self.tables = {}
        rows = np.frombuffer(self.rows, np.int32)
        order = np.argsort(_first_uses(rows, self.distinct))
        # rows may be equal without the features that are left out, or where one is null and not named in another
        table, places = distinct_rows(self._matrix(names, self.distinct, pieces)[order])
        after = np.empty(len(order), np.int32)
        after[order] = places
        return table, after[rows]

    def _matrix(self, names: Names, total: int, pieces: list[tuple[Names, I8, F8]]) -> F8:
        """Return float64[total, names] with NaN for what is absent; pieces have names, rows, values [rows, names]."""
        place = {name: column for column, name in enumerate(names)}
        check_table(
            total, len(names), self.path, sum(len(rows) * sum(name in place for name in own) for own, rows, _ in pieces)
        )
        if len(pieces) == 1:
            own, rows, values = pieces[0]
            if own == names and np.array_equal(rows, np.arange(total)):
                return values
        matrix = np.full((total, len(names)), np.nan)
        for own, rows, values in pieces:
            chosen = [column for column, name in enumerate(own) if name in place]
            where = [place[own[column]] for column in chosen]
            matrix[rows[:, None], where] = values if len(chosen) == len(own) else values[:, chosen]
        return matrix

    def _refuse_wrong_sums(self, names: Names) -> None:
        mistakes = [(*self.wrong[name], name) for name in names if name in self.wrong]
        if mistakes:
            line, stated, summed, name = min(mistakes, key=lambda mistake: mistake[0])
            says, adds = ("absent" if math.isnan(value) else str(value) for value in (stated, summed))
            raise InputError(
                f"feature {name} is {says}, but its parts {'lack it' if adds == 'absent' else f'sum to {adds}'}",
                self.path,
                line,
            )


def _first_uses(rows: I4, count: int) -> I8:
    """Return where each number below `count` stands first: int32[n] → int64[count].

    >>> _first_uses(np.array([1, 1, 0, 1], np.int32), 2).tolist()
    [2, 0]
    """
    first = np.full(count, len(rows))
    for end in range(len(rows), 0, -_BLOCK):
        start = max(0, end - _BLOCK)
        first[rows[start:end][::-1]] = np.arange(start, end)[::-1]  # of equal places, the last that is written stays
    return first
