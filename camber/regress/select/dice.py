"""Selection by how well a sentence's words go with the target words of a pair (bicici Eq. 3-4).

    scores = DiceScores.of(bitext, SelectSettings())
    scores.counterparts(sentence)          # the worth of each target word
    DiceSelector.of(bitext, SelectSettings()).select(sentence, 250)

C(x) is the number of pairs that have x, C(x, y) of those that have both, in the whole corpus (in "the selected set",
as printed, it would depend on what is to be selected). |S| and |T| are the lengths of the pair, and |S| is at least 2
here: the logarithm of 1 would be divided by. Eq. 4 alone compares sentences by words; its aim is coverage of n-grams,
so that pairs with one of the longest n-grams in common with the sentence come first, then those with one of the next
shorter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.sparse import Counts
from camber.arrays.types import F8, I4, I8
from camber.corpus.bitext import Bitext, Sentences
from camber.kernel import kernel
from camber.regress.select.postings import Postings, best_of
from camber.regress.select.selector import Selector
from camber.regress.select.selectors import PRODUCT, SelectSettings
from camber.regress.spectrum import occurrences, transposed


@dataclass(frozen=True, eq=False)
class DiceScores:
    """Dice's coefficient (Eq. 3) of all source and target words that occur together, and the corpus to be scored."""

    order: int
    dice: Counts  # source word → target words
    target: Sentences
    hardness: F8  # |T| log |S| of each pair

    @classmethod
    def of(cls, bitext: Bitext, settings: SelectSettings) -> DiceScores:
        """Count words and pairs of words."""
        with_source, targets = (_words_of(side) for side in (bitext.source, bitext.target))
        pairs = transposed(with_source)
        source_counts, target_counts = occurrences(with_source), occurrences(targets)
        sizes, seen = np.zeros(pairs.offsets.size - 1, np.int64), np.zeros(targets.width, np.int64)
        _count_together(pairs.offsets, pairs.columns, targets.offsets, targets.columns, seen, sizes)
        offsets = offsets_from(sizes)
        columns, values = np.empty(offsets[-1], np.int32), np.empty(offsets[-1], np.float32)
        seen[:] = 0
        _weigh_together(
            pairs.offsets, pairs.columns, targets.offsets, targets.columns, seen, offsets, columns, values,
            source_counts, target_counts, settings.denominator == PRODUCT,
        )  # fmt: skip
        hardness = np.asarray(bitext.target.lengths * np.log(np.maximum(bitext.source.lengths, 2)), np.float64)
        dice = transposed(transposed(Counts(targets.width, offsets, columns, values)))  # sorted by target words
        return cls(settings.order, dice, bitext.target, hardness)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays, without those of the corpus."""
        return self.dice.nbytes + self.hardness.nbytes

    def counterparts(self, sentence: I4) -> F8:
        """Return what each target word is worth: the sum of its dice over the words of the sentence's n-grams."""
        worth = np.zeros(self.dice.width)
        times = times_in_ngrams(sentence, self.order)
        words = np.ascontiguousarray(sentence, np.int64)
        _add_rows(words, times, self.dice.offsets, self.dice.columns, self.dice.values, worth)
        return worth

    def scores(self, sentence: I4) -> F8:
        """Return Eq. 4 of a sentence and all pairs (0 where a side is empty)."""
        scores, seen = np.zeros(len(self.target)), np.zeros(len(self.target), np.uint8)
        pairs = np.arange(len(self.target), dtype=np.int32)
        score_pairs(pairs, *self.scored(sentence), scores, seen, pairs.copy(), 0)
        return scores

    def scored(self, sentence: I4) -> tuple[I4, I8, F8, F8]:
        """Return what the kernel below wants: target words, their offsets, their worth and the hardness of pairs."""
        return self.target.ids, self.target.offsets, self.counterparts(sentence), self.hardness


