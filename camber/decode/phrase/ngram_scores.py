"""Scores of n-grams for one sentence: a feature that adds a number for every n-gram of its translation.

A language model says the same about a text whatever it translates. What a regression predicts for a sentence
(wang2007) is the sum over the n-grams of its translation of numbers that only this sentence has. Whatever gives such
numbers is an `NgramScorer`, and the search sees an automaton of them, made for the sentence:

    ngrams = NgramAutomaton.of(scorer.scored(item, words), vocabulary_size, weight, unknown)
    gain, state = step_ngrams(ngrams, state, word)

A state is the longest end of the text after which a longer n-gram may follow, as for language models (`lm/ngrams.py`):
one integer, 0 where nothing of the text matters. A word adds the scores of all n-grams that end with it, which are
summed beforehand. A word that no n-gram has adds nothing.

Without a scorer the kernels get None in place of an automaton, and are compiled without all this.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, Self

import numpy as np

from camber.arrays.types import F8, I4, I8, Array
from camber.corpus.inputs import Input
from camber.decode.phrase.features import LM
from camber.decode.phrase.in_context import put_language_model
from camber.features.feature import Feature
from camber.kernel import kernel
from camber.kernel.table import capacity_for, record_slot

#: a state and a word → what all n-grams add that end there, and the next state (key -1: a free slot)
ENTRY = np.dtype([("key", "i8"), ("total", "f8"), ("next", "i4"), ("unused", "i4")])


class ScoredNgrams(NamedTuple):
    """Distinct n-grams with scores; what an n-gram begins with stands before it, if need be with a score of 0."""

    word: I4  # [n-grams]: the last word of each
    before: I4  # the n-gram without it, by its place here; -1: there are no other words
    score: F8  # what each occurrence adds

    @classmethod
    def none(cls) -> ScoredNgrams:
        """Return no n-grams at all."""
        return cls(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0))


class NgramScorer(Protocol):
    """What scores the n-grams of a sentence's translations. It does not change, and many searches may share it."""

    @property
    def feature(self) -> Feature:
        """The feature that the scores are summed to; its scope is context."""

    def scored(self, item: Input, words: I8) -> ScoredNgrams:
        """Score the n-grams over some target words of the rules (rising): those that translations may have."""

    def remembering(self) -> Self:
        """Return the same scorer, keeping what it makes of a sentence for the next time that it comes."""


class NgramAutomaton(NamedTuple):
    """Scored n-grams, as the search reads them."""

    table: Array  # ENTRY
    links: I4  # [states]: the next shorter end of the text that matters
    words: int  # words are numbered below this
    weight: float
    unknown: I8  # [unknown words of the batch]: their numbers as target words, -1: none

    @classmethod
    def of(cls, ngrams: ScoredNgrams, words: int, weight: float, unknown: I8) -> NgramAutomaton:
        """Compile n-grams over `words` words."""
        count = len(ngrams.word)
        table = np.empty(capacity_for(count), ENTRY)
        table["key"] = -1
        links = np.zeros(count + 1, np.int32)
        depth, suffix, state = (np.zeros(count, np.int32) for _ in range(3))
        _compile(ngrams, max(1, words), table, links, depth, suffix, state, np.zeros(count))
        return cls(table, links, max(1, words), float(weight), np.asarray(unknown, np.int64))


@kernel
def _compile(ngrams, words, table, links, depth, suffix, state, totals):
    """Fill the table and the links; the four others are work arrays, one entry for each n-gram, 0 at first."""
    count, deepest = len(depth), 0
    for g in range(count):
        before = np.int64(ngrams.before[g])
        depth[g] = 1
        if before >= 0:
            depth[g] += depth[before]
            state[before] = 1  # it is one: another word may follow
        if depth[g] > deepest:
            deepest = int(depth[g])
        key = (before + 1) * words + ngrams.word[g]
        slot = record_slot(table, key)
        table[slot]["key"] = key
        table[slot]["next"] = g
        table[slot]["unused"] = 0
    for level in range(1, deepest + 1):  # shorter n-grams first: among them are the ends of longer ones
        for g in range(count):
            if depth[g] != level:
                continue
            end = np.int64(-1)
            if level > 1:
                before = np.int64(suffix[ngrams.before[g]])
                while True:
                    key = (before + 1) * words + ngrams.word[g]
                    slot = record_slot(table, key)
                    if table[slot]["key"] == key:
                        end = np.int64(table[slot]["next"])
                        break
                    if before < 0:
                        break
                    before = np.int64(suffix[before])
            suffix[g] = end
            totals[g] = ngrams.score[g] + (totals[end] if end >= 0 else 0.0)
            shorter = state[end] if end >= 0 else 0
            if state[g] > 0:
                state[g] = g + 1
                links[g + 1] = shorter
            else:
                state[g] = shorter
    for slot in range(len(table)):
        if table[slot]["key"] >= 0:
            g = table[slot]["next"]
            table[slot]["total"] = totals[g]
            table[slot]["next"] = state[g]


