"""Pieces of words, learnt by byte pair encoding (Sennrich, Haddow & Birch 2016): frequent neighbours become one.

Every word is a row of characters at first, the last of which is marked by a blank that follows it. The pair of
neighbours that is most frequent in the text becomes a symbol of its own, again and again.

    subwords = Subwords.learn(text, merges=3000)
    ids, offsets = subwords.segment(["Haustür"])        # ids of subwords.pieces: "Haus", "tür "
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from camber.arrays.checks import Checks
from camber.arrays.files import Shapes, open_arrays, save_arrays
from camber.arrays.ragged import cut, offsets_from
from camber.arrays.types import I4, I8, Array
from camber.corpus.bitext import Sentences
from camber.corpus.vocabulary import Vocabulary
from camber.kernel import kernel
from camber.kernel.heap import pop, push
from camber.kernel.table import empty_table, find, insert

#: Pairs that were seen less often are never joined.
FEWEST = 2

#: Words that merges are learnt from, the most frequent ones: rarer ones would change little.
_WORDS = 100_000

_ARRAYS: Shapes = {"alphabet": (np.int32, 1), "merges": (np.int32, 2)}

# A pair of symbols is one key: left << _SHIFT | right.
_SHIFT = 31


@dataclass(frozen=True)
class Subwords:
    """The characters of a text, and which symbols were joined: merge m makes the symbol ``len(alphabet) + m``.

    >>> subwords = Subwords.learn(Sentences.encode([["low", "low", "lower"]]), merges=10)
    >>> ids, offsets = subwords.segment(["low", "slow", "lower"])
    >>> [subwords.pieces.decode(ids[a:b]) for a, b in zip(offsets[:-1], offsets[1:]) if min(ids[a:b]) >= 0]
    [['low '], ['lo', 'w', 'e', 'r ']]
    """

    alphabet: I4  # [characters] rising: 2 * code point, and 1 more at the end of a word
    merges: I4  # [merges, 2] the symbols that were joined, in this order

    @classmethod
    def learn(cls, text: Sentences, merges: int = 3000) -> Self:
        """Learn at most `merges` merges; of equally frequent pairs, the one with the older symbols is joined first."""
        counts = np.bincount(text.ids[text.ids >= 0], minlength=len(text.vocabulary)).astype(np.int64)
        common = np.argsort(-counts, kind="stable")[:_WORDS]
        codes, offsets = _characters(text.vocabulary.decode(common.tolist()))
        alphabet, symbols = np.unique(codes, return_inverse=True)
        size = len(symbols)
        inside = np.ones(size + 1, bool)  # whether the place is in the same word as the one before
        inside[offsets] = False
        places = np.arange(size)
        row = _Row(
            symbols.astype(np.int32).reshape(-1),
            np.where(inside[:-1], places - 1, -1).astype(np.int32),
            np.where(inside[1:], places + 1, -1).astype(np.int32),
            np.repeat(counts[common], np.diff(offsets)),
        )
        # every merge of two places takes one away and makes two new neighbours at most
        slots = empty_table(3 * size)
        pairs = _Pairs(
            slots,
            np.zeros(len(slots), np.int64),
            np.full(len(slots), -1, np.int32),
            np.full(size, -1, np.int32),
            np.full(size, -1, np.int32),
            np.empty(3 * size, np.int64),
        )
        joined = np.empty((merges, 2), np.int32)
        made = _learn(row, pairs, np.empty(3 * size), np.empty(3 * size, np.int64), len(alphabet), joined)
        return cls(alphabet.astype(np.int32), joined[:made].copy())

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """The texts of all symbols; one that ends a word ends in a blank."""
        texts = [chr(code >> 1) + " " * (code & 1) for code in self.alphabet.tolist()]
        for left, right in self.merges.tolist():
            texts.append(texts[left] + texts[right])
        return tuple(texts)

    @cached_property
    def pieces(self) -> Vocabulary:
        """The distinct texts of symbols."""
        return Vocabulary(tuple(dict.fromkeys(self.symbols)))

    def segment(self, words: Sequence[str]) -> tuple[I4, I8]:
        """Return the pieces of words: ids of :attr:`pieces` in one array (-1: a new character), and the offsets."""
        codes, starts = _characters(words)
        at = np.searchsorted(self.alphabet, codes)
        known = at < len(self.alphabet)
        known[known] = self.alphabet[at[known]] == codes[known]
        symbols = np.where(known, at, -1).astype(np.int32)
        keys = (self.merges[:, 0].astype(np.int64) << _SHIFT) | self.merges[:, 1]
        slots = empty_table(len(keys))
        ranks = np.zeros(len(slots), np.int64)
        sizes = np.empty(len(words), np.int64)
        _segment(symbols, starts, keys, slots, ranks, len(self.alphabet), sizes)
        symbols, offsets = cut(symbols, starts[:-1], sizes)
        piece_of = np.append(self.pieces.encode(self.symbols), -1).astype(np.int32)  # -1 stays -1
        return piece_of[symbols], offsets

    def cut(self, text: Sentences) -> Sentences:
        """Return a text with its own vocabulary in pieces."""
        ids, offsets = self.segment(text.vocabulary.words)
        pieces, piece_offsets = cut(ids, offsets[text.ids], np.diff(offsets)[text.ids])
        return Sentences(pieces, piece_offsets[text.offsets], self.pieces)

    def save(self, folder: Path) -> None:
        """Write the arrays into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        save_arrays(folder, {name: getattr(self, name) for name in _ARRAYS}, _ARRAYS)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Open what :meth:`save` wrote."""
        subwords = cls(**open_arrays(folder, _ARRAYS))
        checks, merges = Checks(folder), subwords.merges
        checks.rising("alphabet", subwords.alphabet)
        checks.below("alphabet", subwords.alphabet, 2 * (sys.maxunicode + 1))
        checks.shape("merges", merges, len(merges), 2)
        known = len(subwords.alphabet) + np.arange(len(merges))
        earlier = (merges >= 0) & (merges < known[:, None])
        checks.that(earlier.all(), "merges", "a piece that is made of later ones")
        return subwords


def _characters(words: Sequence[str]) -> tuple[I4, I8]:
    """Return the characters of words as in `Subwords.alphabet`, and the offsets of the words."""
    codes = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), np.int32) * 2
    offsets = offsets_from(map(len, words))
    codes[offsets[1:][np.diff(offsets) > 0] - 1] += 1
    return codes, offsets


class _Row(NamedTuple):
    """All words as rows of symbols, linked so that symbols can be taken out."""

    symbol: Array  # int32[places]
    before: Array  # int32[places] the place to the left in the same word, -1: none
    after: Array  # int32[places]
    weight: Array  # int64[places] how often the word was seen


class _Pairs(NamedTuple):
    """Pairs of neighbours in a hash table; all places where a pair begins are linked, in both directions."""

    slots: Array  # int64[slots] keys
    count: Array  # int64[slots] how often the text has the pair
    head: Array  # int32[slots] a place where it begins, -1: none
    previous: Array  # int32[places] the place before in the list of the pair that begins here
    following: Array  # int32[places]
    fresh: Array  # int64[pairs] slots of pairs that were not there before


@kernel
def _key(row, place):
    """Return the pair that begins at a place."""
    return (np.int64(row.symbol[place]) << _SHIFT) | row.symbol[row.after[place]]


@kernel
def _add(row, pairs, place, fresh):
    """Count the pair that begins at a place; return the number of fresh pairs."""
    key = _key(row, place)
    slot = find(pairs.slots, key)
    if slot < 0:
        slot = insert(pairs.slots, key)
        pairs.fresh[fresh] = slot
        fresh += 1
    pairs.count[slot] += row.weight[place]
    old = pairs.head[slot]
    pairs.previous[place] = -1
    pairs.following[place] = old
    if old >= 0:
        pairs.previous[old] = place
    pairs.head[slot] = place
    return fresh


@kernel
def _remove(row, pairs, place):
    """Forget the pair that begins at a place."""
    slot = find(pairs.slots, _key(row, place))
    pairs.count[slot] -= row.weight[place]
    before, after = pairs.previous[place], pairs.following[place]
    if before >= 0:
        pairs.following[before] = after
    else:
        pairs.head[slot] = after
    if after >= 0:
        pairs.previous[after] = before


@kernel
def _learn(row, pairs, heap_scores, heap_keys, characters, joined):
    """Fill joined int32[merges, 2]; return how many merges there are.

    heap_scores, heap_keys: room for as many pairs as may ever be. Counts in the heap may be too high, because those of
    old pairs only ever fall: a pair whose count is lower than it was goes back.
    """
    fresh = 0
    for place in range(len(row.symbol)):
        if row.after[place] >= 0:
            fresh = _add(row, pairs, place, fresh)
    size = 0
    merge = 0
    while True:
        for k in range(fresh):
            slot = pairs.fresh[k]
            if pairs.count[slot] >= FEWEST:
                size = push(heap_scores, heap_keys, size, np.float64(pairs.count[slot]), pairs.slots[slot])
        fresh = 0
        slot = -1
        while slot < 0 and size > 0:
            score, key, size = pop(heap_scores, heap_keys, size)
            slot = find(pairs.slots, key)
            if pairs.count[slot] < score:
                if pairs.count[slot] >= FEWEST:
                    size = push(heap_scores, heap_keys, size, np.float64(pairs.count[slot]), key)
                slot = -1
        if slot < 0 or merge == len(joined):
            return merge
        left, right = key >> _SHIFT, key & ((1 << _SHIFT) - 1)
        joined[merge, 0], joined[merge, 1] = left, right
        while pairs.head[slot] >= 0:
            place = pairs.head[slot]
            if left == right:  # in a run of one symbol, pairs are joined from the left
                while row.before[place] >= 0 and row.symbol[row.before[place]] == left:
                    place = row.before[place]
            fresh = _join(row, pairs, place, characters + merge, fresh)
        merge += 1


@kernel
def _join(row, pairs, place, symbol, fresh):
    """Make one symbol of the pair that begins at a place; return the number of fresh pairs."""
    other, before = row.after[place], row.before[place]
    after = row.after[other]
    _remove(row, pairs, place)
    if before >= 0:
        _remove(row, pairs, before)
    if after >= 0:
        _remove(row, pairs, other)
    row.symbol[place] = symbol
    row.after[place] = after
    if after >= 0:
        row.before[after] = place
        fresh = _add(row, pairs, place, fresh)
    if before >= 0:
        fresh = _add(row, pairs, before, fresh)
    return fresh


@kernel
def _segment(symbols, starts, keys, slots, ranks, characters, sizes):
    """Join symbols of every word in the order of the merges; what is left stands at the word's beginning.

    symbols int32[characters], starts int64[words + 1], keys int64[merges]; sizes int64[words] is filled.
    """
    for rank in range(len(keys)):
        ranks[insert(slots, keys[rank])] = rank
    for word in range(len(sizes)):
        first = starts[word]
        size = starts[word + 1] - first
        while True:
            best = len(keys)
            for place in range(first, first + size - 1):
                if symbols[place] >= 0 and symbols[place + 1] >= 0:
                    slot = find(slots, (np.int64(symbols[place]) << _SHIFT) | symbols[place + 1])
                    if slot >= 0:
                        best = min(best, ranks[slot])
            if best == len(keys):
                break
            left, right = keys[best] >> _SHIFT, keys[best] & ((1 << _SHIFT) - 1)
            to, place = first, first
            while place < first + size:
                if place + 1 < first + size and symbols[place] == left and symbols[place + 1] == right:
                    symbols[to] = characters + best
                    place += 2
                else:
                    symbols[to] = symbols[place]
                    place += 1
                to += 1
            size = to - first
        sizes[word] = size
