"""Kinds of models: what each is made of, and how its decoder is opened.

A kind knows its rules and its search. What all models have, language models, a bend and weights, is read here, in one
way. Another package adds a kind by an entry point of the group `camber.models`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from camber.bend.bend import Bend
from camber.decode.searcher import LogLinear, Searcher
from camber.errors import ModelError
from camber.features.feature import Feature
from camber.features.weights import Weights
from camber.lm.ngrams import NgramModel
from camber.model.bend import read_bend
from camber.model.directory import ModelDirectory
from camber.model.language_models import open_language_models
from camber.model.older import in_todays_terms
from camber.registry import Entry, Registry

#: why a kind has no weights to tune, and what helps, unless it says so itself (`unweighed`)
_UNWEIGHED = (
    "one score alone says how good a translation is; write lists with `camber translate --nbest-file` and re-rank them "
    "with `camber rerank fit`, or train it with other settings"
)
#: the signature of weights that were never tuned
UNTUNED = "untuned"


class Unweighted(Protocol):
    """Rules and settings of a search: a decoder but for its language models and weights."""

    def inputs(self, language_models: int) -> tuple[Feature, ...]:
        """Return the features of parts, before any bend."""

    def weighted(self, models: Sequence[NgramModel], weights: Weights, bend: Bend | None = None) -> LogLinear:
        """Return the decoder; without a bend, it weighs logarithms."""


class Kind(Protocol):
    """One kind of model."""

    @property
    def takes_pairs(self) -> bool:
        """Whether pairs can be added, because rules are extracted from them when the model is open."""

    @property
    def weighs(self) -> bool:
        """Whether its search goes by weighted features, which can be tuned and bent; language models are some."""

    def open(self, directory: ModelDirectory) -> tuple[Searcher, Weights]:
        """Open a model: how it is searched, and its weights with their signature (none, if it has no weights)."""


#: kind, as `model.toml` has it → how models of it are opened
KINDS: Registry[Kind] = Registry(
    "kind of model",
    "camber.models",
    {
        "phrase": Entry("camber.model.phrase:KIND", "a table of phrase pairs"),
        "hiero": Entry(
            "camber.model.hiero:KIND", "an indexed corpus, from which the rules of a sentence are extracted"
        ),
        "hiero-grammars": Entry("camber.model.grammars:KIND", "hierarchical rules that were made elsewhere"),
        "kernel": Entry("camber.model.kernel:KIND", "a regression of n-gram vectors, and a table of phrase pairs"),
        "combination": Entry("camber.model.combination:KIND", "several models, and weights for what they agree upon"),
        "sparse": Entry("camber.model.sparse:KIND", "an aligned corpus, to select what each sentence learns from"),
    },
)


def open_decoder(directory: ModelDirectory) -> tuple[Searcher, Weights]:
    """Open the decoder of a model of any kind, and its weights with their signature."""
    if directory.kind not in KINDS:
        raise ModelError(f"{directory.path}: a {directory.kind} model, which this version cannot translate with")
    return KINDS.load(directory.kind).open(directory)


def check_weighs(directory: ModelDirectory) -> None:
    """Refuse a model without weights, where they are needed."""
    if directory.kind in KINDS and not (kind := KINDS.load(directory.kind)).weighs:
        why = getattr(kind, "unweighed", _UNWEIGHED)
        raise ModelError(f"{directory.path}: a {directory.kind} model has no weights to tune or to bend: {why}")


def open_weighed(rules: Unweighted, directory: ModelDirectory) -> tuple[LogLinear, Weights]:
    """Give rules the language models, the bend and the weights of their model."""
    models = open_language_models(directory.path, directory.recorded_size("language_models"))
    bend, weights = in_todays_terms(directory, read_bend(directory, rules.inputs(len(models))))
    return rules.weighted(models, weights, bend), weights
