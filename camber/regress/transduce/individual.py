"""Phrase systems of one sentence: the phrases of the pairs that were selected for it (bicici, 5.1).

Alone ("individual"), or mixed with the phrases of the whole corpus.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from camber.arrays.ragged import offsets_from, take_ragged
from camber.arrays.types import F8, I8, U1
from camber.corpus.inputs import Input
from camber.engine import Threads
from camber.regress.transduce.instances import Instances
from camber.regress.transduce.sentence_rules import (
    MADE,
    SentenceRules,
    SentenceSource,
    links_in,
    numbers_of,
    rules_of_spans,
)
from camber.rules.phrase.extraction import extract
from camber.rules.phrase.features import SCORE_NAMES
from camber.rules.phrase.settings import RuleSettings
from camber.rules.phrase.source import PhraseSource
from camber.rules.phrase.store import RuleStore

#: columns of `RuleStore.scores` that are phrase probabilities
_PHRASE = [SCORE_NAMES.index(name) for name in ("p_s_given_t", "p_t_given_s")]


class IndividualRules(SentenceSource):
    """The phrase pairs of the selected pairs, extracted from their stored alignment."""

    def __init__(self, instances: Instances, rules: RuleSettings) -> None:
        """Take what is asked of phrase pairs from the settings of rules; their length is that of the instances'."""
        super().__init__(instances, rules.features)
        self.extraction = RuleSettings(
            max_phrase_length=instances.settings.phrase_length,
            reordering=rules.reordering,
            options_per_phrase=rules.options_per_phrase,
            significance=rules.significance,
        )

    def rules(self, tokens: Sequence[str]) -> SentenceRules:
        """Select pairs, extract their phrases, and keep those that the sentence has."""
        sentence = self.instances.encode(tokens)
        pairs, alignment = self.instances.pairs(self.instances.select(sentence))
        whole = extract(pairs, alignment, self.extraction, Threads(1))
        store, spans, _ = rules_of_spans(whole, whole.spans(sentence))
        return SentenceRules(store, spans, numbers_of(store), np.zeros((len(store), 0), np.float32))


class MixedRules(SentenceSource):
    """Phrase pairs of the whole corpus and those of the selected pairs: p = β p_selected + (1 - β) p_all.

    A source phrase that only one of both has keeps its probabilities. Where both have it, a pair that one lacks has the
    probability 0 there; lexical weights and orientations are mixed where both know them.
    """

    def __init__(self, instances: Instances, rules: RuleSettings, everything: PhraseSource) -> None:
        """Mix by the share that the settings of the instances name; `everything` is of the whole corpus."""
        super().__init__(instances, rules.features)
        self.own, self.everything = IndividualRules(instances, rules), everything

    def rules(self, tokens: Sequence[str]) -> SentenceRules:
        """Make the rules of the selected pairs, and join them with those of all pairs."""
        batch = self.everything.batch([Input(tokens)])
        store, spans, rows = rules_of_spans(batch.store, batch.spans)
        numbers = rows if batch.numbers is None else batch.numbers[rows]
        return mixed(SentenceRules(store, spans, numbers, np.zeros((len(store), 0), np.float32)),
                     self.own.rules(tokens), self.instances.settings.share)  # fmt: skip

    def links_of(self, rule: int) -> U1:
        """Return the inner links of a rule by its number, uint8[links, 2]."""
        return links_in(rule) if rule & MADE else self.everything.links_of(rule)


