"""What a translator needs of a search, and what tuning needs on top."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, Self

from camber.arrays.types import F8, I8
from camber.bend.bend import Bend, Seen
from camber.bend.weighing import Weighing
from camber.corpus import Vocabulary
from camber.corpus.inputs import Input
from camber.decode.derivation import Derivation, HypothesisColumns
from camber.engine import LOCAL, Engine
from camber.features.feature import Feature

#: What a search did, counted: see the `WORK` of each decoder.
Work = I8


class Searcher(Protocol):
    """All that a translator or a server needs of a search. Many may share one: it does not change."""

    #: the constraints that it obeys: terms (with bans), prefix, walls
    takes: frozenset[str]

    @property
    def settings(self) -> Any:
        """How the search is done."""

    @property
    def recorded(self) -> dict[str, dict[str, Any]]:
        """The settings that a model must keep, by stage."""

    @property
    def source_vocabulary(self) -> Vocabulary:
        """The source words that rules know."""

    def searching(self, changes: Mapping[str, Any]) -> Self:
        """Return the same search with some settings changed, such as ``{"pop_limit": 100}``."""

    def decode(
        self,
        inputs: Sequence[Input],
        nbest: int = 1,
        *,
        distinct: bool = True,
        engine: Engine = LOCAL,
        work: Work | None = None,
    ) -> Iterator[Sequence[Derivation]]:
        """Yield the `nbest` best derivations of every sentence, best first, in the order of the input.

        With `distinct`, every text comes once. An empty sentence has one derivation without parts. What the search did
        is added to `work`, if it is given.
        """

    def word_alignment(self, derivation: Any) -> list[tuple[int, int]]:
        """Return the (source, target) links of a derivation."""


class Featured(Searcher, Protocol):
    """A search whose derivations have features, as n-best lists need it."""

    @property
    def inputs(self) -> tuple[Feature, ...]:
        """The features of a part, before the bend."""

    @property
    def bend(self) -> Bend:
        """What is done to features before they are weighed, here or by others."""


class LogLinear(Featured, Protocol):
    """A search under weighted features, as tuning needs it."""

    weighing: Weighing

    @property
    def names(self) -> tuple[str, ...]:
        """What has weights."""

    @property
    def weights(self) -> F8:
        """The weights, [names]."""

    @property
    def target_vocabulary(self) -> Vocabulary:
        """The target words that rules produce."""

    def decode_columns(
        self, inputs: Sequence[Input], vocabulary: Vocabulary, nbest: int, engine: Engine = LOCAL
    ) -> HypothesisColumns:
        """Decode into columns of distinct hypotheses, without an object for each: what tuning needs, and quicker.

        `vocabulary` begins with the target vocabulary of the rules and has every word of the inputs.
        """

    def rule_values(self, inputs: Sequence[Input]) -> Seen:
        """Return the raw values of the features that can be bent in all rules for some sentences, and how often each.

        A rule counts once for every sentence (of a chart) or span (of phrases) that it applies to.
        """

    def weighed(self, weighing: Weighing) -> Self:
        """Return the same search with another bend and its weights."""

    def reweighted(self, weights: Mapping[str, float]) -> Self:
        """Return the same search with other weights."""

    def remembering(self) -> Self:
        """Return the same search, keeping what it makes of a sentence for the next time that it comes."""
