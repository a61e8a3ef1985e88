"""Selection with feature decay (Biçici & Yuret 2011): an n-gram is worth less with every pair that covers it.

An n-gram of the sentence or text is worth log((N + 1) / C) at first, if C of N pairs have it, and `decay` times as much
after every selected pair that has it. A pair's score is the sum of what its n-grams are worth now, over |S| to some
power; the best pair is selected, again and again, and of equal ones that with the lower number. With a decay of 0, an
n-gram is worth nothing once a pair has it, and the selection ends when all are covered.

Pairs that have the same n-grams of the sentence keep their order, the shortest first, whatever these become worth, so
that only the front pair of each such group takes part. Scores only fall, so that an old score is a bound: groups wait
in a heap with old scores, and only the one in front is scored anew.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from camber.arrays.types import F8, I4, I8, Array
from camber.corpus.bitext import Bitext, Sentences
from camber.engine import LOCAL, Engine
from camber.kernel import kernel
from camber.kernel.heap import push, replace
from camber.kernel.table import capacity_for, empty_table, first_slot, mix, next_slot
from camber.regress.select.postings import Postings
from camber.regress.select.selector import Selector
from camber.regress.select.selectors import SelectSettings

#: bits of a signature: those of different sets of n-grams are practically never equal
_SIGNATURE = (1 << 62) - 1
#: what an n-gram stays worth at least, so that pairs keep an order however many are selected
_LEAST = 1e-250


class DecaySelector(Selector):
    """Pairs by n-grams whose worth decays; a whole text has one selection, not one for each sentence."""

    uses = frozenset({"order", "decay", "length_power"})

    shares: F8  # 1 / |S|^power of each pair

    @classmethod
    def of(cls, bitext: Bitext, settings: SelectSettings) -> Self:
        """Index a corpus."""
        selector = cls(Postings.of(bitext, settings.order), settings)
        selector.shares = np.maximum(selector.postings.lengths, 1.0) ** -settings.length_power
        return selector

    @property
    def nbytes(self) -> int:
        """Bytes of the index."""
        return super().nbytes + self.shares.nbytes

    def select(self, sentence: I4, count: int) -> I8:
        """Return the numbers of at most `count` pairs for a sentence, in the order of selection."""
        return self._select(np.concatenate(self.postings.of_sentence(sentence)), count)

    def select_set(self, text: Sentences, count: int, *, per_sentence: int = 0, engine: Engine = LOCAL) -> I8:
        """Return the numbers of at most `count` pairs for all sentences of a text, in the order of selection.

        With `per_sentence` a selection of so many is made for each sentence, and they take turns.
        """
        if per_sentence:
            return super().select_set(text, count, per_sentence=per_sentence, engine=engine)
        return self._select(np.unique(self.postings.grams.rows(text).columns).astype(np.int64), count)

    def _select(self, grams: I8, count: int) -> I8:
        """Select pairs for n-grams, each named once."""
        size, pairs, rows = len(self.postings), self.postings.pairs, self.postings.rows
        worth = self._room("worth", len(pairs))
        worth[grams] = np.log((size + 1.0) / (pairs.offsets[grams + 1] - pairs.offsets[grams]))
        candidates, signatures = self._room("candidates", size, np.int32), self._room("signatures", size, np.int64)
        found = _candidates(grams, pairs.offsets, pairs.columns, signatures, candidates)
        owners, offsets = self._room("owners", size, np.int64), self._room("offsets", size + 1, np.int64)
        keys, numbers = empty_table(found), np.empty(capacity_for(found), np.int64)
        count_of = int(_group(candidates[:found], signatures, keys, numbers, owners, offsets))
        groups = _Groups(
            offsets[: count_of + 1], owners, np.zeros(count_of, np.int64), np.empty(found), np.empty(found, np.int64)
        )
        chosen = np.empty(min(count, found), np.int64)
        taken = _take_best(
            groups, np.empty(count_of), np.empty(count_of, np.int64), candidates[:found], self.shares,
            rows.offsets, rows.columns, worth, self.settings.decay, chosen,
        )  # fmt: skip
        worth[grams] = 0.0
        return chosen[:taken].copy()


class _Groups(NamedTuple):
    """Pairs by the n-grams that they have, those of a group in a heap: the shortest in front."""

    offsets: Array  # int64[groups + 1]
    owners: Array  # int64[pairs]: the group of each candidate
    sizes: Array  # int64[groups]: how many are in the heap now
    shares: Array  # float64[candidates]
    pairs: Array  # int64[candidates]


@kernel
def _candidates(grams, offsets, pairs, signatures, candidates):
    """Collect the pairs of n-grams, and make a number of those that each has; return how many pairs there are."""
    size = 0
    for g in range(len(grams)):
        sign = mix(grams[g] + 1)
        for i in range(offsets[grams[g]], offsets[grams[g] + 1]):
            pair = pairs[i]
            if signatures[pair] == 0:
                candidates[size] = pair
                size += 1
            signatures[pair] = max((signatures[pair] + sign) & _SIGNATURE, 1)
    return size


@kernel
def _group(candidates, signatures, keys, numbers, owners, offsets):
    """Number the groups of pairs with equal signatures (which end as 0), and fill where each group starts."""
    groups = 0
    for c in range(len(candidates)):
        signature = signatures[candidates[c]]
        signatures[candidates[c]] = 0
        slot = first_slot(keys, signature)  # scattered already
        while keys[slot] >= 0 and keys[slot] != signature:
            slot = next_slot(keys, slot)
        if keys[slot] < 0:
            keys[slot] = signature
            numbers[slot] = groups
            groups += 1
            offsets[groups] = 0
        owners[candidates[c]] = numbers[slot]
        offsets[numbers[slot] + 1] += 1
    for group in range(groups):
        offsets[group + 1] += offsets[group]
    return groups


@kernel
def _worth_of(pair, offsets, grams, worth):
    total = 0.0
    for i in range(offsets[pair], offsets[pair + 1]):
        total += worth[grams[i]]
    return total


@kernel
def _take_best(groups, scores, queue, candidates, shares, offsets, grams, worth, decay, chosen):
    """Select pairs until `chosen` is full or nothing is worth anything; return how many.

    `queue` has the groups by the score of their front pair; only that of the first group is kept up to date.
    """
    for c in range(len(candidates)):
        pair = np.int64(candidates[c])
        group = groups.owners[pair]
        first = groups.offsets[group]
        groups.sizes[group] = push(groups.shares[first:], groups.pairs[first:], groups.sizes[group], shares[pair], pair)
    # the front pair stands for its group: of equal scores, the lower number is first
    size = 0
    for group in range(len(groups.sizes)):
        pair = groups.pairs[groups.offsets[group]]
        size = push(scores, queue, size, _worth_of(pair, offsets, grams, worth) * shares[pair], pair)
    count = 0
    while count < len(chosen) and size > 0:
        pair = queue[0]
        score = _worth_of(pair, offsets, grams, worth) * shares[pair]
        if score < scores[0]:
            replace(scores, queue, size, score, pair)
            continue
        if score == 0.0:
            break
        chosen[count] = pair
        count += 1
        for i in range(offsets[pair], offsets[pair + 1]):
            if worth[grams[i]] > 0.0:
                left = worth[grams[i]] * decay
                worth[grams[i]] = max(left, _LEAST) if decay > 0.0 else 0.0
        group = groups.owners[pair]
        first = groups.offsets[group]
        left_over = groups.sizes[group] - 1
        groups.sizes[group] = left_over
        if left_over > 0:
            one, two = groups.shares[first:], groups.pairs[first:]
            replace(one, two, left_over, one[left_over], two[left_over])
            pair = two[0]
            replace(scores, queue, size, _worth_of(pair, offsets, grams, worth) * shares[pair], pair)
        else:
            size -= 1
            if size > 0:
                replace(scores, queue, size, scores[size], queue[size])
    return count
