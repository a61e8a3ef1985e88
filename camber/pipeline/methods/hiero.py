"""Hierarchical translation: the corpus is indexed, and rules are extracted for every sentence that comes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from camber.align.pharaoh import Alignment
from camber.arrays.scratch import UNLIMITED, Scratch
from camber.corpus import Bitext
from camber.engine import Engine
from camber.model.hiero import FOLDER, LARGE, HieroRules, index_sizes, open_rules
from camber.pipeline.settings import TrainSettings
from camber.rules.features import learnt
from camber.rules.hiero.extraction import HieroSettings
from camber.rules.hiero.index import CorpusIndex


class HieroMethod:
    """An indexed corpus, whose rules have gaps, searched with a chart."""

    name = kind = "hiero"
    tables: tuple[str, ...] = ("hiero", "chart")
    folder = FOLDER
    code = ("camber.rules",)
    keeps = {"aligner": "align"}  # noqa: RUF012

    def rule_settings(self, settings: TrainSettings) -> HieroSettings | None:
        """Return those of extraction, if features are learnt by it; an index is made in one way."""
        return self.word_settings(settings)

    def search_settings(self, settings: TrainSettings) -> list[Any]:
        """Return the settings of extraction on demand and of the search."""
        return [settings.hiero, settings.chart]

    def make_rules(
        self,
        bitext: Bitext,
        alignment: Alignment,
        settings: TrainSettings,
        engine: Engine,
        folder: Path,
        scratch: Scratch = UNLIMITED,
    ) -> None:
        """Index the corpus."""
        CorpusIndex.build(bitext, alignment).save(folder)

    def word_settings(self, settings: TrainSettings) -> HieroSettings | None:
        """Return those of extraction, if it needs to know about words."""
        return settings.hiero if learnt(settings.hiero.features) else None

    def add_features(self, words: Path, settings: TrainSettings, folder: Path) -> None:
        """Choose the indicators that rules will have when they are extracted."""
        from camber.rules.hiero.large import learn_inventory
        from camber.rules.words import WordKnowledge

        knowledge = WordKnowledge.load(words)
        learn_inventory(knowledge, CorpusIndex.load(folder), settings.hiero).save(folder / LARGE)

    def open_rules(self, folder: Path, settings: TrainSettings) -> HieroRules:
        """Open the index."""
        return open_rules(folder, CorpusIndex.load(folder), settings.hiero, settings.chart)

    def sizes(self, folder: Path) -> dict[str, Any]:
        """Return what a reader of `model.toml` wants to know about the index."""
        return index_sizes(CorpusIndex.load(folder))


METHOD = HieroMethod()
