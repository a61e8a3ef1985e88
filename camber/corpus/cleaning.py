"""Cleaning: leave out the pairs that would harm training, and say which and how many.

An empty side makes likelihoods undefined, a very long sentence costs time and teaches little, and sides of very
different lengths are seldom translations of each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

import numpy as np

from camber.arrays.types import I8, Bools
from camber.corpus.digests import digests, numbers
from camber.settings import Settings, setting


@dataclass(frozen=True)
class CleanSettings(Settings, group="Cleaning"):
    """Which pairs to keep."""

    max_length: int = setting(80, "drop pairs with a side of more tokens than this", low=1)
    max_ratio: float = setting(9.0, "drop pairs in which one side has more than this times the tokens", low=1.0)
    drop_duplicates: bool = setting(False, "keep only the first of exactly equal pairs")


@dataclass(frozen=True)
class CleanReport:
    """How many pairs there were, were kept, and were dropped for each reason (the first that applied).

    >>> print(CleanReport(total=10, kept=7, empty_source=2, too_long=1))
    kept 7 of 10 pairs; dropped 3: 2 with an empty source side, 1 too long
    """

    total: int
    kept: int
    empty_source: int = 0
    empty_target: int = 0
    too_long: int = 0
    ratio: int = 0
    duplicate: int = 0

    @property
    def dropped(self) -> int:
        """Pairs that were left out."""
        return self.total - self.kept

    def __str__(self) -> str:
        head = f"kept {self.kept:,} of {self.total:,} pairs"
        names = {
            "empty_source": "with an empty source side",
            "empty_target": "with an empty target side",
            "too_long": "too long",
            "ratio": "of too different lengths",
            "duplicate": "repeated",
        }
        reasons = [(getattr(self, item.name), names[item.name]) for item in fields(self) if item.name in names]
        told = [f"{count:,} {name}" for count, name in reasons if count]
        return f"{head}; dropped {self.dropped:,}: {', '.join(told)}" if told else head


def clean(
    source: Sequence[Sequence[str]], target: Sequence[Sequence[str]], settings: CleanSettings | None = None
) -> tuple[I8, CleanReport]:
    """Return the indices of the pairs to keep, int64[kept] in order, and what was dropped.

    Both sides are tokenised sentences.

    >>> kept, report = clean([["a"], [], ["b"]], [["x"], ["y"], ["z"]])
    >>> kept.tolist(), report.empty_source
    ([0, 2], 1)
    """
    if len(source) != len(target):
        raise ValueError(f"{len(source)} source but {len(target)} target sentences")
    settings = settings or CleanSettings()
    first, second = (np.fromiter(map(len, side), np.int64, len(side)) for side in (source, target))
    return clean_lengths(first, second, pair_digests(source, target) if settings.drop_duplicates else None, settings)


def clean_lengths(
    source: I8, target: I8, digested: I8 | None, settings: CleanSettings | None = None
) -> tuple[I8, CleanReport]:
    """Do what :func:`clean` does with sentences of so many tokens; digests tell which pairs are equal."""
    settings = settings or CleanSettings()
    shorter, longer = np.minimum(source, target), np.maximum(source, target)
    good = np.ones(len(source), bool)
    counts: dict[str, int] = {}

    def drop(reason: str, where: Bools) -> None:
        counts[reason] = int((good & where).sum())
        good[where] = False

    drop("empty_source", source == 0)
    drop("empty_target", target == 0)
    drop("too_long", longer > settings.max_length)
    drop("ratio", longer > settings.max_ratio * shorter)
    if digested is not None and settings.drop_duplicates:
        repeated = np.ones(len(good), bool)
        number = numbers(digested)
        repeated[np.unique(number, return_index=True)[1]] = False  # equal pairs are dropped for the same other reasons
        drop("duplicate", repeated)
    kept = np.flatnonzero(good)
    return kept, CleanReport(len(good), len(kept), **counts)


def pair_digests(source: Iterable[Sequence[str]], target: Iterable[Sequence[str]]) -> I8:
    """Return a digest of every pair of tokenised sentences, int64[pairs, 2]."""
    return digests(_told(left) + "|" + _told(right) for left, right in zip(source, target, strict=True))


def _told(tokens: Sequence[str]) -> str:
    """Return tokens as one text that no other tokens give."""
    return "".join(f"{len(token)}:{token}" for token in tokens)
