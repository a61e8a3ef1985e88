"""Hierarchical translation: the corpus is indexed, and rules are extracted for every sentence that comes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from camber.align.pharaoh import Alignment
from camber.corpus import Bitext
from camber.engine import Engine
from camber.model.hiero import FOLDER, HieroRules, index_sizes
from camber.pipeline.settings import TrainSettings
from camber.rules.hiero.index import CorpusIndex


class HieroMethod:
    """An indexed corpus, whose rules have gaps, searched with a chart."""

    name = kind = "hiero"
    tables: tuple[str, ...] = ("hiero", "chart")
    folder = FOLDER
    code = ("camber.rules",)
    keeps = {"aligner": "align"}  # noqa: RUF012

    def rule_settings(self, settings: TrainSettings) -> None:
        """Return nothing: an index is made in one way."""

    def search_settings(self, settings: TrainSettings) -> list[Any]:
        """Return the settings of extraction on demand and of the search."""
        return [settings.hiero, settings.chart]

    def make_rules(
        self, bitext: Bitext, alignment: Alignment, settings: TrainSettings, engine: Engine, folder: Path
    ) -> None:
        """Index the corpus."""
        CorpusIndex.build(bitext, alignment).save(folder)

    def needs_words(self, settings: TrainSettings) -> bool:
        """Say that they do not: rules are extracted later."""
        return False

    def add_features(self, words: Path, settings: TrainSettings, folder: Path) -> None:
        """Add nothing."""

    def open_rules(self, folder: Path, settings: TrainSettings) -> HieroRules:
        """Open the index."""
        return HieroRules(CorpusIndex.load(folder), settings.hiero, settings.chart)

    def sizes(self, folder: Path) -> dict[str, int]:
        """Return what a reader of `model.toml` wants to know about the index."""
        return index_sizes(CorpusIndex.load(folder))


METHOD = HieroMethod()
