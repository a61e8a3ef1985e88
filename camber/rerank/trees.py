"""The learner with trees: a linear model, plus boosted regression trees over parts, or over whole hypotheses.

The linear learner comes first. Then trees are boosted (:mod:`camber.tune.boost`) beside its score, which keeps its
direction and gets one weight of its own: a tree asks about several features at once, so conjunctions can be learnt.

Where a list has parts, a tree looks at the raw features of each part that is a rule, and adds what it makes of them,
summed over the parts (toutanova2013: boost-local). Else, or if asked to, it looks at the features of the hypothesis as
if that was one part (boost-global). Features that are made from texts are only of hypotheses.

Every fourth sentence is set aside to say how many trees there shall be: as many as make its best hypotheses best. To
grow as many from all sentences instead gives other trees, which ranked planted conjunctions worse (78.3 against 81.3
BLEU held out, the mean of nine lists).

Trees have four leaves here, because two ask one question only: with 2, 3, 4, 6 and 8 leaves, lists with a planted
conjunction had 56.6, 86.1, 86.1, 86.1 and 84.7 BLEU held out (on parts 87.5, 95.2, 95.1, 94.1 and 94.3; three lists
each), and held-out sentences of lists of Moses, Joshua, T5 and our own confirm hardly any tree, whatever its leaves.

A cautious fit (:mod:`camber.tune.caution`) asks once more how far to go: from the linear model towards the one with
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
from camber.bend.trees.description import WeighedTree, weighed_trees
from camber.bend.trees.forest import Forest
from camber.errors import CamberError, SettingsError, TuneError
from camber.features.feature import Feature, names_of
from camber.features.parts import HypothesisParts, Parts
from camber.features.weights import Weights
from camber.model.bend import write_bend
from camber.model.directory import Draft, ModelDirectory
from camber.progress import log
from camber.rerank.learner import Fitting, Texts, on_scale_of_100
from camber.rerank.linear import Linear
from camber.rerank.settings import AUTO, GLOBAL, LOCAL
from camber.tune.acting import Watch
from camber.tune.boost import Boost, Boosted, PartsData
from camber.tune.caution import FEW, STEPS, SURE, step_by_folds
from camber.tune.data import TuningData, add_products

#: every so many sentences, one is set aside to say how many trees there shall be
ASIDE = 4
#: trees without a better score of these before boosting stops: the first questions of a conjunction gain nothing alone
PATIENCE = 20


@dataclass(frozen=True, eq=False)
class Trees:
    """Weights of features, which are those of hypotheses, and of trees."""

    default_tuner: ClassVar[str] = "mert"
    needs: ClassVar[frozenset[str]] = frozenset()
    task: ClassVar[str] = "the weights of features"

    bend: TreesBend
    weights: F8  # [bend.names]
    scope: str = GLOBAL  # what trees look at: LOCAL (parts) or GLOBAL (hypotheses)
    origin: float = 1.0  # the step of the linear model that it started from
    bent: float = 1.0  # how far from that model (0) to the one with trees (1)

    @classmethod
    def settings(cls, learner: str) -> frozenset[str]:
        """Return the hyper-parameters of trees, and what they look at."""
        return frozenset((*settings_of(TREES), "tree_scope"))

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
        scope = scope_for(data, how.responses.tree_scope)
        linear = Linear.fit(data, how)
        whole = on_scale_of_100(data)
        line = cls.of_line(whole, linear.weights, scope)
        grown = line.with_trees(whole, how)
        if not len(grown.bend.forest):
            log.info("trees: none made sentences that were set aside better, and the model is linear")
            return replace(line, origin=linear.step, bent=0.0)

        def chosen(seen: TuningData, held: TuningData) -> list[I8]:
            start = cls.of_line(seen, linear.of_some(seen, how), scope)
            try:
                end = start.with_trees(seen, how)
            except TuneError:
                end = start
            one, two = (model.scores(held.present(), held.parts) for model in (start, end))
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
    def of_line(cls, data: TuningData, weights: F8, scope: str) -> Self:
        """Return a linear model without any tree, whose scores of this list vary by 1."""
        of_parts = data.parts.parts.features if scope == LOCAL and data.parts is not None else ()
        known = {feature.name: feature for feature in of_parts}
        inputs = tuple(known.get(name, Feature(name)) for name in data.names)
        return cls(TreesBend(LogBend(inputs), Forest(inputs, ())), weights, scope).scaled(data)

    def scaled(self, data: TuningData) -> Self:
        """Return the same with scores of this list that vary by 1, if they vary."""
        return replace(self, weights=self.weights / (data.spread(self.scores(data.present(), data.parts)) or 1.0))

    def with_trees(self, data: TuningData, how: Fitting) -> Self:
        """Return this linear model and trees that were boosted beside it, with scores that vary by 1."""
        line = self.scores(data.present(), data.parts)
        boosted = boost(beside_line(data, line, self.bend.inputs, self.scope), how)
        if boosted is None:
            return self
        weights = np.concatenate([boosted.linear[0] * self.weights, boosted.tree_weights])
        forest = Forest(self.bend.inputs, boosted.forest.trees)
        return replace(self, bend=self.bend.with_forest(forest), weights=weights).scaled(data)

    def scores(self, features: F8, parts: HypothesisParts | None = None) -> F8:
        """Return the score of every hypothesis: the line, and the trees' sums over parts or values of hypotheses.

        [hypotheses, features], NaN where absent → [hypotheses].
        """
        width, forest = len(self.names), self.bend.forest
        scores = np.zeros(len(features))
        add_products(np.ascontiguousarray(np.nan_to_num(features).T), self.weights[:width], scores)
        of_trees = self.weights[width:]
        if not len(forest):
            return scores
        if self.scope == GLOBAL:
            return scores + forest.scores(features, of_trees)
        if parts is None:
            raise CamberError(
                "the trees of this model look at the parts of hypotheses, and the list has none; give JSON Lines that "
                "camber translate --nbest-file wrote, or fit the model again with tree_scope global"
            )
        add_products(np.ascontiguousarray(self._sums(parts).T), of_trees, scores)
        return scores

    def _sums(self, parts: HypothesisParts) -> F8:
        """Return what each tree makes of the parts, summed over every hypothesis: float64[hypotheses, trees]."""
        forest = self.bend.forest
        used = sorted({feature for tree in forest.trees for feature in tree.features_used})
        features = tuple(forest.features[place] for place in used)
        narrow = Forest(features, tuple(tree.among(used) for tree in forest.trees))
        rules, offsets = parts.of_rules()
        return narrow.sums(rules.arranged(narrow.features), offsets)

    def responses(self) -> list[Response]:
        """A tree is no curve: it asks about several features."""
        return []

    def trees(self) -> list[WeighedTree]:
        """Return the trees with their weights."""
        return weighed_trees(self.bend.forest, self.weights[len(self.names) :])

    def watched(self, data: TuningData, texts: Texts) -> Self:
        """Return the same, whose trees know what they do to a list."""
        forest = self.bend.forest
        lists = beside_line(data, self.scores(data.present(), data.parts), self.bend.inputs, self.scope)
        seen = Forest(lists.parts.features, forest.trees)
        watch = Watch(seen, np.array([tree.weight for tree in self.trees()]), len(data), texts)
        watch.add(lists, texts.translations)
        return replace(self, bend=self.bend.with_forest(forest.with_acts(watch.acts())))

    def keeping_order(self, data: TuningData, own_order: int) -> Self:
        """Return weights that rank as the list's own order does, and no tree."""
        line = self.of_line(data, np.eye(len(data.names))[own_order], self.scope)
        return replace(line, origin=0.0, bent=0.0)

    def record(self) -> dict[str, Any]:
        """Return how far it went, in all and in both parts, and what trees look at."""
        return {"step": self.step, "origin": self.origin, "bent": self.bent, "scope": self.scope}

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
        scope = str(recorded.get("scope", GLOBAL))  # the first models had no other
        return cls(bend, weights.vector(bend.names), scope, float(recorded["origin"]), float(recorded["bent"]))


