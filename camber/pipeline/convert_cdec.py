"""Bring a cdec model along: its `cdec.ini`, weights, language models and the grammars of its sentences.

cdec takes grammars that were extracted for each input sentence. The `cdec.ini` does not name them; they are looked for
beside it, in the folder `grammars`, as `grammar.N` or `grammar.N.gz`, and so is the file `weights`. A grammar that the
ini names (``grammar=``) is for all sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from camber.decode.chart.decoder import ChartDecoder
from camber.decode.chart.features import CDEC
from camber.decode.chart.settings import ChartSettings
from camber.errors import InputError, ModelError
from camber.features.weights import Weights
from camber.files import read_lines
from camber.formats.cdec.grammars import CdecIni, read_cdec_grammars, read_cdec_weights
from camber.lm.ngrams import NgramModel
from camber.model.bend import read_bend
from camber.model.directory import ModelDirectory, check_place, write_model
from camber.model.language_models import save_language_models
from camber.progress import log, stage
from camber.rules.hiero.grammar_set import GrammarSet
from camber.text.pipeline import TextPipeline, TextSettings

#: what a model of ready-made grammars is called in `model.toml`
KIND = "hiero-grammars"
#: how far a rule reaches in cdec unless it is told otherwise
_SPAN_LIMIT = "10"
_POP_LIMIT = "200"


def convert_cdec(
    ini: str | Path,
    model: str | Path,
    grammars: str | Path | None = None,
    weights: str | Path | None = None,
    sentences: str | Path | None = None,
) -> None:
    """Write the model directory `model` from a cdec model; its text stays tokenised as it is.

    `grammars` is the folder of the grammars, `weights` their weights; `sentences` a text file, line N for grammar N,
    which is not needed: a sentence finds its grammar by its words.
    """
    check_place(model, KIND)
    cdec = CdecIni.read(ini)
    if cdec.one("formalism", "scfg") != "scfg":
        raise InputError(f"formalism {cdec.one('formalism')}; only scfg is read", ini, cdec.values["formalism"][-1][1])
    languages = _language_models(cdec)
    numbers = read_cdec_weights(weights or cdec.file(cdec.one("weights", "weights")))
    with stage("reading the grammars"):
        lines = None if sentences is None else [line.split() for line in read_lines(sentences)]
        found = read_cdec_grammars(_grammar_files(cdec, grammars), lines)
    with stage("reading the language models"):
        models = [NgramModel.read(path) for path in languages]
    names = CDEC.names(found.names, len(models))
    for name in numbers:
        if name not in names:
            log.warning("%s: the weight of %s is dropped, no rule has this feature", cdec.path, name)
    settings = ChartSettings(
        pop_limit=_whole(cdec, "cubepruning_pop_limit", _POP_LIMIT),
        span_limit=_whole(cdec, "scfg_max_span_limit", _SPAN_LIMIT),
        copy_known=True,
    )
    with write_model(model, KIND) as draft:
        for folder in ("grammars", "text"):
            (draft.folder / folder).mkdir()
        found.save(draft.folder / "grammars")
        TextPipeline(TextSettings(tokenizer="none")).save(draft.folder / "text")
        save_language_models(models, draft.folder)
        Weights({name: numbers.get(name, 0.0) for name in names}).write(draft.folder / "weights.tsv")
        draft.settings["chart"] = settings.to_dict()
        draft.sizes |= {
            "grammars": len(found),
            "rules": len(found.rules),
            "source_words": len(found.rules.source_words),
            "target_words": len(found.rules.target_words),
            "language_models": len(models),
            "lm_order": max((language.order for language in models), default=0),
        }
    log.info("%s: %d grammars, %s rules, %d language models", model, len(found), f"{len(found.rules):,}", len(models))


def open_cdec_decoder(
    directory: ModelDirectory, models: Sequence[NgramModel], settings: ChartSettings | None = None
) -> ChartDecoder:
    """Return the decoder of a model that :func:`convert_cdec` wrote; nothing is parsed, arrays are memory-mapped.

    A model of this kind may also have come from Moses: then it has one large table instead of grammars.
    """
    if directory.kind != KIND:
        raise ModelError(f"{directory.path}: a {directory.kind} model, expected {KIND}")
    if (directory.path / "table").is_dir():
        from camber.pipeline.convert_moses_chart import open_table_decoder

        return open_table_decoder(directory, models, settings)
    grammars = GrammarSet.load(directory.path / "grammars")
    bend = read_bend(directory)
    names = CDEC.names(grammars.names, len(models)) if bend is None else bend.names
    return ChartDecoder(
        grammars,
        models,
        Weights.read(directory.file("weights.tsv"), names).values,
        settings or ChartSettings.from_dict(directory.settings.get("chart", {})),
        CDEC,
        bend,
    )


def _language_models(cdec: CdecIni) -> list[Path]:
    """Return the ARPA files of the language models; other features than these and the word penalty are refused."""
    found = []
    for text, line in cdec.values.get("feature_function", []):
        kind, *arguments = text.split()
        if kind == "KLanguageModel" and arguments:
            if len(arguments) > 1:
                raise InputError(f"options of KLanguageModel ({text}) are not read", cdec.path, line)
            found.append(cdec.file(arguments[0], line))
        elif kind != "WordPenalty":
            raise InputError(
                f"the feature {kind} is not supported", cdec.path, line, remedy="known: WordPenalty, KLanguageModel"
            )
    return found


def _grammar_files(cdec: CdecIni, folder: str | Path | None) -> Sequence[Path]:
    """Return the grammar files in the order of their numbers."""
    if folder is None and "grammar" in cdec.values:
        return [cdec.file(name, line) for name, line in cdec.values["grammar"]]
    place = Path(folder) if folder is not None else cdec.path.parent / "grammars"
    if not place.is_dir():
        raise InputError(f"no folder {place} with grammars", cdec.path, remedy="put grammar.0.gz, grammar.1.gz … there")
    files = _numbered(place.iterdir())
    if not files:
        raise InputError("no grammars here, expected grammar.0.gz, grammar.1.gz …", place)
    missing = sorted(set(range(max(files) + 1)) - set(files))
    if missing:
        raise InputError(f"grammar.{missing[0]} is missing of grammars 0 … {max(files)}", place)
    return [files[number] for number in sorted(files)]


def _numbered(paths: Iterable[Path]) -> dict[int, Path]:
    found = {}
    for path in sorted(paths):
        if match := re.fullmatch(r"grammar\.(\d+)(\.gz)?", path.name):
            found[int(match[1])] = path
    return found


def _whole(cdec: CdecIni, key: str, default: str) -> int:
    text = cdec.one(key, default)
    if not text.isdecimal():
        raise InputError(f"{key}={text}; expected a whole number", cdec.path, cdec.values[key][-1][1])
    return int(text)
