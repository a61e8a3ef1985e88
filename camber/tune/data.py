"""What every tuner fits weights to: an n-best list as columns, with the metric's statistics of every hypothesis.

    data = TuningData.of(nbest, BLEU("none"), [references], fixed=["unknown"])
    tuned = Mert().fit(data, start, seed=1)
    tuned.weights, tuned.metric

A weight that is fixed keeps its value from the start; its features still count in the scores.

Features that every hypothesis has are columns of a matrix. Bins, of which a hypothesis has a few among thousands, are
kept in sparse rows (`counts`); their names and weights come behind the others, and they are always tuned.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from camber.arrays.ragged import owners_of
from camber.arrays.sparse import Counts
from camber.arrays.types import F8, I8, AnyArray, Bools
from camber.errors import CamberError, TuneError
from camber.features.parts import HypothesisParts
from camber.kernel import kernel
from camber.metrics.metric import Metric, References
from camber.metrics.sentence import corpus_scores, sentence_scores
from camber.nbest import NBest


@dataclass(frozen=True)
class Tuned:
    """What came out of tuning."""

    weights: F8  # [features]
    objective: float  # in the tuner's own terms; which way is better, too
    metric: float  # the corpus score of the best hypotheses by these weights
    info: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TuningData:
    """Hypotheses of sentence `s` are rows ``sentence_offsets[s]`` … ``sentence_offsets[s + 1] - 1``.

    >>> from camber.metrics import BLEU
    >>> nbest = NBest.of_hypotheses(("lm",), [0, 2], ["a b c d", "b a"], [[-2.0], [-1.0]])
    >>> data = TuningData.of(nbest, BLEU("none"), [["a b c d"]])
    >>> data.one_best([1.0]).tolist(), round(data.corpus_score([-1.0]))
    ([1], 100)
    """

    names: tuple[str, ...]  # of the features, then of the bins
    features: F8  # [hypotheses, features]: sums over the parts
    sentence_offsets: I8  # [sentences + 1]
    statistics: AnyArray  # float64[hypotheses, columns] of the metric
    metric: Metric
    fixed: Bools = field(default_factory=lambda: np.zeros(0, bool))  # [features]; none by default
    missing: F8 = field(default_factory=lambda: np.zeros(0))  # [columns]: of sentences without any hypothesis
    counts: Counts | None = None  # [hypotheses, bins]
    absent: Bools | None = None  # [hypotheses, features]: 0 in `features`, but the list lacks it; None: nothing is
    parts: HypothesisParts | None = None  # [hypotheses]: for learners that look at them; no tuner does

    def __post_init__(self) -> None:
        def put(name: str, kind: type) -> None:
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), kind))

        put("features", np.float64)
        put("statistics", np.float64)
        put("sentence_offsets", np.int64)
        object.__setattr__(self, "names", tuple(self.names))
        if np.size(self.fixed) == 0:
            object.__setattr__(self, "fixed", np.zeros(len(self.names), bool))
        if np.size(self.missing) == 0:
            object.__setattr__(self, "missing", np.zeros(self.statistics.shape[-1]))
        put("fixed", np.bool_)
        put("missing", np.float64)
        rows, offsets = len(self.features), self.sentence_offsets
        dense = len(self.names) - self.bins
        if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != rows or (np.diff(offsets) < 0).any():
            raise ValueError(f"sentence offsets must rise from 0 to {rows}")
        for shape, expected, what in (
            (self.features.shape, (rows, dense), "features"),
            (self.statistics.shape, (rows, len(self.missing)), "statistics"),
            (self.fixed.shape, (len(self.names),), "fixed"),
            (self.features.shape if self.absent is None else self.absent.shape, (rows, dense), "absent"),
        ):
            if shape != expected:
                raise ValueError(f"{what} has the shape {shape}, expected {expected}")
        if self.counts is not None and (len(self.counts) != rows or self.fixed[dense:].any()):
            raise ValueError(f"{len(self.counts)} rows of bins, expected {rows}; bins cannot be fixed")
        if self.parts is not None and len(self.parts) != rows:
            raise ValueError(f"parts of {len(self.parts)} hypotheses, expected {rows}")
        for table, what in ((self.features, "feature"), (self.statistics, "statistic")):
            if not np.isfinite(table).all():
                row, column = (int(i) for i in np.argwhere(~np.isfinite(table))[0])
                name = f" {self.names[column]}" if what == "feature" else ""
                raise CamberError(f"{what}{name} of hypothesis {row} is {table[row, column]}; expected a finite number")

    @classmethod
    def of(cls, nbest: NBest, metric: Metric, references: References, fixed: Iterable[str] = ()) -> TuningData:
        """Make the columns of a list once; `fixed` names the features whose weight is not tuned.

        A sentence without hypotheses counts as an empty translation.
        """
        if references and len(references[0]) != len(nbest):
            raise CamberError(
                f"{len(nbest):,} sentences in the n-best list but {len(references[0]):,} references;"
                " expected one for each (is this the list of that text?)"
            )
        held = set(fixed)
        if unknown := held - set(nbest.names):
            raise CamberError(f"no feature {', '.join(sorted(unknown))} to hold; known: {', '.join(nbest.names)}")
        statistics = nbest.statistics(metric, references)
        empty = np.flatnonzero(np.diff(nbest.sentence_offsets) == 0)
        missing = np.zeros(statistics.shape[1])
        if len(empty):
            missing = metric.statistics([""] * len(empty), references, empty).sum(0).astype(np.float64)
        features = nbest.hypothesis_features()
        absent = np.isnan(features)
        features[absent] = 0.0  # what is absent adds nothing
        return cls(
            nbest.names,
            features,
            nbest.sentence_offsets,
            statistics,
            metric,
            np.array([name in held for name in nbest.names], bool),
            missing,
            absent=absent if absent.any() else None,
        )

    def __len__(self) -> int:
        """Return the number of sentences."""
        return len(self.sentence_offsets) - 1

    @property
    def hypotheses(self) -> int:
        """The number of hypotheses."""
        return len(self.features)

    def present(self) -> F8:
        """Return the features with NaN where the list lacks them, float64[hypotheses, features]."""
        return self.features if self.absent is None else np.where(self.absent, np.nan, self.features)

    @property
    def bins(self) -> int:
        """The number of bins."""
        return 0 if self.counts is None else self.counts.width

    @cached_property
    def free(self) -> I8:
        """The features whose weights are tuned, int64[free]."""
        return np.flatnonzero(~self.fixed)

    @cached_property
    def columns(self) -> F8:
        """The tuned features column by column, float64[free - bins, hypotheses]: what kernels stream through."""
        return np.ascontiguousarray(self.features[:, self.free[: len(self.free) - self.bins]].T)

    def forget(self) -> None:
        """Let go of the copy of the features that kernels stream through; it is made anew where it is needed."""
        self.__dict__.pop("columns", None)

    @cached_property
    def owners(self) -> I8:
        """The sentence of every hypothesis, int64[hypotheses]."""
        return owners_of(self.sentence_offsets)

    def start(self, weights: npt.ArrayLike) -> F8:
        """Check weights to start from, [features], and copy them."""
        vector = np.array(weights, np.float64)
        if vector.shape != (len(self.names),):
            raise TuneError(f"{vector.size} weights to start from, but {len(self.names)} features; give one for each")
        if not np.isfinite(vector).all():
            bad = self.names[int(np.flatnonzero(~np.isfinite(vector))[0])]
            raise TuneError(f"the weight of {bad} to start from is not a finite number")
        return vector

    def base(self, weights: F8) -> F8:
        """Return what the fixed features add to every score, float64[hypotheses]."""
        base = np.zeros(self.hypotheses)
        for column in np.flatnonzero(self.fixed & (weights != 0.0)).tolist():
            base += weights[column] * self.features[:, column]
        return base

    def scores(self, weights: npt.ArrayLike) -> F8:
        """Return the model's score of every hypothesis, float64[hypotheses]."""
        vector = self.start(weights)
        scores = self.base(vector)
        self.add_scores(vector[self.free], scores)
        return scores

    def add_scores(self, weights: F8, scores: F8) -> None:
        """Add what the tuned features give to `scores` in place: float64[free], [hypotheses]."""
        add_products(self.columns, weights[: len(self.columns)], scores)
        if self.counts is not None:
            self.counts.add_products(weights[len(self.columns) :], scores)

    def project(self, slopes: F8) -> F8:
        """Return the gradient in the tuned weights, given derivatives in the scores: float64[hypotheses] → [free]."""
        gradient = np.empty(len(self.columns))
        _project(self.columns, np.ascontiguousarray(slopes), gradient)
        return gradient if self.counts is None else np.concatenate([gradient, self.counts.project(slopes)])

    def take(self, rows: I8, sentence_offsets: I8) -> TuningData:
        """Return some of the hypotheses, those of sentence `s` from ``sentence_offsets[s]`` on."""
        counts = None if self.counts is None else self.counts.take(rows)
        return TuningData(
            self.names, self.features[rows], sentence_offsets, self.statistics[rows], self.metric, self.fixed,
            self.missing, counts, None if self.absent is None else self.absent[rows],
            None if self.parts is None else self.parts.take(rows),
        )  # fmt: skip

    def one_best(self, weights: npt.ArrayLike) -> I8:
        """Return the best hypothesis of every sentence, the first among equals; -1 where there is none."""
        return self.best_by(self.scores(weights))

    def best_by(self, scores: F8) -> I8:
        """Return the hypothesis with the highest score of every sentence, the first among equals; -1: none."""
        best = np.empty(len(self), np.int64)
        _first_highest(self.sentence_offsets, np.ascontiguousarray(scores, np.float64), best)
        return best

    def one_best_of_many(self, points: F8, base: F8) -> I8:
        """Return the best hypotheses by many tuned weights at once: float64[n, free] → int64[n, sentences].

        The list goes by once, not once for each of them. `base` is what the fixed features add.
        """
        best = np.empty((len(points), len(self)), np.int64)
        room = np.empty(int(np.diff(self.sentence_offsets).max(initial=0)))
        _first_highest_of_many(self.sentence_offsets, self.columns, base, np.ascontiguousarray(points), room, best)
        return best

    def score_of(self, chosen: I8) -> float:
        """Return the corpus score, as the metric has it, of one hypothesis per sentence (-1: none)."""
        return float(self.metric.score(self.sums_of(chosen)))

    def sums_of(self, chosen: I8) -> F8:
        """Return the metric's sums over one hypothesis per sentence (-1: none), float64[columns]."""
        return self.statistics[chosen[chosen >= 0]].sum(0) + self.missing

    def corpus_score(self, weights: npt.ArrayLike) -> float:
        """Return the metric of the best hypotheses by these weights."""
        return self.score_of(self.one_best(weights))

    def quality(self, sums: F8) -> F8:
        """Return the metric of many sums, higher is better: [n, columns] → float64[n]."""
        return corpus_scores(self.metric, sums)

    def sentence_scores(self, brevity: str = "plain") -> F8:
        """Return the score of every hypothesis on its own, higher is better, float64[hypotheses]."""
        return sentence_scores(self.metric, self.statistics, brevity)

    def oracle(self) -> I8:
        """Return the best hypothesis of every sentence by its own sentence score, the first among equals; -1: none."""
        return self.best_by(self.sentence_scores())

    def spread(self, values: F8) -> float:
        """Return the standard deviation of values float64[hypotheses] around the mean of their sentence."""
        sizes = np.maximum(np.diff(self.sentence_offsets), 1)
        means = np.bincount(self.owners, values, len(self)) / sizes
        return float(np.sqrt(((values - means[self.owners]) ** 2).mean())) if len(values) else 0.0

    def scales(self) -> F8:
        """Return how much every tuned feature varies inside a sentence, float64[free]; 1 for one that never does.

        Bins share one number: neighbours are tied together, so steps of one size suit them.
        """
        scales = np.array([self.spread(column) for column in self.columns])
        # rounding of the mean is no variation
        scales = np.where(scales > 1e-10 * np.abs(self.columns).max(axis=1, initial=0.0), scales, 1.0)
        if self.counts is None:
            return scales
        typical = float(np.sqrt((self.counts.spreads(self.sentence_offsets) ** 2).mean()))
        return np.concatenate([scales, np.full(self.bins, typical or 1.0)])

    def varies(self) -> bool:
        """Say whether the hypotheses of any sentence differ in a tuned feature."""
        counts = np.diff(self.sentence_offsets)
        first = np.repeat(self.sentence_offsets[:-1], counts)
        if any((column != column[first]).any() for column in self.columns):
            return True
        return self.counts is not None and bool((self.counts.spreads(self.sentence_offsets) > 0).any())


