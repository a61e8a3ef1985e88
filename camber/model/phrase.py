"""Phrase models: a store of phrase pairs, and the phrases of pairs that were added since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from camber.bend.bend import Bend
from camber.decode.phrase.decoder import PhraseDecoder
from camber.decode.phrase.features import features
from camber.decode.phrase.settings import DecodeSettings
from camber.decode.searcher import LogLinear
from camber.features.feature import Feature
from camber.features.weights import Weights
from camber.lm.ngrams import NgramModel
from camber.model.added import open_overlay
from camber.model.directory import Draft, ModelDirectory
from camber.model.kinds import open_weighed
from camber.model.language_models import language_sizes, save_language_models
from camber.rules.phrase.settings import RuleSettings
from camber.rules.phrase.source import OverlaidRules, PhraseSource, StoredRules
from camber.rules.phrase.store import SCORE_NAMES, RuleStore, feature_of
from camber.text.pipeline import TextPipeline

if TYPE_CHECKING:  # imported where there are added pairs
    from camber.rules.phrase.overlay import Overlay

#: the folder of the rules
FOLDER = "rules"


@dataclass(frozen=True)
class PhraseRules:
    """A rule store and how it is searched."""

    store: RuleStore
    features: tuple[str, ...] = SCORE_NAMES  # of the phrase pairs
    settings: DecodeSettings = field(default_factory=DecodeSettings)
    added: Overlay | None = None

    def inputs(self, language_models: int) -> tuple[Feature, ...]:
        """Return the features of parts, before any bend."""
        return features(language_models, tuple(map(feature_of, self.features)))

    def weighted(self, models: Sequence[NgramModel], weights: Weights, bend: Bend | None = None) -> PhraseDecoder:
        """Return the decoder; without a bend, it weighs logarithms."""
        rules: PhraseSource = StoredRules(self.store, self.features)
        if self.added is not None:
            rules = OverlaidRules(self.added, self.features)
        return PhraseDecoder(rules, models, weights.values, self.settings, bend)


class PhraseKind:
    """Models of kind "phrase"."""

    takes_pairs = True

    def open(self, directory: ModelDirectory) -> tuple[LogLinear, Weights]:
        """Open a model: its decoder and its weights."""
        return open_weighed(self.rules(directory), directory)

    def rules(self, directory: ModelDirectory) -> PhraseRules:
        """Open the rules of a model, with the settings of the search that it records."""
        store = RuleStore.load(directory.path / FOLDER)
        features = RuleSettings.from_dict(directory.settings.get("rules", {})).features
        settings = DecodeSettings.from_dict(directory.settings.get("decode", {}))
        return PhraseRules(store, features, settings, open_overlay(directory, store))


KIND = PhraseKind()


def save_phrase_model(
    text: TextPipeline, rules: PhraseRules, models: Sequence[NgramModel], weights: Weights, draft: Draft
) -> None:
    """Write a phrase model into a model that is being made (:func:`camber.model.directory.write_model`)."""
    for name in (FOLDER, "text"):
        (draft.folder / name).mkdir()
    text.save(draft.folder / "text")
    rules.store.save(draft.folder / FOLDER)
    save_language_models(models, draft.folder)
    weights.write(draft.folder / "weights.tsv")
    draft.settings["decode"] = rules.settings.to_dict()
    draft.settings["rules"] = {"rule_features": ",".join(rules.features)}
    draft.sizes |= {**store_sizes(rules.store), **language_sizes(models)}


def store_sizes(store: RuleStore) -> dict[str, int]:
    """Return what a reader of `model.toml` wants to know about phrase pairs."""
    return {
        "source_words": len(store.source_vocabulary),
        "target_words": len(store.target_vocabulary),
        "source_phrases": store.phrases,
        "rules": len(store),
    }
