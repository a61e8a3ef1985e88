"""Splitting: hold some pairs out of the training text, for tuning and for measuring, or each of them once, in folds."""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from camber.arrays.types import I8, Bools
from camber.corpus.digests import digests, numbers
from camber.errors import CamberError
from camber.progress import each

#: with fewer dev sentences, untuned weights are the better bet
FEWEST_TO_TUNE = 30
#: a pair may take so many others out of training when it is held out, unless there are not enough such pairs
FEW = 5


def held_out_size(count: int) -> int:
    """Return how many of `count` pairs to hold out when nobody says: 5 %, at most 1,000.

    At least as many as tuning needs; where that is more than a tenth, none: they are worth more as training text.

    >>> held_out_size(29_000), held_out_size(2_000), held_out_size(500), held_out_size(200)
    (1000, 100, 30, 0)
    """
    size = min(1000, max(FEWEST_TO_TUNE, count // 20))
    return size if size <= count // 10 else 0


@dataclass(frozen=True)
class HoldOut:
    """Which pairs are trained on, and which are held out; both ascending."""

    train: I8
    held: I8
    repeating: int  # pairs with a line that occurs in another pair, too
    pairs: int

    @property
    def dropped(self) -> int:
        """How many pairs are in neither set, because they share a line with one that is held out."""
        return self.pairs - len(self.train) - len(self.held)


def hold_out(
    source: Sequence[str], target: Sequence[str], size: int | None = None, seed: int = 1, only: Bools | None = None
) -> HoldOut:
    """Hold `size` raw pairs out, neither line of which occurs in what is left for training, nor in another of them.

    Text that a translator has seen says nothing about text that it has not. So pairs that share a line with one that is
    held out are in neither set; pairs that would take more than a few with them are held out only if there are not
    enough others. Lines are the same whatever their case and their spaces; blank ones share nothing, and are never held
    out. The same arguments give the same split on every machine. Without a `size`, the number of different source lines
    decides. There may be fewer pairs than asked for. With `only`, no others are held out.

    >>> split = hold_out(["a", "b", "A ", "c", "d"], ["x", "y", "z", "w", "v"], 1)
    >>> split.train.tolist(), split.held.tolist(), split.repeating
    ([1, 3, 4], [0], 2)
    """
    if len(source) != len(target):
        raise ValueError(f"{len(source)} source but {len(target)} target lines")
    count = len(source)
    if size is not None and not 0 <= size <= count:
        raise ValueError(f"cannot hold out {size} of {count} pairs")
    lines, blank = zip(*map(_numbered, (source, target)), strict=True)
    often = [np.bincount(side)[side] if count else side for side in lines]
    # what goes with each pair, at most: pairs that share its source, and those that share its target
    taken = often[0] + often[1] - 2
    allowed = np.ones(count, bool) if only is None else only
    if size is None:
        size = held_out_size(len(np.unique(lines[0][allowed])))
    # random.Random promises the same sequence for random() in every version; its shuffle does not.
    draw = random.Random(seed).random
    drawn = np.fromiter((draw() for _ in range(count)), np.float64, count)
    may = allowed & ~blank[0] & ~blank[1]
    held: list[int] = []
    seen: tuple[set[int], set[int]] = set(), set()
    for index in np.lexsort((drawn, np.maximum(taken - FEW, 0))):
        if len(held) == size:
            break
        first, second = int(lines[0][index]), int(lines[1][index])
        if may[index] and first not in seen[0] and second not in seen[1]:
            held.append(int(index))
            seen[0].add(first)
            seen[1].add(second)
    left = np.ones(count, bool)
    for side in lines:
        left &= ~np.isin(side, side[held])
    repeating = ((often[0] > 1) & ~blank[0]) | ((often[1] > 1) & ~blank[1])
    return HoldOut(np.flatnonzero(left), np.array(sorted(held), np.int64), int(repeating.sum()), count)


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


def seen_lines(lines: Sequence[str], training: Iterable[str]) -> int:
    """Return how many lines stand in the training text, too, whatever their case and their spaces.

    >>> seen_lines(["a b", "c"], ["A  b", "d"])
    1
    """
    asked = [_comparable(line) for line in lines]
    wanted = set(asked)
    known = {same for line in training if (same := _comparable(line)) in wanted}
    return sum(line in known for line in asked)


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


def _comparable(line: str) -> str:
    """Return what equal lines have in common: all but case and spaces."""
    return " ".join(line.split()).casefold()


def _hanging_together(source: Sequence[str], target: Sequence[str]) -> I8:
    """Number the groups of pairs that equal lines connect, in the order of their first pairs, int64[pairs]."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if len(source) != len(target):
        raise ValueError(f"{len(source)} source but {len(target)} target lines")
    count = len(source)
    ends, start = [], 0
    for side in (source, target):
        lines, blank = _numbered(side)
        # blank lines are nodes of their own
        ends.append(start + np.where(blank, count + np.arange(count), lines))
        start += 2 * count
    graph = coo_array((np.ones(count, np.int8), (ends[0], ends[1])), shape=(start, start))
    labels = connected_components(graph, directed=False)[1][ends[0]]
    _, firsts, groups = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(firsts))[groups]


def _numbered(lines: Sequence[str]) -> tuple[I8, Bools]:
    """Number lines that are the same alike, int64[lines], and say which are blank; no line is kept."""
    told = each(lines, "compare lines", unit="lines")
    found = numbers(digests(map(_comparable, told))).astype(np.int64)
    return found, np.fromiter((not line or line.isspace() for line in lines), bool, len(lines))
