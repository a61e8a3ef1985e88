"""The greatest posteriors of many points under many kernels, in sparse rows.

Points go by in blocks of neighbours, kernels that can matter to a block (`blocks`) in chunks, so that memory does not
grow with points times kernels. For each point the best so far wait in a heap whose top is the least of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.sparse import Counts
from camber.arrays.types import F4, F8, I4, I8, Array
from camber.bend.mixtures.blocks import (
    CHUNK,
    LOST,
    ROWS,
    Room,
    choose,
    evaluate,
    exponential,
    greatest,
    in_blocks,
    reach_of,
)
from camber.bend.mixtures.leaves import Leaves, Space
from camber.engine import Engine
from camber.kernel import kernel, kernel_inlined
from camber.kernel.heap import pop, push, replace

#: Points of one piece of work: whole blocks.
_PIECE = 512 * ROWS


class Posteriors(NamedTuple):
    """The greatest posteriors of every point."""

    sparse: Counts  # [points, kernels], columns rising
    dropped: F8  # [points]: the share of the mass that was left out: an upper bound, too high by at most `LOST`


class Truncation(NamedTuple):
    """How many posteriors are kept."""

    mass: float  # the fewest that hold this share
    most: int
    kernels: int  # of how many


class _Task(NamedTuple):
    leaves: Leaves
    rows: F8  # [blocks · ROWS, features, filled up]: points by place
    live: int  # the rows before are points
    owners: I8 | None  # [rows]
    truncation: Truncation


class _Rows(NamedTuple):
    """Kept posteriors of a piece, row by row."""

    sizes: I8  # [points]
    columns: I4
    values: F4
    dropped: F8  # [points]


def posteriors_of(space: Space, points: F8, owners: I8 | None, truncation: Truncation, engine: Engine) -> Posteriors:
    """Return the greatest posteriors of points that were checked (see :meth:`Mixture.posteriors`)."""
    if not len(points):
        return Posteriors(Counts.empty(truncation.kernels), np.zeros(0))
    rows, order = in_blocks(space.place(points))
    whose = None
    if owners is not None:
        whose = np.full(len(rows), -1)
        whose[: len(order)] = owners[order]
    pieces = [range(first, min(first + _PIECE, len(points))) for first in range(0, len(points), _PIECE)]
    task = _Task(space.leaves, rows, len(points), whose, truncation)
    kept = list(engine.map(_keep_piece, task, pieces))
    sizes, dropped = np.empty(len(points), np.int64), np.empty(len(points))
    sizes[order] = np.concatenate([piece.sizes for piece in kept])
    dropped[order] = np.concatenate([piece.dropped for piece in kept])
    offsets = offsets_from(sizes)
    columns, values = np.empty(offsets[-1], np.int32), np.empty(offsets[-1], np.float32)
    for where in reversed(pieces):
        piece = kept.pop()  # and is forgotten
        starts = offsets[order[where.start : where.stop]]
        _place(starts, piece.sizes, piece.columns, piece.values, columns, values)
    return Posteriors(Counts(truncation.kernels, offsets, columns, values), dropped)


def _keep_piece(task: _Task, piece: range) -> _Rows:
    leaves, (mass, most, kernels) = task.leaves, task.truncation
    count = len(piece)
    kept = _Kept(
        np.zeros(count, np.int64),
        np.empty((count, most), np.int32),
        np.empty((count, most), np.float32),
        np.empty(count),
    )
    work = _Work(
        np.empty((ROWS, most)), np.empty((ROWS, most), np.int64), np.empty(ROWS, np.int64), np.empty((ROWS, CHUNK))
    )
    owned = task.owners is not None
    owners = np.zeros(0, np.int64) if task.owners is None else task.owners
    room = Room.make(leaves, CHUNK)
    _keep_blocks(
        task.rows, piece.start, piece.stop, owners, owned, leaves, reach_of(kernels), mass, kernels, room, work, kept
    )
    there = np.arange(most) < kept.sizes[:, None]
    return _Rows(kept.sizes, kept.columns[there], kept.values[there], kept.dropped)


class _Kept(NamedTuple):
    sizes: Array  # int64[points]
    columns: Array  # int32[points, most]
    values: Array  # float32[points, most]
    dropped: Array  # float64[points]


class _Work(NamedTuple):
    heap: Array  # float64[ROWS, most]: negated log densities, the least dense kernel on top
    items: Array  # int64[ROWS, most]: minus the kernels, so that of equals the last one leaves first
    sizes: Array  # int64[ROWS]
    masses: Array  # float64[ROWS, CHUNK]: Σ w N of a point, as a multiple of the best, by the place in a chunk


@kernel
def _place(starts, sizes, columns, values, all_columns, all_values):
    at = 0
    for row in range(len(starts)):
        for k in range(sizes[row]):
            all_columns[starts[row] + k] = columns[at]
            all_values[starts[row] + k] = values[at]
            at += 1


@kernel
def _keep_blocks(points, begin, end, owners, owned, leaves, reach, mass, kernels, room, work, kept):
    for start in range(begin, end, ROWS):
        live = min(ROWS, end - start)
        count = choose(points, start, live, owners, owned, leaves, reach, room)
        for row in range(ROWS):
            work.sizes[row] = 0
            for k in range(CHUNK):
                work.masses[row, k] = 0.0
        for first in range(0, count, CHUNK):
            last = min(first + CHUNK, count)
            evaluate(points, start, owners, owned, leaves, room, first, last, 0)
            for row in range(live):
                _add_chunk(leaves, room, work, row, first, last, reach)
        lost = LOST * (1.0 - count / kernels)
        for row in range(live):
            _finish(work, row, room.best[row], mass, lost, start - begin + row, kept)


@kernel_inlined
def _add_chunk(leaves, room, work, row, first, last, reach):
    """Add the kernels of a chunk to the mass of a point, and the best of them to its heap."""
    logs, masses = room.logs[row, : last - first], work.masses[row]
    size = len(logs)
    top = greatest(logs)
    if top == -np.inf:
        return
    if top >= room.best[row]:
        if room.best[row] > -np.inf:
            factor = np.exp(room.best[row] - top)
            for k in range(CHUNK):
                masses[k] *= factor
        room.best[row] = top
    best = room.best[row]
    heap, items, most = work.heap[row], work.items[row], work.heap.shape[1]
    count = work.sizes[row]
    bar = best - reach
    if count == most:
        bar = max(bar, -heap[0])
    if top >= bar:
        places = room.chosen[first:last]
        for k in range(size):
            if logs[k] >= bar:
                kernel_number = leaves.order[places[k]]
                if count < most:
                    count = push(heap, items, count, -logs[k], -kernel_number)
                elif -logs[k] < heap[0] or (-logs[k] == heap[0] and -kernel_number > items[0]):
                    replace(heap, items, count, -logs[k], -kernel_number)
                if count == most:
                    bar = max(bar, -heap[0])
        work.sizes[row] = count
    for k in range(size):
        masses[k] += exponential(logs[k] - best)


@kernel_inlined
def _finish(work, row, best, mass, lost, point, kept):
    """Drop the least of the heap of a point while the others hold enough, and write these by rising kernels."""
    heap, items, size = work.heap[row], work.items[row], work.sizes[row]
    kept.dropped[point] = 0.0
    if size == 0:
        return
    total = held = 0.0
    for k in range(CHUNK):
        total += work.masses[row, k]
    for k in range(size):
        held += np.exp(-heap[k] - best)
    while mass < 1.0 and size > 1:
        rest = held - np.exp(-heap[0] - best)
        if rest < mass * total:
            break
        held = rest
        size = pop(heap, items, size)[2]
    columns, values = kept.columns[point], kept.values[point]
    for k in range(size):  # by insertion: rows are short
        column, value = -items[k], np.exp(-heap[k] - best) / total
        j = k
        while j > 0 and columns[j - 1] > column:
            columns[j], values[j] = columns[j - 1], values[j - 1]
            j -= 1
        columns[j], values[j] = column, value
    kept.sizes[point] = size
    kept.dropped[point] = min(1.0, max(0.0, 1.0 - held / total) + lost)
