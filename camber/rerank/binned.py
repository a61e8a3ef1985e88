"""Learners with bins: a learnt response to every feature instead of one weight.

The linear learner comes first. Then each feature with more than two values gets bins (of the hypotheses of the list it
is fitted to), whose weights are tuned together with the linear ones: the response to a feature is a straight line plus
what its bins add. So fine differences inside a bin still count, and bins that are all 0 are the linear model. Without
lines (`lines`), bins stand in for them (nguyen2007): they start from what the linear model was worth (:func:`in_bins`).
Edges of bins are hard, or sigmoids (`softness`, :mod:`camber.bend.soft`).

A cautious fit (:mod:`camber.tune.caution`) asks once more how far to go: from the linear model towards the bent one,
as far as sentences confirm that neither of the two had seen, and clearly (`SURE`). Both are scaled so that their scores
vary alike.

Where a hypothesis lacks a feature, it hits no bin.

That every feature stays linear, too, was decided by cross-validation. Tied bins (4 bits, PRO, not cautious, penalty on
the bins alone) beside lines gave 9.3, 23.1 and 43.3 BLEU on lists of Moses, Joshua and T5, in place of lines 8.0, 22.8
and 43.1; lines alone 8.8, 23.8 and 43.6, which is why curves must be confirmed. (These descents had 200 steps.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from camber.arrays.types import F8, I8
from camber.bend.bins import Bins
from camber.bend.discrete import OVERLAP, DiscreteBend
from camber.bend.kinds import settings_of
from camber.bend.neighbours import Regulariser, Tie
from camber.bend.response import Response
from camber.bend.trees.description import WeighedTree
from camber.bend.weighing import Weighing
from camber.errors import TuneError
from camber.features.feature import Feature, names_of
from camber.features.parts import HypothesisParts, Parts
from camber.features.weights import Weights
from camber.model.bend import BINS
from camber.model.directory import Draft, ModelDirectory
from camber.progress import log
from camber.rerank.learner import Fitting, Texts, on_scale_of_100
from camber.rerank.linear import Linear
from camber.rerank.settings import ResponseSettings
from camber.tune.caution import SURE, confirmed_step
from camber.tune.data import TuningData
from camber.tune.tuner import REGULARISER, SPARSE


@dataclass(frozen=True, eq=False)
class Binned:
    """Weights of features and of their bins."""

    default_tuner: ClassVar[str] = "pro"
    needs: ClassVar[frozenset[str]] = frozenset({SPARSE, REGULARISER})
    task: ClassVar[str] = "the weights of bins"

    bend: DiscreteBend
    weights: F8  # [bend.names]
    origin: float = 1.0  # the step of the linear model that it started from
    bent: float = 1.0  # how far from that model (0) to the tuned bins (1)

    @classmethod
    def settings(cls, learner: str) -> frozenset[str]:
        """Return the hyper-parameters of this kind of bins."""
        return frozenset({*settings_of(learner), "lines"} | ({"softness"} if learner != OVERLAP else set()))

    @property
    def names(self) -> tuple[str, ...]:
        """The features of a list."""
        return names_of(self.bend.inputs)

    @property
    def step(self) -> float:
        """How far from the list's own order (0) to the tuned weights (1)."""
        return 1.0 - (1.0 - self.origin) * (1.0 - self.bent)

    @classmethod
    def fit(cls, data: TuningData, how: Fitting) -> Self:
        """Tune a linear model from the list's own order, then let it bend."""
        linear = Linear.fit(data, how)
        bend = make_bend(data, how.learner, how.responses.bits, how.responses.softness)
        if not bend.width:
            log.warning("no feature has more than two values: there is nothing to bend, and the model is linear")
            return cls(bend, linear.weights, linear.step, 0.0)
        wide = bent_data(on_scale_of_100(data), bend, linear.scales)
        penalty = tied(bend, linear.scales, how.responses)

        def fitted(part: TuningData) -> tuple[F8, F8]:
            line = linear.weights if part is wide else straight(part)
            start = np.concatenate([line * linear.scales, np.zeros(bend.width)])
            start /= part.spread(part.scores(start)) or 1.0

            def size(weights: F8) -> float:
                return part.spread(part.scores(weights)) or 1.0

            given, begin = part, start
            if not how.responses.lines:
                units = np.concatenate([linear.scales, np.ones(bend.width)])
                given, begin = without_lines(part, bend), in_bins(bend, start / units) * units
            return start, how.tuned(given, begin, size, whole=part is wide, regulariser=penalty)

        def straight(part: TuningData) -> F8:
            """Return the weights of a linear model of some sentences, which goes as far as that of all of them."""
            alone = replace(
                part, names=data.names, features=part.features * linear.scales, counts=None, fixed=data.fixed
            )
            try:
                return Linear.fit(alone, how, linear.step).weights
            except TuneError:  # these sentences alone teach nothing
                return np.eye(len(data.names))[how.own_order]

        start, weights = ends = fitted(wide)
        step = confirmed_step(wide, ends, fitted, cautious=how.cautious, sure=SURE, seed=how.seed)
        if step == 0.0:
            log.info("bend: held-out sentences did not confirm it, and the model is linear")
        weights = (1.0 - step) * start + step * weights
        weights[: len(bend.linear)] /= linear.scales
        return cls(bend, weights, linear.step, step)

    @cached_property
    def weighing(self) -> Weighing:
        """What looks the values up."""
        return Weighing(self.bend, dict(zip(self.bend.names, self.weights.tolist(), strict=True)))

    def scores(self, features: F8, parts: HypothesisParts | None = None) -> F8:
        """Return the score of every hypothesis: [hypotheses, features], NaN where absent → [hypotheses]."""
        return self.weighing.rule_worth(features, np.arange(features.shape[1]))

    def responses(self) -> list[Response]:
        """Return the whole response of every bent feature: its line, at the middle of every bin, and the bin."""
        return self.bend.show(dict(zip(self.bend.names, self.weights.tolist(), strict=True)))

    def trees(self) -> list[WeighedTree]:
        """There are none."""
        return []

    def watched(self, data: TuningData, texts: Texts) -> Self:
        """There is nothing to watch."""
        return self

    def keeping_order(self, data: TuningData, own_order: int) -> Self:
        """Return weights that rank as the list's own order does: its line alone, and no bin."""
        weights = np.zeros(len(self.bend.names))
        weights[self.bend.names.index(data.names[own_order])] = 1.0 / (data.spread(data.features[:, own_order]) or 1.0)
        return replace(self, weights=weights, origin=0.0, bent=0.0)

    def record(self) -> dict[str, Any]:
        """Return how far it went, in all and in both parts."""
        return {"step": self.step, "origin": self.origin, "bent": self.bent}

    def sizes(self) -> dict[str, int]:
        """Count the bins."""
        return {"bins": self.bend.width}

    def save(self, draft: Draft) -> None:
        """Write ``weights.tsv`` and ``bins.tsv``."""
        Weights.from_vector(self.bend.names, self.weights).write(draft.path("weights.tsv"))
        self.bend.write(draft.path(self.bend.FILE))

    @classmethod
    def load(cls, model: ModelDirectory, recorded: Mapping[str, Any]) -> Self:
        """Open what :meth:`save` wrote."""
        bend = DiscreteBend.read(model.file(BINS))
        weights = Weights.read(model.file("weights.tsv"), bend.names)
        origin, bent = (float(recorded.get(name, 1.0)) for name in ("origin", "bent"))
        return cls(bend, weights.vector(bend.names), origin, bent)


