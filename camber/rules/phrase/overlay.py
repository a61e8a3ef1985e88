"""Phrase pairs of added sentence pairs, laid over a rule store that stays as it is.

The added pairs are kept as an indexed corpus. Their phrase pairs are extracted when the first sentence is to be
translated, and for every batch of sentences those of its phrases are joined with the store's. Probabilities become what
counting all pairs together gives: a mean of both, weighted by counts,

    p(t|s) = (c(s) p_store(t|s) + c_added(s, t)) / (c(s) + c_added(s)),

and so for p(s|t) and the orientations. Three things cannot be known from the store alone: a rule that the store has
keeps its lexical weights and its inner alignment; a phrase pair that was pruned from the store counts as unseen there;
and where a table from elsewhere has no counts, a phrase of it is taken as seen `WORTH` times.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from camber.align.lexical import LexicalTable, lexical_table
from camber.arrays.ragged import cut, offsets_from, places_of, take_ragged
from camber.arrays.types import F8, I8, U1, AnyArray, Bools
from camber.corpus.vocabulary import Vocabulary
from camber.engine import Lock, Threads
from camber.errors import ModelError
from camber.rules.hiero.index import CorpusIndex
from camber.rules.numbering import look_up, number_phrases
from camber.rules.phrase.extraction import extract
from camber.rules.phrase.scoring import SMOOTHING
from camber.rules.phrase.settings import RuleSettings
from camber.rules.phrase.store import RuleStore

#: How often a source phrase of a table without counts is taken to have been seen.
WORTH = 10

#: Longest phrases that extraction knows.
LONGEST = 15

_P_S_GIVEN_T, _P_T_GIVEN_S = 0, 2  # columns of RuleStore.scores
_ROWS = 1 << 20  # rules that are looked at together


class BatchRules(NamedTuple):
    """The rules of the phrases of some sentences."""

    store: RuleStore  # those rules only; its source phrases are in no particular order
    spans: I8  # [words, longest] the phrase of `store` that begins at the word and has k + 1 words, or -1
    numbers: I8  # [rules] the row in the whole store, or the store's size + the row among the added rules


class AddedTargets(NamedTuple):
    """The distinct target phrases of the added rules."""

    number: I8  # [added rules] of their target phrase
    rows: I8  # [targets] an added rule that has it
    slots: I8  # hash table
    added: I8  # [targets] c(t) among the added pairs
    stored: I8  # [targets] c(t) in the store


class Overlay:
    """A rule store with the phrase pairs of added sentence pairs. Threads may share it."""

    def __init__(
        self, store: RuleStore, index: CorpusIndex, longest: int = 7, lexicon: LexicalTable | None = None
    ) -> None:
        """Lay added pairs over a store; `lexicon` counts the links of the text that the store was made from.

        The vocabularies of the index begin with those of the store, so that words keep their ids.
        """
        for ours, theirs in (
            (index.source.vocabulary, store.source_vocabulary),
            (index.target.vocabulary, store.target_vocabulary),
        ):
            if ours.words[: len(theirs)] != theirs.words:
                raise ModelError("the added pairs belong to other rules; add them to the model again")
        self.store, self.index = store, index
        self.longest, self._lexicon = min(max(longest, 1), LONGEST), lexicon
        self._lock = Lock()
        self._made: tuple[RuleStore, AddedTargets] | None = None

    @property
    def source_vocabulary(self) -> Vocabulary:
        """The source words of the store, then those that only added pairs have."""
        return self.index.source.vocabulary

    @property
    def target_vocabulary(self) -> Vocabulary:
        """The target words of the store, then those that only added pairs have."""
        return self.index.target.vocabulary

    @property
    def added(self) -> RuleStore:
        """The phrase pairs of the added pairs alone."""
        return self._extracted()[0]

    def links_of(self, number: int) -> U1:
        """Return the inner links of a rule by its number (see :class:`BatchRules`), uint8[links, 2]."""
        store, row = (self.store, number) if number < len(self.store) else (self.added, number - len(self.store))
        return store.links_of(row)

    def batch(self, sentences: Sequence[I8]) -> BatchRules:
        """Return the rules of sentences, int64 ids of :attr:`source_vocabulary` (-1: unknown)."""
        store, (added, targets) = self.store, self._extracted()
        # which phrases of either store the spans are; together they number the phrases of the batch
        own, new = _spans(store, sentences), _spans(added, sentences)
        longest = max(own.shape[1], new.shape[1])
        own, new = _widened(own, longest), _widened(new, longest)
        keys, first, inverse = np.unique((own + 1) * (added.phrases + 1) + new + 1, True, True)
        spans = inverse.reshape(own.shape).astype(np.int64)
        if len(keys) and keys[0] == 0:  # neither store has the span
            keys, first, spans = keys[1:], first[1:], spans - 1
        own_phrases, new_phrases = keys // (added.phrases + 1) - 1, keys % (added.phrases + 1) - 1

        own_rows, own_owners = _rows_of(store, own_phrases)
        new_rows, new_owners = _rows_of(added, new_phrases)
        own_target = _numbers(store, own_rows, added, targets)
        new_target = targets.number[new_rows]
        own_match, new_match = _matches(
            own_owners * len(targets.rows) + own_target, own_target >= 0, new_owners * len(targets.rows) + new_target
        )
        merged = _Merged.of(store, own_rows, own_phrases[own_owners])
        merged.join(added, new_rows, own_match, new_match)
        only = np.flatnonzero(~new_match)
        merged.append(added, new_rows[only], targets.stored[new_target[only]])

        owners = np.concatenate((own_owners, new_owners[only]))
        target = np.concatenate((own_target, new_target[only]))
        source_added = _at(added.source_counts, new_phrases)
        source_stored = np.where(own_phrases >= 0, _seen(_at(store.source_counts, own_phrases)), 0)
        merged.weigh(source_stored[owners], source_added[owners], _at(targets.added, target))

        order = np.lexsort((-merged.scores[:, _P_T_GIVEN_S], owners))
        rows = np.concatenate((own_rows, len(store) + new_rows[only]))[order]
        at, words = np.divmod(first.astype(np.int64), longest)
        flat = np.concatenate([np.zeros(0, np.int64), *sentences])
        source_ids, source_offsets = cut(flat.astype(np.int32), at, words + 1)
        target_ids, target_offsets = self._pieces("target_ids", "target_offsets", rows)
        links, link_offsets = self._pieces("links", "link_offsets", rows)
        joined = RuleStore(
            source_ids=source_ids,
            source_offsets=source_offsets,
            rule_offsets=offsets_from(np.bincount(owners, minlength=len(keys))),
            source_counts=source_stored + source_added,
            target_ids=target_ids,
            target_offsets=target_offsets,
            scores=merged.scores[order].astype(np.float32),
            counts=merged.counts[order].astype(np.int32),
            reordering=merged.reordering[order].astype(np.float32),
            links=links,
            link_offsets=link_offsets,
            source_vocabulary=self.source_vocabulary,
            target_vocabulary=self.target_vocabulary,
            max_phrase_length=longest,
        )
        return BatchRules(joined, spans, rows)

    def _pieces(self, flat: str, offsets: str, rows: I8) -> tuple[AnyArray, I8]:
        """Gather ragged pieces of rules by their numbers, from both stores."""
        size, added = len(self.store), self.added
        own, new = rows < size, rows >= size
        first, first_offsets = take_ragged(getattr(self.store, flat), getattr(self.store, offsets), rows[own])
        second, second_offsets = take_ragged(getattr(added, flat), getattr(added, offsets), rows[new] - size)
        starts, sizes = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
        starts[own], sizes[own] = first_offsets[:-1], np.diff(first_offsets)
        starts[new], sizes[new] = len(first) + second_offsets[:-1], np.diff(second_offsets)
        return cut(np.concatenate((first, second)), starts, sizes)

    def _extracted(self) -> tuple[RuleStore, AddedTargets]:
        """Extract the phrase pairs of the added pairs, once."""
        with self._lock:
            if self._made is None:
                index, bitext = self.index, self.index.bitext
                lexicon = lexical_table(bitext, index.alignment)
                if self._lexicon is not None:
                    lexicon = self._lexicon.plus(lexicon)
                settings = RuleSettings(
                    max_phrase_length=self.longest, reordering=self.store.has_reordering, options_per_phrase=0
                )
                added = extract(bitext, index.alignment, settings, Threads(1), lexicon)
                self._made = added, _targets(added, self.store)
        return self._made


class _Merged:
    """Columns of the batch's rules: the store's first, then those that only the added pairs have."""

    def __init__(self, scores: F8, counts: F8, reordering: F8, together: F8) -> None:
        self.scores, self.counts, self.reordering = scores, counts, reordering
        self.together = together  # [rules] c_added(s, t)

    @classmethod
    def of(cls, store: RuleStore, rows: I8, phrases: I8) -> _Merged:
        scores = store.scores[rows].astype(np.float64)
        counts = store.counts[rows].astype(np.float64)
        lacking = counts[:, 1] <= 0
        if lacking.any():
            seen = _seen(store.source_counts[phrases]) * scores[:, _P_T_GIVEN_S]
            counts[lacking, 1] = seen[lacking]
            counts[lacking, 0] = (seen / scores[:, _P_S_GIVEN_T])[lacking]
        return cls(scores, counts, store.reordering[rows].astype(np.float64), np.zeros(len(rows)))

    def join(self, added: RuleStore, new_rows: I8, own: I8, new: Bools) -> None:
        """Count the added occurrences of rules that the store has: own[k] is the place of the k-th of them here."""
        rows = new_rows[new]
        together, before = added.counts[rows, 1].astype(np.float64), self.counts[own, 1]
        if self.reordering.shape[1]:
            # p = (count + ½) / (n + 3 · ½): the counts of both sides add up
            weight, other = before + 3 * SMOOTHING, together + 3 * SMOOTHING
            joined = self.reordering[own] * weight[:, None] + added.reordering[rows] * other[:, None] - SMOOTHING
            self.reordering[own] = np.maximum(joined, 1e-9) / (before + together + 3 * SMOOTHING)[:, None]
        self.together[own] = together
        self.counts[own, 1] += together

    def append(self, added: RuleStore, rows: I8, stored: I8) -> None:
        """Add rules that only the added pairs have; `stored` is how often their targets are in the store."""
        scores = added.scores[rows].astype(np.float64)
        scores[:, [_P_S_GIVEN_T, _P_T_GIVEN_S]] = 0  # in the store
        together = added.counts[rows, 1].astype(np.float64)
        self.scores = np.concatenate((self.scores, scores))
        self.counts = np.concatenate((self.counts, np.column_stack((stored, together))))
        self.reordering = np.concatenate((self.reordering, added.reordering[rows]))
        self.together = np.concatenate((self.together, together))

    def weigh(self, source: I8, source_added: I8, target_added: I8) -> None:
        """Set both probabilities: c(s) in the store, c(s) and c(t) among the added pairs, of every rule."""
        for column, stored, new in (
            (_P_T_GIVEN_S, source, source_added),
            (_P_S_GIVEN_T, self.counts[:, 0], target_added),
        ):
            touched = new > 0
            value = (self.scores[:, column] * stored + self.together)[touched] / (stored + new)[touched]
            self.scores[touched, column] = value
        self.counts[:, 0] += target_added
        np.maximum(self.scores, np.finfo(np.float32).tiny, out=self.scores)


def _seen(counts: I8) -> I8:
    return np.where(counts > 0, counts, WORTH)


def _at(values: I8, phrases: I8) -> I8:
    """Take values of phrases, 0 for the phrase -1."""
    taken = np.zeros(len(phrases), np.int64)
    taken[phrases >= 0] = values[phrases[phrases >= 0]]
    return taken


def _spans(store: RuleStore, sentences: Sequence[I8]) -> I8:
    width = max(store.max_phrase_length, 1)
    return np.concatenate([np.zeros((0, width), np.int64), *(store.spans(ids) for ids in sentences)])


def _widened(spans: I8, longest: int) -> I8:
    return np.pad(spans, ((0, 0), (0, longest - spans.shape[1])), constant_values=-1)


def _rows_of(store: RuleStore, phrases: I8) -> tuple[I8, I8]:
    """Return all rules of phrases (-1: none), and to which of the phrases each belongs."""
    known = np.flatnonzero(phrases >= 0)
    starts = store.rule_offsets[phrases[known]]
    sizes = store.rule_offsets[phrases[known] + 1] - starts
    return places_of(starts, sizes), np.repeat(known, sizes)


def _matches(own: I8, valid: Bools, new: I8) -> tuple[I8, Bools]:
    """Match equal keys, each unique on its side: places of `own`, in the order of the `new` that the mask marks."""
    places = np.flatnonzero(valid)
    places = places[np.argsort(own[places])]
    at = np.searchsorted(own[places], new)
    matched = at < len(places)
    matched[matched] = own[places[at[matched]]] == new[matched]
    return places[at[matched]], matched


def _targets(added: RuleStore, store: RuleStore) -> AddedTargets:
    """Number the target phrases of the added rules, and look up how often the store has them."""
    number, rows, slots = number_phrases(added.target_ids, added.target_offsets)
    counted = np.zeros(len(rows), np.int64)
    counted[number] = added.counts[:, 0]
    targets = AddedTargets(number, rows, slots, counted, np.zeros(len(rows), np.int64))
    for first in range(0, len(store), _ROWS):
        here = np.arange(first, min(first + _ROWS, len(store)))
        numbers = _numbers(store, here, added, targets)
        hit = numbers >= 0
        targets.stored[numbers[hit]] = store.counts[here[hit], 0]
    return targets


def _numbers(store: RuleStore, rows: I8, added: RuleStore, targets: AddedTargets) -> I8:
    """Return, for rules of the store, the number of their target phrase among the added ones, or -1."""
    out = np.empty(len(rows), np.int64)
    known = added.target_ids, added.target_offsets, targets.rows
    look_up(store.target_ids, store.target_offsets, rows, targets.slots, *known, 0, False, out)
    return out