def mixed(everything: SentenceRules, own: SentenceRules, share: float) -> SentenceRules:
    """Join the rules that a sentence has in two stores; `share` is what those of `own` count."""
    first, second = everything.store, own.store
    longest = max(everything.spans.shape[1], own.spans.shape[1])
    wide = [
        np.pad(rules.spans, ((0, 0), (0, longest - rules.spans.shape[1])), constant_values=-1)
        for rules in (everything, own)
    ]
    keys, inverse = np.unique((wide[0] + 1) * (second.phrases + 1) + wide[1] + 1, return_inverse=True)
    spans = inverse.reshape(wide[0].shape).astype(np.int64)
    if len(keys) and keys[0] == 0:  # neither has the phrase
        keys, spans = keys[1:], spans - 1
    phrases = keys // (second.phrases + 1) - 1, keys % (second.phrases + 1) - 1  # of either store, -1: none
    place: dict[tuple[int, ...], int] = {}  # (phrase of the result, target words) → row of the result
    owners: list[int] = []
    rows: tuple[list[int], list[int]] = ([], [])  # of either store, -1: none
    for side, store in enumerate((first, second)):
        ids, ends = store.target_ids.tolist(), store.target_offsets.tolist()
        for number, phrase in enumerate(phrases[side].tolist()):
            for rule in store.rules(phrase) if phrase >= 0 else ():
                key = (number, *ids[ends[rule] : ends[rule + 1]])
                at = place.setdefault(key, len(owners))
                if at == len(owners):
                    owners.append(number)
                    rows[0].append(-1)
                    rows[1].append(-1)
                rows[side][at] = rule
    owner, left, right = (np.array(some, np.int64) for some in (owners, *rows))
    both = (phrases[0][owner] >= 0) & (phrases[1][owner] >= 0)
    weight = np.where(both, share, np.where(phrases[0][owner] >= 0, 0.0, 1.0))
    scores = _mean(first.scores, second.scores, left, right, weight)
    zero = (1.0 - weight)[:, None] * _at(first.scores, left) + weight[:, None] * _at(second.scores, right)
    scores[:, _PHRASE] = zero[:, _PHRASE]
    reordering = _mean(first.reordering, second.reordering, left, right, weight)
    order = np.lexsort((-scores[:, SCORE_NAMES.index("p_t_given_s")], owner))
    left, right, owner = left[order], right[order], owner[order]
    pieces = {
        name: _pieces(first, second, name, f"{stem}_offsets", left, right)
        for name, stem in (("target_ids", "target"), ("links", "link"))
    }
    counts = np.where((left >= 0)[:, None], _at(first.counts, left), _at(second.counts, right)).astype(np.int32)
    both_phrases = list(zip(*(side.tolist() for side in phrases), strict=True))
    sources = [_phrase(first, a) if a >= 0 else _phrase(second, b) for a, b in both_phrases]
    store = RuleStore(
        np.concatenate([*sources, np.zeros(0, np.int32)]).astype(np.int32),
        offsets_from(np.array([len(words) for words in sources], np.int64)),
        offsets_from(np.bincount(owner, minlength=len(keys))),
        np.array([_count(first, a) or _count(second, b) for a, b in both_phrases], np.int64),
        *pieces["target_ids"],
        np.maximum(scores[order], np.finfo(np.float32).tiny).astype(np.float32),
        counts,
        reordering[order].astype(np.float32),
        *pieces["links"],
        second.source_vocabulary,
        second.target_vocabulary,
        longest,
    )
    numbers = np.where(left >= 0, _at(everything.numbers, left), _at(own.numbers, right)).astype(np.int64)
    return SentenceRules(store, spans, numbers, np.zeros((len(store), 0), np.float32))


def _at(values: np.ndarray, rows: I8) -> np.ndarray:
    """Take rows of an array, zeros for the row -1."""
    if not len(values):
        return np.zeros((len(rows), *values.shape[1:]), values.dtype)
    taken = values[np.maximum(rows, 0)]
    taken[rows < 0] = 0
    return taken


def _mean(first: np.ndarray, second: np.ndarray, left: I8, right: I8, weight: F8) -> F8:
    """Return the weighted mean of rows where both have one, else the one there is."""
    share = np.where(left < 0, 1.0, np.where(right < 0, 0.0, weight))[:, None]
    return np.asarray((1.0 - share) * _at(first, left) + share * _at(second, right), np.float64)


def _pieces(first: RuleStore, second: RuleStore, name: str, offsets: str, left: I8, right: I8) -> tuple[np.ndarray, I8]:
    """Gather ragged pieces of rules: those of the first store, of the second where it has none."""
    flat = np.concatenate((getattr(first, name), getattr(second, name)))
    ends = np.concatenate((getattr(first, offsets), len(getattr(first, name)) + getattr(second, offsets)[1:]))
    return take_ragged(flat, ends, np.where(left >= 0, left, len(first) + right))


def _phrase(store: RuleStore, phrase: int) -> np.ndarray:
    return store.source_ids[store.source_offsets[phrase] : store.source_offsets[phrase + 1]]


def _count(store: RuleStore, phrase: int) -> int:
    return int(store.source_counts[phrase]) if phrase >= 0 else 0
