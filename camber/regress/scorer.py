"""The regression as a feature of the phrase decoder: what it predicts for a sentence scores its translations' n-grams.

    scorer = RegressionScorer.of(regression, source_words)
    decoder = PhraseDecoder(rules, models, weights, scorer=scorer)      # has the feature "regression"

The product ⟨φ(y), W φ(x)⟩ of a translation y with what is predicted for the sentence x is a sum over the n-grams of y
(see `camber.regress.prediction`), so a search can have it word by word, like a language model. Of κ(y, y), which least
squares subtract (wang2007 Eq. 8), each n-gram's own square depends on the number of words alone, and is left to the
word penalty's weight; n-grams that repeat make the rest, which only re-ranking can see (`camber.regress.scores`). The
length ‖φ(y) - μ‖ that maximum margin divides by is left out as well, and so is what all translations of a sentence
have in common.

What is predicted for an n-gram is mostly tiny, since any two sentences share some word. N-grams that are worth less
than `LEAST` are left out, which makes automata small; the solver's tolerance is not finer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from camber.arrays.types import F8, I4, I8
from camber.corpus import Vocabulary
from camber.corpus.inputs import Input
from camber.decode.phrase.ngram_scores import ScoredNgrams
from camber.features.feature import CONTEXT, NUMBER, Feature
from camber.kernel import kernel
from camber.regress.prediction import LeastSquares, Regression
from camber.regress.solution import GramSolver, Solution

#: n-grams that add less than this, with either sign, are left out
LEAST = 1e-3
#: solutions of the sentences of a dev set are kept up to so many bytes
MOST_BYTES = 1 << 28


@dataclass(frozen=True, eq=False)
class RegressionScorer:
    """Scores the n-grams of a sentence's translations by what a regression predicts."""

    regression: Regression
    source_words: Vocabulary  # whose numbers the regression's source n-grams have
    least: float = LEAST

    @classmethod
    def of(cls, regression: Regression, source_words: Vocabulary, least: float = LEAST) -> RegressionScorer:
        """Make a scorer, whose solutions are in single precision, kept or not: scores are the same."""
        if isinstance(regression, LeastSquares):
            regression = replace(regression, solver=SingleSolver(regression.solver))
        return cls(regression, source_words, least)

    @property
    def feature(self) -> Feature:
        """What a part has of the product with the prediction."""
        return Feature("regression", NUMBER, CONTEXT)

    def scored(self, item: Input, words: I8) -> ScoredNgrams:
        """Predict for a sentence what the n-grams over some target words add."""
        if not len(item):
            return ScoredNgrams.none()
        vectors = self.regression.vectors
        reachable = np.zeros(vectors.target_grams.words, np.bool_)
        reachable[words] = True
        predicted = self.regression.predict(word_numbers(item.tokens, self.source_words), reachable, [len(item)])
        last, before = vectors.steps
        first = before[predicted.grams]
        shorter = np.where(first >= 0, predicted.rows[first], -1).astype(np.int32)
        scores = np.ascontiguousarray(predicted.sums[:, 0])
        places = np.zeros(len(scores), np.int32)
        _number(shorter, scores, self.least, places)
        kept = np.flatnonzero(places >= 0)
        shorter = shorter[kept]
        places = np.where(shorter >= 0, places[shorter], -1).astype(np.int32)
        return ScoredNgrams(last[predicted.grams[kept]], places, scores[kept])

    def remembering(self) -> RegressionScorer:
        """Return the same scorer, keeping solutions of least squares: tuning translates the same text again and again.

        What maximum margin needs is quickly made.
        """
        if not isinstance(self.regression, LeastSquares) or not isinstance(self.regression.solver, SingleSolver):
            return self
        return replace(self, regression=replace(self.regression, solver=self.regression.solver.remembering()))


def word_numbers(tokens: Sequence[str], vocabulary: Vocabulary) -> I4:
    """Return the numbers of a sentence's words; different unknown words have different numbers below 0.

    >>> word_numbers(["a", "?", "!", "?"], Vocabulary(["a"])).tolist()
    [0, -1, -2, -1]
    """
    unknown: dict[str, int] = {}
    ids = map(vocabulary.id, tokens)
    numbers = [
        number if number >= 0 else unknown.setdefault(word, -1 - len(unknown))
        for number, word in zip(ids, tokens, strict=True)
    ]
    return np.array(numbers, np.int32)


class SingleSolver:
    """A solver whose solutions are rounded to single precision, and kept if that is asked for."""

    def __init__(self, solver: GramSolver, kept: dict[bytes, tuple[np.ndarray, int, float]] | None = None) -> None:
        self.solver, self.kept = solver, kept

    def remembering(self) -> SingleSolver:
        """Return the same solver, keeping solutions as long as there is room."""
        return self if self.kept is not None else SingleSolver(self.solver, {})

    def solve(self, right: F8, tolerances: F8 | None = None) -> Solution:
        """Solve for all columns of `right`, float64[sentences, k]."""
        asked = np.ascontiguousarray(right).tobytes() + (b"" if tolerances is None else tolerances.tobytes())
        key = hashlib.blake2b(asked, digest_size=16).digest()
        if self.kept is not None and key in self.kept:
            values, steps, residual = self.kept[key]
            return Solution(values.astype(np.float64), steps, residual)
        solution = self.solver.solve(right, tolerances)
        values = solution.values.astype(np.float32)
        if self.kept is not None and (len(self.kept) + 1) * values.nbytes <= MOST_BYTES:
            self.kept[key] = values, solution.steps, solution.residual
        return solution._replace(values=values.astype(np.float64))


@kernel
def _number(shorter, scores, least, places):
    """Number the n-grams that are worth something, or begin one that is; -1: the others."""
    for g in range(len(places)):
        places[g] = 0
    for g in range(len(places) - 1, -1, -1):  # what an n-gram begins with stands before it
        if abs(scores[g]) >= least:
            places[g] = 1
        if places[g] > 0 and shorter[g] >= 0:
            places[shorter[g]] = 1
    count = 0
    for g in range(len(places)):
        if places[g] > 0:
            places[g] = count
            count += 1
        else:
            places[g] = -1
