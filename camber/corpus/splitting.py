"""Splitting: hold some pairs out of the training text, for tuning and for measuring, or each of them once, in folds."""

from __future__ import annotations

import heapq
import random
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from camber.arrays.types import I8
from camber.errors import CamberError

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


@dataclass(frozen=True)
class Folds:
    """Pairs in folds, each of which can be held out: no line of one occurs in another."""

    numbers: I8  # [pairs]: the fold of each, from 0
    together: int  # pairs that share a line with another pair
    largest: int  # pairs that hang together, at most

    def __str__(self) -> str:
        sizes = np.bincount(self.numbers)
        held = f"{self.together:,} pairs share a line with another, and are in the same fold"
        return f"{len(self.numbers):,} pairs in {len(sizes)} folds of {sizes.min():,} to {sizes.max():,}; {held}"


def split_into_folds(source: Sequence[str], target: Sequence[str], folds: int, seed: int = 1) -> Folds:
    """Put raw pairs into folds of nearly equal size, at random, but pairs with the same source or target together.

    Otherwise the answer to a held-out line would stand in the training text. Lines are the same whatever their case
    and their spaces; blank lines hold nothing together.

    >>> print(split_into_folds(["a", "b", "A ", "c"], ["x", "y", "z", "x"], folds=2))
    4 pairs in 2 folds of 1 to 3; 3 pairs share a line with another, and are in the same fold
    """
    groups = _hanging_together(source, target)
    sizes = np.bincount(groups)
    if len(sizes) < folds:
        raise CamberError(
            f"{len(groups):,} pairs cannot be cut into {folds} folds: they are {len(sizes):,} without repeated lines; "
            "ask for fewer folds, or give more text"
        )
    draw = random.Random(seed).random
    drawn = [draw() for _ in sizes]
    fold_of_group = np.zeros(len(sizes), np.int64)
    smallest = [(0, fold) for fold in range(folds)]
    # the largest first, each to the smallest fold: whatever is left then evens them out
    for group in sorted(range(len(sizes)), key=lambda group: (-sizes[group], drawn[group])):
        size, fold = smallest[0]
        fold_of_group[group] = fold
        heapq.heapreplace(smallest, (size + int(sizes[group]), fold))
    return Folds(fold_of_group[groups], int(sizes[sizes > 1].sum()), int(sizes.max()))


def _hanging_together(source: Sequence[str], target: Sequence[str]) -> I8:
    """Number the groups of pairs that equal lines connect, in the order of their first pairs, int64[pairs]."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if len(source) != len(target):
        raise ValueError(f"{len(source)} source but {len(target)} target lines")
    nodes: dict[Hashable, int] = {}
    edges: list[list[int]] = []
    for number, pair in enumerate(zip(source, target, strict=True)):
        keys = [(side, " ".join(line.split()).casefold() or number) for side, line in enumerate(pair)]
        edges.append([nodes.setdefault(key, len(nodes)) for key in keys])
    ends = np.array(edges, np.int64).reshape(-1, 2)
    graph = coo_array((np.ones(len(ends), np.int8), (ends[:, 0], ends[:, 1])), shape=(len(nodes), len(nodes)))
    labels = connected_components(graph, directed=False)[1][ends[:, 0]]
    _, firsts, groups = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(firsts))[groups]
