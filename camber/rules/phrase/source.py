"""Sources of phrase pairs: a rule store, or one with the phrases of added pairs laid over it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.types import F8, I8, U1, Bools
from camber.corpus.inputs import Input
from camber.corpus.vocabulary import Vocabulary
from camber.errors import SettingsError
from camber.features.feature import Feature
from camber.kernel import kernel
from camber.rules.columns import Indicators, RuleColumns
from camber.rules.features import GROUPS, SUBWORD_NAMES, learnt
from camber.rules.phrase.features import SCORE_NAMES, STORE_NAMES, feature_of
from camber.rules.phrase.store import RuleStore, lookup_spans
from camber.rules.source import RuleSource

if TYPE_CHECKING:  # imported where there are such features, or added pairs
    from camber.rules.inventory import Inventory
    from camber.rules.phrase.large import LargeFeatures
    from camber.rules.phrase.overlay import Overlay


class Bound(NamedTuple):
    """What a batch of sentences with constraints has on top; see `camber.decode.phrase.constrained`."""

    made: Bools  # [rules] made up for a constraint: no rule of the model, and without features of its own
    penalty: F8  # [rules] what it costs to use a rule, beyond its features
    extra: tuple[str, ...]  # target words behind those of the vocabulary
    heard: tuple[str, ...]  # what language models hear in their place
    places: I8  # [sentences] words of the prefix
    tokens: tuple[str, ...]  # the source word of every row of spans


class PhraseBatch(NamedTuple):
    """The rules of the phrases of some sentences."""

    store: RuleStore
    columns: RuleColumns  # their features
    spans: I8  # [words, longest] the phrase of `store` that begins at the word and has k + 1 words, or -1
    numbers: I8 | None  # [rules] as they are known outside; None: as in the store
    bound: Bound | None = None

    def values(self, rules: I8) -> F8:
        """Return the raw features of some rules, float64[rules, features]; NaN for what is no rule of the model."""
        if self.bound is not None:
            rules = np.where(np.append(self.bound.made, False)[rules], -1, rules)
        return self.columns.values(rules)

    def without_indicators(self) -> PhraseBatch:
        """Return the same rules with the other features only."""
        return self._replace(columns=self.columns._replace(width=self.columns.table.shape[1]))


class PhraseSource(RuleSource, Protocol):
    """A source of phrase pairs."""

    def batch(self, inputs: Sequence[Input]) -> PhraseBatch:
        """Return the rules that apply to some sentences."""

    def links_of(self, rule: int) -> U1:
        """Return the inner links of a rule by its number, uint8[links, 2]."""


class StoredRules:
    """The rules of a store, with some of the features that they can have."""

    def __init__(
        self, store: RuleStore, names: Sequence[str] = SCORE_NAMES, large: LargeFeatures | None = None
    ) -> None:
        """Choose features by their names; those beyond the store's own are taken from `large`."""
        self.store, self.features = store, features_of(names, large.inventory if large else None)
        self._columns = columns_of(store, names, large)

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
        return PhraseBatch(self.store, self._columns, spans, None)

    def links_of(self, rule: int) -> U1:
        """Return the inner links of a rule, uint8[links, 2]."""
        return self.store.links_of(rule)


class OverlaidRules:
    """The rules of a store together with those of added pairs."""

    def __init__(
        self, overlay: Overlay, names: Sequence[str] = SCORE_NAMES, inventory: Inventory | None = None
    ) -> None:
        """Choose features by their names; those beyond a store's own are measured batch by batch, by an `inventory`."""
        self.overlay, self._names = overlay, tuple(names)
        self.features = features_of(names, inventory)
        self._measured: Callable[[RuleStore], LargeFeatures] | None = None
        if inventory:
            from camber.rules.measuring import Measurer
            from camber.rules.phrase.large import LargeFeatures

            measurer = Measurer.of(inventory, self.source_words, self.target_words)
            self._measured = partial(LargeFeatures.measure, inventory, measurer)

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
        large = self._measured(store) if self._measured else None
        return PhraseBatch(store, columns_of(store, self._names, large), spans, numbers)

    def links_of(self, rule: int) -> U1:
        """Return the inner links of a rule by its number, uint8[links, 2]."""
        return self.overlay.links_of(rule)


def features_of(names: Sequence[str], inventory: Inventory | None) -> tuple[Feature, ...]:
    """Return the features that names stand for; those of groups are indicators of an inventory."""
    if inventory is None:
        _refuse_beyond(names)
    own = tuple(feature_of(name) for name in names if name not in GROUPS)
    return own if inventory is None else (*own, *inventory.features(names))


def columns_of(store: RuleStore, names: Sequence[str], large: LargeFeatures | None) -> RuleColumns:
    """Lay out the named features of all rules of a store; what is beyond the store must be measured."""
    dense = [name for name in names if name not in GROUPS]
    table = store.table([name for name in dense if name in STORE_NAMES])
    if large is None:
        _refuse_beyond(names)
        return RuleColumns.of(table)
    if len(dense) > table.shape[1]:
        columns = np.empty((len(store), len(dense)), np.float32)
        columns[:, [name in STORE_NAMES for name in dense]] = table
        for place, name in enumerate(dense):
            if name in SUBWORD_NAMES:
                columns[:, place] = large.measured.subword_scores[:, SUBWORD_NAMES.index(name)]
        table = columns
    measured = large.measured
    return RuleColumns.of(table, Indicators(measured.numbers, measured.offsets, large.inventory.columns(names)))


def _refuse_beyond(names: Sequence[str]) -> None:
    if beyond := learnt(names):
        raise SettingsError(
            f"the rules of this model have no {', '.join(beyond)}: train it with --rule-features that name it"
        )


@kernel
def _lookup_batch(ids, offsets, longest, source_ids, source_offsets, spans):
    """Find the phrase of every span of every sentence: int64[words, longest]."""
    for s in range(len(offsets) - 1):
        a, b = offsets[s], offsets[s + 1]
        lookup_spans(ids[a:b], longest, source_ids, source_offsets, spans[a:b])
