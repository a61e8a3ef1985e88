"""Batch MIRA (Cherry and Foster 2012): margin updates between a hope and a fear hypothesis of every sentence.

The hope has a high model score and a high BLEU, the fear a high model score and a low BLEU. BLEU of one sentence is
measured on top of a pseudo-corpus, a decaying sum of the statistics of past sentences, so that it is BLEU's own gain
(Chiang, Marton and Resnik 2008). The weights are averaged over all updates, and the best epoch is kept.

    tuned = Mira().fit(data, start, seed=1)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from camber.arrays.types import F8
from camber.engine import LOCAL, Engine
from camber.kernel import kernel
from camber.metrics.bleu import BLEU
from camber.settings import Settings, setting
from camber.tune.data import Tuned, TuningData
from camber.tune.guards import check_task, finished
from camber.tune.regularise import Regulariser
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
        base = data.base(first)
        weights = first[data.free] * _shrinking(data, first, gains)
        background = np.ones(len(statistics))  # one match of every order, so that nothing is 0
        room = np.empty((3, int(np.diff(data.sentence_offsets).max(initial=0))))
        longest = int(statistics[0].max(initial=0.0)) + 1
        penalties, stamps = np.empty((2, longest)), np.empty(longest, np.int64)
        total = np.zeros(len(weights))
        several = np.flatnonzero(np.diff(data.sentence_offsets) > 1)
        updates, losses = 0, []
        averages = np.empty((self.epochs, len(weights)))
        for epoch in range(self.epochs):
            made, loss = _epoch(
                data.sentence_offsets,
                rng.permutation(several),
                data.columns,
                base,
                statistics,
                gains,
                order,
                self.c,
                self.decay,
                self.background == "model",
                background,
                room[0],
                room[1],
                room[2],
                penalties,
                stamps,
                weights,
                total,
            )
            updates += made
            losses.append(loss / len(several))
            averages[epoch] = total / ((epoch + 1) * len(several))
        chosen = data.one_best_of_many(averages, base)
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


@kernel
def _epoch(
    offsets,
    sentences,
    columns,
    base,
    statistics,
    gains,
    order,
    c,
    decay,
    by_model,
    background,
    all_scores,
    all_gains,
    all_ngrams,
    penalties,
    stamps,
    weights,
    total,
):
    """Go once through `sentences`; change the weights, their running total and the pseudo-corpus.

    `statistics` is by column, [columns, hypotheses]; with an `order` of 0 the metric is not BLEU and `gains` is used.
    Return the number of updates and the sum of the losses. The short loops over the hypotheses have no branches and
    count from 0, so that the compiler can do several at a time.
    """
    updates = 0
    losses = 0.0
    features = len(weights)
    for length_seen in range(len(stamps)):
        stamps[length_seen] = -1
    for k in range(len(sentences)):
        start, end = offsets[sentences[k]], offsets[sentences[k] + 1]
        count = end - start
        scores, gain, ngrams = all_scores[:count], all_gains[:count], all_ngrams[:count]
        fixed, given = base[start:end], gains[start:end]
        for i in range(count):
            scores[i] = fixed[i]
            gain[i] = given[i]
            ngrams[i] = 1.0
        for f in range(features):
            weight = weights[f]
            column = columns[f, start:end]
            for i in range(count):
                scores[i] += weight * column[i]
        if order > 0:
            for i in range(count):
                gain[i] = 1.0
            for n in range(order):
                past_matches, past_ngrams = background[2 + n], background[2 + order + n]
                matches, totals = statistics[2 + n, start:end], statistics[2 + order + n, start:end]
                for i in range(count):
                    gain[i] *= past_matches + matches[i]
                    ngrams[i] *= past_ngrams + totals[i]
            if order == 4:
                for i in range(count):
                    gain[i] = np.sqrt(np.sqrt(gain[i] / ngrams[i]))
            else:
                for i in range(count):
                    gain[i] = (gain[i] / ngrams[i]) ** (1.0 / order)
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
                gain[i] *= penalties[0, slot] * reference
        hope = fear = model = 0
        hope_score, fear_score, model_score = scores[0] + gain[0], scores[0] - gain[0], scores[0]
        for i in range(1, count):
            if scores[i] + gain[i] > hope_score:
                hope, hope_score = i, scores[i] + gain[i]
            if scores[i] - gain[i] > fear_score:
                fear, fear_score = i, scores[i] - gain[i]
            if scores[i] > model_score:
                model, model_score = i, scores[i]
        margin = gain[hope] - gain[fear]
        loss = margin - (scores[hope] - scores[fear])
        if margin > 1e-9 and loss > 0.0:
            norm = 0.0
            for f in range(features):
                away = columns[f, start + hope] - columns[f, start + fear]
                norm += away * away
            if norm > 0.0:
                step = min(c, loss / norm)  # Cherry and Foster 2012, Algorithm 1
                for f in range(features):
                    weights[f] += step * (columns[f, start + hope] - columns[f, start + fear])
                updates += 1
                losses += loss
        if order > 0:
            chosen = start + (model if by_model else hope)
            for column_number in range(len(background)):
                background[column_number] = decay * background[column_number] + statistics[column_number, chosen]
        for f in range(features):
            total[f] += weights[f]
    return updates, losses
