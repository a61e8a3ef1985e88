"""Phrase pairs that agree with a word alignment, and how they lie beside their neighbours.

A pair of spans agrees with the links of a sentence pair if at least one link lies inside, and none has one end inside
and the other outside (Och & Ney 2004; Koehn, Och & Marcu 2003). Unaligned words at the edges may belong to a phrase or
not: all variants up to the length limit are taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from camber.align.pharaoh import Alignment
from camber.arrays.types import I8, U1, Array
from camber.corpus.bitext import Bitext
from camber.engine import LOCAL, Engine, split_evenly
from camber.errors import CamberError
from camber.kernel import kernel, kernel_inlined
from camber.progress import each
from camber.rules.phrase.suffixes import SortedSuffixes

#: Orientations, in Moses' column order.
MONOTONE, SWAP, DISCONTINUOUS = 0, 1, 2

#: Sentence pairs that one call of the kernel works on.
_BATCH = 2000


@dataclass(frozen=True)
class Occurrences:
    """N phrase pair occurrences of a bitext."""

    keys: I8  # [N] source n-gram * target n-grams + target n-gram (see `suffixes`)
    patterns: I8  # [W, N] word alignment inside: `positions_per_word` target places of `longest` bits in every word
    orientations: U1  # [N] backward * 3 + forward
    target_codes: int  # how many names target n-grams may have

    def __len__(self) -> int:
        return len(self.keys)


def positions_per_word(longest: int) -> int:
    """Return how many target places of a pattern, `longest` bits each, fit into an int64 that is not negative."""
    return min(63 // longest, longest)


def find_phrases(
    bitext: Bitext, alignment: Alignment, source: SortedSuffixes, target: SortedSuffixes, engine: Engine = LOCAL
) -> Iterator[Occurrences]:
    """Yield every phrase pair occurrence of at most ``source.longest`` words on either side, in the order of the text.

    >>> pair = Bitext.encode([["la", "casa"]], [["the", "house"]])
    >>> source, target = SortedSuffixes.sort(pair.source, 7), SortedSuffixes.sort(pair.target, 7)
    >>> [len(block) for block in find_phrases(pair, Alignment.from_pairs([[(0, 0), (1, 1)]]), source, target)]
    [3]
    """
    check_alignment(bitext, alignment)
    longest = source.longest
    target_codes = len(bitext.target.ids) * (longest + 1)
    if len(bitext.source.ids) * (longest + 1) * target_codes >= 1 << 63:
        raise CamberError(
            f"{len(bitext.source.ids):,} and {len(bitext.target.ids):,} words are too many to extract phrases from; "
            "give fewer sentence pairs or a smaller phrase length"
        )
    shared = _Shared(
        _Corpus(
            bitext.source.offsets,
            bitext.target.offsets,
            np.ascontiguousarray(alignment.links, np.int32),
            alignment.offsets,
            source.first,
            target.first,
        ),
        _Codes(longest, target_codes, positions_per_word(longest)),
        max(bitext.source.longest, bitext.target.longest) + 2,
    )
    batches = split_evenly(len(bitext), -(-len(bitext) // _BATCH))
    for columns in each(engine.map(_occurrences, shared, batches), "find phrases", len(batches)):
        yield Occurrences(*columns, target_codes)


def pattern_words(longest: int) -> int:
    """Return how many int64 a pattern takes."""
    return -(-longest // positions_per_word(longest))


class _Corpus(NamedTuple):
    """Sentence pairs with their links."""

    source_offsets: Array  # int64[pairs + 1]
    target_offsets: Array  # int64[pairs + 1]
    links: Array  # int32[links, 2]
    link_offsets: Array  # int64[pairs + 1]
    source_first: Array  # [tokens, longest]: see `SortedSuffixes.first`
    target_first: Array


class _Columns(NamedTuple):
    """The first columns of :class:`Occurrences`."""

    keys: Array
    patterns: Array
    orientations: Array


class _Codes(NamedTuple):
    """How phrases and their links are written as numbers."""

    longest: int
    target_codes: int
    per_word: int  # target places in a word of a pattern

    def columns(self, count: int) -> _Columns:
        """Make columns for so many phrases."""
        words = np.zeros((pattern_words(self.longest), count), np.int64)
        return _Columns(np.empty(count, np.int64), words, np.empty(count, np.uint8))


class _Links(NamedTuple):
    """The links of one sentence pair: the least and greatest counterpart of every word, and where its links begin."""

    low_target: Array  # int64[room]: the number of target words if there is none
    high_target: Array  # int64[room]: -1 if there is none
    low_source: Array
    high_source: Array
    starts: Array  # int64[room], by source word


class _Shared(NamedTuple):
    """What finding the phrases of all sentence pairs needs."""

    corpus: _Corpus
    codes: _Codes
    room: int


def _occurrences(shared: _Shared, pairs: range) -> _Columns:
    """Return the phrases of some sentence pairs."""
    links = _Links(*(np.empty(shared.room, np.int64) for _ in range(5)))
    where = pairs.start, pairs.stop, shared.corpus, shared.codes, links
    count = _phrases(*where, False, shared.codes.columns(0))
    columns = shared.codes.columns(count)
    _phrases(*where, True, columns)
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


@kernel_inlined
def _linked(links, starts, words, others, i, j):
    """Say whether source place i and target place j are linked; both edges of a sentence pair are linked too."""
    if i < 0 or j < 0:
        return i < 0 and j < 0
    if i >= words or j >= others:
        return i >= words and j >= others
    linked = False
    for at in range(starts[i], starts[i + 1]):
        linked = linked or links[at, 1] == j
    return linked


@kernel_inlined
def _orientation(links, starts, words, others, mono, swap, j):
    """Return the word-based orientation: which corner of the phrase touches a link in the neighbouring target word."""
    straight = _linked(links, starts, words, others, mono, j)
    crossed = _linked(links, starts, words, others, swap, j)
    if straight == crossed:
        return 2
    return 0 if straight else 1


@kernel
def _phrases(first, last, corpus, codes, links, fill, columns):
    """Count the phrase pairs of sentences first…last - 1; with `fill`, also write them."""
    longest = codes.longest
    count = 0
    for pair in range(first, last):
        source, target = corpus.source_offsets[pair], corpus.target_offsets[pair]
        words, others = corpus.source_offsets[pair + 1] - source, corpus.target_offsets[pair + 1] - target
        _read_links(corpus, pair, words, others, links)
        for j1 in range(others):
            low, high = words, -1  # the source words that the target span is linked to
            for j2 in range(j1, min(j1 + longest, others)):
                low, high = min(low, links.low_source[j2]), max(high, links.high_source[j2])
                if high < 0:
                    continue
                if high - low >= longest:
                    break
                if not _agrees(links, low, high, j1, j2):
                    continue
                i1 = low
                while i1 >= 0 and high - i1 < longest and (i1 == low or links.high_target[i1] < 0):
                    i2 = high
                    while i2 < words and i2 - i1 < longest and (i2 == high or links.high_target[i2] < 0):
                        if fill:
                            columns.keys[count] = _key(
                                corpus, codes, source + i1, i2 - i1 + 1, target + j1, j2 - j1 + 1
                            )
                            for link in range(links.starts[low], links.starts[high + 1]):
                                t = corpus.links[link, 1] - j1
                                bit = (t % codes.per_word) * longest + corpus.links[link, 0] - i1
                                columns.patterns[t // codes.per_word, count] |= 1 << bit
                            back = _orientation(corpus.links, links.starts, words, others, i1 - 1, i2 + 1, j1 - 1)
                            ahead = _orientation(corpus.links, links.starts, words, others, i2 + 1, i1 - 1, j2 + 1)
                            columns.orientations[count] = back * 3 + ahead
                        count += 1
                        i2 += 1
                    i1 -= 1
    return count


@kernel_inlined
def _read_links(corpus, pair, words, others, links):
    """Fill `links` from those of a sentence pair, which are sorted by source place."""
    low_target, high_target, low_source, high_source, starts = links
    for i in range(words):
        low_target[i], high_target[i] = others, -1
    for j in range(others):
        low_source[j], high_source[j] = words, -1
    i = 0
    for link in range(corpus.link_offsets[pair], corpus.link_offsets[pair + 1]):
        s, t = corpus.links[link, 0], corpus.links[link, 1]
        while i <= s:
            starts[i] = link
            i += 1
        low_target[s], high_target[s] = min(low_target[s], t), max(high_target[s], t)
        low_source[t], high_source[t] = min(low_source[t], s), max(high_source[t], s)
    while i <= words:
        starts[i] = corpus.link_offsets[pair + 1]
        i += 1


@kernel_inlined
def _agrees(links, low, high, j1, j2):
    """Say whether no link of the source words low…high leaves the target span j1…j2."""
    i = low
    while i <= high and links.low_target[i] >= j1 and links.high_target[i] <= j2:
        i += 1
    return i > high


@kernel_inlined
def _key(corpus, codes, i, n, j, m):
    """Return the number of the phrase pair of the n source words from token i on and the m target words from j on."""
    source = corpus.source_first[i, n - 1] * (codes.longest + 1) + n
    target = corpus.target_first[j, m - 1] * (codes.longest + 1) + m
    return source * codes.target_codes + target
