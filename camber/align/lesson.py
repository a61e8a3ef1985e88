"""What an aligner learnt from some pairs: the numbers that they changed, by word, and nothing else.

A lesson is small where an aligner is large, so it can be kept for every pair that is added to a model. Lessons are
learnt in order; of two that speak of the same words, the later one counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from camber.arrays.types import F4, F8, I8


@dataclass(frozen=True)
class Lesson:
    """New expected counts of words and of pairs of words.

    >>> first = Lesson.of({"la": (1.0, 2.0)}, {"the": (1.0, 1.0)}, {("la", "the"): 1.0})
    >>> later = Lesson.of({"la": (2.0, 3.0)}, {"the": (2.0, 2.0)}, {("la", "the"): 2.0})
    >>> Lesson.join([first, later]).to_dict() == later.to_dict()
    True
    """

    source: tuple[str, ...]  # words, new ones in the order of their ids
    target: tuple[str, ...]
    source_words: F8  # [source, 2] times linked, and occurrences with pseudo-counts
    target_words: F8  # [target, 2]
    links: I8  # [links, 2] of which word of `source` with which of `target`
    counts: F4  # [links] how often they were linked

    @classmethod
    def of(
        cls,
        source: Mapping[str, Sequence[float]],
        target: Mapping[str, Sequence[float]],
        counts: Mapping[tuple[str, str], float],
    ) -> Lesson:
        """Make a lesson from numbers by word and by pair of words."""
        sources, targets = ({word: place for place, word in enumerate(side)} for side in (source, target))
        links = [(sources[s], targets[t]) for s, t in counts]
        return cls(
            tuple(source),
            tuple(target),
            np.array(list(source.values()), np.float64).reshape(-1, 2),
            np.array(list(target.values()), np.float64).reshape(-1, 2),
            np.array(links, np.int64).reshape(-1, 2),
            np.array(list(counts.values()), np.float32),
        )

    @classmethod
    def join(cls, lessons: Sequence[Lesson]) -> Lesson:
        """Return what is known after all lessons."""
        source: dict[str, Sequence[float]] = {}
        target: dict[str, Sequence[float]] = {}
        counts: dict[tuple[str, str], float] = {}
        for lesson in lessons:
            source.update(zip(lesson.source, lesson.source_words.tolist(), strict=True))
            target.update(zip(lesson.target, lesson.target_words.tolist(), strict=True))
            links = ((lesson.source[s], lesson.target[t]) for s, t in lesson.links.tolist())
            counts.update(zip(links, lesson.counts.tolist(), strict=True))
        return cls.of(source, target, counts)

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists, from which :meth:`from_dict` makes exactly the same lesson."""
        return {
            "source": [[word, *row] for word, row in zip(self.source, self.source_words.tolist(), strict=True)],
            "target": [[word, *row] for word, row in zip(self.target, self.target_words.tolist(), strict=True)],
            "links": [[*link, count] for link, count in zip(self.links.tolist(), self.counts.tolist(), strict=True)],
        }

    @classmethod
    def from_dict(cls, lists: Mapping[str, Any]) -> Lesson:
        """Read what :meth:`to_dict` made; anything else raises ValueError, KeyError or TypeError."""
        source, target = (
            {str(word): (*map(float, row),) for word, *row in lists[side]} for side in ("source", "target")
        )
        links = np.array([[s, t] for s, t, _ in lists["links"]], np.int64).reshape(-1, 2)
        if len(links) and (links.min() < 0 or (links.max(0) >= [len(source), len(target)]).any()):
            raise ValueError("a link of words that are not there")
        return cls(
            tuple(source),
            tuple(target),
            np.array(list(source.values()), np.float64).reshape(len(source), 2),
            np.array(list(target.values()), np.float64).reshape(len(target), 2),
            links,
            np.array([count for _, _, count in lists["links"]], np.float32),
        )
