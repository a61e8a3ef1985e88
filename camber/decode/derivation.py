"""What a decoder finds: derivations, or columns of hypotheses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.sparse import Counts
from camber.arrays.types import F8, I8
from camber.bend.weighing import Weighing
from camber.corpus import Sentences, Vocabulary
from camber.features.feature import Feature, linear_table
from camber.features.parts import Parts


@dataclass(frozen=True)
class Derivation:
    """One hypothesis: its words, its score, and its parts in target order."""

    inputs: tuple[Feature, ...]  # the columns of `features`
    words: list[str]
    score: float
    features: F8  # [parts, inputs], raw, in context; NaN: the part lacks the feature
    rules: I8  # [parts]; -1: a word passed through
    spans: I8  # [parts, 2] source words begin .. end (exclusive)
    target_spans: I8  # [parts, 2]

    def after(self, left: Self | None, offset: int) -> Self:
        """Return this derivation of a window behind what precedes it; `offset` source words came before."""
        if left is None:
            return self
        return replace(
            self,
            words=left.words + self.words,
            score=left.score + self.score,
            features=np.concatenate([left.features, self.features]),
            rules=np.concatenate([left.rules, self.rules]),
            spans=np.concatenate([left.spans, self.spans + offset]),
            target_spans=np.concatenate([left.target_spans, self.target_spans + len(left.words)]),
        )

    @property
    def linear_sums(self) -> F8:
        """What a linear model multiplies by its weights: logarithms, summed over the parts, float64[inputs].

        What a part lacks adds nothing.
        """
        return np.asarray(np.nansum(linear_table(self.inputs, self.features), axis=0))


def joined(derivations: Sequence[Derivation], lengths: Sequence[int]) -> Derivation:
    """Put derivations of sentences of these lengths behind each other, as one of all of them."""
    if len(derivations) == 1:
        return derivations[0]
    # a plain derivation: what more the decoders know of one is about its own sentence
    first = derivations[0]
    source = offsets_from(np.array(lengths, np.int64))
    target = offsets_from(np.array([len(item.words) for item in derivations], np.int64))
    return Derivation(
        first.inputs,
        [word for item in derivations for word in item.words],
        sum(item.score for item in derivations),
        np.concatenate([item.features for item in derivations]),
        np.concatenate([item.rules for item in derivations]),
        np.concatenate([item.spans + at for item, at in zip(derivations, source[:-1], strict=True)]),
        np.concatenate([item.target_spans + at for item, at in zip(derivations, target[:-1], strict=True)]),
    )


def parts_of(inputs: Sequence[Feature], derivations: Sequence[Derivation]) -> tuple[Parts, I8]:
    """Return the parts of derivations, and where those of each begin and end: int64[derivations + 1]."""
    offsets = offsets_from(np.array([len(item.rules) for item in derivations], np.int64))
    values = np.concatenate([*(item.features for item in derivations), np.zeros((0, len(inputs)))])
    rules = np.concatenate([*(item.rules for item in derivations), np.zeros(0, np.int64)])
    return Parts.of_dense(inputs, values, rules), offsets


@dataclass(frozen=True)
class HypothesisColumns:
    """Hypotheses of many sentences: how many each has, what has weights, and their words."""

    counts: I8  # [sentences]
    features: F8  # [hypotheses, dense columns of the bend]
    words: Sentences  # [hypotheses]
    bins: Counts | None = None  # [hypotheses, sparse columns of the bend]

    @classmethod
    def join(cls, pieces: Sequence[HypothesisColumns], vocabulary: Vocabulary, weighing: Weighing) -> HypothesisColumns:
        """Put the columns of batches behind each other."""
        width = weighing.bend.width
        ids = np.concatenate([*(piece.words.ids for piece in pieces), np.zeros(0, np.int32)])
        lengths = np.concatenate([*(piece.words.lengths for piece in pieces), np.zeros(0, np.int64)])
        none = np.zeros((0, len(weighing.names) - width))
        return cls(
            np.concatenate([*(piece.counts for piece in pieces), np.zeros(0, np.int64)]),
            np.concatenate([*(piece.features for piece in pieces), none]),
            Sentences(ids.astype(np.int32), offsets_from(lengths), vocabulary),
            Counts.join([piece.bins for piece in pieces if piece.bins], width) if width else None,
        )

    @classmethod
    def of(
        cls, decoded: Sequence[Sequence[Derivation]], vocabulary: Vocabulary, weighing: Weighing
    ) -> HypothesisColumns:
        """Make columns from derivations."""
        flat = [item for derivations in decoded for item in derivations]
        design = weighing.design(*parts_of(weighing.inputs, flat))
        return cls(
            np.array([len(derivations) for derivations in decoded], np.int64),
            design.dense,
            Sentences.encode([item.words for item in flat], vocabulary),
            design.sparse,
        )
