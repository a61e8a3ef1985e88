"""Train a phrase-based translator: text, alignment, language model, rules, model; each stage runs once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from camber.align.lexical import lexical_table
from camber.align.pharaoh import Alignment, read_kept_pharaoh
from camber.align.words import learn_alignment
from camber.bend.discrete import APPLIES
from camber.corpus.splitting import FEWEST_TO_TUNE
from camber.decode.phrase.features import untuned_weights
from camber.engine import LOCAL, Engine
from camber.errors import InputError, ModelError, SettingsError, TuneError
from camber.features.weights import Weights
from camber.files import read_parallel
from camber.lm.kneser_ney import estimate
from camber.lm.ngrams import UNKNOWN, NgramModel
from camber.metrics.bleu import BLEU
from camber.model.bend import BINS
from camber.model.directory import check_place, is_model, recorded, write_model
from camber.model.hiero import hiero_decoder, untuned_hiero_weights
from camber.model.language_models import open_language_models, save_language_models
from camber.model.translator import Translator, load, model_sizes
from camber.pipeline.corpus import load_bitext, load_held_out, prepare
from camber.pipeline.settings import TrainSettings
from camber.pipeline.stages import Stage, Stages
from camber.progress import log
from camber.rules.hiero.index import CorpusIndex
from camber.rules.phrase.extraction import extract
from camber.rules.phrase.store import RuleStore
from camber.text.pipeline import TextPipeline
from camber.tune.loop import TuneSettings, tune
from camber.tune.tuner import REGULARISER, SPARSE
from camber.tune.tuners import check_tuner

Name = str | Path
Dev = tuple[list[str], list[list[str]]]  # source lines, and the lines of every reference

#: what a method's rules are, and the folder that they are in
_RULE_STAGES = {"phrase": "rules", "hiero": "index"}

#: the signature of weights that were never tuned
UNTUNED = "untuned"
#: the table of model.toml that tells what training wrote from what was changed since
TRAINED = "trained"
#: a given language model that does not know such a share of the target words was made for other text
STRANGE = 0.2


def train(
    source: Name,
    target: Name,
    model: Name,
    *,
    method: str = "phrase",
    dev_source: Name | None = None,
    dev_target: Sequence[Name] | Name = (),
    lm: Sequence[Name] | Name = (),
    alignment: Name | None = None,
    held_out: int | None = None,
    tuned: bool = True,
    settings: TrainSettings | None = None,
    seed: int = 1,
    engine: Engine = LOCAL,
    keep_work: bool = True,
) -> Translator:
    """Train a translator from two parallel files and return it, opened from its directory `model`.

    `method` is "phrase", or "hiero" for hierarchical rules that are extracted for every sentence.

    `lm`: ARPA files to use instead of a language model of the target side; `alignment`: a Pharaoh file instead of our
    own. Without a dev set, `held_out` pairs are kept out of training (None: a sensible number, none if nothing is
    tuned; 0: none). The weights are tuned on the dev set or the held-out pairs unless `tuned` is false. What the stages
    made stays in ``<model>.work``, so that an interrupted or changed training runs only what it must.

    A model that training wrote is replaced. One that was changed since, by tuning say, is kept as ``<model>.old``; one
    that pairs were added to is not replaced at all: that is an error.

    >>> camber.train("train.de", "train.en", "my-model")                            # doctest: +SKIP
    """
    settings = settings or TrainSettings()
    source, target, model = Path(source), Path(target), Path(model).resolve()
    references = [Path(dev_target)] if isinstance(dev_target, str | Path) else [Path(name) for name in dev_target]
    arpas = [Path(lm)] if isinstance(lm, str | Path) else [Path(name) for name in lm]
    if method not in _RULE_STAGES:
        raise SettingsError(f"no method {method!r}; there are {', '.join(_RULE_STAGES)}")
    # all that can be known is checked before the long work: a wrong path should not cost an hour
    check_place(model, method)
    _check_added(model)
    dev = _read_dev(dev_source, references)
    if held_out and (dev or alignment is not None):
        raise SettingsError(f"no pairs are held out with {'a dev set' if dev else 'an alignment'}; leave held_out out")
    if dev or alignment is not None or (held_out is None and not tuned):
        held_out = 0  # a file of alignments has a line for every pair, and all of them are used
    _check_bend(settings.tune, tuned and (dev is not None or held_out != 0))

    with Stages(model.with_name(model.name + ".work")) as stages:
        corpus = stages.run(
            "corpus",
            {"source": source, "target": target, "text": settings.text, "clean": settings.clean, "seed": seed,
             "held_out": held_out},
            lambda folder: prepare(source, target, folder, settings.text, settings.clean, held_out, seed),
            code=("camber.text", "camber.corpus", "camber.pipeline.corpus"),
        )  # fmt: skip
        aligned = stages.run(
            "align",
            {"corpus": corpus, "settings": settings.align, "own": Path(alignment) if alignment else None},
            lambda folder: _align(corpus, alignment, settings, engine, folder),
            code=("camber.align",),
        )
        language = stages.run(
            "lm",
            {"corpus": corpus, "settings": settings.lm, "own": arpas},
            lambda folder: _language_models(corpus, arpas, settings, folder),
            code=("camber.lm",),
        )
        rules = stages.run(
            _RULE_STAGES[method],
            {"corpus": corpus, "aligned": aligned, "settings": settings.rules if method == "phrase" else None},
            lambda folder: _rules(method, corpus, aligned, settings, engine, folder),
            code=("camber.rules",),
        )
        dev = dev or _held_out(corpus)
        tuning = None
        if tuned and _can_be_tuned_on(dev):
            tuning = stages.run(
                "tune",
                {"corpus": corpus, "lm": language, "rules": rules, "settings": settings.tune, "dev": dev, "seed": seed,
                 "search": settings.decode if method == "phrase" else [settings.hiero, settings.chart]},
                lambda folder: _tune(method, settings, corpus, language, rules, dev, seed, engine, folder),
                code=("camber.tune", "camber.decode", "camber.metrics", "camber.bend"),
            )  # fmt: skip
        if tuning is None and settings.tune.bend not in ("keep", "none"):
            log.warning("not bent: %s is made by tuning, and there was too little text to tune on", settings.tune.bend)
        _assemble(method, model, settings, corpus, aligned, language, rules, tuning)
        if not keep_work:
            stages.remove()
    translator = load(model)
    if dev and tuning is None:
        _report(translator, dev, engine)
    return translator


def _check_added(model: Path) -> None:
    """Refuse to replace a model that knows pairs which no training has."""
    count = int(recorded(model).get("sizes", {}).get("added_pairs", 0)) if is_model(model) else 0
    if count:
        raise ModelError(
            f"{model}: {count:,} pairs were added to this model, which training would lose; train into another "
            "directory and add them there with `camber add`, or remove this model"
        )


def _check_bend(settings: TuneSettings, tuned: bool) -> None:
    """Refuse a bend that cannot be made, because nothing is tuned or the tuner is not made for so many weights."""
    if settings.bend in ("keep", "none"):
        return
    if not tuned:
        raise SettingsError(f"the bend {settings.bend} is made by tuning, which needs a dev set or held-out pairs")
    if settings.bend != "raw":
        check_tuner(settings.tuner, [SPARSE, REGULARISER], f"the bins of the bend {settings.bend}")


def _read_dev(source: Name | None, references: list[Path]) -> Dev | None:
    """Read the dev set, if one was given: source lines, and the lines of every reference."""
    if source is None and not references:
        return None
    if source is None or not references:
        raise InputError("a dev set needs a source file and at least one target file", source or references[0])
    first, *others = read_parallel(source, *references)
    return first, others


def _align(corpus: Stage, alignment: Name | None, settings: TrainSettings, engine: Engine, folder: Path) -> None:
    """Align the corpus, or read the user's alignment and keep the lines of the pairs that cleaning kept."""
    bitext = load_bitext(corpus.folder)
    if alignment is None:
        found, aligner = learn_alignment(bitext, settings.align, engine)
        aligner.save(folder / "aligner")  # for pairs that are added later
    else:
        lengths = np.column_stack((bitext.source.lengths, bitext.target.lengths))
        found = read_kept_pharaoh(alignment, np.load(corpus.folder / "kept.npy"), lengths)
    np.save(folder / "links.npy", found.links)
    np.save(folder / "offsets.npy", found.offsets)
    lexical_table(bitext, found).save(folder / "lexicon.npy")


