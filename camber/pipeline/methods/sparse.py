"""Translation by sparse regression: for each sentence, pairs are selected, and all else is learnt from these alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from camber.align.pharaoh import Alignment
from camber.arrays.scratch import UNLIMITED, Scratch
from camber.corpus import Bitext
from camber.engine import Engine
from camber.model.added import LEXICON
from camber.model.sparse import FOLDER, PHRASES, SparseRules, check_features, instance_sizes, open_rules
from camber.pipeline.settings import TrainSettings
from camber.regress.transduce.settings import GLOBAL
from camber.rules.hiero.index import CorpusIndex
from camber.rules.phrase.extraction import extract_into


class SparseMethod:
    """An aligned corpus to select from; phrase pairs of all of it only where they are needed."""

    name = kind = "sparse"
    tables: tuple[str, ...] = ("sparse", "graph", "rules", "decode")
    folder = FOLDER
    code = ("camber.rules", "camber.model.sparse")
    keeps = {"aligner": "align", "lexicon.npy": LEXICON}  # noqa: RUF012

    def rule_settings(self, settings: TrainSettings) -> Any:
        """Return the settings of phrase pairs of the whole corpus, if there are any."""
        check_features(settings.sparse, settings.rules)
        return settings.rules if settings.sparse.decoder in GLOBAL else None

    def search_settings(self, settings: TrainSettings) -> Any:
        """Return the settings of selection, regression and search."""
        return [settings.sparse, settings.graph, settings.decode, settings.rules]

    def make_rules(
        self,
        bitext: Bitext,
        alignment: Alignment,
        settings: TrainSettings,
        engine: Engine,
        folder: Path,
        scratch: Scratch = UNLIMITED,
    ) -> None:
        """Keep the corpus with its alignment, and extract phrase pairs where they are needed."""
        CorpusIndex.build(bitext, alignment).save(folder)
        if settings.sparse.decoder in GLOBAL:
            extract_into(folder / PHRASES, bitext, alignment, settings.rules, engine, scratch)

    def word_settings(self, settings: TrainSettings) -> None:
        """Return nothing: phrase pairs made for each sentence have no features that must be learnt."""

    def add_features(self, words: Path, settings: TrainSettings, folder: Path) -> None:
        """Never called, since :meth:`word_settings` asks for nothing."""
        raise AssertionError("no features are learnt")

    def open_rules(self, folder: Path, settings: TrainSettings) -> SparseRules:
        """Open what :meth:`make_rules` wrote."""
        return open_rules(folder, settings.to_dict())

    def sizes(self, folder: Path) -> dict[str, Any]:
        """Return what a reader of `model.toml` wants to know about the corpus."""
        return instance_sizes(folder)


METHOD = SparseMethod()
