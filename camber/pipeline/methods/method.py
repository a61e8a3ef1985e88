"""What training must know about a method; the rest of training is the same for all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from camber.align.pharaoh import Alignment
from camber.arrays.scratch import UNLIMITED, Scratch
from camber.corpus import Bitext
from camber.engine import Engine
from camber.features.weights import Weights
from camber.model.kinds import Unweighted
from camber.pipeline.settings import TrainSettings
from camber.rules.settings import WordSettings
from camber.text.pipeline import TextPipeline

Dev = tuple[list[str], list[list[str]]]  # source lines, and the lines of every reference


class Trainable(Unweighted, Protocol):
    """Rules that weights are still to be found for."""

    def untuned(self, language_models: int) -> Weights:
        """Return weights for a translator that was not tuned."""


class Method(Protocol):
    """One way to make a translator from an aligned corpus."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def kind(self) -> str:
        """The kind of model that it makes (see `camber.model.kinds`), which also says whether pairs can be added."""

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables of settings that it uses, beside those that every training has."""

    @property
    def folder(self) -> str:
        """The folder of its rules in a model, and the name of the stage that makes them."""

    @property
    def code(self) -> tuple[str, ...]:
        """The modules and packages that make its rules: when they change, the rules are made anew."""

    @property
    def keeps(self) -> Mapping[str, str]:
        """What a model keeps of the alignment stage: file or folder there → its name in the model."""

    def rule_settings(self, settings: TrainSettings) -> Any:
        """Return the settings that its rules depend on."""

    def make_rules(
        self,
        bitext: Bitext,
        alignment: Alignment,
        settings: TrainSettings,
        engine: Engine,
        folder: Path,
        scratch: Scratch = UNLIMITED,
    ) -> None:
        """Fill `folder` with what translating needs of the corpus; `scratch` says what may be in memory."""

    def word_settings(self, settings: TrainSettings) -> WordSettings | None:
        """Return how to learn what features of the rules must know about words (`WordKnowledge`); None: nothing."""

    def add_features(self, words: Path, settings: TrainSettings, folder: Path) -> None:
        """Add such features to what :meth:`make_rules` wrote; `words` is the folder of what was learnt."""

    def sizes(self, folder: Path) -> dict[str, Any]:
        """Return what a reader of `model.toml` wants to know about the rules."""


class UnweighedMethod(Method, Protocol):
    """A method whose kind of model has no weights; some setting may still be chosen on a dev set."""

    def left_open(self, settings: TrainSettings) -> bool:
        """Say whether something is to be chosen."""

    def chosen(
        self, folder: Path, settings: TrainSettings, text: TextPipeline, dev: Dev, engine: Engine
    ) -> TrainSettings:
        """Choose it on raw lines of a dev set; `folder` is what :meth:`make_rules` filled."""


class WeighedMethod(Method, Protocol):
    """A method whose kind of model has weights."""

    def search_settings(self, settings: TrainSettings) -> Any:
        """Return the settings of extraction on demand and search, which tuning depends on."""

    def open_rules(self, folder: Path, settings: TrainSettings) -> Trainable:
        """Open what :meth:`make_rules` wrote."""