def _load_alignment(folder: Path) -> Alignment:
    return Alignment(np.load(folder / "links.npy"), np.load(folder / "offsets.npy"))


def _language_models(corpus: Stage, arpas: Sequence[Path], settings: TrainSettings, folder: Path) -> None:
    """Read the user's language models, or estimate one from the target side."""
    target = load_bitext(corpus.folder).target
    if arpas:
        models = [NgramModel.read(path) for path in arpas]
        for path, model in zip(arpas, models, strict=True):
            unknown = float(np.mean(model.word_ids(target.vocabulary)[target.ids] == UNKNOWN))
            if unknown > STRANGE:
                log.warning(
                    "%s: %.0f %% of the target text's words are unknown to this language model; it should be made from "
                    "text of that language, tokenised and cased as the training does it",
                    path, 100 * unknown,
                )  # fmt: skip
    else:
        models = [NgramModel.from_trie(estimate(target, settings.lm))]
    save_language_models(models, folder)


def _held_out(corpus: Stage) -> Dev | None:
    """Return the pairs that were set aside as a dev set with one reference."""
    held = load_held_out(corpus.folder)
    return (held.source, [held.target]) if held else None


def _can_be_tuned_on(dev: Dev | None) -> bool:
    """Say whether there is a dev set that is worth tuning on, and tell the user if there is not."""
    if dev is None:
        log.info("not tuned: there is no dev set")
        return False
    if len(dev[0]) < FEWEST_TO_TUNE:
        log.info("not tuned: %d dev sentences are too few (at least %d)", len(dev[0]), FEWEST_TO_TUNE)
        return False
    return True


