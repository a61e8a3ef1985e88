"""Splitting: hold some pairs out of the training text, for tuning and for measuring."""

from __future__ import annotations

import random
from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int64]


def held_out_size(count: int) -> int:
    """Return how many of `count` pairs to hold out when nobody says: 5 %, at most 1,000, at least 1 of 2.

    >>> held_out_size(29_000), held_out_size(2_000), held_out_size(2), held_out_size(1)
    (1000, 100, 1, 0)
    """
    return min(1000, max(1, count // 20)) if count > 1 else 0


def hold_out(
    count: int, size: int | None = None, seed: int = 1, keys: Sequence[Hashable] | None = None
) -> tuple[Indices, Indices]:
    """Return the indices of the pairs for training and of `size` held-out pairs, both ascending.

    The same arguments give the same split on every machine. `keys` holds something per pair by which repeats are
    known, such as ``list(zip(source_lines, target_lines))``: a pair whose key is held out is in neither set, so nothing
    that is tuned or measured on was seen in training; and no key is held out twice.

    >>> train, held = hold_out(5, 1, keys=["a", "b", "a", "a", "c"], seed=3)
    >>> train.tolist(), held.tolist()
    ([1, 4], [0])
    """
    if keys is not None and len(keys) != count:
        raise ValueError(f"{len(keys)} keys for {count} pairs")
    size = held_out_size(count) if size is None else size
    if not 0 <= size <= count:
        raise ValueError(f"cannot hold out {size} of {count} pairs")
    # random.Random promises the same sequence for random() in every version; its shuffle does not.
    draw = random.Random(seed).random
    order = sorted(range(count), key=[draw() for _ in range(count)].__getitem__)
    if keys is None:
        return np.array(sorted(order[size:]), np.int64), np.array(sorted(order[:size]), np.int64)
    held: list[int] = []
    names: set[Hashable] = set()
    for index in order:
        if len(held) == size:
            break
        if keys[index] not in names:
            names.add(keys[index])
            held.append(index)
    train = [index for index in range(count) if keys[index] not in names]
    return np.array(train, np.int64), np.array(sorted(held), np.int64)
