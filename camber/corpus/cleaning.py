"""Cleaning: leave out the pairs that would harm training, and say which and how many.

An empty side makes likelihoods undefined, a very long sentence costs time and teaches little, and sides of very
different lengths are seldom translations of each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from camber.arrays.types import I8
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
    counts = dict.fromkeys(("empty_source", "empty_target", "too_long", "ratio", "duplicate"), 0)
    seen: set[tuple[tuple[str, ...], tuple[str, ...]]] = set()
    kept = []
    for index, (left, right) in enumerate(zip(source, target, strict=True)):
        reason = _reason_to_drop(len(left), len(right), settings)
        if not reason and settings.drop_duplicates:
            pair = (tuple(left), tuple(right))
            reason = "duplicate" if pair in seen else ""
            seen.add(pair)
        if reason:
            counts[reason] += 1
        else:
            kept.append(index)
    return np.array(kept, np.int64), CleanReport(len(source), len(kept), **counts)


def _reason_to_drop(left: int, right: int, settings: CleanSettings) -> str:
    if not left:
        return "empty_source"
    if not right:
        return "empty_target"
    if max(left, right) > settings.max_length:
        return "too_long"
    return "ratio" if max(left, right) > settings.max_ratio * min(left, right) else ""
