"""Coverage: the share of a text's n-grams that selected sentences have (bicici's scov and tcov, for either side).

    covered = coverage(corpus.source, test, selections)      # scov: selections are of each test sentence
    covered.share(2)                                         # of bigrams

Each distinct n-gram of a sentence counts once for that sentence; words outside the vocabulary are in no corpus.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from camber.arrays.types import I8
from camber.corpus.bitext import Sentences
from camber.kernel import kernel
from camber.regress.spectrum import NgramMap, Spectrum


@dataclass(frozen=True)
class Coverage:
    """How many n-grams there are, by their length, and how many of them were found."""

    found: tuple[int, ...]  # of 1, 2, … words
    total: tuple[int, ...]

    def share(self, *orders: int) -> float:
        """Return the share of n-grams of some lengths that were found (of all lengths if none is named); NaN of none.

        >>> Coverage((8, 5), (10, 10)).share(2), Coverage((8, 5), (10, 10)).share()
        (0.5, 0.65)
        """
        chosen = [n - 1 for n in orders] or range(len(self.total))
        total = sum(self.total[n] for n in chosen)
        return sum(self.found[n] for n in chosen) / total if total else float("nan")


def coverage(corpus: Sentences, text: Sentences, selections: Sequence[I8], order: int = 2) -> Coverage:
    """Measure how many n-grams of each sentence are in the sentences of `corpus` that were selected for it.

    One selection for a whole text is ``[selection] * len(text)``.

    >>> corpus = Sentences.encode([["a", "b"], ["b", "c"]])
    >>> text = Sentences.encode([["a", "b", "c"]], corpus.vocabulary)
    >>> coverage(corpus, text, [np.array([0])])
    Coverage(found=(2, 1), total=(3, 2))
    """
    if len(selections) != len(text):
        raise ValueError(f"{len(selections)} selections for {len(text)} sentences")
    grams, rows = NgramMap.of(corpus, Spectrum(order=order))
    found, total = np.zeros(order, np.int64), np.zeros(order, np.int64)
    marks, mark = np.zeros(len(grams), np.int64), 0  # the last selection that had an n-gram
    for s, (sentence, selection) in enumerate(zip(text, selections, strict=True)):
        if s == 0 or selection is not selections[s - 1]:
            mark += 1
            _mark(np.ascontiguousarray(selection, np.int64), rows.offsets, rows.columns, mark, marks)
        words = [int(word) for word in sentence]
        ends = grams.ends(sentence)
        for n in range(order):
            known = np.unique(ends[:, n])
            found[n] += np.count_nonzero(marks[known[known >= 0]] == mark)
            total[n] += _distinct(words, n + 1)
    return Coverage(tuple(found.tolist()), tuple(total.tolist()))


def _distinct(words: list[int], n: int) -> int:
    """Count the different n-grams of a sentence; those with an unknown word (-1) are all taken to differ.

    >>> _distinct([3, 3, 3, -1, -1], 2)
    3
    """
    grams = [tuple(words[start : start + n]) for start in range(len(words) - n + 1)]
    known = {gram for gram in grams if -1 not in gram}
    return len(known) + sum(-1 in gram for gram in grams)


@kernel
def _mark(rows, offsets, columns, mark, marks):
    """Mark the columns that rows have."""
    for r in range(len(rows)):
        for i in range(offsets[rows[r]], offsets[rows[r] + 1]):
            marks[columns[i]] = mark
