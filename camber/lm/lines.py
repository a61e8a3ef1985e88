"""Lines of text as they are, in numbers of words: a kernel finds the words and looks them up by their bytes.

Nothing is split or numbered in Python, which takes several times as long as the queries. Words are what stands between
blanks (spaces, tabs and the like, of ASCII).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.types import I8, U1, Records
from camber.kernel import kernel
from camber.lm.spelling import ANY_BLANK, set_spelled, spelled_slot, word_end, word_table
from camber.lm.trie import SPECIAL, UNKNOWN

#: characters that are gone through together: their words and scores stay in the processor's cache
_BLOCK = 1 << 18
#: the first word that a text can have; those before it are spelled like no word
_FIRST = len(SPECIAL)


@dataclass(frozen=True)
class SpelledWords:
    """The words of a model by their bytes; see :mod:`camber.lm.spelling`.

    >>> words = SpelledWords.of(["<unk>", "<s>", "</s>", "a", "b"])
    >>> [(numbers.tolist(), offsets.tolist()) for numbers, offsets in words.numbered(["b  a", "", "<s> a z"])]
    [([4, 3, 0, 3, 0], [0, 2, 2, 5])]
    """

    data: U1
    table: Records
    spans: I8

    @classmethod
    def of(cls, words: Sequence[str]) -> SpelledWords:
        """Number words by their places."""
        spelled = [word.encode() for word in words]
        data = np.frombuffer(b"".join(spelled), np.uint8)
        found = cls(data, word_table(len(words)), np.zeros((len(words), 2), np.int64))
        _enter(found.data, offsets_from(map(len, spelled)), found.table, found.spans)
        return found

    def numbered(self, lines: Sequence[str]) -> Iterator[tuple[I8, I8]]:
        """Yield the words of some lines, and the offsets of each line in these; words that are not there are 0."""
        for count, data in _blocks(lines):
            words, offsets = np.empty(len(data) // 2 + 1, np.int64), np.zeros(count + 1, np.int64)
            _number_words(data, self.data, self.table, self.spans, words, offsets)
            yield words[: offsets[-1]], offsets


def _blocks(lines: Sequence[str]) -> Iterator[tuple[int, U1]]:
    """Yield how many lines come next and their bytes, each ended by a line feed; one inside of a line is a blank."""
    ends = np.cumsum(np.fromiter(map(len, lines), np.int64, len(lines)))
    first = 0
    while first < len(lines):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + _BLOCK, "right")))
        text = "\n".join(lines[first:last]) + "\n"
        if text.count("\n") != last - first:
            text = "".join(line.replace("\n", " ") + "\n" for line in lines[first:last])
        yield last - first, np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
        first = last


@kernel
def _enter(data, ends, table, spans):
    for word in range(len(ends) - 1):
        first, last = ends[word], ends[word + 1]
        slot = spelled_slot(table, spans, data, data, first, last)
        if table[slot]["word"] < 0:
            set_spelled(table, spans, slot, word, data, first, last)


@kernel
def _number_words(data, known, table, spans, words, offsets):
    """Fill the words of every line of `data`, and where they end."""
    at, count = 0, 0
    for line in range(len(offsets) - 1):
        while data[at] != 10:
            if data[at] == 32 or 9 <= data[at] <= 13:
                at += 1
                continue
            first, at = at, word_end(data, at, ANY_BLANK)
            word = table[spelled_slot(table, spans, known, data, first, at)]["word"]
            words[count] = word if word >= _FIRST else UNKNOWN
            count += 1
        at += 1
        offsets[line + 1] = count
