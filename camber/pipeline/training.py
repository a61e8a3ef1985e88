"""The stages of a training, in order: what each depends on, makes, and gives to the model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from camber.align.lexical import lexical_table
from camber.align.pharaoh import Alignment, read_kept_pharaoh
from camber.align.sure import with_sure_links
from camber.align.words import learn_alignment
from camber.arrays.scratch import Scratch, memory_of
from camber.arrays.types import F8, I8
from camber.bend.kinds import BENDS, KEEP
from camber.bend.settings import BendSettings
from camber.confidence.calibration import FILE as CONFIDENCE
from camber.engine import Engine
from camber.errors import ModelError, TuneError
from camber.features.weights import Weights
from camber.files import read_packed, write_lines
from camber.lm.kneser_ney import estimate
from camber.lm.ngrams import UNKNOWN, NgramModel
from camber.memory.segments import Segments
from camber.model.bend import TABLE
from camber.model.directory import is_model, recorded, write_model
from camber.model.journal import Journal
from camber.model.kinds import UNTUNED
from camber.model.language_models import language_sizes, open_language_models, save_language_models
from camber.model.memory import FOLDER as MEMORY
from camber.model.translator import Translator
from camber.pipeline.calibrate import calibrated_if_possible
from camber.pipeline.corpus import Chosen, load_bitext, load_held_out, prepare
from camber.pipeline.domain import own_pairs, taken, weighed_pairs
from camber.pipeline.importing import CODED, Corpus, import_corpora, read_coded
from camber.pipeline.methods import Method, tables_of, unweighed, weighed, weighs
from camber.pipeline.methods.method import Dev
from camber.pipeline.settings import TrainSettings
from camber.pipeline.stages import Stage, Stages
from camber.pipeline.tune import tune_translator
from camber.progress import log, step
from camber.rules.settings import WordSettings
from camber.text.pipeline import TextPipeline
from camber.tune.loop import ROUNDS, TuneSettings

#: the table of model.toml that tells what training wrote from what was changed since
TRAINED = "trained"
#: a given language model that does not know such a share of the target words was made for other text
STRANGE = 0.2


class PairsAdded(ModelError):
    """A model that pairs were added to, which must not be replaced."""


@dataclass(frozen=True)
class Made:
    """What the stages made before anything is tuned."""

    corpus: Stage
    aligned: Stage
    language: Stage | None  # None: the method has no language model
    rules: Stage


@dataclass(frozen=True)
class Training:
    """The stages of a training, in order."""

    method: Method
    settings: TrainSettings
    stages: Stages
    seed: int
    engine: Engine
    most_memory: int | str | None = None  # bytes, or a size as people write it; None: half of what is free

    def scratch(self, folder: Path) -> Scratch:
        """Say how much memory a stage that fills `folder` may take, and where it puts what is more."""
        return Scratch(memory_of(self.most_memory), folder)

    def imported(self, corpora: Sequence[Corpus], *, unconfirmed: bool, keep_going: bool) -> Stage:
        """Turn files with both languages into parallel text, with a weight for each pair."""
        text = self.settings.text

        def read(folder: Path) -> None:
            report = import_corpora(
                corpora, text.source_lang, text.target_lang, folder, unconfirmed=unconfirmed, keep_going=keep_going
            )
            log.info("%s", report)

        inputs = {
            "files": [corpus.path for corpus in corpora], "weights": [corpus.weight for corpus in corpora],
            "languages": [text.source_lang, text.target_lang], "unconfirmed": unconfirmed, "keep_going": keep_going,
        }  # fmt: skip
        return self.stages.run("import", inputs, read, code=("camber.formats.bilingual", "camber.pipeline.importing"))

    def make(
        self,
        source: Path,
        target: Path,
        arpas: Sequence[Path] = (),
        alignment: Path | None = None,
        held_out: int | None = 0,
        rows: I8 | None = None,
        weights: Path | None = None,
    ) -> Made:
        """Run all stages but the tuning; `rows` are the lines to train on, by default all.

        `weights` is a file that says how much each of all lines counts.
        """
        settings, run = self.settings, self.stages.run
        own = None if weights is None or held_out == 0 else own_pairs(np.load(weights))
        corpus = run(
            "corpus",
            {"source": source, "target": target, "text": settings.text, "clean": settings.clean, "seed": self.seed,
             "held_out": held_out, "rows": rows, "own": own},
            lambda folder: prepare(
                source, target, folder, settings.text, settings.clean, held_out, self.seed, rows, own, self.engine
            ),
            code=("camber.text", "camber.corpus", "camber.pipeline.corpus"),
        )  # fmt: skip
        aligned = run(
            "align",
            {"corpus": corpus, "settings": settings.align, "own": alignment},
            lambda folder: self.align(corpus, alignment, folder),
            code=("camber.align",),
        )
        language = None
        if weighs(self.method):
            language = run(
                "lm",
                {
                    "corpus": corpus,
                    "settings": settings.lm,
                    "own": list(arpas),
                    "weights": weights if settings.domain.own_lm else None,
                },
                lambda folder: self.language_models(corpus, arpas, weights, folder),
                code=("camber.lm",),
            )
        chosen = self.method.word_settings(settings)
        words = self.words(corpus, chosen) if chosen is not None else None
        rules = run(
            self.method.folder,
            {
                "corpus": corpus,
                "aligned": aligned,
                "settings": self.method.rule_settings(settings),
                "words": words,
                "weights": weights,
            },
            lambda folder: self.make_rules(corpus, aligned, words, weights, folder),
            code=self.method.code,
        )
        return Made(corpus, aligned, language, rules)

    def align(self, corpus: Stage, alignment: Path | None, folder: Path) -> None:
        """Align the corpus, or read the user's alignment."""
        with self.scratch(folder) as scratch:
            _align(corpus, alignment, self.settings, self.engine, folder, scratch)

    def language_models(self, corpus: Stage, arpas: Sequence[Path], weights: Path | None, folder: Path) -> None:
        """Read the user's language models, or estimate one or two."""
        with self.scratch(folder) as scratch:
            save_language_models(_language_models(corpus, arpas, self.settings, weights, self.engine, scratch), folder)

    def make_rules(
        self, corpus: Stage, aligned: Stage, words: Stage | None, weights: Path | None, folder: Path
    ) -> None:
        """Make the rules, with features from what was learnt about words, if it was."""
        bitext, alignment = load_bitext(corpus.folder), _load_alignment(aligned.folder)
        bitext, alignment = weighed_pairs(_weights_of(corpus, weights), bitext, alignment)
        with self.scratch(folder) as scratch:
            self.method.make_rules(bitext, alignment, self.settings, self.engine, folder, scratch)
        if words is not None:
            self.method.add_features(words.folder, self.settings, folder)

    def words(self, corpus: Stage, settings: WordSettings) -> Stage:
        """Learn what features of rules must know about the words of both languages."""
        align = self.settings.align

        def learn(folder: Path) -> None:
            from camber.rules.words import WordKnowledge

            WordKnowledge.learn(load_bitext(corpus.folder), settings, align, self.engine).save(folder)

        inputs = {"corpus": corpus, "clusters": settings.clusters, "merges": settings.subword_merges, "align": align}
        return self.stages.run("words", inputs, learn, code=("camber.corpus", "camber.align", "camber.rules.words"))

    def memory(self, made: Made, source: Path, target: Path, imported: Path | None) -> Stage:
        """Keep all raw pairs that were given, those that are held out, too; the `imported` may have inline codes."""

        def keep(folder: Path) -> None:
            corpus = made.corpus.folder
            sides = read_packed(source, target)
            rows = np.arange(len(sides[0])) if load_held_out(corpus) else np.load(corpus / "rows.npy")
            first, second = (Chosen(side, rows) for side in sides)
            places = np.searchsorted(rows, np.load(corpus / "kept.npy"))
            text = TextPipeline.load(corpus / "text")
            known = {} if imported is None else read_coded(imported)
            coded = {place: known[row] for place, row in enumerate(rows.tolist()) if row in known}
            links = _load_alignment(made.aligned.folder)
            Segments.build(text, first, second, links, places, coded, engine=self.engine).save(folder)

        inputs = {"corpus": made.corpus, "aligned": made.aligned, "source": source, "target": target}
        if imported is not None:
            inputs["coded"] = imported / CODED
        return self.stages.run("memory", inputs, keep, code=("camber.memory", "camber.text"))

    def untuned(self, made: Made) -> Translator:
        """Open what the stages made as a translator with untuned weights."""
        rules = weighed(self.method).open_rules(made.rules.folder, self.settings)
        models = _language_models_of(made)
        weights = rules.untuned(len(models))
        text = TextPipeline.load(made.corpus.folder / "text")
        return Translator(text, rules.weighted(models, weights, None), weights)

    def tune(self, made: Made, dev: Dev) -> Stage:
        """Tune the weights on a dev set."""
        settings = self.settings
        return self.stages.run(
            "tune",
            {"corpus": made.corpus, "lm": made.language, "rules": made.rules, "settings": settings.tune, "dev": dev,
             "seed": self.seed, "search": weighed(self.method).search_settings(settings)},
            lambda folder: _tune(self.untuned(made), dev, settings.tune, self.seed, self.engine, folder),
            code=("camber.tune", "camber.decode", "camber.metrics", "camber.bend", "camber.confidence"),
        )  # fmt: skip

    def choose(self, made: Made, dev: Dev) -> Training:
        """Choose settings that were left open on a dev set, for a method without weights."""
        method, settings = unweighed(self.method), self.settings

        def choose(folder: Path) -> None:
            text = TextPipeline.load(made.corpus.folder / "text")
            tables = method.chosen(made.rules.folder, settings, text, dev, self.engine).to_dict()
            (folder / "settings.json").write_text(json.dumps(tables), encoding="utf-8")

        stage = self.stages.run(
            "choose",
            {"corpus": made.corpus, "rules": made.rules, "settings": settings.to_dict(), "dev": dev},
            choose,
            code=("camber.regress", "camber.decode", "camber.metrics"),
        )
        tables = json.loads((stage.folder / "settings.json").read_text(encoding="utf-8"))
        return replace(self, settings=TrainSettings.from_dict(tables))

    def assemble(self, model: Path, made: Made, tuning: Stage | None, memory: Stage | None) -> None:
        """Put the stages' outputs together into a model directory."""
        method = self.method
        written = write_model(model, method.kind, _as_made(self.settings, method, tuning))
        with step("write the model"), written as draft:
            check_added(model)  # again, now that nobody else changes it
            draft.keep_old = _changed_since_training(model)
            draft.take_folder(made.corpus.folder / "text", "text")
            if made.language is not None:
                draft.take_folder(made.language.folder)
            draft.take_folder(made.rules.folder, method.folder)
            if memory is not None:
                draft.take_folder(memory.folder, MEMORY)
                draft.sizes["memory"] = len(np.load(memory.folder / "times.npy"))
            for name, place in method.keeps.items():
                if (made.aligned.folder / name).is_dir():
                    draft.take_folder(made.aligned.folder / name, place)
                elif (made.aligned.folder / name).exists():  # there is no aligner if the user aligned
                    draft.take(made.aligned.folder / name, place)
            if tuning:
                draft.take_folder(tuning.folder)
            elif weighs(method):
                self.untuned(made).weights.write(draft.path("weights.tsv"))
            weights = draft.path("weights.tsv")
            digest = hashlib.sha256(weights.read_bytes()).hexdigest() if weights.exists() else ""
            draft.settings[TRAINED] = {"weights": digest}
            draft.sizes |= method.sizes(made.rules.folder)
            if made.language is not None:
                draft.sizes |= language_sizes(_language_models_of(made))


