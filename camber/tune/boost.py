"""Boosting (toutanova2013): a linear model, plus tree after tree that lowers the ranking loss of pairs of hypotheses.

    train = PartsData.of(nbest, BLEU(strict=True), [references])
    boosted = Boost(rounds=25).fit(train, start, select=other, seed=1)
    boosted.forest, boosted.weights

The loss is Σ log(1 + exp(F(worse) - F(better))) over pairs, with F the sum over the parts of a hypothesis. Its negative
gradient in the score of a part is, for all parts of a hypothesis alike, the sum over the pairs where this is the better
one of the probability of the wrong order, minus the same over the pairs where it is the worse one (appendix A, with
the second sum's sign as it must be). A tree is fitted to that; its weight comes from a line search with an L2 penalty.

Boosting parts is *boost-local*. To boost whole hypotheses (*boost-global*), each becomes one part: ``data.whole()``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from camber.arrays.ragged import offsets_from
from camber.arrays.types import F8, I8
from camber.bend.settings import TreeSettings
from camber.bend.trees.binning import MOST_BINS
from camber.bend.trees.collapse import Collapsed, collapse
from camber.bend.trees.forest import Forest, sum_rows
from camber.bend.trees.grower import MOST_LEAVES, Grower
from camber.bend.trees.pairs import Differences, Pairs
from camber.bend.trees.rows import Rows
from camber.bend.trees.tree import Tree
from camber.engine import LOCAL, Engine
from camber.errors import CamberError, TuneError
from camber.features.feature import HYPOTHESIS, INDICATOR, NUMBER, Feature
from camber.features.parts import Parts
from camber.kernel import kernel
from camber.metrics.metric import Metric, References
from camber.nbest import NBest
from camber.progress import each, log
from camber.settings import setting
from camber.tune.data import TuningData, add_products
from camber.tune.descent import lbfgs
from camber.tune.preferences import Preferences
from camber.tune.pro import RankingLoss
from camber.tune.regularise import L2

CONSTANT, LINEAR = "constant", "linear"
IN_PARTS, IN_PAIRS = "parts", "pairs"


@dataclass(frozen=True, eq=False)
class PartsData:
    """An n-best list for boosting: what tuners see of it, and the parts of every hypothesis.

    Parts that are no rules, such as words that are passed through, are left out: trees give them nothing.
    """

    data: TuningData
    parts: Parts
    part_offsets: I8  # [hypotheses + 1]

    def __post_init__(self) -> None:
        offsets = np.ascontiguousarray(self.part_offsets, np.int64)
        object.__setattr__(self, "part_offsets", offsets)
        if len(offsets) != self.data.hypotheses + 1 or offsets[0] != 0 or offsets[-1] != len(self.parts):
            raise CamberError(
                f"{len(self.parts):,} parts with {len(offsets):,} offsets for {self.data.hypotheses:,} hypotheses"
            )
        rules = self.parts.rules >= 0
        if not rules.all():
            object.__setattr__(self, "parts", self.parts.take(np.flatnonzero(rules)))
            object.__setattr__(self, "part_offsets", offsets_from(rules)[offsets])

    @classmethod
    def of(cls, nbest: NBest, metric: Metric, references: References, fixed: Iterable[str] = ()) -> PartsData:
        """Take a list with its references; `fixed` names the features whose linear weight is not tuned."""
        return cls(TuningData.of(nbest, metric, references, fixed), nbest.parts, nbest.part_offsets)

    def of_sentences(self, sentences: I8) -> PartsData:
        """Return the lists of some sentences only."""
        starts, sizes = self.data.sentence_offsets[sentences], np.diff(self.data.sentence_offsets)[sentences]
        offsets = offsets_from(sizes)
        rows = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], sizes)
        counts = np.diff(self.part_offsets)[rows]
        part_offsets = offsets_from(counts)
        parts = np.arange(part_offsets[-1]) + np.repeat(self.part_offsets[rows] - part_offsets[:-1], counts)
        return PartsData(self.data.take(rows, offsets), self.parts.take(parts), part_offsets)

    def whole(self) -> PartsData:
        """Return the same list with one part for each hypothesis: sums of what a linear model takes (boost-global)."""
        dense = self.data.features.shape[1]
        features = [Feature(name, NUMBER, HYPOTHESIS) for name in self.data.names[:dense]]
        parts = Parts.of_dense(features, self.data.present())
        return replace(self, parts=parts, part_offsets=np.arange(self.data.hypotheses + 1))

    @cached_property
    def same(self) -> Collapsed:
        """Which parts are equal."""
        return collapse(self.parts)

    @cached_property
    def distinct(self) -> Parts:
        """One of each kind of equal parts."""
        return self.parts.take(self.same.firsts)

    def sums_of(self, tree: Tree) -> F8:
        """Return the sums of a tree's values over the parts of every hypothesis, float64[hypotheses]."""
        return self.sums(Forest(self.parts.features, (tree,)).values_of_parts(self.distinct)[:, 0])

    def sums(self, values: F8) -> F8:
        """Return the sums of values float64[distinct parts] over the parts of every hypothesis."""
        totals = np.zeros((self.data.hypotheses, 1))
        sum_rows(self.part_offsets, self.same.numbers, np.ascontiguousarray(values).reshape(-1, 1), totals)
        return totals[:, 0]


