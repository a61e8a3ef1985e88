"""Phrase pairs that agree with a word alignment, and how they lie beside their neighbours.

A pair of spans agrees with the links of a sentence pair if at least one link lies inside, and none has one end inside
and the other outside (Och & Ney 2004; Koehn, Och & Marcu 2003). Unaligned words at the edges may belong to a phrase or
not: all variants up to the length limit are taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from camber.align.pharaoh import Alignment
from camber.arrays.types import I8, U1, AnyArray
from camber.corpus.bitext import Bitext
from camber.engine import LOCAL, Engine, split_evenly
from camber.errors import CamberError
from camber.kernel import kernel
from camber.rules.phrase.suffixes import SortedSuffixes

#: Orientations, in Moses' column order.
MONOTONE, SWAP, DISCONTINUOUS = 0, 1, 2

#: Sentence pairs that one call of the kernel works on.
_BATCH = 2000


@dataclass(frozen=True)
class Occurrences:
    """All N phrase pair occurrences of a bitext, in the order of the text."""

    keys: I8  # [N] source n-gram * target n-grams + target n-gram (see `suffixes`)
    patterns: I8  # [W, N] word alignment inside: `positions_per_word` target places of `longest` bits in every word
    orientations: U1  # [N] backward * 3 + forward
    target_codes: int  # how many names target n-grams may have


def positions_per_word(longest: int) -> int:
    """Return how many target places of a pattern, `longest` bits each, fit into an int64 that is not negative."""
    return min(63 // longest, longest)


def find_phrases(
    bitext: Bitext, alignment: Alignment, source: SortedSuffixes, target: SortedSuffixes, engine: Engine = LOCAL
) -> Occurrences:
    """Find every phrase pair occurrence of at most ``source.longest`` words on either side.

    >>> pair = Bitext.encode([["la", "casa"]], [["the", "house"]])
    >>> source, target = SortedSuffixes.sort(pair.source, 7), SortedSuffixes.sort(pair.target, 7)
    >>> len(find_phrases(pair, Alignment.from_pairs([[(0, 0), (1, 1)]]), source, target).keys)
    3
    """
    check_alignment(bitext, alignment)
    longest = source.longest
    target_codes = len(bitext.target.ids) * (longest + 1)
    if len(bitext.source.ids) * (longest + 1) * target_codes >= 1 << 63:
        raise CamberError(
            f"{len(bitext.source.ids):,} and {len(bitext.target.ids):,} words are too many to extract phrases from; "
            "give fewer sentence pairs or a smaller phrase length"
        )
    per_word = positions_per_word(longest)
    width = -(-longest // per_word)
    shared = _Shared(
        (bitext.source.offsets, bitext.target.offsets, np.ascontiguousarray(alignment.links, np.int32)),
        (alignment.offsets, source.first, target.first),
        longest,
        target_codes,
        per_word,
        max(bitext.source.longest, bitext.target.longest) + 2,
    )
    batches = split_evenly(len(bitext), -(-len(bitext) // _BATCH))
    pieces = list(engine.map(_occurrences, shared, batches))
    width = -(-longest // per_word)
    none = np.zeros(0, np.int64), np.zeros((width, 0), np.int64), np.zeros(0, np.uint8)
    keys, inside, orientations = zip(none, *pieces, strict=True)
    return Occurrences(np.concatenate(keys), np.concatenate(inside, axis=1), np.concatenate(orientations), target_codes)


_Three = tuple[AnyArray, AnyArray, AnyArray]


class _Shared(NamedTuple):
    """What finding the phrases of all sentence pairs needs."""

    texts: _Three  # offsets of source and target, links
    tables: tuple[AnyArray, AnyArray, AnyArray]  # offsets of the links, first occurrences of source and target phrases
    longest: int
    target_codes: int
    per_word: int
    room: int


def _occurrences(shared: _Shared, pairs: range) -> tuple[I8, I8, U1]:
    """Return the phrases of some sentence pairs: the first three columns of :class:`Occurrences`."""
    width = -(-shared.longest // shared.per_word)
    work = np.empty((5, shared.room), np.int64)
    where = (
        pairs.start, pairs.stop, *shared.texts, *shared.tables, shared.longest, shared.target_codes,
        shared.per_word, work,
    )  # fmt: skip
    none = np.zeros(0, np.int64), np.zeros((width, 0), np.int64), np.zeros(0, np.uint8)
    count = _phrases(*where, False, 0, *none)
    columns = np.empty(count, np.int64), np.zeros((width, count), np.int64), np.empty(count, np.uint8)
    _phrases(*where, True, 0, *columns)
    return columns


def check_alignment(bitext: Bitext, alignment: Alignment) -> None:
    """Refuse an alignment that does not belong to the bitext."""
    if len(alignment) != len(bitext):
        raise CamberError(f"{len(alignment):,} alignments for {len(bitext):,} sentence pairs; give one line per pair")
    owner = alignment.owners
    lengths = np.column_stack((bitext.source.lengths, bitext.target.lengths))[owner]
    outside = ((alignment.links < 0) | (alignment.links >= lengths)).any(axis=1)
    if outside.any():
        bad = int(np.flatnonzero(outside)[0])
        (source, target), (words, others) = alignment.links[bad].tolist(), lengths[bad].tolist()
        raise CamberError(
            f"sentence pair {owner[bad] + 1}: link {source}-{target} lies outside {words} and {others} words; "
            "links are source-target and count from 0"
        )


@kernel
def _linked(links, starts, words, others, i, j):
    """Say whether source place i and target place j are linked; both edges of a sentence pair are linked too."""
    if i < 0 or j < 0:
        return i < 0 and j < 0
    if i >= words or j >= others:
        return i >= words and j >= others
    found = False
    for at in range(starts[i], starts[i + 1]):
        found = found or links[at, 1] == j
    return found


@kernel
def _orientation(links, starts, words, others, mono, swap, j):
    """Return the word-based orientation: which corner of the phrase touches a link in the neighbouring target word."""
    straight = _linked(links, starts, words, others, mono, j)
    crossed = _linked(links, starts, words, others, swap, j)
    if straight == crossed:
        return 2
    return 0 if straight else 1


@kernel
def _phrases(
    first, last, source_offsets, target_offsets, links, link_offsets, source_first, target_first,
    longest, target_codes, per_word, scratch, fill, at, keys, patterns, orientations,
):  # fmt: skip
    """Count the phrase pairs of sentences first…last - 1; with `fill`, also write them from `at` on."""
    low_target, high_target, low_source, high_source, starts = (
        scratch[0],
        scratch[1],
        scratch[2],
        scratch[3],
        scratch[4],
    )
    found = 0
    for pair in range(first, last):
        source_start, target_start = source_offsets[pair], target_offsets[pair]
        words = source_offsets[pair + 1] - source_start
        others = target_offsets[pair + 1] - target_start
        for i in range(words):
            low_target[i], high_target[i] = others, -1
        for j in range(others):
            low_source[j], high_source[j] = words, -1
        i = 0
        for link in range(link_offsets[pair], link_offsets[pair + 1]):  # sorted by source place
            while i <= links[link, 0]:
                starts[i] = link
                i += 1
            s, t = links[link, 0], links[link, 1]
            low_target[s], high_target[s] = min(low_target[s], t), max(high_target[s], t)
            low_source[t], high_source[t] = min(low_source[t], s), max(high_source[t], s)
        while i <= words:
            starts[i] = link_offsets[pair + 1]
            i += 1

        for j1 in range(others):
            low, high = words, -1  # the source words that the target span is linked to
            for j2 in range(j1, min(j1 + longest, others)):
                low, high = min(low, low_source[j2]), max(high, high_source[j2])
                if high < 0:
                    continue
                if high - low >= longest:
                    break
                agrees = True
                for i in range(low, high + 1):
                    if low_target[i] < j1 or high_target[i] > j2:
                        agrees = False
                        break
                if not agrees:
                    continue
                i1 = low
                while i1 >= 0 and high - i1 < longest and (i1 == low or high_target[i1] < 0):
                    i2 = high
                    while i2 < words and i2 - i1 < longest and (i2 == high or high_target[i2] < 0):
                        if fill:
                            here = at + found
                            n, m = i2 - i1 + 1, j2 - j1 + 1
                            source_code = source_first[source_start + i1, n - 1] * (longest + 1) + n
                            target_code = target_first[target_start + j1, m - 1] * (longest + 1) + m
                            keys[here] = source_code * target_codes + target_code
                            for link in range(starts[low], starts[high + 1]):
                                t = links[link, 1] - j1
                                bit = (t % per_word) * longest + links[link, 0] - i1
                                patterns[t // per_word, here] |= 1 << bit
                            back = _orientation(links, starts, words, others, i1 - 1, i2 + 1, j1 - 1)
                            ahead = _orientation(links, starts, words, others, i2 + 1, i1 - 1, j2 + 1)
                            orientations[here] = back * 3 + ahead
                        found += 1
                        i2 += 1
                    i1 -= 1
    return found
