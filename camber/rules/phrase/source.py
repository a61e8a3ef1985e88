"""Sources of phrase pairs: a rule store, or one with the phrases of added pairs laid over it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.types import F4, F8, I2, I8, U1
from camber.corpus.inputs import Input
from camber.corpus.vocabulary import Vocabulary
from camber.errors import SettingsError
from camber.features.feature import Feature
from camber.kernel import kernel
from camber.rules.phrase.features import (
    GROUPS,
    SCORE_NAMES,
    STORE_NAMES,
    SUBWORD_NAMES,
    beyond_store,
    feature_of,
)
from camber.rules.phrase.store import RuleStore, lookup_spans
from camber.rules.source import RuleSource

if TYPE_CHECKING:  # imported where there are such features, or added pairs
    from camber.rules.phrase.large import Inventory, LargeFeatures
    from camber.rules.phrase.overlay import Overlay


class RuleColumns(NamedTuple):
    """The features of rules: columns that all have, and indicators, of which a rule has few."""

    table: F4  # [rules, dense features]: raw, NaN where a rule lacks one
    indicators: I2  # [indicators of all rules] their numbers
    offsets: I8  # [rules + 1] into `indicators`
    places: I8  # [numbers] the column of an indicator behind those of the table, -1: not chosen
    width: int  # columns of the table and of the indicators

    @classmethod
    def of(cls, store: RuleStore, names: Sequence[str], large: LargeFeatures | None) -> Self:
        """Lay out the named features of all rules of a store; what is beyond the store must be measured."""
        dense = [name for name in names if name not in GROUPS]
        table = store.table([name for name in dense if name in STORE_NAMES])
        if large is None:
            _refuse_beyond(names)
            return cls(table, np.zeros(0, np.int16), np.zeros(1, np.int64), np.zeros(0, np.int64), len(dense))
        if len(dense) > table.shape[1]:
            columns = np.empty((len(store), len(dense)), np.float32)
            columns[:, [name in STORE_NAMES for name in dense]] = table
            for place, name in enumerate(dense):
                if name in SUBWORD_NAMES:
                    columns[:, place] = large.measured.subword_scores[:, SUBWORD_NAMES.index(name)]
            table = columns
        places = large.inventory.columns(names)
        width = len(dense) + int((places >= 0).sum())
        return cls(table, large.measured.numbers, large.measured.offsets, places, width)

    def values(self, rows: I8) -> F8:
        """Return the features of some rules, raw: float64[rows, width]; all are NaN for the row -1."""
        values = np.empty((len(rows), self.width))
        fill_values(self, rows, values)
        return values


class PhraseBatch(NamedTuple):
    """The rules of the phrases of some sentences."""

    store: RuleStore
    columns: RuleColumns  # their features
    spans: I8  # [words, longest] the phrase of `store` that begins at the word and has k + 1 words, or -1
    numbers: I8 | None  # [rules] as they are known outside; None: as in the store

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
        self._columns = RuleColumns.of(store, names, large)

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
        self._measurer = inventory.measurer(self.source_words, self.target_words) if inventory else None

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
        large = self._measurer.measure(store) if self._measurer else None
        return PhraseBatch(store, RuleColumns.of(store, self._names, large), spans, numbers)

    def links_of(self, rule: int) -> U1:
        """Return the inner links of a rule by its number, uint8[links, 2]."""
        return self.overlay.links_of(rule)


def features_of(names: Sequence[str], inventory: Inventory | None) -> tuple[Feature, ...]:
    """Return the features that names stand for; those of groups are indicators of an inventory."""
    if inventory is None:
        _refuse_beyond(names)
    own = tuple(feature_of(name) for name in names if name not in GROUPS)
    return own if inventory is None else (*own, *inventory.features(names))


def _refuse_beyond(names: Sequence[str]) -> None:
    if beyond := beyond_store(names):
        raise SettingsError(
            f"the rules of this model have no {', '.join(beyond)}: train it with --rule-features that name it"
        )


@kernel
def fill_values(columns, rows, values):
    """Fill the raw features of rules, the first columns of values float64[rows, at least width]; NaN for the row -1."""
    dense = columns.table.shape[1]
    for k in range(len(rows)):
        rule = rows[k]
        for f in range(dense):
            values[k, f] = np.nan if rule < 0 else np.float64(columns.table[rule, f])
        if columns.width > dense:
            for f in range(dense, columns.width):
                values[k, f] = np.nan if rule < 0 else 0.0
            if rule >= 0:
                for hit in range(columns.offsets[rule], columns.offsets[rule + 1]):
                    place = columns.places[columns.indicators[hit]]
                    if place >= 0:
                        values[k, dense + place] = 1.0


@kernel
def rule_value(columns, rule, column):
    """Return one raw feature of a rule."""
    dense = columns.table.shape[1]
    if column < dense:
        return np.float64(columns.table[rule, column])
    value = 0.0
    for hit in range(columns.offsets[rule], columns.offsets[rule + 1]):
        if columns.places[columns.indicators[hit]] == column - dense:
            value = 1.0
    return value


@kernel
def _lookup_batch(ids, offsets, longest, source_ids, source_offsets, spans):
    """Find the phrase of every span of every sentence: int64[words, longest]."""
    for s in range(len(offsets) - 1):
        a, b = offsets[s], offsets[s + 1]
        lookup_spans(ids[a:b], longest, source_ids, source_offsets, spans[a:b])