def check_added(model: Path) -> None:
    """Refuse to replace a model that knows pairs which no training has."""
    if not is_model(model):
        return
    sizes = recorded(model).get("sizes")
    before = sizes.get("added_pairs", 0) if isinstance(sizes, dict) else 0
    count = (before if isinstance(before, int) else 1) + len(Journal.read(model))
    if count:
        raise PairsAdded(
            f"{model}: {count:,} pairs were added to this model, which training would lose; train into another "
            "directory and add them there with `camber add`, or remove this model"
        )


def _align(
    corpus: Stage, alignment: Path | None, settings: TrainSettings, engine: Engine, folder: Path, scratch: Scratch
) -> None:
    """Align the corpus, or read the user's alignment and keep the lines of the pairs that cleaning kept."""
    bitext = load_bitext(corpus.folder)
    if alignment is None:
        links, aligner = learn_alignment(bitext, settings.align, engine, scratch)
        aligner.save(folder / "aligner")  # for pairs that are added later
        links = with_sure_links(links, np.load(corpus.folder / "sure.npy"))
    else:
        lengths = np.column_stack((bitext.source.lengths, bitext.target.lengths))
        links = read_kept_pharaoh(alignment, np.load(corpus.folder / "kept.npy"), lengths)
    with step("count linked words"):
        np.save(folder / "links.npy", links.links)
        np.save(folder / "offsets.npy", links.offsets)
        lexical_table(bitext, links).save(folder / "lexicon.npy")


