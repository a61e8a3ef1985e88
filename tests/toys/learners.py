"""A learner as another package would register it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from camber.arrays.types import F8
from camber.bend.response import Response
from camber.bend.trees.description import WeighedTree
from camber.features.parts import HypothesisParts
from camber.model.directory import Draft, ModelDirectory
from camber.rerank.learner import Fitting, Texts
from camber.tune.data import TuningData


@dataclass(frozen=True)
class OneFeature:
    """Rank by the one feature that ranks the training list best."""

    default_tuner: ClassVar[str] = "mert"
    needs: ClassVar[frozenset[str]] = frozenset()
    task: ClassVar[str] = "a feature"
    bent: ClassVar[float | None] = None

    names: tuple[str, ...]
    chosen: int
    step: float = 1.0

    @classmethod
    def settings(cls, learner: str) -> frozenset[str]:
        return frozenset()

    @classmethod
    def fit(cls, data: TuningData, how: Fitting) -> Self:
        sums = np.array([data.sums_of(data.best_by(column)) for column in data.features.T])
        return cls(data.names, int(np.argmax(data.quality(sums))))

    def scores(self, features: F8, parts: HypothesisParts | None = None) -> F8:
        return features[:, self.chosen].copy()

    def responses(self) -> list[Response]:
        return []

    def trees(self) -> list[WeighedTree]:
        return []

    def watched(self, data: TuningData, texts: Texts) -> Self:
        return self

    def keeping_order(self, data: TuningData, own_order: int) -> Self:
        return replace(self, chosen=own_order, step=0.0)

    def record(self) -> dict[str, Any]:
        return {"step": self.step, "chosen": self.chosen}

    def sizes(self) -> dict[str, int]:
        return {"chosen_features": 1}

    def save(self, draft: Draft) -> None:
        draft.path("names.txt").write_text("\n".join(self.names), "utf-8")

    @classmethod
    def load(cls, model: ModelDirectory, recorded: Mapping[str, Any]) -> Self:
        names = tuple(model.file("names.txt").read_text("utf-8").split("\n"))
        return cls(names, int(recorded["chosen"]), float(recorded["step"]))