@kernel
def step_ngrams(ngrams, state, word):
    """Read a word (below 0, or beyond all: no n-gram has it) in a state: return what it adds, and the next state."""
    if word < 0 or word >= ngrams.words:
        return 0.0, np.int64(0)
    while True:
        key = state * ngrams.words + word
        slot = record_slot(ngrams.table, key)
        if ngrams.table[slot]["key"] == key:
            return ngrams.table[slot]["total"], np.int64(ngrams.table[slot]["next"])
        if state == 0:
            return 0.0, np.int64(0)
        state = np.int64(ngrams.links[state])


@kernel
def add_inside(ngrams, phrases, rules, first, rule, base, estimate):
    """Add to estimates what n-grams inside options are worth, and sort the options of every phrase again."""
    if ngrams is None:
        return
    for p in range(len(phrases)):
        for o in range(first[p], first[p + 1]):
            r, own = rule[o], base[o]
            total = 0.0
            state = np.int64(0)
            if r < 0:
                total, state = step_ngrams(ngrams, state, ngrams.unknown[-1 - phrases[p]])
            else:
                for t in range(rules.target_offsets[r], rules.target_offsets[r + 1]):
                    gain, state = step_ngrams(ngrams, state, np.int64(rules.target_ids[t]))
                    total += gain
            value = estimate[o] + ngrams.weight * total
            slot = o
            while slot > first[p] and estimate[slot - 1] < value:
                rule[slot] = rule[slot - 1]
                base[slot] = base[slot - 1]
                estimate[slot] = estimate[slot - 1]
                slot -= 1
            rule[slot] = r
            base[slot] = own
            estimate[slot] = value


@kernel
def read_inside(ngrams, options, row, first, last):
    """Fill the words of an option as n-grams have them, and their view from inside, in rows behind language models."""
    if ngrams is None:
        return
    state = np.int64(0)
    for t in range(first, last):
        word = options.target[t]
        heard = options.heard[row, t]
        heard["word"] = word if word >= 0 else ngrams.unknown[-1 - word]
        gain, state = step_ngrams(ngrams, state, np.int64(heard["word"]))
        heard["state"] = state
        heard["rest"] = gain
    rest = 0.0
    for t in range(last - 1, first - 1, -1):
        heard = options.heard[row, t]
        gain = heard["rest"]
        heard["rest"] = rest
        rest += gain


@kernel
def ask_ngrams(ngrams, c, h, option, row, options, context, room):
    """Return what the n-grams of an option after a hypothesis are worth; the state goes to `cell_states[c]`.

    As soon as the left context no longer matters, the rest is known.
    """
    if ngrams is None:
        return 0.0
    state = np.int64(room.states[h, row])
    first, last = options.word_first[option], options.word_first[option + 1]
    total = 0.0
    for t in range(first, last):
        heard = options.heard[row, t]
        gain, state = step_ngrams(ngrams, state, np.int64(heard["word"]))
        total += gain
        if state == heard["state"]:
            total += heard["rest"]
            state = np.int64(options.heard[row, last - 1]["state"])
            break
    room.cell_states[c, row] = state
    if context is not None:
        put_language_model(context, row, total)
    return ngrams.weight * total


@kernel
def ngram_features(ngrams, row, options, columns, first, last):
    """Write what the n-grams of every part of a derivation add."""
    if ngrams is None:
        return
    state = np.int64(0)
    for part in range(first, last):
        option = columns.option[part]
        total = 0.0
        for t in range(options.word_first[option], options.word_first[option + 1]):
            gain, state = step_ngrams(ngrams, state, np.int64(options.heard[row, t]["word"]))
            total += gain
        columns.features[part, LM + row] = total
