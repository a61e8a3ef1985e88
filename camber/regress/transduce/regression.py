"""The regression of one sentence: its pairs are selected, their n-grams become vectors, and a regressor learns.

regression = SentenceRegression(Instances(corpus, settings))
learnt = regression.problem(["ein", "haus"], marks=False)
regression.regressor.predict(learnt.problem)            # √p times the expected count of each of learnt.target
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from camber.arrays.types import F8, I8
from camber.errors import SettingsError
from camber.regress.graph import marked, marks_of
from camber.regress.sparse.problem import Problem
from camber.regress.sparse.regressor import Regressor
from camber.regress.transduce.instances import Instances
from camber.regress.transduce.ngrams import NgramRows


class Posed(NamedTuple):
    """What is to be learnt for a sentence, and which n-grams its columns are."""

    problem: Problem
    source: NgramRows  # of the selected pairs
    target: NgramRows
    unknown: tuple[int, ...]  # places of the sentence's words that no selected pair has


class Entries(NamedTuple):
    """What W says about single occurrences: `values[k]` is what one source n-gram adds to the count of a target one."""

    targets: I8  # columns of the target n-grams
    sources: I8  # columns of the source n-grams
    values: F8


@dataclass(frozen=True)
class SentenceRegression:
    """Pairs to select from, and the regressor that learns from those that were selected."""

    instances: Instances
    regressor: Regressor

    @classmethod
    def of(cls, instances: Instances) -> SentenceRegression:
        """Make the regressor that the settings name."""
        return cls(instances, instances.settings.make_regressor())

    def problem(self, tokens: Sequence[str], *, marks: bool) -> Posed:
        """Select pairs for a sentence, and lay out their n-grams; with `marks`, targets have `<s>` and `</s>`."""
        instances, lengths = self.instances, self.instances.settings.lengths
        sentence = instances.encode(tokens)
        pairs, _ = instances.pairs(instances.select(sentence))
        count, text = len(pairs), pairs.source
        # the sentence stands behind its pairs, so that its n-grams are numbered with theirs
        source = NgramRows.of(
            np.concatenate((text.ids, sentence)),
            np.append(text.offsets, text.offsets[-1] + len(sentence)),
            lengths,
            len(text.vocabulary),
        )
        source = source.take(np.unique(source.first_rows(count).columns).astype(np.int64))
        around = marked(pairs.target) if marks else pairs.target
        words = len(around.vocabulary)
        target = NgramRows.of(around.ids, around.offsets, lengths, words + 2, marks_of(around.vocabulary))
        problem = Problem(
            source.first_rows(count),
            target.rows,
            source.rows.take(np.array([count])),
            source.lengths.astype(np.uint8),
            target.lengths.astype(np.uint8),
        )
        unknown = np.flatnonzero(~np.isin(sentence, text.ids))
        return Posed(problem, source, target, tuple(unknown.tolist()))

    def expected(self, posed: Posed) -> F8:
        """Return how often each target n-gram is expected: values of regressors are √p times that."""
        if not len(posed.target):
            return np.zeros(0)
        return self.regressor.predict(posed.problem) / np.sqrt(posed.target.lengths)

    def entries(self, posed: Posed) -> Entries:
        """Return W of the sentence's own n-grams, without its zeros; √p is undone on both sides."""
        self.check_linear()
        if not len(posed.target):
            return Entries(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
        weights = self.regressor.coefficients(posed.problem)
        targets, sources = weights.targets, weights.sources.astype(np.int64)
        scale = np.sqrt(posed.source.lengths[sources] / posed.target.lengths[targets])
        return Entries(targets, sources, weights.values * scale)

    def check_linear(self) -> None:
        """Refuse a regressor without W where W is needed."""
        if not self.regressor.linear:
            name = self.instances.settings.regressor
            raise SettingsError(f"the regressor {name} predicts without a W, which phrases need; take another one")
