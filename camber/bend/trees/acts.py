"""What a tree does at work: on how many parts and sentences of a set it acted, and what it changed there.

A tree *acted* on a sentence if, were its weight 0, another translation of the sentence's list would have a higher score
than the one that was chosen. It *acts* on a part that does not end in its most frequent leaf: what that leaf adds, a
constant or a line, a linear model could add to all parts as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Example(NamedTuple):
    """A sentence on which a tree acted."""

    sentence: int  # of the set, from 1
    source: str  # empty where the set has none
    with_tree: str
    without: str
    change: float  # what the tree adds to the metric of this sentence; above 0: its translation is better


@dataclass(frozen=True)
class Acts:
    """How often a tree acted, and a few of the sentences, drawn at random.

    >>> acts = Acts(parts=5, of_parts=200, sentences=3, of_sentences=40, better=2, worse=1)
    >>> acts.share_of_parts, acts.share_of_sentences
    (0.025, 0.075)
    """

    parts: int  # on which it acts
    of_parts: int  # in all lists
    sentences: int  # on which it acted
    of_sentences: int
    better: int  # of the sentences on which it acted: by the metric of the sentence
    worse: int
    examples: tuple[Example, ...] = ()

    @property
    def share_of_parts(self) -> float:
        """The share of the parts on which it acts."""
        return self.parts / self.of_parts if self.of_parts else 0.0

    @property
    def share_of_sentences(self) -> float:
        """The share of the sentences on which it acted."""
        return self.sentences / self.of_sentences if self.of_sentences else 0.0
