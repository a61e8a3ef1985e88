"""Selection in turns: each n-gram of a sentence adds the best pair that has it, until there are enough.

Eq. 4 alone may fill a selection with pairs that share one rare word with the sentence, while others of its n-grams
are in no selected pair. With turns, every n-gram of the sentence that the corpus knows is covered as soon as there
are as many pairs as n-grams. The longest n-grams take turns, and shorter ones only if they are in none of the longer
known ones; when all their pairs are taken, the next shorter n-grams follow. Which pair of an n-gram is best says
bicici Eq. 4 of the whole sentence.
"""

from __future__ import annotations

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.types import I4, I8
from camber.kernel import kernel
from camber.regress.select.dice import DiceSelector, forget, score_pairs
from camber.regress.select.postings import best_of, distinct
from camber.regress.select.selector import take_turns


class RoundRobin(DiceSelector):
    """N-grams take turns; each adds its best pair by Eq. 4 of the whole sentence."""

    def select(self, sentence: I4, count: int) -> I8:
        """Return the numbers of at most `count` pairs for a sentence, in the order of the turns."""
        count = min(count, len(self.postings))
        scored = self.scores.scored(sentence)
        seen, scores = self._room("seen", len(self.postings), np.uint8), self._room("scores", len(self.postings))
        taken = self._room("taken", len(self.postings), np.uint8)
        candidates = self._room("candidates", len(self.postings), np.int32)
        worst, heap = self._room("worst", count)[:count], self._room("heap", count, np.int64)[:count]
        chosen = np.empty(count, np.int64)
        known = size = 0
        for grams in self.turns(sentence):
            pairs, starts = self.postings.pairs_of(grams, max(self.settings.sample, count))
            known = score_pairs(pairs, *scored, scores, seen, candidates, known)
            offsets = offsets_from(np.minimum(np.diff(starts), count))
            best = np.empty(offsets[-1], np.int64)
            _best_of_each(pairs, starts, scores, worst, heap, best, offsets)
            size = take_turns(best, offsets, offsets[:-1].copy(), taken, chosen, size)
            if size == count:
                break
        forget(candidates, known, seen)
        taken[chosen[:size]] = 0
        return chosen[:size].copy()

    def turns(self, sentence: I4) -> list[I8]:
        """Return the n-grams that take turns, then those that follow them, and so on: their numbers, rising."""
        ends = self.postings.grams.ends(sentence)
        words, order = ends.shape
        inside = np.zeros((words, order), bool)  # places of n-grams within a known one that is longer by a word
        for n in range(order - 1):
            longer = ends[:, n + 1] >= 0
            inside[:, n] |= longer
            inside[:-1, n] |= longer[1:]
        turns = [distinct(ends[:, n]) for n in reversed(range(order))]
        if lone := set(ends[~inside].tolist()) - set(ends[inside].tolist()):
            turns[0] = distinct(np.array([*turns[0].tolist(), *lone], np.int32))
        return turns


@kernel
def _best_of_each(pairs, starts, scores, worst, heap, best, offsets):
    for one in range(len(starts) - 1):
        own = pairs[starts[one] : starts[one + 1]]
        best_of(own, len(own), scores, worst, heap, best, offsets[one])
