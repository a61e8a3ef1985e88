"""Bring a Moses model along: its `moses.ini`, phrase table, reordering table, language models and weights."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from camber.corpus.reading import read_lines
from camber.decode.features import LM, REORDERING, feature_names
from camber.decode.settings import DecodeSettings
from camber.errors import InputError
from camber.lm.ngrams import NgramModel
from camber.model.directory import check_place, write_model
from camber.model.translator import Translator, save_phrase_model
from camber.model.weights import Weights
from camber.progress import log, stage
from camber.rules.moses import read_moses
from camber.rules.store import SCORE_NAMES
from camber.text.pipeline import TextPipeline, TextSettings

#: Moses' numbers of searches over strings with a chart, and of those over trees and forests
CHART_ALGORITHMS = ("3", "5", "6", "7", "8", "9")
_PHRASE_TABLES = ("PhraseDictionaryMemory",)
LANGUAGE_MODELS = ("KENLM", "SRILM", "IRSTLM")
_PENALTIES = {
    "WordPenalty": "word_penalty",
    "PhrasePenalty": "phrase_penalty",
    "UnknownWordPenalty": "unknown",
    "Distortion": "distortion",
}
#: Moses scores an unknown word with -100; our feature counts such words.
UNKNOWN_SCORE = -100.0


@dataclass(frozen=True)
class Feature:
    """A line of the [feature] section: its kind, its name and its arguments."""

    kind: str
    name: str
    arguments: dict[str, str]
    line: int


@dataclass(frozen=True)
class MosesIni:
    """What a `moses.ini` says."""

    path: Path
    features: list[Feature]
    weights: dict[str, list[float]]
    values: dict[str, str]  # the first line of every other section
    sections: dict[str, list[str]]  # all its lines

    @classmethod
    def read(cls, path: str | Path) -> MosesIni:
        """Parse the sections of a `moses.ini`."""
        features: list[Feature] = []
        weights: dict[str, list[float]] = {}
        sections: dict[str, list[str]] = {}
        counts: dict[str, int] = {}
        section = ""
        for number, raw in enumerate(read_lines(path), 1):
            line = raw.split("#", 1)[0].strip()
            if not line:
                continue
            if line.startswith("[") and line.endswith("]"):
                section = line[1:-1]
                sections.setdefault(section, [])
            elif section == "feature":
                kind, *rest = shlex.split(line)
                arguments = dict(item.split("=", 1) for item in rest if "=" in item)
                name = arguments.get("name", f"{kind}{counts.get(kind, 0)}")
                counts[kind] = counts.get(kind, 0) + 1
                features.append(Feature(kind, name, arguments, number))
            elif section == "weight":
                name, equals, numbers = line.partition("=")
                try:
                    weights[name.strip()] = [float(item) for item in numbers.split()]
                except ValueError:
                    equals = ""
                if not equals:
                    raise InputError(f"{line!r} is not 'Name= number …'", path, number)
            else:
                sections.setdefault(section, []).append(line)
        if not features:
            raise InputError("no [feature] section", path, remedy="Moses models older than version 2 are not read")
        values = {section: lines[0] for section, lines in sections.items() if lines}
        return cls(Path(path), features, weights, values, sections)

    def of_kind(self, *kinds: str) -> list[Feature]:
        """Return the features of some kinds."""
        return [feature for feature in self.features if feature.kind in kinds]

    def weight(self, feature: Feature, count: int) -> list[float]:
        """Return the weights of a feature, which must be `count`."""
        found = self.weights.get(feature.name)
        if found is None or len(found) != count:
            told = "no weights" if found is None else f"{len(found)} weights"
            raise InputError(f"{told} for {feature.name}, expected {count}", self.path, feature.line)
        return found

    def file(self, feature: Feature) -> Path:
        """Return the file that a feature names, relative to the folder of the `moses.ini`."""
        if "path" not in feature.arguments:
            raise InputError(f"{feature.name} has no path=", self.path, feature.line)
        path = self.path.parent / feature.arguments["path"]
        for candidate in (path, path.with_name(path.name + ".gz")):
            if candidate.exists():
                return candidate
        raise InputError(f"{feature.name}: no file {path}", self.path, feature.line, remedy="check its path=")


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
        from camber.model.moses_chart import convert_hierarchical

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
    settings = DecodeSettings(
        distortion_limit=int(moses.values.get("distortion-limit", 6)),
        options=int(tables[0].arguments.get("table-limit", 20)) or len(store),
        pop_limit=int(moses.values.get("cube-pruning-pop-limit", DecodeSettings().pop_limit)),
    )
    text = TextPipeline(TextSettings(tokenizer="none"))
    translator = Translator.phrase(text, store, models, Weights(weights), settings)
    with write_model(model, "phrase") as draft:
        save_phrase_model(translator, draft)
    log.info("%s: %s rules, %d language models", model, f"{len(store):,}", len(models))
