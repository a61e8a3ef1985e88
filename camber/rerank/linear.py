"""The linear learner: one weight per feature, fitted by a tuner.

Features come in any unit (log probabilities, counts, ratios), and tuners work best if all vary alike. So each is
divided by its standard deviation among the hypotheses of a sentence while it is tuned, and the weight is divided by it
afterwards: the weights that are kept belong to the features as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from camber.corpus.reading import write_lines
from camber.errors import UnmovedError
from camber.model.directory import Draft, ModelDirectory
from camber.model.weights import Weights
from camber.tune import TuningData, make_tuner

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Linear:
    """Weights of features, and how much each feature varies."""

    names: tuple[str, ...]
    weights: Array  # [features]
    scales: Array  # [features]: standard deviation inside a sentence; 1 where a feature does not vary
    moved: bool = True  # False: nothing better than the list's own order was found

    @classmethod
    def fit(
        cls, data: TuningData, own: int, tuner: str, settings: Mapping[str, Any], seed: int, threads: int
    ) -> Linear:
        """Tune weights, starting from the list's own order, which is the feature number `own`."""
        scales = data.scales()
        start = np.zeros(len(data.names))
        start[own] = 1.0
        moved = True
        try:
            weights = (
                make_tuner(tuner, **settings)
                .fit(replace(data, features=data.features / scales), start, seed, threads)
                .weights
            )
        except UnmovedError:
            weights, moved = start, False
        return cls(data.names, weights / scales, scales, moved)

    def scores(self, features: Array) -> Array:
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
    def load(cls, model: ModelDirectory, moved: bool) -> Linear:
        """Open what :meth:`save` wrote."""
        weights = Weights.read(model.file("weights.tsv"))
        scales = np.array(model.array("scales.npy", mapped=False))
        return cls(weights.names, weights.vector(weights.names), scales, moved)
