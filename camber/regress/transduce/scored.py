"""Phrase pairs of the whole corpus, with what the sentence's own regression says about each as one more feature.

W is learnt for n-grams, and a phrase pair has many: its score is φ(t)ᵀ W φ(s), φ being the weighted vector of a side's
n-grams, as in bicici Eq. 5. Phrases cut both sentences into pieces, so the sum over a derivation is what W says about
the sentence and its translation, but for n-grams across the cuts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from camber.arrays.ragged import owners_of
from camber.arrays.types import F4, U1
from camber.corpus.inputs import Input
from camber.features.feature import NUMBER, RULE, Feature
from camber.regress.transduce.instances import Instances
from camber.regress.transduce.regression import Posed, SentenceRegression
from camber.regress.transduce.sentence_rules import SentenceRules, SentenceSource, rules_of_spans
from camber.rules.phrase.settings import RuleSettings
from camber.rules.phrase.source import PhraseSource
from camber.rules.phrase.store import RuleStore

#: what the regression says about a rule
REGRESSED = Feature("regressed", NUMBER, RULE)


class ScoredRules(SentenceSource):
    """Phrase pairs with the features of their store, and one of the sentence's regression."""

    def __init__(self, instances: Instances, rules: RuleSettings, everything: PhraseSource) -> None:
        """Score the phrase pairs of `everything`; a regressor without W is an error."""
        super().__init__(instances, rules.features, [REGRESSED])
        self.regression, self.everything = SentenceRegression.of(instances), everything
        self.regression.check_linear()

    def rules(self, tokens: Sequence[str]) -> SentenceRules:
        """Look up the phrase pairs of a sentence, learn W, and score them."""
        batch = self.everything.batch([Input(tokens)])
        store, spans, rows = rules_of_spans(batch.store, batch.spans)
        posed = self.regression.problem(tokens, marks=False)
        numbers = rows if batch.numbers is None else batch.numbers[rows]
        return SentenceRules(store, spans, numbers, self.scores(posed, store)[:, None])

    def links_of(self, rule: int) -> U1:
        """Return the inner links of a rule by its number, uint8[links, 2]."""
        return self.everything.links_of(rule)

    def scores(self, posed: Posed, store: RuleStore) -> F4:
        """Return φ(t)ᵀ W φ(s) of all rules, float32[rules]."""
        entries = self.regression.entries(posed)
        if not len(entries.values) or not len(store):
            return np.zeros(len(store), np.float32)
        source = posed.source.vectors(store.source_ids, store.source_offsets)
        rows = posed.target.vectors(store.target_ids, store.target_offsets)
        asked, place = np.unique(entries.sources, return_inverse=True)
        weights = np.zeros((len(asked), len(posed.target)))
        # back in the unit of the vectors, in which both products are
        scale = np.sqrt(posed.target.lengths[entries.targets] / posed.source.lengths[entries.sources])
        weights[place, entries.targets] = entries.values * scale
        pushed = source.dense()[:, asked] @ weights  # [phrases, target n-grams]
        phrase = owners_of(store.rule_offsets)[owners_of(rows.offsets)]
        products = np.bincount(owners_of(rows.offsets), rows.values * pushed[phrase, rows.columns], len(store))
        return np.asarray(products, np.float32)