def make_bend(data: TuningData, kind: str, bits: int, softness: float = 0.0) -> DiscreteBend:
    """Make bins for every feature with more than two values, each hypothesis counting once; all stay linear, too."""
    bins = {}
    for name, column in zip(data.names, data.present().T, strict=True):
        values, often = np.unique(column, return_counts=True)  # absent is a value, too, but in no bin
        if len(values) > 2:
            bins[name] = Bins.make(values, bits, often)
    return DiscreteBend(tuple(map(Feature, data.names)), bins, kind, tuple(bins), softness)


def in_bins(bend: DiscreteBend, weights: F8) -> F8:
    """Return weights under which bins stand in for the lines of their features (nguyen2007, 4.3.2): [names] → [names].

    A bin gets what the line is worth in the middle between its least and greatest value. So the score of a hypothesis
    whose values were seen changes by at most Σ |weight| · half the width of the bin that is hit. With soft edges it is
    Σ |weight| · the mean distance of the value from the middles of its bins, by their shares.
    """
    alone = replace(bend, copied=())
    begin = alone.start(Weighing(bend, dict(zip(bend.names, weights.tolist(), strict=True))), {})
    return np.array([begin.get(name, 0.0) for name in bend.names])


def without_lines(data: TuningData, bend: DiscreteBend) -> TuningData:
    """Return a list in which the lines of bent features are not tuned."""
    fixed = data.fixed.copy()
    fixed[bend.columns] = True
    return replace(data, fixed=fixed)


def bent_data(data: TuningData, bend: DiscreteBend, scales: F8) -> TuningData:
    """Return the features divided by `scales`, and the bins that every hypothesis hits."""
    rows = data.hypotheses
    counts = bend.counts(Parts.of_dense(bend.inputs, data.present()), np.arange(rows + 1))
    fixed = np.zeros(len(bend.names), bool)
    return replace(data, names=bend.names, features=data.features / scales, counts=counts, fixed=fixed)


@dataclass(frozen=True, eq=False)
class OnResponses:
    """A penalty on what bins and lines give together, at the middle of every bin: ``bin + slope * middle``."""

    penalty: Regulariser  # on the bins alone, numbered from 0
    slopes: I8  # [bins]: the linear weight of each bin's feature
    middles: F8  # [bins], in the units of these weights
    first: int  # the place of the first bin among the weights

    def value_and_gradient(self, weights: F8) -> tuple[float, F8]:
        value, down = self.penalty.value_and_gradient(weights[self.first :] + weights[self.slopes] * self.middles)
        return value, np.concatenate([np.bincount(self.slopes, down * self.middles, self.first), down])

    def ties(self) -> list[Tie]:
        return [tie._replace(first=tie.first + self.first) for tie in self.penalty.ties()]


def tied(bend: DiscreteBend, scales: F8, responses: ResponseSettings) -> Regulariser | None:
    """Return what ties neighbouring bins.

    The monotone kind looks at the whole response, since a line and bins that turn back make a curve that flattens. The
    linear kind looks at the bins alone, so that the line itself costs nothing.
    """
    if not responses.lines:  # then bins are the whole response, and lines are not among the tuned weights
        bent = {bend.inputs[at].name for at in bend.columns.tolist()}
        return bend.penalty(responses, [name for name in bend.names if name not in bent])
    if bend.kind != "mnr":
        return bend.penalty(responses, bend.names)
    penalty = bend.penalty(responses, bend.names[len(bend.linear) :])
    sizes = [len(bins) for bins in bend.bins.values()]
    middles = np.concatenate([0.5 * (bins.lows + bins.highs) for bins in bend.bins.values()])
    slopes = np.repeat(bend.columns, sizes)
    return None if penalty is None else OnResponses(penalty, slopes, middles / scales[slopes], len(bend.linear))
