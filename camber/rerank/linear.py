"""The linear learner: one weight per feature, fitted by a tuner.

Features come in any unit (log probabilities, counts, ratios), and tuners work best if all vary alike. So each is
divided by its standard deviation among the hypotheses of a sentence while it is tuned, and the weight is divided by it
afterwards: the weights that are kept belong to the features as they are.

A tuner trusts a short list too much. So a cautious fit asks how far to go from the list's own order towards the tuned
weights: on a straight line between the two (of length 1 both), at the point that is best on sentences that the tuner
had not seen, three folds of the training list. That may be the own order itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from camber.arrays.types import F8, I8
from camber.engine import Engine
from camber.errors import TuneError, UnmovedError
from camber.features.weights import Weights
from camber.files import write_lines
from camber.metrics.outside import Outside
from camber.metrics.significance import paired_bootstrap
from camber.model.directory import Draft, ModelDirectory
from camber.tune import TuningData, make_tuner

#: Points between the own order (0) and the tuned weights (1) that a cautious fit tries
STEPS = (0.0, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 1.0)
_FOLDS = 3
FEW = 10  # sentences: fewer are not split


@dataclass(frozen=True)
class Linear:
    """Weights of features, and how much each feature varies."""

    names: tuple[str, ...]
    weights: F8  # [features]
    scales: F8  # [features]: standard deviation inside a sentence; 1 where a feature does not vary
    step: float = 1.0  # how far from the list's own order (0) to the tuned weights (1)

    @classmethod
    def fit(
        cls,
        data: TuningData,
        own: int,
        tuner: str,
        settings: Mapping[str, Any],
        seed: int,
        engine: Engine,
        cautious: bool = True,
        step: float | None = None,
    ) -> Linear:
        """Tune weights, starting from the list's own order, which is the feature number `own`.

        `step`: go so far towards them, where that is known already.
        """
        scales = data.scales()
        metric = data.metric
        rows = metric.on_scale_of_100(data.statistics) if isinstance(metric, Outside) else data.statistics
        alike = replace(data, features=data.features / scales, statistics=rows)
        start = np.zeros(len(data.names))
        start[own] = 1.0

        def tuned(part: TuningData) -> F8:
            try:
                return _unit(make_tuner(tuner, **settings).fit(part, start, seed=seed, engine=engine).weights)
            except UnmovedError:
                return start
            except TuneError:
                if part is alike:
                    raise
                return start  # these sentences alone teach nothing

        weights = tuned(alike)
        if np.array_equal(weights, start):
            step = 0.0
        elif step is None:
            careful = cautious and len(data) >= FEW
            step = careful_step(alike, lambda part: (start, tuned(part))) if careful else 1.0
        return cls(data.names, ((1.0 - step) * start + step * weights) / scales, scales, step)

    def scores(self, features: F8) -> F8:
        """Return the score of every hypothesis: [hypotheses, features] → [hypotheses]."""
        found = np.zeros(len(features))
        for column in np.flatnonzero(self.weights).tolist():  # in the order of features: the same bytes everywhere
            found += self.weights[column] * features[:, column]
        return found

    def save(self, draft: Draft) -> None:
        """Write ``weights.tsv`` and, for people, ``features.tsv``: what a weight is worth in standard deviations."""
        Weights.from_vector(self.names, self.weights).write(draft.path("weights.tsv"))
        worth = self.weights * self.scales
        lines = ["# sd: standard deviation of the feature inside a sentence; weight_per_sd: weight x sd"]
        lines.append("name\tweight\tsd\tweight_per_sd")
        for place in np.argsort(-np.abs(worth), kind="stable").tolist():
            numbers = (float(column[place]) for column in (self.weights, self.scales, worth))
            lines.append("\t".join([self.names[place], *map(repr, numbers)]))
        write_lines(draft.path("features.tsv"), lines)
        draft.save("scales.npy", self.scales)

    @classmethod
    def load(cls, model: ModelDirectory, step: float) -> Linear:
        """Open what :meth:`save` wrote."""
        weights = Weights.read(model.file("weights.tsv"))
        scales = np.array(model.array("scales.npy", mapped=False))
        return cls(weights.names, weights.vector(weights.names), scales, step)


def _unit(weights: F8) -> F8:
    return weights / np.sqrt((weights**2).sum())


def careful_step(
    data: TuningData, fitted: Callable[[TuningData], tuple[F8, F8]], sure: float = 0.0, seed: int = 1
) -> float:
    """Return the step whose weights score best on sentences that were held out; of equals the shortest.

    `fitted` gives the weights to come from and those to go to, of sentences that it may look at. `sure`: stay, unless
    the step is better than staying on this share of resampled sets of those sentences.
    """
    fold_of = np.arange(len(data)) % _FOLDS
    chosen = np.zeros((len(STEPS), len(data), data.statistics.shape[1]))
    for fold in range(_FOLDS):
        sentences = np.flatnonzero(fold_of == fold)
        held = of_sentences(data, sentences)
        start, weights = fitted(of_sentences(data, np.flatnonzero(fold_of != fold)))
        for row, step in enumerate(STEPS):
            best = held.one_best((1.0 - step) * start + step * weights)
            chosen[row, sentences[best >= 0]] = held.statistics[best[best >= 0]]
    found = int(np.argmax(data.quality(chosen.sum(1))))
    if found and sure and paired_bootstrap(data.metric, chosen[0], chosen[found], 500, seed).wins < sure:
        return 0.0
    return STEPS[found]


def of_sentences(data: TuningData, chosen: I8) -> TuningData:
    """Return the columns of some sentences."""
    starts, counts = data.sentence_offsets[:-1][chosen], np.diff(data.sentence_offsets)[chosen]
    offsets = np.concatenate([[0], np.cumsum(counts)])
    rows = np.repeat(starts - offsets[:-1], counts) + np.arange(offsets[-1])
    bins = None if data.counts is None else data.counts.take(rows)
    return TuningData(
        data.names, data.features[rows], offsets, data.statistics[rows], data.metric, data.fixed, counts=bins
    )
