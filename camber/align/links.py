"""The link index: for every possible link of every pair, which entry of the lexical parameters it uses.

The entries are the distinct (source word, target word) pairs that occur in some sentence pair, grouped by source word.
The index is made once; the passes over the corpus then never search or hash. Both directions share it: p(t|s) and
p(s|t) of a pair of words live in the same entry.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from camber.arrays.ragged import offsets_from, owners_of
from camber.arrays.types import I4, I8
from camber.corpus.bitext import Bitext
from camber.kernel import kernel


@dataclass(frozen=True)
class LinkIndex:
    """All possible links: link (i, j) of pair s, whose target has J words, is ``offsets[s] + i * J + j``."""

    offsets: I8  # [pairs + 1]
    entries: I4  # [links] the entry of every possible link
    entry_offsets: I8  # [source words + 1] entries of source word w are entry_offsets[w]:entry_offsets[w + 1]
    entry_targets: I4  # [entries] the target word of every entry
    rows: I8  # [source tokens] first link of every source token, tokens grouped by their word
    row_lengths: I4  # [source tokens] target words opposite that token, in the same order
    row_offsets: I8  # [source words + 1] tokens of source word w are rows[row_offsets[w]:row_offsets[w + 1]]

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def entry_count(self) -> int:
        return len(self.entry_targets)


def link_index(bitext: Bitext) -> LinkIndex:
    """Index the possible links of a bitext whose words all lie in its vocabularies.

    >>> index = link_index(Bitext.encode([["a", "a"]], [["x", "y"]]))
    >>> index.entries.tolist(), index.entry_targets.tolist()
    ([0, 1, 0, 1], [0, 1])
    """
    source, target = bitext.source, bitext.target
    source_words, target_words = len(source.vocabulary), len(target.vocabulary)
    opposite = np.repeat(target.lengths, source.lengths)  # target words opposite every source token
    first = offsets_from(opposite)
    total = int(first[-1])
    by_word = np.argsort(source.ids, kind="stable")
    row_offsets = offsets_from(np.bincount(source.ids, minlength=source_words))
    pair = owners_of(source.offsets)
    rows, lengths = first[by_word], opposite[by_word].astype(np.int32)
    starts = target.offsets[:-1][pair][by_word]

    entries, entry_targets = np.empty(total, np.int32), np.empty(total, np.int32)
    entry_offsets = np.zeros(source_words + 1, np.int64)
    newest = np.full(target_words, -1, np.int64)
    count = _index(row_offsets, rows, lengths, starts, target.ids, newest, entries, entry_offsets, entry_targets)
    return LinkIndex(
        first[source.offsets], entries, entry_offsets, entry_targets[:count].copy(), rows, lengths, row_offsets
    )


@kernel
def _index(row_offsets, rows, lengths, starts, target_ids, newest, entries, entry_offsets, entry_targets):
    """Number the entries word by word: `newest[t]` is the last entry made for t, ours if it is not before our first."""
    count = 0
    for word in range(len(row_offsets) - 1):
        first = count
        for row in range(row_offsets[word], row_offsets[word + 1]):
            link, start = rows[row], starts[row]
            for j in range(lengths[row]):
                t = target_ids[start + j]
                if newest[t] < first:
                    newest[t] = count
                    entry_targets[count] = t
                    count += 1
                entries[link + j] = newest[t]
        entry_offsets[word + 1] = count
    return count