def _rules(method: str, corpus: Stage, aligned: Stage, settings: TrainSettings, engine: Engine, folder: Path) -> None:
    """Extract all phrase pairs, or index the corpus so that rules can be extracted for every sentence."""
    bitext, alignment = load_bitext(corpus.folder), _load_alignment(aligned.folder)
    if method == "phrase":
        extract(bitext, alignment, settings.rules, engine).save(folder)
    else:
        CorpusIndex.build(bitext, alignment).save(folder)


def _open(method: str, settings: TrainSettings, corpus: Stage, language: Stage, rules: Stage) -> Translator:
    """Open what the stages made as a translator with untuned weights."""
    models, text = open_language_models(language.folder), TextPipeline.load(corpus.folder / "text")
    if method == "hiero":
        weights = untuned_hiero_weights(len(models), settings.hiero)
        return Translator(text, hiero_decoder(rules.folder, models, weights, settings.hiero, settings.chart), weights)
    features = settings.rules.features
    weights = Weights(untuned_weights(len(models), features), signature=UNTUNED)
    return Translator.phrase(text, RuleStore.load(rules.folder), models, weights, settings.decode, features)


def _tune(
    method: str,
    settings: TrainSettings,
    corpus: Stage,
    language: Stage,
    rules: Stage,
    dev: Dev | None,
    seed: int,
    engine: Engine,
    folder: Path,
) -> None:
    """Tune the weights; where that is impossible, say why and keep the untuned ones."""
    translator = _open(method, settings, corpus, language, rules)
    try:
        source, references = dev or ([], [])
        translator = tune(translator, source, references, settings.tune, seed, engine).translator
    except TuneError as error:
        log.warning("not tuned: %s", error)
    translator.weights.write(folder / "weights.tsv")
    if translator.decoder.bend is not None:
        translator.decoder.bend.write(folder / BINS)


def _assemble(
    method: str,
    model: Path,
    settings: TrainSettings,
    corpus: Stage,
    aligned: Stage,
    language: Stage,
    rules: Stage,
    tuning: Stage | None,
) -> None:
    """Put the stages' outputs together into a model directory."""
    with write_model(model, method, _as_made(settings, tuning)) as draft:
        _check_added(model)  # again, now that nobody else changes it
        draft.keep_old = _changed_since_training(model)
        draft.take_folder(corpus.folder / "text", "text")
        draft.take_folder(language.folder)
        draft.take_folder(rules.folder, _RULE_STAGES[method])
        draft.take_folder(aligned.folder / "aligner", "align")  # absent if the user aligned
        if method == "phrase":  # an indexed corpus says it by itself
            draft.take(aligned.folder / "lexicon.npy", "align/lexicon.npy")
        if tuning:
            draft.take_folder(tuning.folder)
        else:
            _open(method, settings, corpus, language, rules).weights.write(draft.path("weights.tsv"))
        draft.settings[TRAINED] = {"weights": hashlib.sha256(draft.path("weights.tsv").read_bytes()).hexdigest()}
        draft.sizes |= _sizes(method, rules, open_language_models(language.folder))


def _as_made(settings: TrainSettings, tuning: Stage | None) -> dict[str, dict[str, Any]]:
    """Return the settings to record: nothing of a tuning or a bend that did not come about."""
    tables = settings.to_dict()
    if tuning is None or Weights.read(tuning.folder / "weights.tsv").signature == UNTUNED:
        del tables["tune"]
    elif not (tuning.folder / BINS).exists():
        tables["tune"] = {name: value for name, value in tables["tune"].items() if name not in ("bend", *APPLIES)}
    return tables


def _changed_since_training(model: Path) -> str:
    """Say why the model that is there is more than what training wrote; nothing if it is not, or there is none."""
    if not is_model(model):
        return ""
    facts = recorded(model)
    wrote = facts.get("settings", {}).get(TRAINED, {}).get("weights")
    if wrote is None:
        return "was not made by this version of `camber train`"
    return "" if wrote == facts.get("files", {}).get("weights.tsv", {}).get("sha256") else "was tuned since"


def _sizes(method: str, rules: Stage, models: list[NgramModel]) -> dict[str, int]:
    if method == "phrase":
        return model_sizes(RuleStore.load(rules.folder), models)
    index = CorpusIndex.load(rules.folder)
    return {
        "source_words": len(index.source.vocabulary),
        "target_words": len(index.target.vocabulary),
        "pairs": len(index),
        "language_models": len(models),
        "lm_order": max((model.order for model in models), default=0),
    }


def _report(translator: Translator, dev: Dev, engine: Engine) -> None:
    """Say how well the model translates text that it was not trained on."""
    source, references = dev
    metric = BLEU(tokenize="none" if translator.text.settings.tokenizer == "none" else "13a")
    score = metric.score(metric.statistics(translator.translate(source, engine), references).sum(0))
    log.info("BLEU on %s dev lines: %.2f", f"{len(source):,}", score)
