"""Batch MIRA (Cherry and Foster 2012): margin updates between a hope and a fear hypothesis of every sentence.

The hope has a high model score and a high BLEU, the fear a high model score and a low BLEU. BLEU of one sentence is
measured on top of a pseudo-corpus, a decaying sum of the statistics of past sentences, so that it is BLEU's own gain
(Chiang, Marton and Resnik 2008). The weights are averaged over all updates, and the best epoch is kept.

    tuned = Mira().fit(data, start, seed=1)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from camber.arrays.types import F4, F8, I8, Array
from camber.bend.neighbours import Regulariser
from camber.engine import LOCAL, Engine
from camber.kernel import kernel, kernel_inlined
from camber.metrics.bleu import BLEU
from camber.progress import each
from camber.settings import Settings, setting
from camber.tune.data import Tuned, TuningData
from camber.tune.guards import check_task, finished
from camber.tune.tuner import ANY_METRIC

BACKGROUNDS = ("hope", "model")


@dataclass(frozen=True)
class Mira(Settings):
    """k-best batch MIRA."""

    takes: ClassVar[frozenset[str]] = frozenset({ANY_METRIC})
    step: ClassVar[float] = 1.0

    epochs: int = setting(60, "passes over the sentences", low=1)
    c: float = setting(0.01, "largest step of an update (aggressiveness)", low=1e-12)
    decay: float = setting(0.999, "how much of the pseudo-corpus stays after each sentence", low=0.0, high=1.0)
    background: str = setting("hope", "hypotheses that enter the pseudo-corpus", choices=BACKGROUNDS)
    scale: float = setting(0.2, "factor of sentence scores (0 to 100) of metrics other than BLEU", low=1e-12)

    def fit(
        self,
        data: TuningData,
        start: npt.ArrayLike,
        *,
        seed: int,
        engine: Engine = LOCAL,
        regulariser: Regulariser | None = None,
    ) -> Tuned:
        """Return the averaged weights of the best epoch; the objective is its mean hinge loss."""
        first = data.start(start)
        check_task(self, data, regulariser)
        # other metrics have no pseudo-corpus: their sentence scores are used as they are
        order = data.metric.order if isinstance(data.metric, BLEU) else 0
        gains = np.zeros(data.hypotheses) if order else self.scale * data.sentence_scores()
        # counts are exact in 32 bits, and half of the memory goes by
        statistics = np.ascontiguousarray(data.statistics.T if order else np.zeros((1, data.hypotheses)), np.float32)
        rng = np.random.default_rng(seed)
        lists = _Lists(data.sentence_offsets, data.columns, data.base(first), statistics, gains)
        learnt = _Learnt.start(first[data.free] * _shrinking(data, first, gains), len(statistics))
        room = _Room.of(data.sentence_offsets, statistics)
        several = np.flatnonzero(np.diff(data.sentence_offsets) > 1)
        updates, losses = 0, []
        averages = np.empty((self.epochs, len(learnt.weights)))
        by_model = self.background == "model"
        for epoch in each(range(self.epochs), "learn", unit="epochs"):
            made, loss = _epoch(rng.permutation(several), lists, order, self.c, self.decay, by_model, learnt, room)
            updates += made
            losses.append(loss / len(several))
            averages[epoch] = learnt.total / ((epoch + 1) * len(several))
        chosen = data.one_best_of_many(averages, lists.base)
        quality = data.quality(np.array([data.sums_of(row) for row in chosen]))
        best = int(np.argmax(quality))  # the first among equals
        tuned = first.copy()
        tuned[data.free] = averages[best]
        info = {"epoch": best + 1, "updates": updates, "losses": losses}
        return finished(data, tuned, losses[best], info, moved=updates > 0)


def _shrinking(data: TuningData, start: F8, gains: F8) -> float:
    """Return a factor of at most 1 for the start, so that scores do not differ more than the metric's gains do.

    Hope and fear balance the two. With scores on a much larger scale both would be the model's best, and no update
    would ever be made. A weight that is fixed sets the scale itself.
    """
    if data.fixed[start != 0.0].any():
        return 1.0
    if isinstance(data.metric, BLEU):  # its gain is in words: about the number of words that match
        gains = data.statistics[:, 2]
    ours, theirs = data.spread(gains), data.spread(data.scores(start))
    return min(1.0, ours / theirs) if ours > 0.0 and theirs > 0.0 else 1.0


class _Lists(NamedTuple):
    """What is known of all hypotheses."""

    offsets: Array  # int64[sentences + 1]
    columns: Array  # float64[features, hypotheses]
    base: Array  # float64[hypotheses]: what weights that are fixed add to the score
    statistics: Array  # float32[statistics, hypotheses] of BLEU
    gains: Array  # float64[hypotheses]: sentence scores of another metric


class _Learnt(NamedTuple):
    """What changes from sentence to sentence."""

    weights: Array  # float64[features]
    total: Array  # float64[features]: of the weights after every sentence
    background: Array  # float64[statistics]: the pseudo-corpus

    @classmethod
    def start(cls, weights: F8, statistics: int) -> _Learnt:
        """Begin with one match of every order, so that nothing is 0."""
        return cls(weights, np.zeros(len(weights)), np.ones(statistics))


class _Room(NamedTuple):
    """Memory for one sentence."""

    scores: Array  # float64[most hypotheses]
    gains: Array  # float64[most hypotheses]
    ngrams: Array  # float64[most hypotheses]
    penalties: Array  # float64[2, longest + 1]: by length, the brevity penalty, and the reference length that it is for
    stamps: Array  # int64[longest + 1]: the sentence (its place in the epoch) that a penalty belongs to

    @classmethod
    def of(cls, offsets: I8, statistics: F4) -> _Room:
        """Make room for the largest sentence and the longest hypothesis."""
        most, longest = int(np.diff(offsets).max(initial=0)), int(statistics[0].max(initial=0.0)) + 1
        return cls(np.empty(most), np.empty(most), np.empty(most), np.empty((2, longest)), np.empty(longest, np.int64))


@kernel
def _epoch(sentences, lists, order, c, decay, by_model, learnt, room):
    """Go once through `sentences`; change what is learnt. Return the number of updates and the sum of the losses.

    With an `order` of 0 the metric is not BLEU. The short loops over the hypotheses have no branches and count from 0,
    so that the compiler can do several at a time.
    """
    updates = 0
    losses = 0.0
    for length in range(len(room.stamps)):
        room.stamps[length] = -1
    for k in range(len(sentences)):
        start, end = lists.offsets[sentences[k]], lists.offsets[sentences[k] + 1]
        scores, gains = room.scores[: end - start], room.gains[: end - start]
        _score(lists, learnt.weights, start, end, scores)
        if order > 0:
            _bleu_gains(k, lists.statistics, order, learnt.background, start, end, room)
        else:
            given = lists.gains[start:end]
            for i in range(len(gains)):
                gains[i] = given[i]
        hope, fear, model = _extremes(scores, gains)
        margin = gains[hope] - gains[fear]
        loss = margin - (scores[hope] - scores[fear])
        if margin > 1e-9 and loss > 0.0 and _update(lists.columns, start + hope, start + fear, loss, c, learnt.weights):
            updates += 1
            losses += loss
        if order > 0:
            chosen, background = start + (model if by_model else hope), learnt.background
            for column in range(len(background)):
                background[column] = decay * background[column] + lists.statistics[column, chosen]
        for f in range(len(learnt.weights)):
            learnt.total[f] += learnt.weights[f]
    return updates, losses


@kernel_inlined
def _score(lists, weights, start, end, scores):
    """Set the model scores of the hypotheses from `start` to `end`."""
    base = lists.base[start:end]
    for i in range(len(scores)):
        scores[i] = base[i]
    for f in range(len(weights)):
        weight = weights[f]
        column = lists.columns[f, start:end]
        for i in range(len(scores)):
            scores[i] += weight * column[i]


@kernel_inlined
def _bleu_gains(k, statistics, order, background, start, end, room):
    """Set what hypotheses of the k-th sentence gain: BLEU on top of the pseudo-corpus, in words."""
    count = end - start
    gains, ngrams, penalties, stamps = room.gains[:count], room.ngrams[:count], room.penalties, room.stamps
    for i in range(count):
        gains[i] = 1.0
        ngrams[i] = 1.0
    for n in range(order):
        past_matches, past_ngrams = background[2 + n], background[2 + order + n]
        matches, totals = statistics[2 + n, start:end], statistics[2 + order + n, start:end]
        for i in range(count):
            gains[i] *= past_matches + matches[i]
            ngrams[i] *= past_ngrams + totals[i]
    if order == 4:
        for i in range(count):
            gains[i] = np.sqrt(np.sqrt(gains[i] / ngrams[i]))
    else:
        for i in range(count):
            gains[i] = (gains[i] / ngrams[i]) ** (1.0 / order)
    lengths, references = statistics[0, start:end], statistics[1, start:end]
    for i in range(count):
        slot = np.int64(lengths[i])
        reference = background[1] + references[i]
        # the penalty is the same for hypotheses of the same length, unless their nearest references differ
        if stamps[slot] != k or penalties[1, slot] != reference:
            length = background[0] + lengths[i]
            stamps[slot] = k
            penalties[0, slot] = np.exp(min(0.0, 1.0 - reference / length))
            penalties[1, slot] = reference
        # BLEU's gain in words: times the reference length of corpus and sentence (Chiang et al. 2008)
        gains[i] *= penalties[0, slot] * reference


@kernel_inlined
def _extremes(scores, gains):
    """Return the hope, the fear and the model's best, the first among equals."""
    hope = fear = model = 0
    hope_score, fear_score, model_score = scores[0] + gains[0], scores[0] - gains[0], scores[0]
    for i in range(1, len(scores)):
        if scores[i] + gains[i] > hope_score:
            hope, hope_score = i, scores[i] + gains[i]
        if scores[i] - gains[i] > fear_score:
            fear, fear_score = i, scores[i] - gains[i]
        if scores[i] > model_score:
            model, model_score = i, scores[i]
    return hope, fear, model


@kernel_inlined
def _update(columns, hope, fear, loss, c, weights):
    """Move the weights from fear to hope (Cherry and Foster 2012, Algorithm 1); False if both have equal features."""
    norm = 0.0
    for f in range(len(weights)):
        away = columns[f, hope] - columns[f, fear]
        norm += away * away
    if norm <= 0.0:
        return False
    step = min(c, loss / norm)
    for f in range(len(weights)):
        weights[f] += step * (columns[f, hope] - columns[f, fear])
    return True
