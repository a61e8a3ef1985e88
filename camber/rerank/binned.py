"""Learners with bins: a learnt response to every feature instead of one weight.

The linear learner comes first. Then each feature with more than two values gets bins (of the hypotheses of the list it
is fitted to), whose weights are tuned together with the linear ones: the response to a feature is a straight line plus
what its bins add. So fine differences inside a bin still count, and bins that are all 0 are the linear model.

A cautious fit asks once more how far to go: from the linear model towards the bent one, as far as sentences confirm
that neither of the two had seen, and clearly (`SURE`). Both are scaled so that their scores vary alike.

A feature that lines of a list may leave out (`NBest.sparse`) is absent where it is 0: it then hits no bin.

That every feature stays linear, too, was decided by cross-validation. Tied bins (4 bits, PRO, not cautious, penalty on
the bins alone) beside lines gave 9.3, 23.1 and 43.3 BLEU on lists of Moses, Joshua and T5, in place of lines 8.0, 22.8
and 43.1; lines alone 8.8, 23.8 and 43.6, which is why curves must be confirmed. (These descents had 200 steps.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from camber.arrays.types import F8, I8
from camber.bend.bins import Bins
from camber.bend.discrete import DiscreteBend
from camber.bend.response import Response
from camber.bend.weighing import Weighing
from camber.engine import Engine
from camber.errors import SettingsError, TuneError, UnmovedError
from camber.features.weights import Weights
from camber.metrics.outside import Outside
from camber.model.bend import BINS, write_bend
from camber.model.directory import Draft, ModelDirectory
from camber.progress import log
from camber.rerank.linear import FEW, Linear, careful_step
from camber.rerank.settings import ResponseSettings
from camber.tune import TuningData, make_tuner
from camber.tune.bending import neighbours
from camber.tune.regularise import Regulariser

#: tuners that can fit thousands of weights and tie neighbours
FITTING = ("pro", "expected-bleu", "likelihood")
#: curves are taken only if they beat the line on this share of resampled sets of held-out sentences
SURE = 0.8


@dataclass(frozen=True, eq=False)
class Binned:
    """Weights of features and of their bins."""

    bend: DiscreteBend
    weights: F8  # [bend.names]
    origin: float = 1.0  # the step of the linear model that it started from
    bent: float = 1.0  # how far from that model (0) to the tuned bins (1)
    sparse: frozenset[str] = frozenset()  # features that are absent where they are 0

    @property
    def names(self) -> tuple[str, ...]:
        """The features of a list."""
        return self.bend.inputs

    @property
    def step(self) -> float:
        """How far from the list's own order (0) to the tuned weights (1)."""
        return 1.0 - (1.0 - self.origin) * (1.0 - self.bent)

    @classmethod
    def fit(
        cls,
        data: TuningData,
        own: int,
        learner: str,
        responses: ResponseSettings,
        tuner: str,
        settings: Mapping[str, Any],
        seed: int,
        engine: Engine,
        cautious: bool = True,
        sparse: frozenset[str] = frozenset(),
    ) -> Binned:
        """Tune a linear model from the list's own order (the feature number `own`), then let it bend.

        `sparse` names the features that are absent where they are 0.
        """
        check_tuner(tuner)
        linear = Linear.fit(data, own, tuner, settings, seed, engine, cautious)
        bend = make_bend(data, learner, responses.bits, sparse)
        if not bend.width:
            log.warning("no feature has more than two values: there is nothing to bend, and the model is linear")
            return cls(bend, linear.weights, linear.step, 0.0, sparse)
        rows = data.statistics
        if isinstance(data.metric, Outside):
            rows = data.metric.on_scale_of_100(rows)
        wide = bent_data(replace(data, statistics=rows), bend, linear.scales, sparse)
        penalty = tied(bend, linear.scales, responses)

        def fitted(part: TuningData) -> tuple[F8, F8]:
            line = linear.weights if part is wide else straight(part)
            start = np.concatenate([line * linear.scales, np.zeros(bend.width)])
            start /= part.spread(part.scores(start)) or 1.0
            return start, _tuned(part, start, penalty, tuner, settings, seed, engine, part is wide)

        def straight(part: TuningData) -> F8:
            """Return the weights of a linear model of some sentences, which goes as far as that of all of them."""
            alone = replace(
                part, names=data.names, features=part.features * linear.scales, counts=None, fixed=data.fixed
            )
            try:
                return Linear.fit(alone, own, tuner, settings, seed, engine, step=linear.step).weights
            except TuneError:  # these sentences alone teach nothing
                return np.eye(len(data.names))[own]

        start, weights = fitted(wide)
        step = 1.0
        if np.array_equal(start, weights):
            step = 0.0
        elif cautious and len(data) >= FEW:
            step = careful_step(wide, fitted, SURE, seed)
        if step == 0.0:
            log.info("bend: held-out sentences did not confirm it, and the model is linear")
        weights = (1.0 - step) * start + step * weights
        weights[: len(bend.linear)] /= linear.scales
        return cls(bend, weights, linear.step, step, sparse)

    @cached_property
    def weighing(self) -> Weighing:
        """What looks the values up."""
        return Weighing(self.bend.inputs, dict(zip(self.bend.names, self.weights.tolist(), strict=True)), self.bend)

    def scores(self, features: F8) -> F8:
        """Return the score of every hypothesis: [hypotheses, features] → [hypotheses]."""
        given = present(features, self.names, self.sparse)
        return self.weighing.of_rules(given, self.weighing.linear, self.bend.columns)

    def responses(self) -> list[Response]:
        """Return the whole response of every bent feature: its line, at the middle of every bin, and the bin."""
        return self.bend.responses(dict(zip(self.bend.names, self.weights.tolist(), strict=True)))

    def save(self, draft: Draft) -> None:
        """Write ``weights.tsv`` and ``bins.tsv``."""
        Weights.from_vector(self.bend.names, self.weights).write(draft.path("weights.tsv"))
        write_bend(self.bend, draft)

    @classmethod
    def load(cls, model: ModelDirectory, origin: float, bent: float, sparse: frozenset[str]) -> Binned:
        """Open what :meth:`save` wrote."""
        bend = DiscreteBend.read(model.file(BINS))
        weights = Weights.read(model.file("weights.tsv"), bend.names)
        return cls(bend, weights.vector(bend.names), origin, bent, sparse)


