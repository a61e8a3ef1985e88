"""Translation by regression: n-gram vectors are regressed on each other, and phrase pairs spell what is predicted.

Nothing has a weight, and there is no language model. One number, the scale of predictions, is chosen on a dev set.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from camber.align.pharaoh import Alignment
from camber.arrays.scratch import UNLIMITED, Scratch
from camber.corpus import Bitext
from camber.corpus.inputs import as_inputs
from camber.engine import Engine
from camber.metrics.bleu import BLEU
from camber.model.added import LEXICON
from camber.model.kernel import open_decoder, regression_sizes
from camber.model.phrase import FOLDER
from camber.model.regression import PAIRS
from camber.pipeline.methods.method import Dev
from camber.pipeline.methods.phrase import METHOD as PHRASES
from camber.pipeline.settings import TrainSettings
from camber.regress.learnt import LearntRegression
from camber.regress.scale import best_scale
from camber.regress.settings import MAXIMUM_MARGIN
from camber.rules.phrase.settings import RuleSettings
from camber.text.pipeline import TextPipeline


class KernelMethod:
    """A regression, and a table of phrase pairs."""

    name = kind = "kernel"
    tables: tuple[str, ...] = ("rules", "kernel", "preimage")
    folder = FOLDER
    code = ("camber.rules", "camber.regress")
    keeps = {"aligner": "align", "lexicon.npy": LEXICON}  # noqa: RUF012

    def rule_settings(self, settings: TrainSettings) -> list[Any]:
        """Return the settings of the phrase pairs and of the regression; a ridge is used when a model is opened."""
        return [settings.rules, *settings.kernel.to_learn]

    def make_rules(
        self,
        bitext: Bitext,
        alignment: Alignment,
        settings: TrainSettings,
        engine: Engine,
        folder: Path,
        scratch: Scratch = UNLIMITED,
    ) -> None:
        """Extract all phrase pairs, and learn the regression."""
        PHRASES.make_rules(bitext, alignment, settings, engine, folder, scratch)
        LearntRegression.learn(bitext, settings.kernel).save(folder / PAIRS)

    def left_open(self, settings: TrainSettings) -> bool:
        """Say whether predictions are to be scaled; maximum margin compares directions, which have no scale."""
        return settings.kernel.regression != MAXIMUM_MARGIN and settings.preimage.scale == 0.0

    def chosen(
        self, folder: Path, settings: TrainSettings, text: TextPipeline, dev: Dev, engine: Engine
    ) -> TrainSettings:
        """Choose the scale that translates the dev set best."""
        lines, references = dev
        prepared = [text.prepare(line) for line in lines]
        scale = best_scale(
            open_decoder(folder, settings.rules, settings.kernel, settings.preimage),
            as_inputs(sentence.tokens for sentence in prepared),
            references,
            lambda row, words: text.finish(words, prepared[row]),
            BLEU(tokenize="none" if text.settings.tokenizer == "none" else "13a"),
            engine,
        )
        return replace(settings, preimage=replace(settings.preimage, scale=scale))

    def word_settings(self, settings: TrainSettings) -> RuleSettings | None:
        """Return those of the rules, if their features are more than every rule store knows."""
        return PHRASES.word_settings(settings)

    def add_features(self, words: Path, settings: TrainSettings, folder: Path) -> None:
        """Measure them for all phrase pairs."""
        PHRASES.add_features(words, settings, folder)

    def sizes(self, folder: Path) -> dict[str, Any]:
        """Return what a reader of `model.toml` wants to know about phrase pairs and the regression."""
        return regression_sizes(folder)


METHOD = KernelMethod()
