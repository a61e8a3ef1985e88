"""Pairs of hypotheses to rank, drawn as toutanova2013 does (footnote 1).

From every sentence many pairs are drawn. Those that differ enough in sentence BLEU are accepted with a probability that
is their difference (0 to 1), and of these the largest differences are kept; or, as a contrast, any of them with the
same chance, because the largest differences are often those of monsters (Nakov, Guzmán and Vogel 2013).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from camber.arrays.types import F8, I8
from camber.kernel import kernel
from camber.kernel.sort import insert_falling
from camber.kernel.table import mix
from camber.metrics.bleu import BLEU
from camber.metrics.sentence import sentence_bleu
from camber.settings import Settings, setting
from camber.tune.data import TuningData

LARGEST, UNIFORM = "largest", "uniform"
_ROWS = 1 << 18


@dataclass(frozen=True)
class Preferences(Settings):
    """How pairs are drawn."""

    samples: int = setting(10_000, "pairs drawn per sentence", low=1)
    threshold: float = setting(0.04, "difference in sentence score (0 to 1) that a pair must exceed", low=0.0)
    keep: int = setting(100, "pairs kept per sentence", low=1)
    choice: str = setting(LARGEST, "which of the accepted pairs are kept", choices=(LARGEST, UNIFORM))
    alpha: float = setting(1.0, "what is added to all counts of sentence BLEU", low=0.0)

    def quality(self, data: TuningData) -> F8:
        """Return the score of every hypothesis on its own, 0 to 1 for BLEU: float64[hypotheses]."""
        metric = data.metric
        if not isinstance(metric, BLEU):
            return data.sentence_scores() / 100.0
        scores = np.empty(data.hypotheses)
        for first in range(
            0, len(scores), _ROWS
        ):  # millions of them, with all that is computed on the way, would not fit
            rows = slice(first, first + _ROWS)
            scores[rows] = sentence_bleu(data.statistics[rows], metric.order, self.alpha, all_orders=True)
        return scores / 100.0

    def draw(self, data: TuningData, seed: int) -> I8:
        """Return pairs (better, worse) of hypotheses, int64[pairs, 2], sentence by sentence."""
        pairs = np.empty(len(data) * self.keep, np.int64)
        count = _draw(
            data.sentence_offsets,
            self.quality(data),
            self.samples,
            self.threshold,
            self.choice == LARGEST,
            np.int64(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0] >> np.uint64(1)),
            np.empty(self.keep),
            pairs,
        )
        return np.column_stack((pairs[:count] >> 32, pairs[:count] & 0xFFFFFFFF))


_STEP = -7046029254386353131  # 0x9e3779b97f4a7c15, the step of splitmix64; sums wrap around


@kernel
def _draw(offsets, quality, samples, threshold, largest, seed, room, pairs):
    """Fill `pairs` with those kept (better << 32 | worse) and return their number.

    Every sentence has its own stream of random numbers (splitmix64 from the seed and the sentence). `room` holds the
    differences of the pairs kept so far; the largest are kept in falling order, others as they come, and later ones
    take the place of any earlier one with the chance that all be kept alike.
    """
    keep = len(room)
    count = 0
    for s in range(len(offsets) - 1):
        start, size = offsets[s], offsets[s + 1] - offsets[s]
        if size < 2:
            continue
        state = mix(seed ^ mix(s + 1))
        kept = 0
        accepted = 0
        for _ in range(samples):
            state += _STEP
            bits = mix(state)
            one = start + (((bits >> 31) & 0x7FFFFFFF) * size >> 31)
            two = start + ((bits & 0x7FFFFFFF) * size >> 31)
            difference = quality[one] - quality[two]
            if difference < 0.0:
                one, two, difference = two, one, -difference
            if not difference > threshold:
                continue
            state += _STEP
            if (mix(state) >> 10) * 2.0**-53 >= difference:
                continue
            accepted += 1
            if largest:
                if kept < keep or difference > room[keep - 1]:
                    insert_falling(room, pairs[count:], 0, min(kept, keep - 1), difference, one << 32 | two)
                    kept = min(kept + 1, keep)
                continue
            place = kept
            if kept == keep:
                state += _STEP
                place = (mix(state) >> 31) * accepted >> 32
            if place < keep:
                pairs[count + place] = one << 32 | two
                kept = min(kept + 1, keep)
        count += kept
    return count
