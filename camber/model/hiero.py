"""Hierarchical models: the indexed corpus, from which the rules of each sentence are extracted on demand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from camber.bend.bend import Bend
from camber.decode.chart.decoder import ChartDecoder
from camber.decode.chart.features import NATIVE
from camber.decode.chart.settings import ChartSettings
from camber.decode.searcher import LogLinear
from camber.features.feature import Feature, names_of
from camber.features.weights import Weights
from camber.lm.ngrams import NgramModel
from camber.model.added import open_index
from camber.model.directory import ModelDirectory
from camber.model.kinds import UNTUNED, open_weighed
from camber.model.older import extraction_settings
from camber.rules.features import learnt
from camber.rules.hiero.extraction import HieroExtractor, HieroSettings
from camber.rules.hiero.features import features_of
from camber.rules.hiero.index import CorpusIndex

if TYPE_CHECKING:  # imported where it is needed
    from camber.rules.inventory import Inventory

#: the folder of the index, and in it that of what features need beyond it
FOLDER, LARGE = "index", "large"
_PLAIN = HieroSettings()

#: A natural logarithm of 1 in the units of these weights, which go back to logarithms to the base 10.
_NAT = 1.0 / math.log(10.0)
#: weights of an untuned system
_UNTUNED = {
    "p_coherent": 0.3 * _NAT,
    "lex_t_given_s": 0.2 * _NAT,
    "lex_s_given_t": 0.2 * _NAT,
    "count_s": -0.1 * _NAT,
    "count_st": 0.1 * _NAT,
    "singleton_s": -0.2,
    "singleton_st": -0.2,
    "word_penalty": -0.25,
    "pass_through": -0.3,
}


def untuned_hiero_weights(
    language_models: int, extraction: HieroSettings = _PLAIN, inventory: Inventory | None = None
) -> Weights:
    """Return weights for a system that was not tuned."""
    names = NATIVE.names(names_of(features_of(extraction.features, inventory)), language_models)
    # lexical weights of both kinds share what one kind has
    share = 0.5 if {"lex_t_given_s", "lex_t_given_s_averaged"} <= set(names) else 1.0
    weights = dict.fromkeys(names, 0.0)
    for name in names:
        kind = name.removesuffix("_averaged")
        weights[name] = _UNTUNED.get(kind, 0.0) * (share if kind.startswith("lex_") else 1.0)
    for number in range(1, language_models + 1):
        weights["lm" if number == 1 else f"lm{number}"] = 0.12 / language_models
    return Weights(weights, signature=UNTUNED)


@dataclass(frozen=True)
class HieroRules:
    """An indexed corpus, what is extracted from it, and how it is searched."""

    index: CorpusIndex
    extraction: HieroSettings = _PLAIN
    settings: ChartSettings = field(default_factory=ChartSettings)
    inventory: Inventory | None = None  # needed for features that training learns

    def inputs(self, language_models: int) -> tuple[Feature, ...]:
        """Return the features of parts, before any bend."""
        return NATIVE.all(features_of(self.extraction.features, self.inventory), language_models)

    def untuned(self, language_models: int) -> Weights:
        """Return weights for a translator that was not tuned."""
        return untuned_hiero_weights(language_models, self.extraction, self.inventory)

    def weighted(self, models: Sequence[NgramModel], weights: Weights, bend: Bend | None = None) -> ChartDecoder:
        """Return the decoder; without a bend, it weighs logarithms."""
        extractor = HieroExtractor(self.index, None, self.extraction, inventory=self.inventory)
        return ChartDecoder(extractor, models, weights.values, self.settings, bend=bend)


class HieroKind:
    """Models of kind "hiero"."""

    takes_pairs = True
    weighs = True

    def open(self, directory: ModelDirectory) -> tuple[LogLinear, Weights]:
        """Open a model: its decoder and its weights."""
        return open_weighed(self.rules(directory), directory)

    def rules(self, directory: ModelDirectory) -> HieroRules:
        """Open the index of a model, with the settings that it records."""
        return open_rules(
            directory.path / FOLDER,
            open_index(directory, FOLDER),
            HieroSettings.from_dict(extraction_settings(directory)),
            ChartSettings.from_dict(directory.settings.get("chart", {})),
        )


KIND = HieroKind()


def open_rules(folder: Path, index: CorpusIndex, extraction: HieroSettings, settings: ChartSettings) -> HieroRules:
    """Return the rules of an index that was opened from a folder, with what their features need."""
    if not learnt(extraction.features):
        return HieroRules(index, extraction, settings)
    from camber.rules.inventory import Inventory

    return HieroRules(index, extraction, settings, Inventory.load(folder / LARGE))


def index_sizes(index: CorpusIndex) -> dict[str, int]:
    """Return what a reader of `model.toml` wants to know about an indexed corpus."""
    return {
        "source_words": len(index.source.vocabulary),
        "target_words": len(index.target.vocabulary),
        "pairs": len(index),
    }
