"""Bring a Moses model along: its `moses.ini`, phrase table, reordering table, language models and weights."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from camber.decode.phrase.features import LM, REORDERING, feature_names
from camber.decode.phrase.settings import DecodeSettings
from camber.errors import InputError, SettingsError
from camber.features.weights import Weights
from camber.formats.moses.ini import LANGUAGE_MODELS, UNKNOWN_SCORE, MosesIni
from camber.formats.moses.phrase_table import read_moses
from camber.lm.ngrams import NgramModel
from camber.model.directory import check_place, write_model
from camber.model.phrase import PhraseRules, save_phrase_model
from camber.progress import log, stage
from camber.rules.phrase.features import SCORE_NAMES
from camber.text.pipeline import TextPipeline
from camber.text.settings import TextSettings

#: Moses' numbers of searches over strings with a chart, and of those over trees and forests
CHART_ALGORITHMS = ("3", "5", "6", "7", "8", "9")
_PHRASE_TABLES = ("PhraseDictionaryMemory",)
_PENALTIES = {
    "WordPenalty": "word_penalty",
    "PhrasePenalty": "phrase_penalty",
    "UnknownWordPenalty": "unknown",
    "Distortion": "distortion",
}


def is_hierarchical(moses: MosesIni) -> bool:
    """Whether this is a model for a chart decoder: search algorithm 3 or one of those behind it, or a RuleTable."""
    algorithm = moses.values.get("search-algorithm", "0")
    return algorithm in CHART_ALGORITHMS or bool(moses.of_kind("RuleTable"))


def convert_moses(ini: str | Path, model: str | Path) -> None:
    """Write the model directory `model` from a Moses model; its text stays tokenised as it is.

    The model may be phrase-based, or hierarchical with the one label X.
    """
    check_place(model, "phrase")
    moses = MosesIni.read(ini)
    if is_hierarchical(moses):
        from camber.pipeline.convert_moses_chart import convert_hierarchical

        convert_hierarchical(moses, model)
        return
    tables, reorderings = moses.of_kind(*_PHRASE_TABLES), moses.of_kind("LexicalReordering")
    languages = moses.of_kind(*LANGUAGE_MODELS)
    if len(tables) != 1 or len(reorderings) > 1:
        raise InputError(
            f"{len(tables)} phrase tables and {len(reorderings)} reordering tables; expected 1 (in text form, as "
            "PhraseDictionaryMemory) and at most 1",
            ini,
        )
    for feature in moses.features:
        known = (*_PHRASE_TABLES, *LANGUAGE_MODELS, *_PENALTIES, "LexicalReordering")
        if feature.kind not in known:
            raise InputError(
                f"the feature {feature.kind} is not supported", ini, feature.line, remedy=f"known: {', '.join(known)}"
            )
    if reorderings and "msd-bidirectional-fe" not in reorderings[0].arguments.get("type", ""):
        raise InputError("reordering models other than msd-bidirectional-fe are not read", ini, reorderings[0].line)
    limit = moses.whole_argument(tables[0], "table-limit", 20)
    try:
        settings = DecodeSettings(
            distortion_limit=moses.whole("distortion-limit", 6),
            pop_limit=moses.whole("cube-pruning-pop-limit", DecodeSettings().pop_limit),
            unknown="move",  # as they do there
        )
    except SettingsError as error:
        raise InputError(str(error), ini) from None
    with stage("reading the tables"):
        store = read_moses(moses.file(tables[0]), moses.file(reorderings[0]) if reorderings else None)
    with stage("reading the language models"):
        models = [NgramModel.read(moses.file(feature)) for feature in languages]

    names = feature_names(len(models))
    weights = dict.fromkeys(names, 0.0)
    weights |= dict(zip(SCORE_NAMES, moses.weight(tables[0], len(SCORE_NAMES)), strict=True))
    other = names[len(SCORE_NAMES) :]
    if reorderings:
        weights |= dict(zip(other[REORDERING : REORDERING + 6], moses.weight(reorderings[0], 6), strict=True))
    for feature in moses.of_kind(*_PENALTIES):
        value = 1.0 if feature.kind == "UnknownWordPenalty" and feature.name not in moses.weights else None
        weights[_PENALTIES[feature.kind]] = value if value is not None else moses.weight(feature, 1)[0]
    weights["unknown"] *= UNKNOWN_SCORE
    for name, feature in zip(other[LM:], languages, strict=True):
        weights[name] = moses.weight(feature, 1)[0]
    settings = replace(settings, options=limit or len(store))
    text = TextPipeline(TextSettings(tokenizer="none"))
    tuned = Weights(weights)
    with write_model(model, "phrase") as draft:
        save_phrase_model(text, PhraseRules(store, settings=settings), models, tuned, draft)
    log.info("%s: %s rules, %d language models", model, f"{len(store):,}", len(models))
