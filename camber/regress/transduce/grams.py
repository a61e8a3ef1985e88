"""Predicted n-grams for the graph decoder: selection and regression, sentence by sentence."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import partial
from typing import Any

from camber.corpus import Vocabulary
from camber.corpus.inputs import Input
from camber.regress.graph import Prediction
from camber.regress.transduce.instances import Instances
from camber.regress.transduce.kept import Kept
from camber.regress.transduce.regression import SentenceRegression


class RegressedGrams:
    """All target n-grams of the selected pairs, each with how often it is expected (a `GramSource`)."""

    def __init__(self, instances: Instances) -> None:
        """Regress by the settings of the instances."""
        self.instances, self.regression = instances, SentenceRegression.of(instances)
        self.orders = instances.settings.lengths
        self.ratio = instances.ratio
        self._kept: Kept[Prediction] | None = None

    @property
    def source_words(self) -> Vocabulary:
        """The source words of the corpus."""
        return self.instances.corpus.source.vocabulary

    @property
    def target_words(self) -> Vocabulary:
        """The target words of the corpus."""
        return self.instances.corpus.target.vocabulary

    @property
    def recorded(self) -> dict[str, dict[str, Any]]:
        """The settings that a model must keep, by stage."""
        return {"sparse": self.instances.settings.to_dict()}

    def predictions(self, inputs: Sequence[Input]) -> Sequence[Prediction]:
        """Return what is predicted for every sentence."""
        if self._kept is None:
            return [self._predict(item.tokens) for item in inputs]
        return [self._kept.get(item.tokens, partial(self._predict, item.tokens)) for item in inputs]

    def _predict(self, tokens: Sequence[str]) -> Prediction:
        posed = self.regression.problem(tokens, marks=True)
        return Prediction(posed.target.ids, posed.target.offsets, self.regression.expected(posed), posed.unknown)

    def remembering(self) -> RegressedGrams:
        """Return the same source, which keeps its predictions."""
        if self._kept is not None:
            return self
        source = copy(self)
        source._kept = Kept(lambda prediction: prediction.ids.nbytes + 2 * prediction.counts.nbytes)
        return source
