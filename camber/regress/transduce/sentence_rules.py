"""Phrase pairs that are made for each sentence: what their sources share.

The number of such a rule holds its inner links, so that whoever asks for them later needs no table: bit 7 t + s says
that its words s and t are linked. Rows of a store that all sentences share are numbers of their own.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from copy import copy
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np

from camber.arrays.ragged import offsets_from, owners_of, places_of, take_ragged
from camber.arrays.types import F4, I8, U1
from camber.corpus import Vocabulary
from camber.corpus.inputs import Input
from camber.features.feature import Feature
from camber.regress.transduce.instances import Instances
from camber.regress.transduce.kept import Kept
from camber.regress.transduce.settings import LONGEST
from camber.rules.columns import RuleColumns
from camber.rules.phrase.source import PhraseBatch, features_of
from camber.rules.phrase.store import RuleStore

#: the bit of numbers that are links
MADE = 1 << 62


class SentenceRules(NamedTuple):
    """The rules of the phrases of one sentence."""

    store: RuleStore  # source phrases in no particular order
    spans: I8  # [words, longest]: as in `PhraseBatch`
    numbers: I8  # [rules]
    more: F4  # [rules, k]: features beyond those of a store

    @property
    def nbytes(self) -> int:
        """Bytes of the larger arrays."""
        store = self.store
        flat = store.source_ids, store.target_ids, store.scores, store.counts, store.reordering, store.links
        return sum(array.nbytes for array in (*flat, self.spans, self.numbers, self.more)) + 24 * len(store)


class SentenceSource(abc.ABC):
    """A source of phrase pairs that are made for each sentence from pairs selected for it (a `PhraseSource`)."""

    def __init__(self, instances: Instances, names: Sequence[str], more: Sequence[Feature] = ()) -> None:
        """Choose features of stores by their names; `more` are those behind them."""
        self.instances, self.names = instances, tuple(names)
        self.features = (*features_of(names, None), *more)
        self._kept: Kept[SentenceRules] | None = None

    @abc.abstractmethod
    def rules(self, tokens: Sequence[str]) -> SentenceRules:
        """Make the rules of a sentence."""

    @property
    def source_words(self) -> Vocabulary:
        """The source words of the corpus."""
        return self.instances.corpus.source.vocabulary

    @property
    def target_words(self) -> Vocabulary:
        """The target words of the corpus."""
        return self.instances.corpus.target.vocabulary

    @property
    def recorded(self) -> dict[str, dict[str, Any]]:
        """The settings that a model must keep, by stage."""
        return {"sparse": self.instances.settings.to_dict()}

    def remembering(self) -> Self:
        """Return the same source, which keeps the rules of sentences."""
        if self._kept is not None:
            return self
        source = copy(self)
        source._kept = Kept(lambda rules: rules.nbytes)
        return source

    def batch(self, inputs: Sequence[Input]) -> PhraseBatch:
        """Return the rules of some sentences, each sentence's own ones."""
        if self._kept is None:
            made = [self.rules(item.tokens) for item in inputs]
        else:
            made = [self._kept.get(item.tokens, partial(self.rules, item.tokens)) for item in inputs]
        joined = join_rules(made)
        table = joined.store.table(self.names)
        if joined.more.shape[1]:
            table = np.concatenate((table, joined.more), axis=1)
        return PhraseBatch(joined.store, RuleColumns.of(table), joined.spans, joined.numbers)

    def links_of(self, rule: int) -> U1:
        """Return the inner links of a rule by its number, uint8[links, 2]."""
        return links_in(rule)


def links_in(number: int) -> U1:
    """Return the links that a number holds.

    >>> links_in(MADE | 1 << 1 | 1 << 7).tolist()
    [[1, 0], [0, 1]]
    """
    bits = [bit for bit in range(LONGEST * LONGEST) if number >> bit & 1]
    return np.array([(bit % LONGEST, bit // LONGEST) for bit in bits], np.uint8).reshape(-1, 2)


def numbers_of(store: RuleStore) -> I8:
    """Return the numbers that hold the links of rules, of `LONGEST` words on either side."""
    numbers = np.full(len(store), MADE, np.int64)
    bits = np.int64(1) << (store.links[:, 1].astype(np.int64) * LONGEST + store.links[:, 0])
    np.bitwise_or.at(numbers, owners_of(store.link_offsets), bits)
    return numbers


def rules_of_spans(store: RuleStore, spans: I8) -> tuple[RuleStore, I8, I8]:
    """Return a store of the phrases that spans name alone, the spans by its numbers, and the rows of its rules."""
    phrases, inverse = np.unique(spans, return_inverse=True)
    numbered = inverse.reshape(spans.shape).astype(np.int64)
    if len(phrases) and phrases[0] < 0:
        phrases, numbered = phrases[1:], numbered - 1
    sizes = store.rule_offsets[phrases + 1] - store.rule_offsets[phrases]
    rows = places_of(store.rule_offsets[phrases], sizes)
    source_ids, source_offsets = take_ragged(store.source_ids, store.source_offsets, phrases)
    target_ids, target_offsets = take_ragged(store.target_ids, store.target_offsets, rows)
    links, link_offsets = take_ragged(store.links, store.link_offsets, rows)
    some = RuleStore(
        source_ids, source_offsets, offsets_from(sizes), store.source_counts[phrases], target_ids, target_offsets,
        store.scores[rows], store.counts[rows], store.reordering[rows], links, link_offsets, store.source_vocabulary,
        store.target_vocabulary, int(np.diff(source_offsets).max(initial=0)),
    )  # fmt: skip
    return some, numbered, rows


def join_rules(made: Sequence[SentenceRules]) -> SentenceRules:
    """Put the rules of sentences behind each other."""
    if len(made) == 1:
        return made[0]
    stores = [rules.store for rules in made]
    longest = max(rules.spans.shape[1] for rules in made)
    first = np.cumsum([0, *(store.phrases for store in stores)])
    spans = [
        np.pad(
            np.where(rules.spans >= 0, rules.spans + at, -1),
            ((0, 0), (0, longest - rules.spans.shape[1])),
            constant_values=-1,
        )
        for rules, at in zip(made, first, strict=False)
    ]

    def flat(name: str) -> Any:
        return np.concatenate([getattr(store, name) for store in stores])

    def offsets(name: str) -> I8:
        return offsets_from(np.concatenate([np.diff(getattr(store, name)) for store in stores]))

    store = RuleStore(
        flat("source_ids"), offsets("source_offsets"), offsets("rule_offsets"), flat("source_counts"),
        flat("target_ids"), offsets("target_offsets"), flat("scores"), flat("counts"), flat("reordering"),
        flat("links"), offsets("link_offsets"), stores[0].source_vocabulary, stores[0].target_vocabulary,
        max(store.max_phrase_length for store in stores),
    )  # fmt: skip
    return SentenceRules(
        store,
        np.concatenate(spans),
        np.concatenate([rules.numbers for rules in made]),
        np.concatenate([rules.more for rules in made]),
    )