def _load_alignment(folder: Path) -> Alignment:
    return Alignment(np.load(folder / "links.npy"), np.load(folder / "offsets.npy"))


def _language_models(
    corpus: Stage,
    arpas: Sequence[Path],
    settings: TrainSettings,
    weights: Path | None,
    engine: Engine,
    scratch: Scratch,
) -> list[NgramModel]:
    """Read the user's language models, or estimate one from the target side, and one of the own domain if there is."""
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
        models = [NgramModel.from_trie(estimate(target, settings.lm, engine, scratch), scratch)]
        counts = _weights_of(corpus, weights)
        own = None if counts is None or not settings.domain.own_lm else own_pairs(counts)
        if own is not None:
            log.info("a language model of the %s pairs that count most is one more feature", f"{own.sum():,}")
            text = taken(target, np.flatnonzero(own))
            models.append(NgramModel.from_trie(estimate(text, settings.lm, engine, scratch), scratch))
    return models


def _weights_of(corpus: Stage, weights: Path | None) -> F8 | None:
    """Return how much each pair of a stage counts, if that differs."""
    return None if weights is None else np.load(weights)[np.load(corpus.folder / "kept.npy")]


def _language_models_of(made: Made) -> list[NgramModel]:
    return [] if made.language is None else open_language_models(made.language.folder)


