"""Hierarchical models: the indexed corpus, from which the rules of each sentence are extracted on demand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from camber.bend.discrete import DiscreteBend
from camber.decode.chart.decoder import ChartDecoder
from camber.decode.chart.features import NATIVE
from camber.decode.chart.settings import ChartSettings
from camber.features.weights import Weights
from camber.lm.ngrams import NgramModel
from camber.model.bend import read_bend
from camber.model.directory import ModelDirectory
from camber.rules.hiero.extraction import HieroExtractor, HieroSettings
from camber.rules.hiero.index import CorpusIndex

KIND = "hiero"
_PLAIN = HieroSettings()

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


def hiero_names(language_models: int, extraction: HieroSettings = _PLAIN) -> tuple[str, ...]:
    """Name the features of a hierarchical model."""
    return NATIVE.names(extraction.features, language_models)


def untuned_hiero_weights(language_models: int, extraction: HieroSettings = _PLAIN) -> Weights:
    """Return weights for a system that was not tuned."""
    names = hiero_names(language_models, extraction)
    # lexical weights of both kinds share what one kind has
    share = 0.5 if extraction.lexical == "both" and not extraction.rule_features else 1.0
    weights = dict.fromkeys(names, 0.0)
    for name in names:
        kind = name.removesuffix("_averaged")
        weights[name] = _UNTUNED.get(kind, 0.0) * (share if kind.startswith("lex_") else 1.0)
        if not extraction.logarithms and kind.startswith(("p_", "lex_")):
            weights[name] *= -1.0  # a probability counts for a rule, its cost against it
    for number in range(1, language_models + 1):
        weights["lm" if number == 1 else f"lm{number}"] = 0.12 / language_models
    return Weights(weights, signature="untuned")


def hiero_decoder(
    index: str | Path,
    models: Sequence[NgramModel],
    weights: Weights,
    extraction: HieroSettings = _PLAIN,
    settings: ChartSettings | None = None,
    bend: DiscreteBend | None = None,
) -> ChartDecoder:
    """Open an indexed corpus as a decoder."""
    extractor = HieroExtractor(CorpusIndex.load(index), None, extraction)
    return ChartDecoder(extractor, models, weights.values, settings, bend=bend)


def open_hiero(directory: ModelDirectory, models: Sequence[NgramModel]) -> tuple[ChartDecoder, Weights]:
    """Return the decoder and the weights of a model directory of kind "hiero"."""
    extraction = HieroSettings.from_dict(directory.settings.get("hiero", {}))
    settings = ChartSettings.from_dict(directory.settings.get("chart", {}))
    bend = read_bend(directory)
    names = hiero_names(len(models), extraction) if bend is None else bend.names
    weights = Weights.read(directory.file("weights.tsv"), names)
    if bend is not None:  # bends are made from raw values
        extraction = replace(extraction, logarithms=False)
    return hiero_decoder(directory.path / "index", models, weights, extraction, settings, bend), weights
