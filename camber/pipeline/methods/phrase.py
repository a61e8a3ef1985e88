"""Phrase-based translation: all phrase pairs of the corpus are extracted and weighed at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from camber.align.pharaoh import Alignment
from camber.arrays.scratch import UNLIMITED, Scratch
from camber.corpus import Bitext
from camber.engine import Engine
from camber.model.added import LEXICON
from camber.model.phrase import FOLDER, LARGE, PhraseRules, open_rules, phrase_sizes
from camber.model.regression import PAIRS, open_scorer
from camber.pipeline.settings import TrainSettings
from camber.rules.features import learnt
from camber.rules.phrase.extraction import extract_into
from camber.rules.phrase.settings import RuleSettings
from camber.rules.phrase.store import RuleStore


class PhraseMethod:
    """A table of phrase pairs, searched with stacks; a regression may be one more feature."""

    name = kind = "phrase"
    tables: tuple[str, ...] = ("rules", "decode", "regression", "kernel")
    folder = FOLDER
    code = ("camber.rules",)
    # the lexicon is for the lexical weights of added pairs
    keeps = {"aligner": "align", "lexicon.npy": LEXICON}  # noqa: RUF012

    def rule_settings(self, settings: TrainSettings) -> Any:
        """Return the settings that the phrase pairs, and a regression beside them, depend on."""
        kernel = settings.regression.of(settings.kernel)
        return settings.rules if kernel is None else [settings.rules, kernel.to_learn]

    def search_settings(self, settings: TrainSettings) -> Any:
        """Return the settings of the search, and those of a regression that it uses."""
        kernel = settings.regression.of(settings.kernel)
        return settings.decode if kernel is None else [settings.decode, kernel]

    def make_rules(
        self,
        bitext: Bitext,
        alignment: Alignment,
        settings: TrainSettings,
        engine: Engine,
        folder: Path,
        scratch: Scratch = UNLIMITED,
    ) -> None:
        """Extract all phrase pairs, and learn the regression that is one more feature, if it is wanted."""
        extract_into(folder, bitext, alignment, settings.rules, engine, scratch)
        if (kernel := settings.regression.of(settings.kernel)) is not None:
            from camber.regress.learnt import LearntRegression

            LearntRegression.learn(bitext, kernel).save(folder / PAIRS)

    def word_settings(self, settings: TrainSettings) -> RuleSettings | None:
        """Return those of the rules, if their features are more than every rule store knows."""
        return settings.rules if learnt(settings.rules.features) else None

    def add_features(self, words: Path, settings: TrainSettings, folder: Path) -> None:
        """Measure them for all phrase pairs."""
        from camber.rules.phrase.large import LargeFeatures
        from camber.rules.words import WordKnowledge

        LargeFeatures.of(WordKnowledge.load(words), RuleStore.load(folder), settings.rules).save(folder / LARGE)

    def open_rules(self, folder: Path, settings: TrainSettings) -> PhraseRules:
        """Open the phrase pairs, and a regression if there is one."""
        rules = open_rules(folder, settings.rules.features, settings.decode)
        return replace(rules, scorer=open_scorer(folder, settings.regression, settings.kernel, rules.store))

    def sizes(self, folder: Path) -> dict[str, Any]:
        """Return what a reader of `model.toml` wants to know about the phrase pairs."""
        return phrase_sizes(folder)


METHOD = PhraseMethod()
