"""Bring a hierarchical Moses model along: its rule table, glue grammar, language models and weights.

Moses counts some things once for every sentence that the chart decoder here does not count: the rules that begin and
end it, the marks <s> and </s> as words, and the first piece as glue. That shifts all scores of a sentence alike.
"""

from __future__ import annotations

import math
from pathlib import Path

from camber.decode.chart.features import NATIVE
from camber.decode.chart.settings import ChartSettings
from camber.errors import InputError
from camber.features.weights import Weights
from camber.files import decode_lines, read_bytes
from camber.formats.moses.ini import LANGUAGE_MODELS, UNKNOWN_SCORE, Feature, MosesIni
from camber.formats.moses.rule_table import read_glue, read_moses_rules
from camber.lm.ngrams import NgramModel
from camber.model.directory import write_model
from camber.model.grammars import NAME, TABLE, save_around_rules
from camber.progress import log, stage
from camber.rules.hiero.rule_table import RULE_PENALTY

_TABLES = ("PhraseDictionaryMemory", "RuleTable")
_PENALTIES = ("WordPenalty", "PhrasePenalty", "UnknownWordPenalty")
#: what Moses takes where the ini says nothing
_TABLE_LIMIT, _POP_LIMIT, _SPAN = 20, 1000, 20
#: searches that need the parse trees of the input
_TREES = ("7", "8", "9")
#: sections that say nothing about the search, or whose only meaning here is the usual one
_EXPECTED = {"non-terminals": "X", "input-factors": "0", "inputtype": "3"}
_UNDERSTOOD = ("feature", "weight", "search-algorithm", "cube-pruning-pop-limit", "max-chart-span", "mapping")


def convert_hierarchical(moses: MosesIni, model: str | Path) -> None:
    """Write the model directory `model` from a hierarchical Moses model."""
    _check(moses)
    rules, glue, span = _tables(moses)
    languages = moses.of_kind(*LANGUAGE_MODELS)
    penalties = {kind: _penalty(moses, kind) for kind in _PENALTIES}
    scores = moses.whole_argument(rules, "num-features", 4)
    weights = moses.weight(rules, scores)
    with stage("reading the tables"):
        # a piece costs its score in the glue grammar, and is a rule too
        piece = moses.weight(glue, 1)[0] * math.log(read_glue(moses.file(glue))) if glue else 0.0
        table = read_moses_rules(moses.file(rules), scores, weights, -penalties["WordPenalty"])
    with stage("reading the language models"):
        models = [NgramModel.read(moses.file(feature)) for feature in languages]
    numbers = dict(zip(table.scores_names, weights, strict=True)) | {
        RULE_PENALTY: penalties["PhrasePenalty"],
        NATIVE.glue: piece + penalties["PhrasePenalty"],
        NATIVE.pass_through: UNKNOWN_SCORE * penalties["UnknownWordPenalty"] + penalties["PhrasePenalty"],
        NATIVE.word_penalty: penalties["WordPenalty"],
        NATIVE.source_oov: 0.0,
    }
    names = NATIVE.names(table.names, len(models))
    for at, feature in zip(range(len(names) - 2 * len(models), len(names), 2), languages, strict=True):
        counted = feature.arguments.get("oov-feature", "0") in ("1", "yes", "true")
        own = moses.weight(feature, 2 if counted else 1)
        numbers[names[at]], numbers[names[at + 1]] = own[0], own[1] if counted else 0.0
    settings = ChartSettings(pop_limit=_pop_limit(moses), span_limit=span)
    limit = moses.whole_argument(rules, "table-limit", _TABLE_LIMIT)
    if limit:
        log.info(
            "%s: of the rules with one source side, the %d best by their own scores are used (language models do not "
            "take part in this choice)",
            moses.path,
            limit,
        )
    with write_model(model, NAME) as draft:
        save_around_rules(draft, models, Weights({name: numbers[name] for name in names}), settings)
        (draft.folder / TABLE).mkdir()
        table.save(draft.folder / TABLE)
        draft.settings["table"] = {"limit": limit}
        draft.sizes |= {
            "rules": len(table),
            "source_words": len(table.source_words),
            "target_words": len(table.target_words),
        }
    log.info("%s: %s rules, %d language models", model, f"{len(table):,}", len(models))


def _check(moses: MosesIni) -> None:
    """Refuse what cannot be honoured, warn of what is passed over."""
    known = (*_TABLES, *LANGUAGE_MODELS, *_PENALTIES)
    for feature in moses.features:
        if feature.kind not in known:
            raise InputError(
                f"the feature {feature.kind} is not supported in a hierarchical model",
                moses.path,
                feature.line,
                remedy=f"known: {', '.join(known)}",
            )
        for key in ("input-factor", "output-factor", "factor"):
            if feature.arguments.get(key, "0") != "0":
                raise InputError(
                    f"{feature.name}: {key}={feature.arguments[key]}; only 0 is read", moses.path, feature.line
                )
    if moses.values.get("search-algorithm") in _TREES:
        raise InputError(f"search algorithm {moses.values['search-algorithm']} needs parse trees", moses.path)
    for section, lines in moses.sections.items():
        if section in _UNDERSTOOD or lines == [_EXPECTED.get(section)]:
            continue
        log.warning("%s: [%s] %s is passed over", moses.path, section, " ".join(lines))


def _tables(moses: MosesIni) -> tuple[Feature, Feature | None, int]:
    """Return the rule table, the glue grammar, and how many words a rule of the former may cover."""
    rules: list[tuple[int, Feature]] = []
    glues: list[tuple[int, Feature]] = []
    for number, feature in enumerate(moses.of_kind(*_TABLES)):
        first = next(iter(decode_lines(read_bytes(moses.file(feature)), moses.file(feature))), "")
        # the glue grammar is about another label than X
        target = f" {first} ".split(" ||| ")[1:2]
        is_glue = bool(target) and target[0].split()[-1:] == ["[S]"]
        (glues if is_glue else rules).append((number, feature))
    if len(rules) != 1 or len(glues) > 1:
        raise InputError(
            f"{len(rules)} rule tables and {len(glues)} glue grammars; expected 1 and at most 1, in text form "
            f"({' or '.join(_TABLES)})",
            moses.path,
        )
    if not glues:
        log.warning("%s: no glue grammar; pieces are put behind each other at no cost", moses.path)
    number, table = rules[0]
    span = moses.whole("max-chart-span", _SPAN, at=number)
    if span < 0:
        told = f"[max-chart-span] {span}; expected a whole number from 0 on"
        raise InputError(told, moses.path, moses.places["max-chart-span"][number])
    return table, glues[0][1] if glues else None, span


def _penalty(moses: MosesIni, kind: str) -> float:
    """Return the weight of a penalty: 0 if the model has none; 1 for unknown words unless it is told."""
    features = moses.of_kind(kind)
    if kind == "UnknownWordPenalty" and not (features and features[0].name in moses.weights):
        return 1.0
    return moses.weight(features[0], 1)[0] if features else 0.0


def _pop_limit(moses: MosesIni) -> int:
    limit = moses.whole("cube-pruning-pop-limit", _POP_LIMIT)
    if limit < 1:
        line = moses.places["cube-pruning-pop-limit"][0]
        raise InputError(f"[cube-pruning-pop-limit] {limit}; expected a whole number above 0", moses.path, line)
    return limit
