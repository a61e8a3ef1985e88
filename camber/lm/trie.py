"""N-grams as flat columns: what an estimator makes, what an ARPA file holds, what queries are compiled from.

All n-grams of a model have one numbering: 0 is the empty n-gram, 1 + w is the unigram of word w, then come the
bigrams, the trigrams and so on. An n-gram is its *prefix* (all words but the last; also the context in which its
probability holds) and its last *word*. Its *suffix* is the longest proper suffix that is in the model.
Every prefix of an n-gram of the trie is in the trie.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.types import F8, I4, I8, AnyArray, Records
from camber.kernel import kernel, kernel_inlined
from camber.kernel.table import capacity_for, first_slot, mix, next_slot, same_run

UNKNOWN, BEGIN, END = 0, 1, 2  # the words every model begins with
SPECIAL = ("<unk>", "<s>", "</s>")
#: A row of a table of n-grams: part of a hash of its words, and its number (-1: a free slot). Records are small,
#: because most of the time goes into waiting for them.
_ROW = np.dtype([("part", "i4"), ("row", "i4")])


@dataclass(frozen=True)
class NgramTrie:
    """Columns by n-gram; those of order n are ``starts[n]:starts[n + 1]``.

    `probability` is log10 p(word | prefix), `backoff` is the log10 of what the n-gram as a context costs when the next
    word was not seen after it (0: nothing).
    """

    words: tuple[str, ...]  # <unk>, <s>, </s>, then the others
    starts: I8  # [order + 2]
    prefix: I4  # [n-grams]
    word: I4
    suffix: I4
    probability: F8
    backoff: F8

    @property
    def order(self) -> int:
        """Length of the longest n-grams."""
        return len(self.starts) - 2

    def __len__(self) -> int:
        """Return how many n-grams there are, the empty one not counted."""
        return len(self.word) - 1

    def rows(self, order: int, first: int = 0, last: int | None = None) -> I4:
        """Return the words of the n-grams of one order, or of some of them, int32[n-grams, order]."""
        start, end = self.starts[order : order + 2].tolist()
        grams = np.arange(start + first, end if last is None else min(start + last, end))
        rows = np.empty((len(grams), order), np.int32)
        for column in range(order - 1, -1, -1):
            rows[:, column] = self.word[grams]
            grams = self.prefix[grams]
        return rows


class DuplicateNgramError(ValueError):
    """An n-gram that is given twice: its order and its row among those of that order."""

    def __init__(self, order: int, row: int) -> None:
        super().__init__(f"row {row} of order {order} repeats an n-gram")
        self.order, self.row = order, row


def trie_from_rows(
    words: Sequence[str], rows: Sequence[I4], probability: Sequence[F8], backoff: Sequence[F8]
) -> NgramTrie:
    """Link n-grams given by their words (one array of rows, log10 probabilities and backoffs per order).

    The unigram rows must be 0, 1, 2, …. Prefixes that are missing (pruned by another tool) are put in with the
    probability they have by backing off, so the distribution is that of the input. A row given twice is a
    DuplicateNgramError.
    """
    levels = [np.ascontiguousarray(level, np.int32) for level in rows]
    order = len(levels)
    probability, backoff = list(probability), list(backoff)
    tables: list[Records] = [np.empty(0, _ROW)] * order
    prefixes = [np.zeros(len(level), np.int32) for level in levels]
    for n in range(order, 1, -1):  # from the top, because rows that are put in have prefixes, too
        if len(tables[n - 1]) == 0:
            tables[n - 1] = _index(levels[n - 1], n)
        if n > 2:
            tables[n - 2] = _index(levels[n - 2], n - 1)
        prefix = _find(levels[n - 1], 0, levels[n - 2], tables[n - 2])
        if (missing := prefix < 0).any():
            extra = np.unique(levels[n - 1][missing][:, : n - 1], axis=0)
            levels[n - 2] = np.concatenate([levels[n - 2], extra])
            probability[n - 2] = np.concatenate([probability[n - 2], np.full(len(extra), np.nan)])
            backoff[n - 2] = np.concatenate([backoff[n - 2], np.zeros(len(extra))])
            tables[n - 2] = _index(levels[n - 2], n - 1)
            prefix = _find(levels[n - 1], 0, levels[n - 2], tables[n - 2])
        prefixes[n - 1] = prefix
    starts = offsets_from([1, *map(len, levels)])
    suffixes = [np.zeros(len(levels[0]), np.int32)]
    for n in range(2, order + 1):
        suffix = _find(levels[n - 1], 1, levels[n - 2], tables[n - 2])
        left = np.flatnonzero(suffix < 0)
        suffix += np.int32(starts[n - 1])
        for shorter in range(n - 2, 0, -1):
            if len(left) == 0:
                break
            known = _find(levels[n - 1][left], n - shorter, levels[shorter - 1], tables[shorter - 1])
            suffix[left[known >= 0]] = known[known >= 0] + np.int32(starts[shorter])
            left = left[known < 0]
        suffixes.append(suffix)
    trie = NgramTrie(
        words=tuple(words),
        starts=starts,
        prefix=_column([np.zeros(1), *(prefix + np.int32(starts[n]) for n, prefix in enumerate(prefixes))], np.int32),
        word=_column([np.zeros(1), *(level[:, -1] for level in levels)], np.int32),
        suffix=_column([np.zeros(1), *suffixes], np.int32),
        probability=_column([np.zeros(1), *probability], np.float64),
        backoff=_column([np.zeros(1), *backoff], np.float64),
    )
    _fill_in(trie)
    return trie


def _column(parts: Sequence[AnyArray], dtype: type[np.generic]) -> AnyArray:
    return np.concatenate([part.astype(dtype, copy=False) for part in parts])


def _fill_in(trie: NgramTrie) -> None:
    """Give n-grams without a probability the one they have by backing off."""
    for n in range(2, trie.order + 1):
        level = slice(int(trie.starts[n]), int(trie.starts[n + 1]))
        grams = np.flatnonzero(np.isnan(trie.probability[level])) + level.start
        # p(w | h) = b(h) b(h') … p(w | x), where x w is the longest suffix of h w that is there
        total = trie.probability[trie.suffix[grams]]
        context, last = trie.prefix[grams], trie.prefix[trie.suffix[grams]]
        while (going := context != last).any():
            total = total + np.where(going, trie.backoff[context], 0.0)
            context = np.where(going, trie.suffix[context], context)
        trie.probability[grams] = total


def _index(rows: I4, order: int) -> Records:
    """Make a hash table of rows."""
    table = np.zeros(capacity_for(len(rows)), _ROW)
    table["row"] = -1
    twice = _index_rows(rows, table)
    if twice >= 0:
        raise DuplicateNgramError(order, int(twice))
    return table


def _find(rows: I4, shift: int, known: I4, table: Records) -> I4:
    """Return which row of `known` each row is from column `shift` on, -1 where there is none."""
    if known.shape[1] == 1:
        return rows[:, shift].copy()
    numbers = np.empty(len(rows), np.int32)
    _find_rows(rows, shift, known, table, numbers)
    return numbers


@kernel_inlined
def _row_key(rows, row, shift, width):
    key = np.int64(0)
    for column in range(shift, shift + width):
        key = key * 0x2545F4914F6CDD1D + rows[np.uint64(row), np.uint64(column)] + 1
    return mix(key)


@kernel_inlined
def _row_slot(table, key, rows, row, shift, known):
    """Return the slot that holds, or would hold, a row from column `shift` on."""
    slot, part = first_slot(table, key), np.int32(key >> 32)  # other bits than those of the slot
    while True:
        record = table[np.uint64(slot)]
        number = record["row"]
        if number < 0 or (record["part"] == part and same_run(rows[row], shift, known[number], 0, known.shape[1])):
            return slot
        slot = next_slot(table, slot)


@kernel
def _index_rows(rows, table):
    """Put every row into the table; return the first that repeats another, or -1."""
    for row in range(len(rows)):
        key = _row_key(rows, row, 0, rows.shape[1])
        slot = _row_slot(table, key, rows, row, 0, rows)
        if table[slot]["row"] >= 0:
            return row
        table[slot]["part"] = np.int32(key >> 32)
        table[slot]["row"] = row
    return -1


@kernel
def _find_rows(rows, shift, known, table, numbers):
    """Look up ``rows[:, shift:shift + width]`` among the known rows; -1 where absent."""
    width = known.shape[1]
    # where both are in the order of a text, as ours are, a row that comes for the first time is behind all found so far
    ahead = np.int64(0)
    for row in range(len(rows)):
        if ahead < len(known) and same_run(rows[row], shift, known[ahead], 0, width):
            number = np.int64(ahead)
        else:
            number = np.int64(
                table[_row_slot(table, _row_key(rows, row, shift, width), rows, row, shift, known)]["row"]
            )
        numbers[row] = number
        if number >= ahead:
            ahead = number + 1