def check_tuner(tuner: str) -> None:
    """Refuse tuners that cannot fit bins."""
    if tuner not in FITTING:
        raise SettingsError(f"{tuner} cannot fit the weights of bins; use {', '.join(FITTING)}, or --learner linear")


def present(features: F8, names: Sequence[str], sparse: frozenset[str]) -> F8:
    """Return the features with NaN where those that are `sparse` are absent, float64[hypotheses, names].

    >>> present(np.array([[0.0, 0.0], [2.0, 1.0]]), ("lm", "rare"), frozenset({"rare"})).tolist()
    [[0.0, nan], [2.0, 1.0]]
    """
    may = np.array([name in sparse for name in names], bool)
    return np.where(may & (features == 0.0), np.nan, features) if may.any() else features


def make_bend(data: TuningData, learner: str, bits: int, sparse: frozenset[str] = frozenset()) -> DiscreteBend:
    """Make bins for every feature with more than two values, each hypothesis counting once; all stay linear, too."""
    bins = {}
    given = present(data.features, data.names, sparse)
    for name, column in zip(data.names, given.T, strict=True):
        values, often = np.unique(column, return_counts=True)  # absent is a value, too, but in no bin
        if len(values) > 2:
            bins[name] = Bins.make(values, bits, often)
    return DiscreteBend(data.names, bins, learner, tuple(bins))


def bent_data(data: TuningData, bend: DiscreteBend, scales: F8, sparse: frozenset[str] = frozenset()) -> TuningData:
    """Return the features divided by `scales`, and the bins that every hypothesis hits."""
    rows = data.hypotheses
    given = present(data.features, data.names, sparse)
    counts = bend.counts(given, np.ones(rows, bool), np.arange(rows + 1))
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

    def ties(self) -> tuple[npt.ArrayLike, float]:
        chains, strength = self.penalty.ties()
        return np.asarray(chains, np.int64) + self.first, strength


def tied(bend: DiscreteBend, scales: F8, responses: ResponseSettings) -> Regulariser | None:
    """Return what ties neighbouring bins.

    The monotone kind looks at the whole response, since a line and bins that turn back make a curve that flattens. The
    linear kind looks at the bins alone, so that the line itself costs nothing.
    """
    if bend.kind != "mnr":
        return neighbours(bend, len(bend.linear), responses.beta, responses.gamma)
    penalty = neighbours(bend, 0, responses.beta, responses.gamma)
    sizes = [len(bins) for bins in bend.bins.values()]
    middles = np.concatenate([0.5 * (bins.lows + bins.highs) for bins in bend.bins.values()])
    slopes = np.repeat(bend.columns, sizes)
    return None if penalty is None else OnResponses(penalty, slopes, middles / scales[slopes], len(bend.linear))


def _tuned(
    part: TuningData,
    start: F8,
    penalty: Regulariser | None,
    tuner: str,
    settings: Mapping[str, Any],
    seed: int,
    engine: Engine,
    whole: bool,
) -> F8:
    """Return tuned weights whose scores vary as much as 1; the start where there is nothing to learn."""
    try:
        tuned = make_tuner(tuner, **settings).fit(part, start, seed=seed, engine=engine, regulariser=penalty)
    except UnmovedError:
        return start
    except TuneError:
        if whole:
            raise
        return start  # these sentences alone teach nothing
    return tuned.weights / (part.spread(part.scores(tuned.weights)) or 1.0)
