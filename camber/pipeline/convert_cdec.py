"""Bring a cdec model along: its `cdec.ini`, weights, language models and the grammars of its sentences.

cdec takes grammars that were extracted for each input sentence. The `cdec.ini` does not name them; they are looked for
beside it, in the folder `grammars`, as `grammar.N` or `grammar.N.gz`, and so is the file `weights`. A grammar that the
ini names (``grammar=``) is for all sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from camber.decode.chart.features import CDEC
from camber.decode.chart.settings import ChartSettings
from camber.errors import InputError
from camber.features.weights import Weights
from camber.files import read_lines
from camber.formats.cdec.grammars import CdecIni, read_cdec_grammars, read_cdec_weights
from camber.lm.ngrams import NgramModel
from camber.model.directory import check_place, write_model
from camber.model.grammars import GRAMMARS, NAME, save_around_rules
from camber.numbers import whole_number
from camber.progress import log, stage

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
    check_place(model, NAME)
    cdec = CdecIni.read(ini)
    if cdec.one("formalism", "scfg") != "scfg":
        raise InputError(f"formalism {cdec.one('formalism')}; only scfg is read", ini, cdec.line("formalism"))
    languages = _language_models(cdec)
    pop_limit = _whole(cdec, "cubepruning_pop_limit", _POP_LIMIT)
    if not pop_limit:
        raise InputError("cubepruning_pop_limit=0; expected 1 or more", ini, cdec.line("cubepruning_pop_limit"))
    span_limit = _whole(cdec, "scfg_max_span_limit", _SPAN_LIMIT)
    settings = ChartSettings(pop_limit=pop_limit, span_limit=span_limit, copy_known=True)
    numbers = read_cdec_weights(weights or cdec.file(cdec.one("weights", "weights")))
    with stage("reading the grammars"):
        lines = None if sentences is None else [line.split() for line in read_lines(sentences)]
        grammar_set = read_cdec_grammars(_grammar_files(cdec, grammars), lines)
    with stage("reading the language models"):
        models = [NgramModel.read(path) for path in languages]
    names = CDEC.names(grammar_set.names, len(models))
    for name in numbers:
        if name not in names:
            log.warning("%s: the weight of %s is dropped, no rule has this feature", cdec.path, name)
    with write_model(model, NAME) as draft:
        save_around_rules(draft, models, Weights({name: numbers.get(name, 0.0) for name in names}), settings)
        (draft.folder / GRAMMARS).mkdir()
        grammar_set.save(draft.folder / GRAMMARS)
        draft.sizes |= {
            "grammars": len(grammar_set),
            "rules": len(grammar_set.rules),
            "source_words": len(grammar_set.rules.source_words),
            "target_words": len(grammar_set.rules.target_words),
        }
    count = f"{len(grammar_set.rules):,}"
    log.info("%s: %d grammars, %s rules, %d language models", model, len(grammar_set), count, len(models))


def _language_models(cdec: CdecIni) -> list[Path]:
    """Return the ARPA files of the language models; other features than these and the word penalty are refused."""
    paths = []
    for text, line in cdec.values.get("feature_function", []):
        kind, *arguments = text.split() or [""]
        if not kind:
            raise InputError("feature_function= without a feature", cdec.path, line)
        if kind == "KLanguageModel" and arguments:
            if len(arguments) > 1:
                raise InputError(f"options of KLanguageModel ({text}) are not read", cdec.path, line)
            paths.append(cdec.file(arguments[0], line))
        elif kind != "WordPenalty":
            raise InputError(
                f"the feature {kind} is not supported", cdec.path, line, remedy="known: WordPenalty, KLanguageModel"
            )
    return paths


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
    missing = next((number for number, other in enumerate(sorted(files)) if number != other), None)
    if missing is not None:
        raise InputError(f"grammar.{missing} is missing of grammars 0 … {max(files)}", place)
    return [files[number] for number in sorted(files)]


def _numbered(paths: Iterable[Path]) -> dict[int, Path]:
    numbered = {}
    for path in sorted(paths):
        if match := re.fullmatch(r"grammar\.(\d+)(\.gz)?", path.name):
            numbered[int(match[1])] = path
    return numbered


def _whole(cdec: CdecIni, key: str, default: str) -> int:
    return whole_number(cdec.one(key, default), key, cdec.path, cdec.line(key))