def scope_for(data: TuningData, wanted: str) -> str:
    """Return what trees shall look at, LOCAL or GLOBAL; parts that the list has not cannot be asked for."""
    parts = data.parts is not None and data.parts.any_rule()
    if wanted == LOCAL and not parts:
        none = "the list has no parts" if data.parts is None else "no part of the list is a rule"
        raise SettingsError(
            f"tree_scope is local, but {none}; give JSON Lines that camber translate --nbest-file wrote, or leave it "
            "out: trees then look at whole hypotheses"
        )
    if wanted != AUTO:
        return wanted
    log.info("trees: they look at %s", "the parts of hypotheses" if parts else "whole hypotheses")
    return LOCAL if parts else GLOBAL


def beside_line(data: TuningData, line: F8, inputs: tuple[Feature, ...], scope: str) -> PartsData:
    """Return a list whose only linear feature is a score float64[hypotheses]; trees see the inputs that parts have."""
    alone = replace(data, names=("line",), features=line[:, None], fixed=np.zeros(1, bool), absent=None, parts=None)
    if scope == LOCAL and data.parts is not None:
        parts, offsets = data.parts.of_rules()
        return PartsData(alone, parts, offsets)  # their features are the first of the inputs
    return PartsData(alone, Parts.of_dense(inputs, data.present()), np.arange(data.hypotheses + 1))


def boost(given: PartsData, how: Fitting) -> Boosted | None:
    """Return trees, and one weight for the scores of the linear model beside them; None: no tree helps."""
    sentences, select = len(given.data), None
    if sentences >= FEW:
        aside = np.arange(sentences) % ASIDE == ASIDE - 1
        given, select = (given.of_sentences(np.flatnonzero(side)) for side in (~aside, aside))
    boosting = Boost.of(how.responses, patience=PATIENCE)
    boosted = boosting.fit(given, [1.0], select=select, seed=how.seed, engine=how.engine)
    return boosted if len(boosted.forest) else None
