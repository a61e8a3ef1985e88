"""Models of translation by sparse regression: an aligned corpus, from which each sentence's own model is learnt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from camber.bend.bend import Bend
from camber.decode.phrase.decoder import PhraseDecoder
from camber.decode.phrase.features import features, untuned_weights
from camber.decode.phrase.settings import DecodeSettings
from camber.decode.searcher import LogLinear
from camber.errors import SettingsError
from camber.features.feature import Feature, names_of
from camber.features.weights import Weights
from camber.lm.ngrams import NgramModel
from camber.model.added import open_index, open_overlay
from camber.model.directory import ModelDirectory
from camber.model.hiero import index_sizes
from camber.model.kinds import UNTUNED, open_weighed
from camber.regress.graph_decoder import GraphDecoder
from camber.regress.graph_settings import GraphSettings, graph_features
from camber.regress.graph_settings import untuned_weights as untuned_graph_weights
from camber.regress.transduce.grams import RegressedGrams
from camber.regress.transduce.individual import IndividualRules, MixedRules
from camber.regress.transduce.instances import Instances
from camber.regress.transduce.scored import REGRESSED, ScoredRules
from camber.regress.transduce.sentence_rules import SentenceSource
from camber.regress.transduce.settings import FEATURE, GLOBAL, GRAPH, INDIVIDUAL, MIXED, TABLE, SparseSettings
from camber.regress.transduce.table import TABLE_NAMES, TableRules
from camber.rules.features import learnt
from camber.rules.hiero.index import CorpusIndex
from camber.rules.phrase.settings import RuleSettings
from camber.rules.phrase.source import OverlaidRules, PhraseSource, StoredRules, features_of
from camber.rules.phrase.store import RuleStore

if TYPE_CHECKING:  # imported where there are added pairs
    from camber.rules.phrase.overlay import Overlay

#: the folder of the corpus, and in it that of the phrase pairs of all of it
FOLDER, PHRASES = "instances", "phrases"


@dataclass(frozen=True)
class SparseRules:
    """A corpus to select from, and what is made of a selection."""

    corpus: CorpusIndex
    sparse: SparseSettings = field(default_factory=SparseSettings)
    graph: GraphSettings = field(default_factory=GraphSettings)
    rules: RuleSettings = field(default_factory=RuleSettings)
    decode: DecodeSettings = field(default_factory=DecodeSettings)
    everything: PhraseSource | None = None  # phrase pairs of all pairs, for decoders that have them

    def __post_init__(self) -> None:
        check_features(self.sparse, self.rules)

    @cached_property
    def instances(self) -> Instances:
        """The corpus, indexed for selection."""
        return Instances(self.corpus, self.sparse)

    @property
    def own(self) -> tuple[Feature, ...]:
        """The features of phrase pairs, for decoders that have some."""
        if self.sparse.decoder == TABLE:
            return features_of(TABLE_NAMES, None)
        more = (REGRESSED,) if self.sparse.decoder == FEATURE else ()
        return (*features_of(self.rules.features, None), *more)

    def inputs(self, language_models: int) -> tuple[Feature, ...]:
        """Return the features of parts, before any bend."""
        if self.sparse.decoder == GRAPH:
            return graph_features(language_models, self.sparse.lengths, self.graph.features)
        return features(language_models, self.own)

    def untuned(self, language_models: int) -> Weights:
        """Return weights for a translator that was not tuned."""
        if self.sparse.decoder == GRAPH:
            weights = untuned_graph_weights(language_models, self.sparse.lengths, self.graph.features)
        else:
            weights = untuned_weights(language_models, names_of(self.own))
        return Weights(weights, signature=UNTUNED)

    def weighted(self, models: Sequence[NgramModel], weights: Weights, bend: Bend | None = None) -> LogLinear:
        """Return the decoder; without a bend, it weighs logarithms."""
        if self.sparse.decoder == GRAPH:
            return GraphDecoder(RegressedGrams(self.instances), models, weights.values, self.graph, bend)
        return PhraseDecoder(self.phrases(), models, weights.values, self.decode, bend)

    def phrases(self) -> SentenceSource:
        """Return the source of phrase pairs."""
        if self.sparse.decoder == TABLE:
            return TableRules(self.instances)
        if self.sparse.decoder == INDIVIDUAL:
            return IndividualRules(self.instances, self.rules)
        assert self.everything is not None
        kind = MixedRules if self.sparse.decoder == MIXED else ScoredRules
        return kind(self.instances, self.rules, self.everything)


class SparseKind:
    """Models of kind "sparse"."""

    takes_pairs = True
    weighs = True

    def open(self, directory: ModelDirectory) -> tuple[LogLinear, Weights]:
        """Open a model: its decoder and its weights."""
        return open_weighed(self.rules(directory), directory)

    def rules(self, directory: ModelDirectory) -> SparseRules:
        """Open the corpus of a model, with the pairs that were added, and the settings that it records."""
        return open_rules(
            directory.path / FOLDER,
            directory.settings,
            open_index(directory, FOLDER),
            partial(open_overlay, directory),
        )


KIND = SparseKind()


def open_rules(
    folder: Path,
    tables: dict[str, dict[str, Any]],
    corpus: CorpusIndex | None = None,
    overlay_of: Callable[[RuleStore], Overlay | None] | None = None,
) -> SparseRules:
    """Open a folder by the settings of its model; `overlay_of` joins phrase pairs with those of added pairs."""
    sparse = SparseSettings.from_dict(tables.get("sparse", {}))
    rules = RuleSettings.from_dict(tables.get("rules", {}))
    everything: PhraseSource | None = None
    if sparse.decoder in GLOBAL:
        check_features(sparse, rules)
        store = RuleStore.load(folder / PHRASES)
        overlay = overlay_of(store) if overlay_of else None
        everything = OverlaidRules(overlay, rules.features) if overlay else StoredRules(store, rules.features)
    return SparseRules(
        CorpusIndex.load(folder) if corpus is None else corpus,
        sparse,
        GraphSettings.from_dict(tables.get("graph", {})),
        rules,
        DecodeSettings.from_dict(tables.get("decode", {})),
        everything,
    )


def check_features(sparse: SparseSettings, rules: RuleSettings) -> None:
    """Refuse features of phrase pairs that must be learnt from the whole text."""
    if sparse.decoder not in (GRAPH, TABLE) and learnt(rules.features):
        raise SettingsError(
            f"phrase pairs that are made for each sentence have no {', '.join(learnt(rules.features))}; "
            "name other --rule-features"
        )


def instance_sizes(folder: Path) -> dict[str, Any]:
    """Return what a reader of `model.toml` wants to know about the corpus, and about phrase pairs, if there are any."""
    sizes = index_sizes(CorpusIndex.load(folder))
    return {**sizes, "rules": len(RuleStore.load(folder / PHRASES))} if (folder / PHRASES).exists() else sizes
