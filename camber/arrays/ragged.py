"""Ragged arrays: pieces of different lengths in one flat array, with the offsets where they start."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from camber.arrays.types import I8, AnyArray

#: Pieces that are gathered at a time.
_BLOCK = 1 << 16


def offsets_from(sizes: AnyArray | Iterable[int]) -> I8:
    """Return where pieces of these sizes start, and the end: int64[pieces + 1].

    >>> offsets_from([2, 0, 1]).tolist()
    [0, 2, 2, 3]
    >>> offsets_from(map(len, ["ab", "c"])).tolist()
    [0, 2, 3]
    """
    counts = sizes if isinstance(sizes, np.ndarray) else np.fromiter(sizes, np.int64)
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def owners_of(offsets: I8) -> I8:
    """Return the piece that every item belongs to.

    >>> owners_of(np.array([0, 2, 2, 3])).tolist()
    [0, 0, 2]
    """
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def places_of(starts: I8, sizes: npt.NDArray[np.integer]) -> I8:
    """Return the places of all items of pieces that start anywhere.

    >>> places_of(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    offsets = offsets_from(sizes)
    return np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], sizes)


def take_ragged(flat: AnyArray, offsets: I8, rows: npt.NDArray[np.integer]) -> tuple[AnyArray, I8]:
    """Gather pieces of a flat array in a new order: the pieces in one array, and their offsets.

    >>> flat, offsets = take_ragged(np.array([7, 8, 9]), np.array([0, 2, 3]), np.array([1, 0]))
    >>> flat.tolist(), offsets.tolist()
    ([9, 7, 8], [0, 1, 3])
    """
    starts = offsets[rows]
    return cut(flat, starts, offsets[np.asarray(rows) + 1] - starts)


def cut(flat: AnyArray, starts: I8, sizes: I8) -> tuple[AnyArray, I8]:
    """Gather pieces that start anywhere in a flat array: the pieces in one array, and their offsets.

    >>> cut(np.array([7, 8, 9]), np.array([1, 0]), np.array([2, 2]))[0].tolist()
    [8, 9, 7, 8]
    """
    offsets = offsets_from(sizes)
    out = np.empty((int(offsets[-1]), *flat.shape[1:]), flat.dtype)
    for first in range(0, len(sizes), _BLOCK):  # the indices of all pieces at once would be larger than the pieces
        last = min(first + _BLOCK, len(sizes))
        a, b = offsets[first], offsets[last]
        shift = np.repeat(starts[first:last] - offsets[first:last], sizes[first:last])
        out[a:b] = flat[np.arange(a, b) + shift]
    return out, offsets


def sort_keys(values: npt.NDArray[np.integer], offsets: I8, end: int = 0) -> list[I8]:
    """Return int64 keys, most important first, that order the pieces as sequences of numbers above 0.

    The number `end` follows every piece: with 0 a prefix comes before its extensions.

    >>> [key.tolist() for key in sort_keys(np.array([1, 2, 1]), np.array([0, 2, 3]))][0][0] > 0
    True
    """
    lengths = np.diff(offsets)
    bits = max(int(values.max(initial=1)), end).bit_length()
    keys: list[I8] = []
    free = 0
    for place in range(int(lengths.max(initial=0)) + 1):
        if free < bits:
            keys.append(np.zeros(len(lengths), np.int64))
            free = 63
        inside = lengths > place
        column = np.where(lengths == place, np.int64(end), np.int64(0))
        column[inside] = values[offsets[:-1][inside] + place]
        free -= bits
        keys[-1] |= column << free
    return keys


def ranks(keys: list[I8]) -> I8:
    """Return the place of every row among the distinct rows in the order of their keys, from 0.

    >>> ranks([np.array([5, 3, 5])]).tolist()
    [1, 0, 1]
    """
    order = np.lexsort(keys[::-1])
    new = np.zeros(len(order), bool)
    for key in keys:
        new[1:] |= key[order[1:]] != key[order[:-1]]
    rank = np.empty(len(order), np.int64)
    rank[order] = np.cumsum(new)
    return rank
