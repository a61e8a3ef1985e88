"""Phrase models: a store of phrase pairs, and the phrases of pairs that were added since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from camber.bend.bend import Bend
from camber.decode.phrase.decoder import PhraseDecoder
from camber.decode.phrase.features import features, untuned_weights
from camber.decode.phrase.ngram_scores import NgramScorer
from camber.decode.phrase.settings import DecodeSettings
from camber.decode.searcher import LogLinear
from camber.features.feature import Feature, names_of
from camber.features.weights import Weights
from camber.lm.ngrams import NgramModel
from camber.model.added import open_overlay
from camber.model.directory import Draft, ModelDirectory
from camber.model.kinds import UNTUNED, open_weighed
from camber.model.language_models import language_sizes, save_language_models
from camber.model.regression import learnt_sizes, open_scorer
from camber.regress.settings import KernelSettings, RegressionSettings
from camber.rules.features import learnt
from camber.rules.phrase.features import SCORE_NAMES
from camber.rules.phrase.settings import RuleSettings
from camber.rules.phrase.source import OverlaidRules, PhraseSource, StoredRules, features_of
from camber.rules.phrase.store import RuleStore
from camber.text.pipeline import TextPipeline

if TYPE_CHECKING:  # imported where they are needed
    from camber.rules.phrase.large import LargeFeatures
    from camber.rules.phrase.overlay import Overlay

#: the folder of the rules, and that of features beyond those that every store knows
FOLDER, LARGE = "rules", "large"
#: the untuned weight of what scores n-grams
UNTUNED_NGRAMS = 0.1


@dataclass(frozen=True)
class PhraseRules:
    """A rule store and how it is searched."""

    store: RuleStore
    features: tuple[str, ...] = SCORE_NAMES  # of the phrase pairs
    settings: DecodeSettings = field(default_factory=DecodeSettings)
    added: Overlay | None = None
    large: LargeFeatures | None = None  # needed for features beyond those that every store knows
    scorer: NgramScorer | None = None  # of n-grams: one more feature

    @property
    def own(self) -> tuple[Feature, ...]:
        """The features of the phrase pairs."""
        return features_of(self.features, self.large.inventory if self.large else None)

    def inputs(self, language_models: int) -> tuple[Feature, ...]:
        """Return the features of parts, before any bend."""
        return features(language_models, self.own, self._more)

    @property
    def _more(self) -> tuple[Feature, ...]:
        return () if self.scorer is None else (self.scorer.feature,)

    def untuned(self, language_models: int) -> Weights:
        """Return weights for a translator that was not tuned."""
        weights = untuned_weights(language_models, names_of(self.own))
        return Weights({**weights, **dict.fromkeys(names_of(self._more), UNTUNED_NGRAMS)}, signature=UNTUNED)

    def weighted(self, models: Sequence[NgramModel], weights: Weights, bend: Bend | None = None) -> PhraseDecoder:
        """Return the decoder; without a bend, it weighs logarithms."""
        rules: PhraseSource
        if self.added is None:
            rules = StoredRules(self.store, self.features, self.large)
        else:
            rules = OverlaidRules(self.added, self.features, self.large.inventory if self.large else None)
        return PhraseDecoder(rules, models, weights.values, self.settings, bend, self.scorer)


class PhraseKind:
    """Models of kind "phrase"."""

    takes_pairs = True
    weighs = True

    def open(self, directory: ModelDirectory) -> tuple[LogLinear, Weights]:
        """Open a model: its decoder and its weights."""
        return open_weighed(self.rules(directory), directory)

    def rules(self, directory: ModelDirectory) -> PhraseRules:
        """Open the rules of a model, with the settings of the search that it records."""
        settings = DecodeSettings.from_dict(directory.settings.get("decode", {}))
        chosen = RuleSettings.from_dict(directory.settings.get("rules", {}))
        folder = directory.path / FOLDER
        rules = open_rules(folder, chosen.features, settings)
        overlay = open_overlay(directory, rules.store)
        feature = RegressionSettings.from_dict(directory.settings.get("regression", {}))
        kernel = KernelSettings.from_dict(directory.settings.get("kernel", {}))
        return replace(rules, added=overlay, scorer=open_scorer(folder, feature, kernel, rules.store, overlay))


KIND = PhraseKind()


def open_rules(folder: Path, names: tuple[str, ...], settings: DecodeSettings) -> PhraseRules:
    """Open a folder of rules, with what the named features need."""
    store = RuleStore.load(folder)
    if not learnt(names):
        return PhraseRules(store, names, settings)
    from camber.rules.phrase.large import LargeFeatures

    return PhraseRules(store, names, settings, large=LargeFeatures.load(folder / LARGE, store))


def save_phrase_model(
    text: TextPipeline, rules: PhraseRules, models: Sequence[NgramModel], weights: Weights, draft: Draft
) -> None:
    """Write a phrase model into a model that is being made (:func:`camber.model.directory.write_model`)."""
    for name in (FOLDER, "text"):
        (draft.folder / name).mkdir()
    text.save(draft.folder / "text")
    rules.store.save(draft.folder / FOLDER)
    if rules.large is not None:
        rules.large.save(draft.folder / FOLDER / LARGE)
    save_language_models(models, draft.folder)
    weights.write(draft.folder / "weights.tsv")
    draft.settings["decode"] = rules.settings.to_dict()
    draft.settings["rules"] = {"rule_features": ",".join(rules.features)}
    draft.sizes |= {**store_sizes(rules.store), **language_sizes(models)}


def phrase_sizes(folder: Path) -> dict[str, Any]:
    """Return what a reader of `model.toml` wants to know about a folder of rules, with a regression if there is one."""
    store = RuleStore.load(folder)
    return {**store_sizes(store), **learnt_sizes(folder, store)}


def store_sizes(store: RuleStore) -> dict[str, int]:
    """Return what a reader of `model.toml` wants to know about phrase pairs."""
    return {
        "source_words": len(store.source_vocabulary),
        "target_words": len(store.target_vocabulary),
        "source_phrases": store.phrases,
        "rules": len(store),
    }
