"""What a decoder finds: derivations, or columns of hypotheses; and what every decoder offers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from camber.corpus import Sentences, Vocabulary

F8 = npt.NDArray[np.float64]
I8 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Derivation:
    """One hypothesis: its words, its score, and its parts in target order."""

    words: list[str]
    score: float
    features: F8  # [parts, features], unweighted, in context
    rules: I8  # [parts]; -1: a word passed through
    spans: I8  # [parts, 2] source words begin .. end (exclusive)
    target_spans: I8  # [parts, 2]


@dataclass(frozen=True)
class HypothesisColumns:
    """Hypotheses of many sentences: how many each has, their features and their words."""

    counts: I8  # [sentences]
    features: F8  # [hypotheses, features], unweighted sums over the parts
    words: Sentences  # [hypotheses]

    @classmethod
    def join(cls, pieces: Sequence[HypothesisColumns], vocabulary: Vocabulary, features: int) -> HypothesisColumns:
        """Put the columns of batches behind each other."""
        lengths = [piece.words.lengths for piece in pieces]
        offsets = np.concatenate([[0], np.cumsum(np.concatenate([*lengths, np.zeros(0, np.int64)]))]).astype(np.int64)
        ids = np.concatenate([*(piece.words.ids for piece in pieces), np.zeros(0, np.int32)])
        return cls(
            np.concatenate([*(piece.counts for piece in pieces), np.zeros(0, np.int64)]),
            np.concatenate([*(piece.features for piece in pieces), np.zeros((0, features))]),
            Sentences(ids.astype(np.int32), offsets, vocabulary),
        )

    @classmethod
    def of(cls, decoded: Sequence[Sequence[Derivation]], vocabulary: Vocabulary, features: int) -> HypothesisColumns:
        """Make columns from derivations."""
        flat = [item for found in decoded for item in found]
        return cls(
            np.array([len(found) for found in decoded], np.int64),
            np.array([item.features.sum(0) for item in flat]).reshape(len(flat), features),
            Sentences.encode([item.words for item in flat], vocabulary),
        )


class Decoder(Protocol):
    """What phrase and chart decoders have in common, so that tuning and translating need not know which it is."""

    names: tuple[str, ...]  # of the features
    weights: F8  # [features]

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
        self, sentences: Sequence[Sequence[str]], nbest: int = 1, distinct: bool = True, threads: int = 0
    ) -> Iterator[Sequence[Derivation]]:
        """Yield the `nbest` best derivations of every tokenised sentence, best first."""

    def decode_columns(
        self, sentences: Sequence[Sequence[str]], vocabulary: Vocabulary, nbest: int, threads: int = 0
    ) -> HypothesisColumns:
        """Decode into columns of distinct hypotheses."""

    def word_alignment(self, derivation: Any) -> list[tuple[int, int]]:
        """Return the (source, target) links of a derivation."""

    def reweighted(self, weights: Mapping[str, float]) -> Self:
        """Return the same decoder with other weights."""

    def remembering(self) -> Self:
        """Return the same decoder, keeping what it makes of a sentence for the next time that it comes."""

    def searching(self, changes: Mapping[str, Any]) -> Self:
        """Return the same decoder with some settings of the search changed."""