class DiceSelector(Selector):
    """Pairs by Eq. 4."""

    uses = frozenset({"order", "denominator", "sample"})

    scores: DiceScores

    @classmethod
    def of(cls, bitext: Bitext, settings: SelectSettings) -> Self:
        """Index a corpus."""
        selector = cls(Postings.of(bitext, settings.order), settings)
        selector.scores = DiceScores.of(bitext, settings)
        return selector

    @property
    def nbytes(self) -> int:
        """Bytes of the index."""
        return super().nbytes + self.scores.nbytes

    def select(self, sentence: I4, count: int) -> I8:
        """Return the numbers of at most `count` pairs for a sentence, best first."""
        count = min(count, len(self.postings))
        scored = self.scores.scored(sentence)
        seen, scores = self._room("seen", len(self.postings), np.uint8), self._room("scores", len(self.postings))
        candidates = self._room("candidates", len(self.postings), np.int32)
        worst, heap = self._room("worst", count), self._room("heap", count, np.int64)
        chosen = np.empty(count, np.int64)
        first = size = 0
        for grams in reversed(self.postings.of_sentence(sentence)):  # the longest n-grams first
            pairs, _ = self.postings.pairs_of(grams, max(self.settings.sample, count))
            last = score_pairs(pairs, *scored, scores, seen, candidates, first)
            room = count - size
            size = best_of(candidates[first:last], last - first, scores, worst[:room], heap[:room], chosen, size)
            first = last
            if size == count:
                break
        forget(candidates, first, seen)
        return chosen[:size].copy()


def times_in_ngrams(sentence: I4, order: int) -> F8:
    """Return in how many n-grams of a sentence each of its words stands, if equal n-grams are one: the first.

    This is what Σx Σy of Eq. 4 counts.

    >>> times_in_ngrams(np.array([5, 7, 5, 7]), 2).tolist()     # 5, 7, 5 7, 7 5
    [2.0, 3.0, 1.0, 0.0]
    """
    times = np.zeros(len(sentence))
    _count_times(np.ascontiguousarray(sentence, np.int64), order, times)
    return times


def _words_of(text: Sentences) -> Counts:
    """Return the words of each sentence, each once."""
    return Counts.gather(text.ids.astype(np.int64), text.offsets, len(text.vocabulary))


@kernel
def _count_times(words, order, times):
    """Count the n-grams that hold each word and that begin nowhere before."""
    for start in range(len(words)):
        longest = 0  # of the n-grams that begin here, how long is the longest that was there before
        for before in range(start):
            same = 0
            while same < order and start + same < len(words) and words[before + same] == words[start + same]:
                same += 1
            longest = max(longest, same)
        for n in range(longest + 1, min(order, len(words) - start) + 1):
            for place in range(start, start + n):
                times[place] += 1.0


@kernel
def _count_together(pair_offsets, pairs, word_offsets, words, seen, sizes):
    """Count the distinct target words beside each source word; `seen` starts with zeros."""
    for source in range(len(sizes)):
        for i in range(pair_offsets[source], pair_offsets[source + 1]):
            pair = pairs[i]
            for j in range(word_offsets[pair], word_offsets[pair + 1]):
                if seen[words[j]] <= source:
                    seen[words[j]] = source + 1
                    sizes[source] += 1


@kernel
def _weigh_together(
    pair_offsets, pairs, word_offsets, words, together, offsets, columns, values, source_counts, target_counts, product
):
    """Fill the rows of Eq. 3, in the order in which target words are met; `together` starts with zeros, and ends so."""
    for source in range(len(offsets) - 1):
        at = offsets[source]
        for i in range(pair_offsets[source], pair_offsets[source + 1]):
            pair = pairs[i]
            for j in range(word_offsets[pair], word_offsets[pair + 1]):
                word = words[j]
                if together[word] == 0:
                    columns[at] = word
                    at += 1
                together[word] += 1
        for place in range(offsets[source], at):
            word = columns[place]
            x, y = float(source_counts[source]), float(target_counts[word])
            values[place] = 2.0 * together[word] / (x * y if product else x + y)  # bicici Eq. 3
            together[word] = 0


@kernel
def _add_rows(rows, factors, offsets, columns, values, sums):
    """Add rows of a sparse matrix, each times its factor; -1 is none."""
    for r in range(len(rows)):
        if rows[r] < 0:
            continue
        for i in range(offsets[rows[r]], offsets[rows[r] + 1]):
            sums[columns[i]] += factors[r] * values[i]


@kernel
def score_pairs(pairs, words, word_offsets, worth, hardness, scores, seen, candidates, size):
    """Score pairs that are not `seen` yet by Eq. 4, and append them; return how many there are then."""
    for i in range(len(pairs)):
        pair = pairs[i]
        if seen[pair]:
            continue
        seen[pair] = 1
        total = 0.0
        for j in range(word_offsets[pair], word_offsets[pair + 1]):
            total += worth[words[j]]
        scores[pair] = total / hardness[pair] if hardness[pair] > 0.0 else 0.0  # bicici Eq. 4
        candidates[size] = pair
        size += 1
    return size


@kernel
def forget(pairs, size, marks):
    """Take back the marks of pairs."""
    for i in range(size):
        marks[pairs[i]] = 0
