"""Sources of phrase pairs: a rule store, or one with the phrases of added pairs laid over it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.types import F4, I8, U1
from camber.corpus.inputs import Input
from camber.corpus.vocabulary import Vocabulary
from camber.kernel import kernel
from camber.rules.phrase.store import SCORE_NAMES, RuleStore, feature_of, lookup_spans
from camber.rules.source import RuleSource

if TYPE_CHECKING:
    from camber.rules.phrase.overlay import Overlay


class PhraseBatch(NamedTuple):
    """The rules of the phrases of some sentences."""

    store: RuleStore
    table: F4  # [rules of the store, features]: raw, NaN where a rule lacks one
    spans: I8  # [words, longest] the phrase of `store` that begins at the word and has k + 1 words, or -1
    numbers: I8 | None  # [rules] as they are known outside; None: as in the store


class PhraseSource(RuleSource, Protocol):
    """A source of phrase pairs."""

    def batch(self, inputs: Sequence[Input]) -> PhraseBatch:
        """Return the rules that apply to some sentences."""

    def links_of(self, rule: int) -> U1:
        """Return the inner links of a rule by its number, uint8[links, 2]."""


class StoredRules:
    """The rules of a store, with some of the features that they can have."""

    def __init__(self, store: RuleStore, names: Sequence[str] = SCORE_NAMES) -> None:
        self.store, self.features = store, tuple(map(feature_of, names))
        self._table = store.table(names)

    @property
    def source_words(self) -> Vocabulary:
        """The source words that rules know."""
        return self.store.source_vocabulary

    @property
    def target_words(self) -> Vocabulary:
        """The target words that rules produce."""
        return self.store.target_vocabulary

    @property
    def recorded(self) -> dict[str, dict[str, Any]]:
        """Nothing: how rules were extracted makes no difference any more."""
        return {}

    def remembering(self) -> Self:
        """Return this: rules are looked up, and there is nothing that would be worth keeping."""
        return self

    def batch(self, inputs: Sequence[Input]) -> PhraseBatch:
        """Return the store, and the phrase of every span."""
        longest = max(1, self.store.max_phrase_length)
        sentences = [self.source_words.encode(item.tokens) for item in inputs]
        ids = np.concatenate(sentences)
        spans = np.empty((len(ids), longest), np.int64)
        offsets = offsets_from(np.array([len(words) for words in sentences], np.int64))
        _lookup_batch(ids, offsets, longest, self.store.source_ids, self.store.source_offsets, spans)
        return PhraseBatch(self.store, self._table, spans, None)

    def links_of(self, rule: int) -> U1:
        """Return the inner links of a rule, uint8[links, 2]."""
        return self.store.links_of(rule)


class OverlaidRules:
    """The rules of a store together with those of added pairs."""

    def __init__(self, overlay: Overlay, names: Sequence[str] = SCORE_NAMES) -> None:
        self.overlay, self._names = overlay, tuple(names)
        self.features = tuple(map(feature_of, names))

    @property
    def source_words(self) -> Vocabulary:
        """The source words of the store, then those that only added pairs have."""
        return self.overlay.source_vocabulary

    @property
    def target_words(self) -> Vocabulary:
        """The target words of the store, then those that only added pairs have."""
        return self.overlay.target_vocabulary

    @property
    def recorded(self) -> dict[str, dict[str, Any]]:
        """Nothing: see :class:`StoredRules`."""
        return {}

    def remembering(self) -> Self:
        """Return this: what was extracted from the added pairs is kept anyway."""
        return self

    def batch(self, inputs: Sequence[Input]) -> PhraseBatch:
        """Return a store made for these sentences."""
        store, spans, numbers = self.overlay.batch([self.source_words.encode(item.tokens) for item in inputs])
        return PhraseBatch(store, store.table(self._names), spans, numbers)

    def links_of(self, rule: int) -> U1:
        """Return the inner links of a rule by its number, uint8[links, 2]."""
        return self.overlay.links_of(rule)


@kernel
def _lookup_batch(ids, offsets, longest, source_ids, source_offsets, spans):
    """Find the phrase of every span of every sentence: int64[words, longest]."""
    for s in range(len(offsets) - 1):
        a, b = offsets[s], offsets[s + 1]
        lookup_spans(ids[a:b], longest, source_ids, source_offsets, spans[a:b])
