"""Splitting: hold some pairs out of the training text, for tuning and for measuring."""

from __future__ import annotations

import random
from collections.abc import Hashable, Sequence

import numpy as np

from camber.arrays.types import I8

#: with fewer dev sentences, untuned weights are the better bet
FEWEST_TO_TUNE = 30


def held_out_size(count: int) -> int:
    """Return how many of `count` pairs to hold out when nobody says: 5 %, at most 1,000.

    At least as many as tuning needs; where that is more than a tenth, none: they are worth more as training text.

    >>> held_out_size(29_000), held_out_size(2_000), held_out_size(500), held_out_size(200)
    (1000, 100, 30, 0)
    """
    size = min(1000, max(FEWEST_TO_TUNE, count // 20))
    return size if size <= count // 10 else 0


def hold_out(
    count: int, size: int | None = None, seed: int = 1, keys: Sequence[Hashable] | None = None
) -> tuple[I8, I8]:
    """Return the indices of the pairs for training and of `size` held-out pairs, both ascending.

    The same arguments give the same split on every machine. `keys` holds something per pair by which repeats are
    known, such as ``list(zip(source_lines, target_lines))``: a pair whose key is held out is in neither set, so nothing
    that is tuned or measured on was seen in training; and no key is held out twice. Without a `size`, the number of
    different keys decides.

    >>> train, held = hold_out(5, 1, keys=["a", "b", "a", "a", "c"], seed=3)
    >>> train.tolist(), held.tolist()
    ([1, 4], [0])
    """
    if keys is not None and len(keys) != count:
        raise ValueError(f"{len(keys)} keys for {count} pairs")
    if size is None:
        size = held_out_size(count if keys is None else len(set(keys)))
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
