"""Hierarchical models: the indexed corpus, from which the rules of each sentence are extracted on demand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from camber.decode.chart import ChartDecoder
from camber.decode.chart_features import NATIVE
from camber.decode.chart_settings import ChartSettings
from camber.lm.ngrams import NgramModel
from camber.model.directory import ModelDirectory
from camber.model.weights import Weights
from camber.rules.hiero import HieroExtractor, HieroSettings
from camber.rules.hiero_features import DEFAULT_NAMES
from camber.rules.index import CorpusIndex

KIND = "hiero"

#: weights of an untuned system: costs of rules count against it, the language model for it
_UNTUNED = {
    "p_coherent": -0.3,
    "lex_t_given_s": -0.2,
    "lex_s_given_t": -0.2,
    "count_s": -0.1,
    "count_st": 0.1,
    "singleton_s": -0.2,
    "singleton_st": -0.2,
    "word_penalty": -0.25,
    "pass_through": -0.3,
}


def hiero_names(language_models: int) -> tuple[str, ...]:
    """Name the features of a hierarchical model."""
    return NATIVE.names(DEFAULT_NAMES, language_models)


def untuned_hiero_weights(language_models: int) -> Weights:
    """Return weights for a system that was not tuned."""
    weights = dict.fromkeys(hiero_names(language_models), 0.0) | _UNTUNED
    for number in range(1, language_models + 1):
        weights["lm" if number == 1 else f"lm{number}"] = 0.12 / language_models
    return Weights(weights, signature="untuned")


def hiero_decoder(
    index: str | Path,
    models: Sequence[NgramModel],
    weights: Weights,
    extraction: HieroSettings | None = None,
    settings: ChartSettings | None = None,
) -> ChartDecoder:
    """Open an indexed corpus as a decoder."""
    return ChartDecoder(HieroExtractor(CorpusIndex.load(index), None, extraction), models, weights.values, settings)


def open_hiero(directory: ModelDirectory, models: Sequence[NgramModel]) -> tuple[ChartDecoder, Weights]:
    """Return the decoder and the weights of a model directory of kind "hiero"."""
    weights = Weights.read(directory.file("weights.tsv"), hiero_names(len(models)))
    extraction = HieroSettings.from_dict(directory.settings.get("hiero", {}))
    settings = ChartSettings.from_dict(directory.settings.get("chart", {}))
    return hiero_decoder(directory.path / "index", models, weights, extraction, settings), weights