@dataclass(frozen=True)
class Round:
    """What one round of boosting did; the first is the linear model."""

    trees: int
    objective: float  # loss per pair, penalty included
    metric: float  # of the best hypotheses of the list that was learnt from
    selection: float | None  # the same of the list that says when to stop


@dataclass(frozen=True, eq=False)
class Boosted:
    """A linear model and weighted trees."""

    forest: Forest
    names: tuple[str, ...]  # of the linear features
    linear: F8  # [names]
    tree_weights: F8  # [trees]
    rounds: tuple[Round, ...] = ()  # all that were tried, the linear model first

    @property
    def weights(self) -> dict[str, float]:
        """All weights by name: those of the linear features, then of the trees."""
        return dict(
            zip((*self.names, *self.forest.names), [*self.linear.tolist(), *self.tree_weights.tolist()], strict=True)
        )

    def scores(self, given: PartsData) -> F8:
        """Return the score of every hypothesis, float64[hypotheses]."""
        scores = given.data.scores(self.linear)
        for tree, weight in zip(self.forest.trees, self.tree_weights.tolist(), strict=True):
            scores += weight * given.sums_of(tree)
        return scores


@dataclass(frozen=True)
class Boost(Preferences):
    """Gradient boosting of a ranking loss; the settings of :class:`Preferences` say how pairs are drawn."""

    rounds: int = setting(25, "trees at most", low=0, high=10_000)
    leaves: int = setting(2, "leaves of a tree", low=2, high=MOST_LEAVES)
    leaf: str = setting(CONSTANT, "what leaves are: constants, or lines in one feature", choices=(CONSTANT, LINEAR))
    split: str = setting(IN_PARTS, "where splits are scored", choices=(IN_PARTS, IN_PAIRS))
    least: int = setting(10, "parts that a leaf has at least", low=1)
    bins: int = setting(MOST_BINS, "bins for the values of a feature", low=2, high=MOST_BINS)
    l2: float = setting(1.0, "strength of the L2 penalty on the summed loss", low=0.0)
    shrinkage: float = setting(1.0, "how much of its weight a tree gets", low=1e-6, high=1.0)
    refit: bool = setting(False, "fit all weights again after every tree")
    patience: int = setting(5, "rounds without a better selection score before it stops (0: never)", low=0)
    steps: int = setting(100, "largest number of L-BFGS steps", low=1)

    @classmethod
    def of(cls, settings: TreeSettings, **others: Any) -> Self:
        """Return boosting as the settings of trees have it, and with `others` of its own.

        >>> Boost.of(TreeSettings(trees=9, tree_keep=300), patience=20).keep
        300
        """
        return cls(
            rounds=settings.trees,
            leaves=settings.leaves,
            leaf=settings.leaf,
            split=settings.tree_split,
            choice=settings.tree_pairs,
            keep=settings.tree_keep,
            alpha=settings.tree_alpha,
            shrinkage=settings.tree_shrinkage,
            refit=settings.tree_refit,
            **others,
        )

    def fit(
        self,
        train: PartsData,
        start: npt.ArrayLike,
        *,
        seed: int,
        select: PartsData | None = None,
        slopes: Sequence[str] | None = None,
        engine: Engine = LOCAL,
    ) -> Boosted:
        """Return the model of the round that is best on `select` (of the last round without it).

        `start` are linear weights, of which those that are fixed stay. Leaves may be linear in the features `slopes`,
        by default in all that are no indicators.
        """
        data = train.data
        first = data.start(start)
        if select is not None and (select.data.names != data.names or select.parts.names != train.parts.names):
            raise TuneError("the list for selection has other features than the list to learn from")
        pairs = self.draw(data, seed)
        if not len(pairs):
            raise TuneError(
                f"no pair of hypotheses differs by more than {self.threshold} in sentence {data.metric.name};"
                " lower the threshold, use longer lists, or check the references"
            )
        task = _Task(self, train, select, pairs, first)
        task.fit_all()
        rows = self._rows(train, slopes)
        differences = Differences.of(pairs, train.part_offsets, train.same.numbers)
        grower = Grower(rows, self.leaves, linear=self.leaf == LINEAR, least=self.least, engine=engine)
        history = [task.state()]
        models = [(task.linear, task.weights)]
        for number in each(range(1, self.rounds + 1), "grow trees", unit="trees"):
            wrong = wrong_order(task.margins)
            targets = differences.project(wrong, len(rows))
            curved = Pairs(differences, wrong * (1.0 - wrong), 0.5 * self.l2) if self.split == IN_PAIRS else None
            grown = grower.grow(targets, curved)
            size = grown.tree.size()
            if grown.tree.leaves < 2 or not size > 0.0:
                log.info("boosting: no split gains anything after %d trees", number - 1)
                break
            values = grown.values() / size  # the penalty on weights shall mean the same to all trees
            task.add(grown.tree.scaled(1.0 / size), values, differences.products(values))
            history.append(task.state())
            models.append((task.linear, task.weights))
            log.debug("boosting: %s", history[-1])
            if select is not None and self.patience and number - _best(history) >= self.patience:
                break
        chosen = _best(history) if select is not None else len(history) - 1
        linear, weights = models[chosen]
        forest = Forest(train.parts.features, tuple(task.trees[:chosen]))
        return Boosted(forest, data.names, linear, weights, tuple(history))

    def _rows(self, train: PartsData, slopes: Sequence[str] | None) -> Rows:
        if self.leaf == CONSTANT:
            slopes = ()
        elif slopes is None:
            slopes = [feature.name for feature in train.parts.features if feature.kind != INDICATOR]
        return Rows.of_parts(train.parts, self.bins, slopes, train.same)