def add_products(columns: F8, weights: F8, scores: F8) -> None:
    """Add ``weights · columns`` to `scores` in place: float64[features, n], [features], [n].

    The sums are formed in the order of the features, whatever the number of threads, unlike a BLAS product.
    """
    _add_products(columns, np.ascontiguousarray(weights, np.float64), scores)


_BLOCK = 1024  # hypotheses at a time: they stay in the first cache while the features go by


@kernel
def _add_products(columns, weights, scores):
    total = len(scores)
    for start in range(0, total, _BLOCK):
        end = min(start + _BLOCK, total)
        for f in range(len(weights)):
            weight = weights[f]
            if weight != 0.0:
                for h in range(start, end):
                    scores[h] += weight * columns[f, h]


@kernel
def _project(columns, slopes, gradient):
    count = len(slopes)
    stop = count // 4 * 4
    for f in range(len(gradient)):
        a = b = c = d = 0.0  # four sums at once: a single one would wait for itself
        for i in range(0, stop, 4):
            a += slopes[i] * columns[f, i]
            b += slopes[i + 1] * columns[f, i + 1]
            c += slopes[i + 2] * columns[f, i + 2]
            d += slopes[i + 3] * columns[f, i + 3]
        for i in range(stop, count):
            a += slopes[i] * columns[f, i]
        gradient[f] = (a + b) + (c + d)


@kernel
def _first_highest(offsets, scores, chosen):
    for s in range(len(chosen)):
        best = -1
        for h in range(offsets[s], offsets[s + 1]):
            if best < 0 or scores[h] > scores[best]:
                best = h
        chosen[s] = best


@kernel
def _first_highest_of_many(offsets, columns, base, points, room, chosen):
    for s in range(chosen.shape[1]):
        start, end = offsets[s], offsets[s + 1]
        fixed = base[start:end]
        scores = room[: end - start]
        for p in range(len(points)):
            for i in range(len(scores)):
                scores[i] = fixed[i]
            for f in range(points.shape[1]):
                weight = points[p, f]
                column = columns[f, start:end]
                for i in range(len(scores)):
                    scores[i] += weight * column[i]
            best = -1
            highest = -np.inf
            for i in range(len(scores)):
                if scores[i] > highest:
                    highest = scores[i]
                    best = start + i
            chosen[p, s] = best
