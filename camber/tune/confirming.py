"""Bend a decoder as far as held-out sentences confirm.

The classical model, with a weight for each logarithm, is tuned first. The bent one starts from it, and is tuned in the
same way. Then both make lists of the dev set. Three folds of its sentences are held out in turn: both sorts of weights
are fitted to the lists of the others, and points between the two models rank the lists of the held-out sentences. The
model goes to where the best of these points is, on average over resampled sets of the sentences: about half of the way
where nobody can tell, further or less far where they can. Where nothing lies between, it is the classical model unless
the other is clearly better.

What is made once for all sentences, the edges of bins and the trees, has seen those that are held out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.types import F8, I8
from camber.bend.bend import Seen
from camber.bend.weighing import Weighing
from camber.corpus import Sentences
from camber.decode.derivation import HypothesisColumns, parts_of
from camber.decode.searcher import LogLinear
from camber.engine import LOCAL, Engine
from camber.errors import TuneError
from camber.features.weights import Weights
from camber.progress import each, log
from camber.tune.caution import FEW, STEPS, SURE, mean_step_of, of_sentences, way_by_sentences
from camber.tune.data import TuningData
from camber.tune.dev_set import DevSet
from camber.tune.loop import FIXED, Outcome, Replica, Round, TuneSettings
from camber.tune.tuner import Tuner

#: sentences at a time: all features of all parts are large
CHUNK = 100
#: bends that come this near to a classical model, as a share of how its scores vary, have points between the two
NEAR = 0.5


@dataclass(frozen=True)
class Confirmed:
    """How far to go, and the model that is there."""

    step: float  # 0: the classical model; 1: the bent one
    outcome: Outcome


@dataclass(frozen=True)
class _Ends:
    """Both models over the same lists of hypotheses."""

    classical: TuningData
    bent: TuningData
    from_classical: F8  # the weights of the classical model
    from_bent: F8  # of the bent one
    weighing: Weighing  # the bent one
    seen: Seen  # values of rules

    def embedded(self, classical: F8, shape: Weighing) -> F8:
        """Return weights of the bend that come near to those of a classical model."""
        bend = self.weighing.bend
        start = bend.start(Weighing(shape.bend, dict(zip(shape.names, classical.tolist(), strict=True))), self.seen)
        return np.array([start[name] for name in bend.names])


def confirmed(
    classical: Outcome,
    bent: Outcome,
    dev: DevSet,
    settings: TuneSettings,
    seed: int = 1,
    engine: Engine = LOCAL,
    tuner: Tuner | None = None,
) -> Confirmed:
    """Go from a classical model towards a bent one as far as held-out sentences of the dev set confirm."""
    if len(dev.inputs) < FEW:
        return Confirmed(1.0, bent)
    tuner = tuner or settings.make_tuner()
    shape, weighing = classical.decoder.weighing, bent.decoder.weighing
    line, curve = shared_lists((classical.decoder, bent.decoder), dev, settings.nbest, engine)
    ends = _Ends(line, curve, shape.weights, weighing.weights, weighing, bent.decoder.rule_values(dev.inputs))
    between = _comes_near(ends, shape)
    steps = STEPS if between else (0.0, 1.0)
    penalty = weighing.bend.penalty(settings, [name for name in weighing.names if name not in FIXED])

    def fitted(data: TuningData, start: F8, *, tied: bool) -> F8:
        try:
            regulariser = penalty if tied else None
            return tuner.fit(data, start, seed=seed, engine=engine, regulariser=regulariser).weights
        except TuneError:  # these sentences alone teach nothing
            return start

    def chosen(seen: I8, held: I8) -> list[I8]:
        line = fitted(of_sentences(ends.classical, seen), ends.from_classical, tied=False)
        curve = fitted(of_sentences(ends.bent, seen), ends.embedded(line, shape), tied=True)
        data, same = of_sentences(ends.classical, held), of_sentences(ends.bent, held)
        one, two = (_alike(data, scores) for scores in (data.scores(line), same.scores(curve)))
        return [data.best_by((1.0 - step) * one + step * two) for step in steps]

    if between:
        step = mean_step_of(ends.classical, chosen, seed)
        step = step if step >= STEPS[1] else 0.0  # a way that is shorter than all that were tried is not worth bins
    else:
        step = float(way_by_sentences(ends.classical, chosen, len(steps), SURE, seed))
    if step == 0.0:
        log.info("bend: held-out sentences did not confirm it, and the model is the classical one")
        return Confirmed(0.0, _told(classical, step))
    log.info("bend: held-out sentences confirm %.0f %% of the way to it", 100.0 * step)
    if step == 1.0:
        return Confirmed(1.0, _told(bent, step))
    origin = ends.embedded(ends.from_classical, shape)
    spreads = [ends.bent.spread(ends.bent.scores(weights)) or 1.0 for weights in (origin, ends.from_bent)]
    free = np.array([name not in FIXED for name in weighing.names])
    scaled = np.where(free, ends.from_bent * (spreads[0] / spreads[1]), ends.from_bent)
    weights = (1.0 - step) * origin + step * scaled
    return Confirmed(step, _between(bent, weights, dev, step, engine))


def shared_lists(
    decoders: Sequence[LogLinear], dev: DevSet, nbest: int, engine: Engine = LOCAL
) -> tuple[TuningData, ...]:
    """Decode a set with several decoders of the same parts; return all hypotheses as each of them sees them."""
    pieces: list[list[HypothesisColumns]] = [[] for _ in decoders]
    for first in each(range(0, len(dev.inputs), CHUNK), "shared lists"):
        inputs = dev.inputs[first : first + CHUNK]
        decoded = zip(*(decoder.decode(inputs, nbest, engine=engine) for decoder in decoders), strict=True)
        joined = [[item for best in lists for item in best] for lists in decoded]
        flat = [item for best in joined for item in best]
        parts, ends = parts_of(decoders[0].inputs, flat)
        sizes = np.array([len(best) for best in joined], np.int64)
        words = Sentences.encode([item.words for item in flat], dev.vocabulary)
        for piece, decoder in zip(pieces, decoders, strict=True):
            design = decoder.weighing.design(parts, ends)
            piece.append(HypothesisColumns(sizes, design.dense, words, design.sparse))
    data = []
    for piece, decoder in zip(pieces, decoders, strict=True):
        columns = HypothesisColumns.join(piece, dev.vocabulary, decoder.weighing)
        fixed = np.array([name in FIXED for name in decoder.names], bool)
        data.append(
            TuningData(
                decoder.names, columns.features, offsets_from(columns.counts), dev.statistics(columns), dev.metric,
                fixed, counts=columns.bins,
            )
        )  # fmt: skip
    return tuple(data)


def _alike(data: TuningData, scores: F8) -> F8:
    """Return scores that vary by 1, if they vary."""
    return scores / (data.spread(scores) or 1.0)


def _comes_near(ends: _Ends, shape: Weighing) -> bool:
    """Say whether the bend can be the classical model, or nearly."""
    scores = ends.classical.scores(ends.from_classical)
    away = scores - ends.bent.scores(ends.embedded(ends.from_classical, shape))
    return ends.bent.spread(away) <= NEAR * ends.bent.spread(scores)


def _between(bent: Outcome, weights: F8, dev: DevSet, step: float, engine: Engine) -> Outcome:
    """Return an outcome with weights between two models; its only round is what the dev set has with them."""
    named = dict(zip(bent.decoder.names, weights.tolist(), strict=True))
    decoder = bent.decoder.reweighted(named)
    hypotheses = decoder.decode_columns(dev.inputs, dev.vocabulary, 1, engine)
    sums = dev.statistics(hypotheses).sum(0)
    shown = Round(
        float(dev.metric.score(sums)), float(sums[0] / max(1, sums[1])), len(hypotheses.counts), 0, weights, 0.0
    )
    signature = bent.weights.signature
    outcome = Outcome(Weights.from_vector(decoder.names, weights, signature=signature), [Replica([shown])], decoder)
    return _told(outcome, step)


def _told(outcome: Outcome, step: float) -> Outcome:
    """Return an outcome whose signature says how far it went."""
    signature = f"{outcome.weights.signature}|bent:{step:g}"
    return replace(outcome, weights=replace(outcome.weights, signature=signature))
