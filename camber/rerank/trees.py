"""The learner with trees: a linear model, plus boosted regression trees over the features of a hypothesis.

The linear learner comes first. Then trees are boosted (:mod:`camber.tune.boost`) beside its score, which keeps its
direction and gets one weight of its own: a tree asks about several features at once, so conjunctions can be learnt.
Every hypothesis is one part (toutanova2013: boost-global), whatever parts the list has.

Every fourth sentence is set aside to say how many trees there shall be: as many as make its best hypotheses best. To
grow as many from all sentences instead gives other trees, which ranked planted conjunctions worse (78.3 against 81.3
BLEU held out, the mean of nine lists).

A cautious fit (:mod:`camber.rerank.caution`) asks once more how far to go: from the linear model towards the one with
trees, as far as sentences confirm that neither line nor trees had seen, and clearly (`SURE`). Both are scaled so that
their scores vary alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from camber.arrays.types import F8, I8
from camber.bend.kinds import settings_of
from camber.bend.log import LogBend
from camber.bend.response import Response
from camber.bend.trees.bend import TREES, TreesBend
from camber.bend.trees.forest import Forest
from camber.errors import TuneError
from camber.features.feature import Feature, names_of
from camber.features.parts import Parts
from camber.features.weights import Weights
from camber.model.bend import write_bend
from camber.model.directory import Draft, ModelDirectory
from camber.progress import log
from camber.rerank.caution import FEW, STEPS, SURE, step_by_folds
from camber.rerank.learner import Fitting, on_scale_of_100
from camber.rerank.linear import Linear
from camber.tune.boost import Boost, Boosted, PartsData
from camber.tune.data import TuningData

#: every so many sentences, one is set aside to say how many trees there shall be
ASIDE = 4
#: trees without a better score of these before boosting stops: the first questions of a conjunction gain nothing alone
PATIENCE = 20


@dataclass(frozen=True, eq=False)
class Trees:
    """Weights of features and of trees."""

    default_tuner: ClassVar[str] = "mert"
    needs: ClassVar[frozenset[str]] = frozenset()
    task: ClassVar[str] = "the weights of features"

    bend: TreesBend
    weights: F8  # [bend.names]
    origin: float = 1.0  # the step of the linear model that it started from
    bent: float = 1.0  # how far from that model (0) to the one with trees (1)

    @classmethod
    def settings(cls, learner: str) -> frozenset[str]:
        """Return the hyper-parameters of trees."""
        return frozenset(settings_of(TREES))

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
        """Tune a linear model from the list's own order, then let trees grow beside it."""
        linear = Linear.fit(data, how)
        whole = on_scale_of_100(data)
        line = cls.of_line(whole, linear.weights)
        grown = line.with_trees(whole, how)
        if not len(grown.bend.forest):
            log.info("trees: none made sentences that were set aside better, and the model is linear")
            return replace(line, origin=linear.step, bent=0.0)

        def straight(part: TuningData) -> F8:
            """Return the weights of a linear model of some sentences, which goes as far as that of all of them."""
            try:
                return Linear.fit(part, how, linear.step).weights
            except TuneError:  # these sentences alone teach nothing
                return np.eye(len(data.names))[how.own_order]

        def chosen(seen: TuningData, held: TuningData) -> list[I8]:
            start = cls.of_line(seen, straight(seen))
            try:
                end = start.with_trees(seen, how)
            except TuneError:
                end = start
            one, two = (model.scores(held.present()) for model in (start, end))
            return [held.best_by((1.0 - step) * one + step * two) for step in STEPS]

        cautious = how.cautious and len(data) >= FEW
        step = step_by_folds(whole, chosen, SURE, how.seed) if cautious else 1.0
        if step == 0.0:
            log.info("trees: held-out sentences did not confirm them, and the model is linear")
            return replace(line, origin=linear.step, bent=0.0)
        weights = step * grown.weights
        weights[: len(line.weights)] += (1.0 - step) * line.weights
        return replace(grown, weights=weights, origin=linear.step, bent=step)

    @classmethod
    def of_line(cls, data: TuningData, weights: F8) -> Self:
        """Return a linear model without any tree, whose scores of this list vary by 1."""
        inputs = tuple(map(Feature, data.names))
        return cls(TreesBend(LogBend(inputs), Forest(inputs, ())), weights).scaled(data)

    def scaled(self, data: TuningData) -> Self:
        """Return the same with scores of this list that vary by 1, if they vary."""
        return replace(self, weights=self.weights / (data.spread(self.scores(data.present())) or 1.0))

    def with_trees(self, data: TuningData, how: Fitting) -> Self:
        """Return this linear model and trees that were boosted beside it, with scores that vary by 1."""
        boosted = boost(data, self.scores(data.present()), how)
        if boosted is None:
            return self
        weights = np.concatenate([boosted.linear[0] * self.weights, boosted.tree_weights])
        return replace(self, bend=self.bend.with_forest(boosted.forest), weights=weights).scaled(data)

    def scores(self, features: F8) -> F8:
        """Return the score of every hypothesis: [hypotheses, features], NaN where absent → [hypotheses]."""
        return self.bend.rule_worth(features, np.arange(features.shape[1]), self.weights)

    def responses(self) -> list[Response]:
        """A tree is no curve: it asks about several features."""
        return []

    def keeping_order(self, data: TuningData, own_order: int) -> Self:
        """Return weights that rank as the list's own order does, and no tree."""
        line = self.of_line(data, np.eye(len(data.names))[own_order])
        return replace(line, origin=0.0, bent=0.0)

    def record(self) -> dict[str, Any]:
        """Return how far it went, in all and in both parts."""
        return {"step": self.step, "origin": self.origin, "bent": self.bent}

    def sizes(self) -> dict[str, int]:
        """Count the trees."""
        return {"trees": len(self.bend.forest)}

    def save(self, draft: Draft) -> None:
        """Write ``weights.tsv`` and ``trees.json``."""
        Weights.from_vector(self.bend.names, self.weights).write(draft.path("weights.tsv"))
        write_bend(self.bend, draft)

    @classmethod
    def load(cls, model: ModelDirectory, recorded: Mapping[str, Any]) -> Self:
        """Open what :meth:`save` wrote."""
        bend = TreesBend.read(model.file(TreesBend.FILE))
        weights = Weights.read(model.file("weights.tsv"), bend.names)
        return cls(bend, weights.vector(bend.names), float(recorded["origin"]), float(recorded["bent"]))


def boost(data: TuningData, line: F8, how: Fitting) -> Boosted | None:
    """Return trees over the features of a list, and one weight for the scores of a linear model; None: no tree helps.

    `line` float64[hypotheses] are those scores.
    """
    given, select = beside_line(data, line), None
    if len(data) >= FEW:
        aside = np.arange(len(data)) % ASIDE == ASIDE - 1
        given, select = (given.of_sentences(np.flatnonzero(side)) for side in (~aside, aside))
    boosting = Boost.of(how.responses, patience=PATIENCE)
    boosted = boosting.fit(given, [1.0], select=select, seed=how.seed, engine=how.engine)
    return boosted if len(boosted.forest) else None


def beside_line(data: TuningData, line: F8) -> PartsData:
    """Return a list whose only linear feature is a score float64[hypotheses]; trees see all features."""
    alone = replace(data, names=("line",), features=line[:, None], fixed=np.zeros(1, bool), absent=None)
    parts = Parts.of_dense(tuple(map(Feature, data.names)), data.present())
    return PartsData(alone, parts, np.arange(data.hypotheses + 1))