def _best(history: Sequence[Round]) -> int:
    """Return the first round with the highest selection score."""
    return int(np.argmax([-np.inf if item.selection is None else item.selection for item in history]))


class _Task:
    """The model as it grows, and what it makes of the lists."""

    def __init__(self, settings: Boost, train: PartsData, select: PartsData | None, pairs: I8, first: F8) -> None:
        self.settings, self.pairs, self.linear = settings, pairs, first
        self.train, self.select = _Scored(train), None if select is None else _Scored(select)
        self.trees: list[Tree] = []
        self.weights = np.zeros(0)
        self.margins = np.zeros(len(pairs))
        self._columns: list[F8] = []  # what every tree adds to the margins; only where all weights are fitted again

    def fit_all(self) -> None:
        """Fit all weights at once, those of the trees too."""
        data = self.train.given.data
        dense = len(data.free) - data.bins
        more = np.array(self._columns).reshape(len(self.trees), len(self.pairs))
        objective = RankingLoss(data, self.linear, self.pairs, L2(self.settings.l2), more)
        free = self.linear[data.free]
        # the loss is convex: from 0 the linear model comes by every direction
        weights = np.concatenate([free[:dense], self.weights, free[dense:]]) if self.trees else np.zeros(len(free))
        point = lbfgs(objective, weights, 1.0 / objective.sizes(), self.settings.steps).point
        self.weights = point[dense : dense + len(self.trees)]
        self.linear = self.linear.copy()
        self.linear[data.free] = np.concatenate([point[:dense], point[dense + len(self.trees) :]])
        for scored in (self.train, self.select):
            if scored is not None:
                scored.weigh(self.linear, self.weights)
        scores = self.train.scores
        self.margins = scores[self.pairs[:, 0]] - scores[self.pairs[:, 1]]

    def add(self, tree: Tree, values: F8, column: F8) -> None:
        """Add a tree, given what it makes of the distinct parts, and what that adds to the margins."""
        weight = self.settings.shrinkage * line_search(self.margins, column, self.settings.l2)
        self.trees.append(tree)
        self.weights = np.append(self.weights, weight)
        self.margins = self.margins + weight * column
        self.train.add(self.train.given.sums(values), weight, keep=self.settings.refit)
        if self.select is not None:
            self.select.add(self.select.given.sums_of(tree), weight, keep=self.settings.refit)
        if self.settings.refit:
            self._columns.append(column)
            self.fit_all()

    def state(self) -> Round:
        """Return how good the model is now."""
        squares = float((self.linear[self.train.given.data.free] ** 2).sum() + (self.weights**2).sum())
        loss, _, _ = _line(self.margins, self.margins, 0.0)
        objective = (2.0 * loss + 0.5 * self.settings.l2 * squares) / len(self.pairs)
        selection = None if self.select is None else self.select.quality()
        return Round(len(self.trees), objective, self.train.quality(), selection)


