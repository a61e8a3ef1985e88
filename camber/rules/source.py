"""Where rules come from: a store, a store with added pairs, an indexed corpus, grammars that were made before."""

from __future__ import annotations

from typing import Any, Protocol, Self

from camber.corpus.vocabulary import Vocabulary
from camber.features.feature import Feature


class RuleSource(Protocol):
    """Anything that gives the rules that apply to sentences."""

    @property
    def features(self) -> tuple[Feature, ...]:
        """What every rule has of its own."""

    @property
    def source_words(self) -> Vocabulary:
        """The source words that rules know."""

    @property
    def target_words(self) -> Vocabulary:
        """The target words that rules produce."""

    @property
    def recorded(self) -> dict[str, dict[str, Any]]:
        """The settings that a model must keep, by stage."""

    def remembering(self) -> Self:
        """Return the same source, which keeps the rules of sentences if that saves work."""
