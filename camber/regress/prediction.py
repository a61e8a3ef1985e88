"""What regressions predict for a sentence: for every prefix of it, what each target n-gram is worth.

Both regressions predict a sum of training targets, W φ(x) = Σ_i v_i φ(y_i). So what an n-gram g is worth is
ω(g) = Σ_i v_i c_i(g), and only n-grams whose words all occur in phrases for the sentence are looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.sparse import Counts
from camber.arrays.types import F8, I4, I8, Bools
from camber.corpus.bitext import Bitext
from camber.kernel import kernel
from camber.regress.margin import Centred, Margin
from camber.regress.preimage import Prediction
from camber.regress.ridge import GramSolver
from camber.regress.spectrum import NgramMap, Spectrum, squared_norms, transposed


class Predictor(Protocol):
    """A regression that was learnt."""

    def predict(self, sentence: I4, reachable: Bools) -> Prediction:
        """Predict for all prefixes of a sentence (source word numbers, -1: unknown); `reachable` [target words]."""
        ...


@dataclass(frozen=True, eq=False)
class Vectors:
    """Both sides of a corpus as n-gram vectors."""

    source_grams: NgramMap
    target_grams: NgramMap
    source: Counts  # [pairs, source n-grams]
    target: Counts

    @classmethod
    def of(cls, bitext: Bitext, spectrum: Spectrum) -> Vectors:
        """Number the n-grams of both sides."""
        source_grams, source = NgramMap.of(bitext.source, spectrum)
        target_grams, target = NgramMap.of(bitext.target, spectrum)
        return cls(source_grams, target_grams, source, target)

    @cached_property
    def source_columns(self) -> Counts:
        """The source side by its n-grams: the sentences of each."""
        return transposed(self.source)

    @cached_property
    def target_columns(self) -> Counts:
        """The target side by its n-grams."""
        return transposed(self.target)

    @cached_property
    def last_words(self) -> tuple[I4, I4]:
        """The last word of every target n-gram, and the n-gram before it (-1: none)."""
        keys = self.target_grams.arrays()["keys"]
        words = max(1, self.target_grams.words)
        return (keys % words).astype(np.int32), (keys // words - 1).astype(np.int32)

    def prefix_kernels(self, sentence: I4) -> F8:
        """Return κ(x_i, prefix) of all training sentences and all prefixes: float64[pairs, words]."""
        table = np.zeros((len(self.source), len(sentence)))
        columns, grams = self.source_columns, self.source_grams
        weights = grams.spectrum.weights
        _add_prefixes(columns.offsets, columns.columns, columns.values, grams.ends(sentence), np.sqrt(weights), table)
        return table

    def reached(self, reachable: Bools) -> I8:
        """Return the target n-grams whose words are all reachable, rising."""
        last, before = self.last_words
        reached = np.zeros(len(last), np.bool_)
        _reach(last, before, reachable, reached)
        return np.flatnonzero(reached)

    def worths(self, grams: I8, multipliers: F8) -> F8:
        """Return Σ_i v_i value_i(g) of some target n-grams: float64[pairs, k] → [n-grams, k]."""
        sums = np.zeros((len(grams), multipliers.shape[1]))
        columns = self.target_columns
        _worths(columns.offsets, columns.columns, columns.values, grams, multipliers, sums)
        return sums

    def rows_of(self, grams: I8) -> I4:
        """Return the place of every target n-gram among `grams`, -1: none."""
        rows = np.full(len(self.target_grams), -1, np.int32)
        rows[grams] = np.arange(len(grams))
        return rows

    def roots(self, grams: I8) -> F8:
        """Return √weight of n-grams, by which one occurrence enters a vector."""
        target = self.target_grams
        return np.asarray(np.sqrt(target.spectrum.weights)[target.lengths[grams].astype(np.int64) - 1])


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """wang2007 Eq. 4: v = (K + λ I)⁻¹ k(x)."""

    vectors: Vectors
    solver: GramSolver

    def predict(self, sentence: I4, reachable: Bools) -> Prediction:
        """Solve for all prefixes at once."""
        grams = self.vectors.reached(reachable)
        multipliers = self.solver.solve(self.vectors.prefix_kernels(sentence)).values
        sums = self.vectors.worths(grams, multipliers) * self.vectors.roots(grams)[:, None]
        return Prediction(self.vectors.rows_of(grams), sums, np.zeros(len(grams)), np.zeros(len(sentence)), 0.0, 0)


@dataclass(frozen=True, eq=False)
class MaximumMargin:
    """wang2007 Eq. 7: v_i = b_i ⟨x̂_i, x̄⟩, with centred vectors."""

    vectors: Vectors
    margin: Margin

    @cached_property
    def sides(self) -> tuple[Centred, Centred]:
        """Both sides, centred."""
        return Centred.of(self.vectors.source), Centred.of(self.vectors.target)

    def predict(self, sentence: I4, reachable: Bools) -> Prediction:
        """Weigh the training targets by the products of their sources with every prefix."""
        source, target = self.sides
        grams = self.vectors.reached(reachable)
        length = len(sentence)
        prefixes = _prefixes(sentence)
        onto_mean = self._source_rows(prefixes).products(source.mean)
        norms = squared_norms(prefixes, self.vectors.source_grams.spectrum)
        square = float(source.mean @ source.mean)
        lengths = np.sqrt(np.maximum(norms - 2.0 * onto_mean + square, 1e-18))
        multipliers = self.vectors.prefix_kernels(sentence)
        multipliers += (square - onto_mean)[None, :] - source.onto_mean[:, None]
        multipliers *= self.margin.scaled[:, None] / lengths[None, :]
        totals = multipliers.sum(0)
        mean_square = float(target.mean @ target.mean)
        sums = self.vectors.worths(grams, multipliers) - target.mean[grams][:, None] * totals[None, :]
        constants = target.onto_mean @ multipliers - mean_square * totals
        roots = self.vectors.roots(grams)
        assert constants.shape == (length,)
        return Prediction(
            self.vectors.rows_of(grams), sums * roots[:, None], target.mean[grams] * roots, constants, mean_square, 1
        )

    def _source_rows(self, prefixes: object) -> Counts:
        return self.vectors.source_grams.rows(prefixes)  # type: ignore[arg-type]


def _prefixes(sentence: I4) -> object:
    from camber.corpus.bitext import Sentences
    from camber.corpus.vocabulary import Vocabulary

    lengths = np.arange(1, len(sentence) + 1)
    ids = np.concatenate([sentence[:n] for n in lengths.tolist()] or [np.zeros(0, np.int32)])
    return Sentences(ids, offsets_from(lengths), Vocabulary([]))


@kernel
def _add_prefixes(offsets, sentences, values, ends, roots, table):
    """An n-gram that ends at a word belongs to all prefixes from there on: sums of what ends at each, then a running sum."""
    length, order = ends.shape
    for word in range(length):
        for p in range(order):
            gram = ends[word, p]
            if gram >= 0:
                for i in range(offsets[gram], offsets[gram + 1]):
                    table[sentences[i], word] += roots[p] * values[i]
    for row in range(len(table)):
        for word in range(1, length):
            table[row, word] += table[row, word - 1]


@kernel
def _reach(last, before, reachable, reached):
    for gram in range(len(last)):  # the n-gram before it has a lower number
        if reachable[last[gram]] and (before[gram] < 0 or reached[before[gram]]):
            reached[gram] = True


@kernel
def _worths(offsets, sentences, values, grams, multipliers, sums):
    width = sums.shape[1]
    for g in range(len(grams)):
        out = sums[g]
        for i in range(offsets[grams[g]], offsets[grams[g] + 1]):
            value = np.float64(values[i])
            row = multipliers[sentences[i]]
            for k in range(width):
                out[k] += value * row[k]
