"""Models of ready-made rules: the grammars of sentences that came from cdec, or one rule table that came from Moses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from camber.bend.bend import Bend
from camber.decode.chart.decoder import ChartDecoder
from camber.decode.chart.features import CDEC, NATIVE, ChartFeatures
from camber.decode.chart.settings import ChartSettings
from camber.decode.searcher import LogLinear
from camber.features.feature import Feature
from camber.features.weights import Weights
from camber.lm.ngrams import NgramModel
from camber.model.directory import Draft, ModelDirectory
from camber.model.kinds import open_weighed
from camber.model.language_models import language_sizes, save_language_models
from camber.rules.hiero.grammar import GrammarSource
from camber.rules.hiero.grammar_set import GrammarSet
from camber.rules.hiero.rule_table import RuleTable
from camber.text.pipeline import TextPipeline
from camber.text.settings import TextSettings

#: what such a model is called in `model.toml`
NAME = "hiero-grammars"
#: the folder of the grammars of sentences, and that of a rule table: a model has one of them
GRAMMARS, TABLE = "grammars", "table"


@dataclass(frozen=True)
class GrammarRules:
    """Rules that were made elsewhere, what their features are called, and how they are searched."""

    grammars: GrammarSource
    features: ChartFeatures
    settings: ChartSettings

    def inputs(self, language_models: int) -> tuple[Feature, ...]:
        """Return the features of parts, before any bend."""
        return self.features.all(self.grammars.features, language_models)

    def weighted(self, models: Sequence[NgramModel], weights: Weights, bend: Bend | None = None) -> ChartDecoder:
        """Return the decoder; without a bend, it weighs logarithms."""
        return ChartDecoder(self.grammars, models, weights.values, self.settings, self.features, bend)


class GrammarsKind:
    """Models of kind "hiero-grammars"; nothing is parsed on opening, arrays are memory-mapped."""

    takes_pairs = False
    weighs = True

    def open(self, directory: ModelDirectory) -> tuple[LogLinear, Weights]:
        """Open a model: its decoder and its weights."""
        return open_weighed(self.rules(directory), directory)

    def rules(self, directory: ModelDirectory) -> GrammarRules:
        """Open the rules of a model, with the settings of the search that it records."""
        settings = ChartSettings.from_dict(directory.settings.get("chart", {}))
        if any(name.startswith(f"{TABLE}/") for name in directory.files):
            limit = directory.whole(directory.settings.get("table", {}).get("limit", 0), "settings.table.limit")
            table = RuleTable.load(directory.path / TABLE).giving(limit=limit, span=settings.span_limit)
            return GrammarRules(table, NATIVE, settings)
        return GrammarRules(GrammarSet.load(directory.path / GRAMMARS), CDEC, settings)


KIND = GrammarsKind()


def save_around_rules(draft: Draft, models: Sequence[NgramModel], weights: Weights, settings: ChartSettings) -> None:
    """Write all that a model of this kind has but its rules; its text stays tokenised as it is."""
    (draft.folder / "text").mkdir()
    TextPipeline(TextSettings(tokenizer="none")).save(draft.folder / "text")
    save_language_models(models, draft.folder)
    weights.write(draft.folder / "weights.tsv")
    draft.settings["chart"] = settings.to_dict()
    draft.sizes |= language_sizes(models)
