"""What a decoder finds: derivations, or columns of hypotheses; and what every decoder offers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np

from camber.arrays.sparse import Counts
from camber.arrays.types import F8, I8
from camber.bend.discrete import DiscreteBend
from camber.bend.weighing import Weighing
from camber.corpus import Sentences, Vocabulary
from camber.engine import LOCAL, Engine


@dataclass(frozen=True)
class Derivation:
    """One hypothesis: its words, its score, and its parts in target order."""

    words: list[str]
    score: float
    features: F8  # [parts, features], unweighted, in context; NaN: the part lacks the feature
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
    def sums(self) -> F8:
        """The features of the whole hypothesis, [features]: an absent one adds nothing."""
        return np.nansum(self.features, axis=0)


@dataclass(frozen=True)
class HypothesisColumns:
    """Hypotheses of many sentences: how many each has, their features and their words."""

    counts: I8  # [sentences]
    features: F8  # [hypotheses, features], unweighted sums over the parts
    words: Sentences  # [hypotheses]
    bins: Counts | None = None  # [hypotheses, bins] of bent features

    @classmethod
    def join(cls, pieces: Sequence[HypothesisColumns], vocabulary: Vocabulary, weighing: Weighing) -> HypothesisColumns:
        """Put the columns of batches behind each other."""
        bend = weighing.bend
        lengths = [piece.words.lengths for piece in pieces]
        offsets = np.concatenate([[0], np.cumsum(np.concatenate([*lengths, np.zeros(0, np.int64)]))]).astype(np.int64)
        ids = np.concatenate([*(piece.words.ids for piece in pieces), np.zeros(0, np.int32)])
        none = np.zeros((0, len(weighing.inputs) if bend is None else len(bend.linear)))
        return cls(
            np.concatenate([*(piece.counts for piece in pieces), np.zeros(0, np.int64)]),
            np.concatenate([*(piece.features for piece in pieces), none]),
            Sentences(ids.astype(np.int32), offsets, vocabulary),
            Counts.join([piece.bins for piece in pieces if piece.bins], weighing.bins) if weighing.bins else None,
        )

    @classmethod
    def of(
        cls, decoded: Sequence[Sequence[Derivation]], vocabulary: Vocabulary, weighing: Weighing
    ) -> HypothesisColumns:
        """Make columns from derivations."""
        flat = [item for found in decoded for item in found]
        width = len(weighing.inputs)
        sums = np.array([item.sums for item in flat]).reshape(len(flat), width)
        features, bins = weighing.of_hypotheses(
            np.concatenate([*(item.features for item in flat), np.zeros((0, width))]),
            np.concatenate([*(item.rules for item in flat), np.zeros(0, np.int64)]),
            np.concatenate([[0], np.cumsum([len(item.rules) for item in flat], dtype=np.int64)]),
            sums,
        )
        return cls(
            np.array([len(found) for found in decoded], np.int64),
            features,
            Sentences.encode([item.words for item in flat], vocabulary),
            bins,
        )


class Decoder(Protocol):
    """What phrase and chart decoders have in common, so that tuning and translating need not know which it is."""

    weighing: Weighing

    @property
    def inputs(self) -> tuple[str, ...]:
        """The features of a part, before any bend."""

    @property
    def names(self) -> tuple[str, ...]:
        """The features that have weights."""

    @property
    def weights(self) -> F8:
        """The weights, [names]."""

    @property
    def bend(self) -> DiscreteBend | None:
        """What is done to features before they are weighed; None: logarithms of probabilities, and no more."""

    @property
    def has_raw_values(self) -> bool:
        """Whether rules keep raw probabilities and counts, from which their logarithms are made."""

    @property
    def recorded(self) -> dict[str, dict[str, Any]]:
        """The settings that a model must keep, by stage."""

    @property
    def settings(self) -> Any:
        """How the search is done."""

    @property
    def source_vocabulary(self) -> Vocabulary:
        """The source words that rules know."""

    @property
    def target_vocabulary(self) -> Vocabulary:
        """The target words that rules produce."""

    def decode(
        self,
        sentences: Sequence[Sequence[str]],
        nbest: int = 1,
        distinct: bool = True,
        engine: Engine = LOCAL,
        first: int = 0,
    ) -> Iterator[Sequence[Derivation]]:
        """Yield the `nbest` best derivations of every tokenised sentence, best first.

        `first` is the number of the first sentence in the input, for grammars that come line by line.
        """

    def decode_columns(
        self, sentences: Sequence[Sequence[str]], vocabulary: Vocabulary, nbest: int, engine: Engine = LOCAL
    ) -> HypothesisColumns:
        """Decode into columns of distinct hypotheses."""

    def word_alignment(self, derivation: Any) -> list[tuple[int, int]]:
        """Return the (source, target) links of a derivation."""

    def rule_values(self, sentences: Sequence[Sequence[str]]) -> dict[str, tuple[F8, I8]]:
        """Return the raw values of the features that can be bent in all rules for some sentences, and how often each.

        A rule counts once for every sentence (of a chart) or span (of phrases) that it applies to.
        """

    def worth(self, name: str, values: F8) -> F8:
        """Return what raw values of a feature add to this decoder's scores, float64[values]."""

    def bent(self, weights: Mapping[str, float], bend: DiscreteBend | None) -> Self:
        """Return the same decoder with another bend and its weights."""

    def reweighted(self, weights: Mapping[str, float]) -> Self:
        """Return the same decoder with other weights."""

    def remembering(self) -> Self:
        """Return the same decoder, keeping what it makes of a sentence for the next time that it comes."""

    def searching(self, changes: Mapping[str, Any]) -> Self:
        """Return the same decoder with some settings of the search changed."""
