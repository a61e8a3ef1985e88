"""W as a phrase table: what the regression of a sentence says about its n-grams, as rules (bicici, 5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from camber.arrays.ragged import offsets_from, take_ragged
from camber.arrays.types import I8
from camber.regress.transduce.instances import Instances
from camber.regress.transduce.regression import Entries, Posed, SentenceRegression
from camber.regress.transduce.sentence_rules import SentenceRules, SentenceSource, numbers_of
from camber.rules.phrase.features import SCORE_NAMES
from camber.rules.phrase.store import RuleStore

#: what rules of W have: Eq. 9 and 8. The paper's third score, 2.718, is the decoder's penalty of phrases: its logarithm
#: is 1 for every rule.
TABLE_NAMES = ("p_s_given_t", "p_t_given_s")
#: rules that are kept for a source n-gram; ridge says something about every target n-gram
MOST = 100


class TableRules(SentenceSource):
    """The positive entries of W as rules."""

    def __init__(self, instances: Instances) -> None:
        """Regress by the settings of the instances; a regressor without W is an error."""
        super().__init__(instances, TABLE_NAMES)
        self.regression = SentenceRegression.of(instances)
        self.regression.check_linear()

    def rules(self, tokens: Sequence[str]) -> SentenceRules:
        """Learn W of a sentence, and make rules of it."""
        posed = self.regression.problem(tokens, marks=False)
        store, columns = table_store(self.regression.entries(posed), posed, self.instances)
        number = {tuple(posed.source.words(column).tolist()): phrase for phrase, column in enumerate(columns.tolist())}
        sentence = self.instances.encode(tokens).tolist()
        spans = np.full((len(sentence), self.instances.settings.order), -1, np.int64)
        for n in range(1, spans.shape[1] + 1):
            for at in range(len(sentence) - n + 1):
                spans[at, n - 1] = number.get(tuple(sentence[at : at + n]), -1)
        return SentenceRules(store, spans, numbers_of(store), np.zeros((len(store), 0), np.float32))


def table_store(entries: Entries, posed: Posed, instances: Instances) -> tuple[RuleStore, I8]:
    """Make rules of the positive entries of W, the best `MOST` of each source n-gram, and return their columns, too."""
    positive = entries.values > 0.0
    targets, sources, values = entries.targets[positive], entries.sources[positive], entries.values[positive]
    forward = values / np.bincount(sources, values, len(posed.source))[sources]  # Eq. 8
    backward = values / np.bincount(targets, values, len(posed.target))[targets]  # Eq. 9
    order = np.lexsort((targets, -forward, sources))
    rank = np.arange(len(order)) - np.searchsorted(sources[order], sources[order])
    order = order[rank < MOST]
    columns, sizes = np.unique(sources[order], return_counts=True)
    rows = targets[order]
    source_ids, source_offsets = take_ragged(posed.source.ids, posed.source.offsets, columns)
    target_ids, target_offsets = take_ragged(posed.target.ids, posed.target.offsets, rows)
    scores = np.ones((len(order), len(SCORE_NAMES)), np.float32)
    scores[:, SCORE_NAMES.index("p_t_given_s")] = forward[order]
    scores[:, SCORE_NAMES.index("p_s_given_t")] = backward[order]
    np.maximum(scores, np.finfo(np.float32).tiny, out=scores)
    links, link_offsets = _plain_links(np.repeat(np.diff(source_offsets), sizes), np.diff(target_offsets))
    store = RuleStore(
        source_ids, source_offsets, offsets_from(sizes), np.zeros(len(columns), np.int64), target_ids, target_offsets,
        scores, np.zeros((len(order), 2), np.int32), np.zeros((len(order), 0), np.float32), links, link_offsets,
        instances.corpus.source.vocabulary, instances.corpus.target.vocabulary,
        int(np.diff(source_offsets).max(initial=0)),
    )  # fmt: skip
    return store, columns


def _plain_links(words: I8, others: I8) -> tuple[np.ndarray, I8]:
    """Return the links of rules with so many words: all, where a side has one word; W tells none of the others."""
    sizes = np.where(np.minimum(words, others) == 1, words * others, 0)
    offsets = offsets_from(sizes)
    place = np.arange(int(offsets[-1])) - np.repeat(offsets[:-1], sizes)
    lone = np.repeat(words, sizes) == 1
    return np.column_stack((np.where(lone, 0, place), np.where(lone, place, 0))).astype(np.uint8), offsets