def _tune(translator: Translator, dev: Dev, settings: TuneSettings, seed: int, engine: Engine, folder: Path) -> None:
    """Tune the weights; where that is impossible, say why and keep the untuned ones."""
    try:
        outcome = tune_translator(translator, *dev, settings, seed=seed, engine=engine)
        translator = translator.shaped(outcome.decoder, outcome.weights)
        write_lines(folder / ROUNDS, outcome.to_rows())
    except TuneError as error:
        log.warning("not tuned: %s", error)
    translator = calibrated_if_possible(translator, *dev, engine)
    if translator.calibration is not None:
        translator.calibration.write(folder / CONFIDENCE)
    translator.weights.write(folder / "weights.tsv")
    bend = translator.decoder.bend
    if bend.FILE:
        bend.write(folder / bend.FILE)


def _as_made(settings: TrainSettings, method: Method, tuning: Stage | None) -> dict[str, dict[str, Any]]:
    """Return the settings to record: none of other methods', nothing of a tuning or a bend that did not come about."""
    tables = {name: table for name, table in settings.to_dict().items() if name in tables_of(method)}
    if not weighs(method):
        return tables
    if tuning is None or Weights.read(tuning.folder / "weights.tsv").signature == UNTUNED:
        del tables["tune"]
    elif _bent_file(settings.tune.bend, tuning.folder):
        tables[TABLE] = {"kind": settings.tune.bend}
    else:
        shape = ("bend", *(item.name for item in fields(BendSettings)))
        tables["tune"] = {name: value for name, value in tables["tune"].items() if name not in shape}
    return tables


def _bent_file(kind: str, folder: Path) -> bool:
    """Say whether tuning left the file of a bend of this kind."""
    file = "" if kind == KEEP else BENDS.load(kind).FILE
    return bool(file) and (folder / file).exists()


def _changed_since_training(model: Path) -> str:
    """Say why the model that is there is more than what training wrote; nothing if it is not, or there is none."""
    if not is_model(model):
        return ""
    facts = recorded(model)
    wrote = facts.get("settings", {}).get(TRAINED, {}).get("weights")
    if wrote is None:
        return "was not made by this version of `camber train`"
    return "" if wrote == facts.get("files", {}).get("weights.tsv", {}).get("sha256", "") else "was tuned since"
