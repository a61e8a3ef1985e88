"""PRO (Hopkins and May 2011): ranking pairs of hypotheses, learnt as a binary classification.

From every sentence thousands of pairs are drawn; of those that differ enough in sentence BLEU the most different are
kept, and a logistic regression on the differences of their features learns to tell the better one. Pairs that differ
much in length are left out: overlong "monsters" among the hypotheses would otherwise teach the weights nonsense (Nakov,
Guzmán and Vogel 2013).

    tuned = Pro().fit(data, start, seed=1)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from camber.arrays.sparse import Counts
from camber.arrays.types import F8, I8
from camber.bend.neighbours import Penalty, Regulariser
from camber.engine import LOCAL, Engine
from camber.errors import TuneError
from camber.kernel import kernel
from camber.kernel.sort import insert_falling
from camber.kernel.table import mix
from camber.metrics.sentence import BREVITY, lengths_in_words
from camber.settings import Settings, setting
from camber.tune.data import Tuned, TuningData
from camber.tune.descent import TIED_STEPS, lbfgs, tied_coordinates
from camber.tune.guards import check_task, finished
from camber.tune.regularise import L2, Sum
from camber.tune.tuner import ANY_METRIC, REGULARISER, SPARSE


@dataclass(frozen=True)
class Pro(Settings):
    """Pairwise ranked optimisation."""

    takes: ClassVar[frozenset[str]] = frozenset({SPARSE, REGULARISER, ANY_METRIC})
    step: ClassVar[float] = 0.5  # Hopkins & May go a tenth of the way; half of it and all of it were level in one try

    samples: int = setting(5000, "pairs drawn per sentence", low=1)
    threshold: float = setting(0.05, "least difference in sentence score (0 to 1) of a pair", low=0.0)
    keep: int = setting(50, "pairs kept per sentence, those that differ most", low=1)
    length_difference: int = setting(10, "most words by which a pair may differ in length (0: no limit)", low=0)
    brevity: str = setting("plain", "brevity penalty of sentence BLEU+1", choices=BREVITY)
    l2: float = setting(1.0, "strength of the L2 penalty on the summed loss", low=0.0)
    steps: int = setting(100, "largest number of L-BFGS steps (for tied bins at least 1,000)", low=1)

    def fit(
        self,
        data: TuningData,
        start: npt.ArrayLike,
        *,
        seed: int,
        engine: Engine = LOCAL,
        regulariser: Regulariser | None = None,
    ) -> Tuned:
        """Return the weights of the logistic regression; the objective is its loss per pair, penalty included.

        `regulariser` (on the tuned weights) is added to the loss and to L2.
        """
        first = data.start(start)
        check_task(self, data, regulariser)
        pairs = self.sample(data, seed)
        if not len(pairs):
            raise TuneError(
                f"no pair of hypotheses differs by {self.threshold} in sentence {data.metric.name};"
                " lower the threshold, use longer lists, or check the references"
            )
        penalty: Penalty = L2(self.l2) if regulariser is None else Sum((L2(self.l2), regulariser))
        objective = RankingLoss(data, first, pairs, penalty)
        # the loss with L2 is convex: from 0 the descent comes by every direction, while from large weights it stops at
        # the first that separates the pairs
        origin = np.zeros(len(data.free)) if regulariser is None else first[data.free]
        seen = tied_coordinates(data, regulariser, 1.0 / len(pairs))
        steps = self.steps if regulariser is None else max(self.steps, TIED_STEPS)
        minimum = lbfgs(objective, origin, seen, steps)
        weights = first.copy()
        weights[data.free] = minimum.point
        info = {"pairs": len(pairs), "steps": minimum.steps}
        return finished(data, weights, minimum.value, info, moved=minimum.moved)

    def sample(self, data: TuningData, seed: int) -> I8:
        """Return pairs (better, worse) of hypotheses, int64[pairs, 2], by sentence and falling difference."""
        quality = data.sentence_scores(self.brevity) / 100.0
        lengths = lengths_in_words(data.metric, data.statistics) if self.length_difference else None
        limit = float(self.length_difference) if lengths is not None else np.inf
        pairs = np.empty(len(data) * self.keep, np.int64)
        room = np.empty(self.keep)
        count = _sample(
            data.sentence_offsets,
            quality,
            np.zeros(data.hypotheses) if lengths is None else lengths,
            self.samples,
            self.threshold,
            limit,
            np.int64(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0] >> np.uint64(1)),
            room,
            pairs,
        )
        return np.column_stack((pairs[:count] >> 32, pairs[:count] & 0xFFFFFFFF))


class RankingLoss:
    """The loss per pair (better, worse), penalty included, as a function of the tuned weights."""

    def __init__(self, data: TuningData, start: F8, pairs: I8, penalty: Penalty, more: F8 | None = None) -> None:
        """`more` float64[columns, pairs]: differences of further columns, with weights between features and bins."""
        base = data.base(start)
        better, worse = pairs[:, 0], pairs[:, 1]
        dense = len(data.free) - data.bins
        further = 0 if more is None else len(more)
        self.differences = np.empty((dense + further, len(pairs)))
        for first in range(0, len(pairs), _ROWS):  # of the rows that pairs are of; few of millions may be
            part = slice(first, first + _ROWS)
            rows = data.features[better[part]] - data.features[worse[part]]
            self.differences[:dense, part] = rows[:, data.free[:dense]].T
        if more is not None:
            self.differences[dense:] = more
        self.bins = None if data.counts is None else data.counts.differences(better, worse)
        self.offsets = base[better] - base[worse]
        self.penalty = penalty

    def __call__(self, weights: F8) -> tuple[float, F8]:
        """Return the loss and its gradient."""
        pairs = len(self.offsets)
        loss, gradient = logistic_loss(self.differences, self.offsets, weights, self.bins)
        # a pair counts in both directions, which without an intercept is the same loss twice
        value, slope = self.penalty.value_and_gradient(weights)
        return (2.0 * loss + value) / pairs, (2.0 * gradient + slope) / pairs

    def sizes(self) -> F8:
        """Return how large the differences of every column are, float64[weights]; 1 where there are none.

        Bins share one number.
        """
        pairs = len(self.offsets)
        sizes = np.sqrt([float((column**2).mean()) for column in self.differences])
        if self.bins is not None:
            typical = np.sqrt(float((self.bins.values.astype(np.float64) ** 2).sum()) / (pairs * self.bins.width))
            sizes = np.concatenate([sizes, np.full(self.bins.width, typical)])
        return np.where(sizes > 0.0, sizes, 1.0)


def logistic_loss(differences: F8, offsets: F8, weights: F8, bins: Counts | None = None) -> tuple[float, F8]:
    """Return Σ log(1 + exp(-margin)) and its gradient: float64[features, pairs], [pairs], [features + bins].

    >>> loss, gradient = logistic_loss(np.array([[2.0]]), np.array([0.0]), np.array([0.0]))
    >>> round(loss, 4), gradient.tolist()
    (0.6931, [-1.0])
    """
    dense = len(differences)
    if bins is not None:
        offsets = offsets.copy()
        bins.add_products(weights[dense:], offsets)
    slopes = np.empty(differences.shape[1])
    gradient = np.empty(dense)
    loss = _logistic(differences, offsets, np.ascontiguousarray(weights[:dense]), slopes, gradient)
    return loss, gradient if bins is None else np.concatenate([gradient, bins.project(slopes)])


_BLOCK = 1024  # pairs at a time, which stay in the first cache
_ROWS = 1 << 16


@kernel
def _logistic(differences, offsets, weights, slopes, gradient):
    total = len(offsets)
    loss = 0.0
    for f in range(len(gradient)):
        gradient[f] = 0.0
    for start in range(0, total, _BLOCK):
        end = min(start + _BLOCK, total)
        for i in range(start, end):
            slopes[i] = offsets[i]
        for f in range(len(weights)):
            for i in range(start, end):
                slopes[i] += weights[f] * differences[f, i]
        for i in range(start, end):
            margin = slopes[i]
            small = np.exp(-abs(margin))  # never overflows
            loss += np.log1p(small) + max(0.0, -margin)
            slopes[i] = -(small if margin > 0.0 else 1.0) / (1.0 + small)
        for f in range(len(weights)):
            # four sums at once: a single one would wait for itself
            a = b = c = d = 0.0
            stop = start + (end - start) // 4 * 4
            for i in range(start, stop, 4):
                a += slopes[i] * differences[f, i]
                b += slopes[i + 1] * differences[f, i + 1]
                c += slopes[i + 2] * differences[f, i + 2]
                d += slopes[i + 3] * differences[f, i + 3]
            for i in range(stop, end):
                a += slopes[i] * differences[f, i]
            gradient[f] += (a + b) + (c + d)
    return loss


@kernel
def _sample(offsets, quality, lengths, samples, threshold, limit, seed, room, pairs):
    """Fill `pairs` with those kept (better << 32 | worse), the most different first; return their number.

    Every sentence has its own stream of random numbers (splitmix64 from the seed and the sentence). `room` holds the
    differences of the pairs kept so far, falling; a later pair with an equal difference comes after.
    """
    keep = len(room)
    count = 0
    for s in range(len(offsets) - 1):
        start, size = offsets[s], offsets[s + 1] - offsets[s]
        if size < 2:
            continue
        state = mix(seed ^ mix(s + 1))
        kept = 0
        for _ in range(samples):
            state += -7046029254386353131  # 0x9e3779b97f4a7c15, the step of splitmix64; wraps around
            bits = mix(state)
            # two numbers from one: 31 bits each are plenty for lists
            one = start + (((bits >> 31) & 0x7FFFFFFF) * size >> 31)
            two = start + ((bits & 0x7FFFFFFF) * size >> 31)
            difference = quality[one] - quality[two]
            if difference < 0.0:
                one, two, difference = two, one, -difference
            if difference < threshold or difference <= 0.0 or abs(lengths[one] - lengths[two]) > limit:
                continue
            if kept == keep and difference <= room[keep - 1]:
                continue
            insert_falling(room, pairs[count:], 0, min(kept, keep - 1), difference, one << 32 | two)
            kept = min(kept + 1, keep)
        count += kept
    return count
