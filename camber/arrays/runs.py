"""Sorted runs on disk: rows come in any order, and leave sorted by their key, one range of keys after the other.

    runs = SortedRuns((np.int64, np.uint8), scratch)
    for keys, marks in blocks:
        runs.add(keys, marks)
    for piece in runs.ranges():
        keys, marks = merged(piece)                # all rows of a range of keys; equal keys are in the same range

Rows are kept in memory until they are too many; then they are sorted and written, as one run. A range is a slice of
each run, so pieces can be merged anywhere, by threads or by the workers of a cluster. Rows with equal keys come in the
order in which they were added, whatever the runs and the ranges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from camber.arrays.scratch import UNLIMITED, Scratch
from camber.arrays.types import I8, AnyArray

#: A run is known by so many of its keys; ranges are chosen among them.
_SAMPLES = 1 << 12
#: bytes that a row takes while it is sorted, beside those of its columns: its key, its place, and room to sort
_WHILE_SORTED = 32


class Run(NamedTuple):
    """Sorted rows in a file, column behind column, or in memory."""

    path: Path | None
    columns: tuple[AnyArray, ...]  # empty if they are in a file
    rows: int
    sample: I8  # every `step`-th key
    step: int


#: rows of each run, as columns
Piece = Sequence[Sequence[AnyArray]]


@dataclass
class SortedRuns:
    """A table whose first column, int64, is the key; `parts` is how many of its size must fit into memory."""

    kinds: tuple[npt.DTypeLike, ...]
    scratch: Scratch = UNLIMITED
    parts: int = 2

    def __post_init__(self) -> None:
        self._runs: list[Run] = []
        self._blocks: list[list[AnyArray]] = [[] for _ in self.kinds]
        self._held = 0
        self.row_bytes = sum(np.dtype(kind).itemsize for kind in self.kinds)
        self._most = max(1, self.scratch.share(self.parts) // (self.row_bytes + _WHILE_SORTED))

    def __len__(self) -> int:
        """Return how many rows were added."""
        return self._held + sum(run.rows for run in self._runs)

    @property
    def runs(self) -> int:
        """How many runs were written."""
        return len(self._runs)

    def add(self, *columns: AnyArray) -> None:
        """Add rows, as one array for each column."""
        count = len(columns[0])
        if count == 0:
            return
        if self._held and self._held + count > self._most:
            self._write()
        for kept, column in zip(self._blocks, columns, strict=True):
            kept.append(column)
        self._held += count

    def sort(self) -> None:
        """Sort what is in memory; nothing can be added any more."""
        if self._held:
            if self._runs:
                self._write()
            else:
                self._runs.append(self._run(None))

    def ranges(self, most: int | None = None, width: int = 1) -> Iterator[Piece]:
        """Yield the rows in ranges of keys, each of about `most` rows; none cuts through equal values of key // width.

        Nothing can be added any more.
        """
        self.sort()
        bounds = self._bounds(len(self) if most is None else most, width)
        edges = [[_place(run, bound) for bound in bounds] + [run.rows] for run in self._runs]
        starts = [0] * len(self._runs)
        for number in range(len(bounds) + 1):
            ends = [edge[number] for edge in edges]
            piece = [self._slice(run, a, b) for run, a, b in zip(self._runs, starts, ends, strict=True) if b > a]
            if piece:
                yield piece
            starts = ends

    def _bounds(self, most: int, width: int) -> list[int]:
        """Return the keys at which ranges begin, but for the first."""
        if not self._runs or len(self) <= most:
            return []
        keys = np.concatenate([run.sample for run in self._runs])
        weights = np.concatenate([np.full(len(run.sample), run.step) for run in self._runs])
        order = np.argsort(keys, kind="stable")
        groups, reached = keys[order] // width, np.cumsum(weights[order])
        bounds, begun = [], 0
        for at in range(1, len(groups)):
            if reached[at] - begun > most and groups[at] > groups[at - 1]:
                bounds.append(int(groups[at]) * width)
                begun = int(reached[at - 1])
        return bounds

    def _write(self) -> None:
        path = self.scratch.path("run")
        self._runs.append(self._run(path))

    def _run(self, path: Path | None) -> Run:
        """Sort what is held, and write it if there is a path for it."""
        keys = _joined(self._blocks[0])
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        step = max(1, len(keys) // _SAMPLES)
        sample, count = keys[::step].copy(), len(keys)
        columns: list[AnyArray] = []
        with nullcontext() if path is None else open(path, "wb") as stream:
            for number, kept in enumerate(self._blocks):
                column = keys if number == 0 else _joined(kept)[order]
                if stream is None:
                    columns.append(column)
                else:
                    column.astype(self.kinds[number], copy=False).tofile(stream)
        self._held = 0
        return Run(path, tuple(columns), count, sample, step)

    def _slice(self, run: Run, a: int, b: int) -> tuple[AnyArray, ...]:
        """Return some rows of a run; those of a file are mapped, and let go with the arrays."""
        if run.path is None:
            return tuple(column[a:b] for column in run.columns)
        at, columns = 0, []
        for kind in [np.dtype(kind) for kind in self.kinds]:
            mapped = np.memmap(run.path, kind, "c", at + a * kind.itemsize, (b - a,))
            columns.append(mapped.view(np.ndarray))
            at += run.rows * kind.itemsize
        return tuple(columns)


def merged(piece: Piece) -> list[AnyArray]:
    """Return the rows of a range of keys, sorted by key."""
    if len(piece) == 1:
        return [np.array(column) for column in piece[0]]
    keys = np.concatenate([columns[0] for columns in piece])
    order = np.argsort(keys, kind="stable")  # what is sorted in stretches already takes a merge of these
    return [keys[order], *(np.concatenate(others)[order] for others in list(zip(*piece, strict=True))[1:])]


def _joined(blocks: list[AnyArray]) -> AnyArray:
    """Return blocks as one array, and forget them."""
    whole = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
    blocks.clear()
    return whole


def _place(run: Run, key: int) -> int:
    """Return how many rows of a run have smaller keys."""
    if run.path is None:
        return int(np.searchsorted(run.columns[0], key))
    # the sample tells between which two of its keys the place is, so that little of the file is read
    first = max(int(np.searchsorted(run.sample, key)) - 1, 0) * run.step
    last = min(first + run.step, run.rows)
    keys = np.fromfile(run.path, np.int64, last - first, offset=8 * first)
    return first + int(np.searchsorted(keys, key))
