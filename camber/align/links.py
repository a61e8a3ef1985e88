"""The link index: for every possible link of every pair, which entry of the lexical parameters it uses.

The entries are the distinct (source word, target word) pairs that occur in some sentence pair, grouped by source word.
The index is made once; the passes over the corpus then never search or hash. Both directions share it: p(t|s) and
p(s|t) of a pair of words live in the same entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.scratch import UNLIMITED, Scratch
from camber.arrays.types import I4, I8, Array
from camber.corpus.bitext import Bitext
from camber.kernel import kernel


@dataclass(frozen=True)
class LinkIndex:
    """All possible links: link (i, j) of pair s, whose target has J words, is ``offsets[s] + i * J + j``."""

    offsets: I8  # [pairs + 1]
    entries: I4  # [links] the entry of every possible link
    entry_offsets: I8  # [source words + 1] entries of source word w are entry_offsets[w]:entry_offsets[w + 1]
    entry_targets: I4  # [entries] the target word of every entry

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def entry_count(self) -> int:
        return len(self.entry_targets)


def link_index(bitext: Bitext, scratch: Scratch = UNLIMITED) -> LinkIndex:
    """Index the possible links of a bitext whose words all lie in its vocabularies.

    There are so many links that they are what fills memory first: then they are mapped from a file, which every pass
    goes through in its order.

    >>> index = link_index(Bitext.encode([["a", "a"]], [["x", "y"]]))
    >>> index.entries.tolist(), index.entry_targets.tolist()
    ([0, 1, 0, 1], [0, 1])
    """
    source, target = bitext.source, bitext.target
    source_words, target_words = len(source.vocabulary), len(target.vocabulary)
    offsets = offsets_from(source.lengths * target.lengths)
    total = int(offsets[-1])
    word_offsets = offsets_from(np.bincount(source.ids, minlength=source_words))
    tokens, pairs = (np.empty(len(source.ids), np.int32) for _ in range(2))
    _group(source.ids, source.offsets, word_offsets[:-1].copy(), tokens, pairs)
    rows = _Rows(tokens, pairs, source.offsets, target.offsets, target.ids, offsets)

    entries: I4 = scratch.empty((total,), np.int32)
    entry_targets, entry_offsets = np.empty(total, np.int32), np.zeros(source_words + 1, np.int64)
    newest = np.full(target_words, -1, np.int64)
    count = _index(word_offsets, rows, newest, entries, entry_offsets, entry_targets)
    return LinkIndex(offsets, entries, entry_offsets, entry_targets[:count].copy())


class _Rows(NamedTuple):
    """The source tokens, each of which has links to all words opposite it."""

    tokens: Array  # int32[tokens]: by their words
    pairs: Array  # int32[tokens]: the pair of each, in the same order
    source_offsets: Array  # int64[pairs + 1]
    target_offsets: Array  # int64[pairs + 1]
    target_ids: Array  # int32[target tokens]
    link_offsets: Array  # int64[pairs + 1]


@kernel
def _group(ids, offsets, next_row, tokens, pairs):
    """Put the tokens of a text in the order of their words, with the pair of each; `next_row` is where words begin."""
    for pair in range(len(offsets) - 1):
        for token in range(offsets[pair], offsets[pair + 1]):
            row = next_row[ids[token]]
            tokens[row] = token
            pairs[row] = pair
            next_row[ids[token]] = row + 1


@kernel
def _index(word_offsets, rows, newest, entries, entry_offsets, entry_targets):
    """Number the entries word by word: `newest[t]` is the last entry made for t, ours if it is not before our first."""
    count = 0
    for word in range(len(word_offsets) - 1):
        first = count
        for row in range(word_offsets[word], word_offsets[word + 1]):
            pair = rows.pairs[row]
            start = rows.target_offsets[pair]
            length = rows.target_offsets[pair + 1] - start
            link = rows.link_offsets[pair] + (rows.tokens[row] - rows.source_offsets[pair]) * length
            for j in range(length):
                t = rows.target_ids[start + j]
                if newest[t] < first:
                    newest[t] = count
                    entry_targets[count] = t
                    count += 1
                entries[link + j] = newest[t]
        entry_offsets[word + 1] = count
    return count