class _Scored:
    """A list with the scores of its hypotheses under the model as it is now."""

    def __init__(self, given: PartsData) -> None:
        self.given = given
        self.scores = np.zeros(given.data.hypotheses)
        self._columns: list[F8] = []

    def weigh(self, linear: F8, weights: F8) -> None:
        """Score with new weights; the trees' are of those that were kept."""
        self.scores = _linear_scores(self.given.data, linear)
        for weight, column in zip(weights.tolist(), self._columns, strict=True):
            self.scores += weight * column

    def add(self, column: F8, weight: float, *, keep: bool) -> None:
        """Add a tree by its sums over hypotheses."""
        self.scores += weight * column
        if keep:
            self._columns.append(column)

    def quality(self) -> float:
        """Return the metric of the best hypotheses, higher is better."""
        data = self.given.data
        return float(data.quality(data.sums_of(data.best_by(self.scores))[None])[0])


def _linear_scores(data: TuningData, weights: F8) -> F8:
    """Return ``data.scores(weights)`` without a copy of all features: lists of millions of hypotheses have no room."""
    scores = data.base(weights)
    dense = data.free[: len(data.free) - data.bins]
    for first in range(0, len(scores), _ROWS):
        columns = np.ascontiguousarray(data.features[first : first + _ROWS, dense].T)
        add_products(columns, weights[dense], scores[first : first + _ROWS])
    if data.counts is not None:
        data.counts.add_products(weights[data.free[len(dense) :]], scores)
    return scores


_ROWS = 1 << 16


def wrong_order(margins: F8) -> F8:
    """Return the probability that a pair is in the wrong order, by its margin: 1 / (1 + exp(margin)).

    >>> wrong_order(np.array([0.0, 1000.0])).tolist()
    [0.5, 0.0]
    """
    small = np.exp(-np.abs(margins))
    return np.where(margins > 0.0, small, 1.0) / (1.0 + small)


#: Weights beyond this only come of pairs that a tree separates, without any penalty.
MOST_WEIGHT = 1e6
_STEPS = 100


def line_search(margins: F8, column: F8, l2: float) -> float:
    """Return the weight of a column that minimises ``2 Σ log(1 + exp(-margin - weight · column)) + l2 / 2 · weight²``.

    Newton's method, between bounds that the sign of the slope moves.

    >>> round(line_search(np.zeros(2), np.array([1.0, -0.5]), 1.0), 4)
    0.3085
    """
    weight, low, high = 0.0, -MOST_WEIGHT, MOST_WEIGHT
    for _ in range(_STEPS):
        _, slope, curvature = _line(margins, column, weight)
        slope, curvature = 2.0 * slope + l2 * weight, 2.0 * curvature + l2
        if slope == 0.0:
            break
        low, high = (low, weight) if slope > 0.0 else (weight, high)
        step = -slope / curvature if curvature > 0.0 else np.inf
        after = weight + step
        if not low < after < high:
            after = 0.5 * (low + high)
        if abs(after - weight) <= 1e-12 * (1.0 + abs(weight)):
            break
        weight = after
    return float(weight)


@kernel
def _line(margins, column, weight):
    """Return Σ log(1 + exp(-margin - weight · column)) over pairs, its slope and its curvature in the weight."""
    loss = slope = curvature = 0.0
    for pair in range(len(margins)):
        margin = margins[pair] + weight * column[pair]
        small = np.exp(-abs(margin))  # never overflows
        loss += np.log1p(small) + max(0.0, -margin)
        wrong = (small if margin > 0.0 else 1.0) / (1.0 + small)
        slope -= wrong * column[pair]
        curvature += wrong * (1.0 - wrong) * column[pair] * column[pair]
    return loss, slope, curvature
