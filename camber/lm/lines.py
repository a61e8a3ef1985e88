"""Scoring lines of text as they are: one kernel finds their words, looks them up by their bytes, and scores.

Nothing is split or numbered in Python, which takes several times as long as the queries. Words are what stands between
blanks (spaces, tabs and the like, of ASCII).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from camber.arrays.types import F8, I8, U1, Records
from camber.kernel import kernel
from camber.kernel.table import empty_table
from camber.kernel.words import NOTHING, find_word, set_word, with_byte, word_slot
from camber.lm.ngrams import step
from camber.lm.trie import END, SPECIAL, UNKNOWN

#: characters that are scored together
_BLOCK = 1 << 22
#: the first word that a text can have; those before it are spelled like no word
_FIRST = len(SPECIAL)


@dataclass(frozen=True)
class SpelledWords:
    """The words of a model by their bytes; see :mod:`camber.kernel.words`."""

    data: U1
    slots: I8
    spans: I8

    @classmethod
    def of(cls, words: Sequence[str]) -> SpelledWords:
        """Number words by their places."""
        spelled = [word.encode() for word in words]
        ends = np.cumsum([0, *map(len, spelled)])
        found = cls(
            np.frombuffer(b"".join(spelled), np.uint8), empty_table(len(words)), np.zeros((len(words), 3), np.int64)
        )
        _enter(found.data, ends, found.slots, found.spans)
        return found


def score_lines(
    lines: Sequence[str], words: SpelledWords, nodes: Records, children: Records, start: int, *, eos: bool
) -> tuple[F8, F8, I8]:
    """Return the scores of lines, those of their words and ends, and how many of the latter each line has."""
    totals, sizes = np.zeros(len(lines)), np.zeros(len(lines), np.int64)
    scores: list[F8] = [np.zeros(0)]
    for first, last, data in _blocks(lines):
        room = np.empty(len(data) // 2 + 2 * (last - first) + 1)
        used = _score_lines(
            data, words.data, words.slots, words.spans, nodes, children, start, int(eos), totals[first:last],
            sizes[first:last], room,
        )  # fmt: skip
        scores.append(room[:used].copy())
    return totals, np.concatenate(scores), sizes


def _blocks(lines: Sequence[str]) -> Iterator[tuple[int, int, U1]]:
    """Yield stretches of lines with their bytes, each line ended by a line feed; one inside of a line is a blank."""
    first = 0
    while first < len(lines):
        last, size = first, 0
        while last < len(lines) and size < _BLOCK:
            size += len(lines[last])
            last += 1
        text = "\n".join(lines[first:last]) + "\n"
        if text.count("\n") != last - first:
            text = "".join(line.replace("\n", " ") + "\n" for line in lines[first:last])
        yield first, last, np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
        first = last


@kernel
def _enter(data, ends, slots, spans):
    for word in range(len(ends) - 1):
        hashed = np.int64(NOTHING)
        for at in range(ends[word], ends[word + 1]):
            hashed = with_byte(hashed, data[at])
        slot = word_slot(data, ends[word], ends[word + 1], hashed, slots, spans)
        if slots[slot] < 0:
            set_word(slots, slot, spans, word, ends[word], ends[word + 1], hashed)


@kernel
def _score_lines(data, known, slots, spans, nodes, children, start, eos, totals, sizes, scores):
    """Score every line of `data`; return how many words and ends were written to `scores`."""
    at, count = 0, 0
    for line in range(len(totals)):
        state, total, before = start, 0.0, count
        while data[at] != 10:
            if data[at] == 32 or 9 <= data[at] <= 13:
                at += 1
                continue
            first, hashed = at, np.int64(NOTHING)
            while data[at] > 32 or data[at] < 9 or 13 < data[at] < 32:
                hashed = with_byte(hashed, data[at])
                at += 1
            word = slots[find_word(known, data, first, at, hashed, slots, spans)]
            score, state = step(nodes, children, state, word if word >= _FIRST else np.int64(UNKNOWN))
            scores[count] = score
            total += score
            count += 1
        at += 1
        if eos > 0:
            score, state = step(nodes, children, state, END)
            scores[count] = score
            total += score
            count += 1
        totals[line] = total
        sizes[line] = count - before
    return count
