"""What a regression predicts for a sentence: a vector of target n-grams, for the sentence and for its prefixes.

    vectors = Vectors.of(bitext, Spectrum(order=3))
    regression = LeastSquares.of(vectors, ridge=0.1)
    prediction = regression.predict(sentence, reachable)            # for every prefix
    prediction = regression.predict(sentence, reachable, [len(sentence)])  # for the whole sentence alone

Both regressions of wang2007 predict a sum of training targets, W φ(x) = Σ_i v_i φ(y_i), so a product with it is a sum
over n-grams: ⟨φ(y), W φ(x)⟩ is the sum over the n-grams g that stand in y of ω(g) = Σ_i v_i c_i(g), c_i(g) being how
often g stands in y_i. Whoever knows ω needs no training sentence any more. A sentence can only get n-grams of the words
that its phrases have, and only these are looked at (`reachable`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from camber.arrays.sparse import Counts
from camber.arrays.types import F8, I4, I8, Array, Bools
from camber.corpus.bitext import Bitext
from camber.kernel import kernel
from camber.regress.gradients import TOLERANCE
from camber.regress.margin import Centred, Margin
from camber.regress.ridge import gram_solver
from camber.regress.solution import GramSolver
from camber.regress.spectrum import NgramMap, Spectrum, transposed

#: what is enough for prefixes of a sentence, which only guide a search; the whole sentence says what is best
PREFIX_TOLERANCE = 2e-2


class Prediction(NamedTuple):
    """What is predicted for some prefixes of a sentence, by the target n-grams that can be reached.

    A text y has the product Σ sums[rows[g], k] - constants[k], summed over all places in y of n-grams g that have a
    row. Least squares compare it with κ(y, y); with `normalised` it is divided by the length of φ(y) - μ, whose square
    is κ(y, y) - 2 Σ means[rows[g]] + mean_square.
    """

    grams: Array  # int64[rows]: the n-grams that are reached, rising
    rows: Array  # int32[n-grams]: their rows; -1: not reached, adds nothing
    sums: Array  # float64[rows, prefixes]: what one occurrence adds to the product
    means: Array  # float64[rows]: what one occurrence adds to ⟨φ(y), μ⟩
    constants: Array  # float64[prefixes]
    mean_square: float  # ‖μ‖²
    normalised: int  # 1: Eq. 11 (maximum margin), 0: Eq. 10 (least squares)


class Regression(Protocol):
    """A regression that was learnt."""

    @property
    def vectors(self) -> Vectors:
        """What it was learnt from."""

    def predict(self, sentence: I4, reachable: Bools, prefixes: Sequence[int] | None = None) -> Prediction:
        """Predict for prefixes of a sentence, by default for each of 1, 2, … words.

        `sentence` has numbers of source words; those below 0 are unknown words, equal ones the same word. `reachable`
        [target words] says which words its translation may have. `prefixes` are numbers of words, rising.
        """


@dataclass(frozen=True, eq=False)
class Vectors:
    """Both sides of a corpus as n-gram vectors, by sentences and by n-grams."""

    source_grams: NgramMap
    target_grams: NgramMap
    source: Counts  # [pairs, source n-grams]
    target: Counts  # [pairs, target n-grams]

    @classmethod
    def of(cls, bitext: Bitext, spectrum: Spectrum) -> Vectors:
        """Number the n-grams of both sides."""
        source_grams, source = NgramMap.of(bitext.source, spectrum)
        target_grams, target = NgramMap.of(bitext.target, spectrum)
        return cls(source_grams, target_grams, source, target)

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.source)

    @property
    def spectrum(self) -> Spectrum:
        """Which n-grams they are."""
        return self.source_grams.spectrum

    @cached_property
    def source_columns(self) -> Counts:
        """The source side by its n-grams: the sentences of each."""
        return transposed(self.source)

    @cached_property
    def target_columns(self) -> Counts:
        """The target side by its n-grams."""
        return transposed(self.target)

    @cached_property
    def steps(self) -> tuple[I4, I4]:
        """The last word of every target n-gram, and the n-gram before that word (-1: none)."""
        keys = self.target_grams.arrays()["keys"]
        words = max(1, self.target_grams.words)
        return (keys % words).astype(np.int32), (keys // words - 1).astype(np.int32)

    def kernels(self, sentence: I4, prefixes: I8) -> F8:
        """Return κ(x_i, prefix) of all training sentences and some prefixes: float64[pairs, prefixes]."""
        table = np.zeros((len(self), len(prefixes)))
        column = np.searchsorted(prefixes, np.arange(1, len(sentence) + 1))  # the first prefix with each word
        columns, roots = self.source_columns, np.sqrt(self.spectrum.weights)
        ends = self.source_grams.ends(np.asarray(sentence, np.int32))
        _add_kernels(columns.offsets, columns.columns, columns.values, ends, roots, column, table)
        return table

    def reached(self, reachable: Bools) -> I8:
        """Return the target n-grams whose words are all reachable, rising."""
        last, before = self.steps
        reached = np.zeros(len(last), np.bool_)
        _reach(last, before, np.ascontiguousarray(reachable, np.bool_), reached)
        return np.flatnonzero(reached)

    def rows_of(self, grams: I8) -> I4:
        """Return the place of every target n-gram among `grams`, -1: none."""
        rows = np.full(len(self.target_grams), -1, np.int32)
        rows[grams] = np.arange(len(grams))
        return rows

    def worths(self, grams: I8, multipliers: F8) -> F8:
        """Return Σ_i v_i φ_g(y_i) of some target n-grams: multipliers float64[pairs, k] → [n-grams, k]."""
        sums = np.zeros((len(grams), multipliers.shape[1]))
        columns = self.target_columns
        _add_worths(columns.offsets, columns.columns, columns.values, grams, multipliers, sums)
        return sums

    def roots(self, grams: I8) -> F8:
        """Return what one occurrence of target n-grams adds to a vector: the root of what a match counts."""
        lengths = self.target_grams.lengths[grams].astype(np.int64)
        return np.asarray(np.sqrt(self.spectrum.weights)[lengths - 1])


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """Least squares with a ridge (wang2007 Eq. 4): v = (K + λ I)⁻¹ k(x)."""

    vectors: Vectors
    solver: GramSolver
    tolerance: float = TOLERANCE  # of the prediction for a whole sentence

    @classmethod
    def of(cls, vectors: Vectors, ridge: float, *, tolerance: float = TOLERANCE) -> LeastSquares:
        """Prepare the solver."""
        return cls(vectors, gram_solver(vectors.source, ridge, tolerance=tolerance), tolerance)

    def predict(self, sentence: I4, reachable: Bools, prefixes: Sequence[int] | None = None) -> Prediction:
        """Predict for prefixes of a sentence (see :class:`Regression`), all at once but for the whole sentence."""
        lengths = _lengths(sentence, prefixes)
        grams = self.vectors.reached(reachable)
        multipliers = self.vectors.kernels(sentence, lengths)
        loose = max(self.tolerance, PREFIX_TOLERANCE)
        whole = lengths == len(sentence)
        for some, tolerance in ((whole, self.tolerance), (~whole, loose)):  # apart: a few steps are enough for many
            if some.any():
                right = multipliers[:, some]
                multipliers[:, some] = self.solver.solve(right, np.full(right.shape[1], tolerance)).values
        sums = self.vectors.worths(grams, multipliers) * self.vectors.roots(grams)[:, None]
        return Prediction(
            grams, self.vectors.rows_of(grams), sums, np.zeros(len(grams)), np.zeros(len(lengths)), 0.0, 0
        )


@dataclass(frozen=True, eq=False)
class MaximumMargin:
    """Maximum margin (wang2007 Eq. 7): v_i = α_i ⟨x̄_i, x̄⟩ / ‖ŷ_i‖, with centred and normalised vectors."""

    vectors: Vectors
    margin: Margin

    @cached_property
    def sides(self) -> tuple[Centred, Centred]:
        """Both sides, centred."""
        return Centred.of(self.vectors.source), Centred.of(self.vectors.target)

    def predict(self, sentence: I4, reachable: Bools, prefixes: Sequence[int] | None = None) -> Prediction:
        """Predict for prefixes of a sentence (see :class:`Regression`)."""
        source, target = self.sides
        lengths = _lengths(sentence, prefixes)
        grams = self.vectors.reached(reachable)
        onto_mean, norms = self._prefix_norms(np.asarray(sentence, np.int32))
        onto_mean, norms = onto_mean[lengths - 1], norms[lengths - 1]
        square = float(source.mean @ source.mean)
        centred = np.sqrt(np.maximum(norms - 2.0 * onto_mean + square, 0.0))
        multipliers = self.vectors.kernels(sentence, lengths)
        multipliers += (square - onto_mean)[None, :] - source.onto_mean[:, None]  # ⟨x_i - μ, x - μ⟩
        multipliers *= self.margin.scaled[:, None]
        multipliers /= np.where(centred > 1e-9, centred, 1.0)[None, :]
        totals = multipliers.sum(0)
        mean_square = float(target.mean @ target.mean)
        sums = self.vectors.worths(grams, multipliers) - target.mean[grams][:, None] * totals[None, :]
        constants = target.onto_mean @ multipliers - mean_square * totals  # ⟨μ, W x̄⟩
        roots = self.vectors.roots(grams)
        return Prediction(
            grams,
            self.vectors.rows_of(grams),
            sums * roots[:, None],
            target.mean[grams] * roots,
            constants,
            mean_square,
            1,
        )

    def _prefix_norms(self, sentence: I4) -> tuple[F8, F8]:
        """Return ⟨φ(x), μ⟩ and κ(x, x) of all prefixes: float64[words] each."""
        weights = self.vectors.spectrum.weights
        ends = self.vectors.source_grams.ends(sentence)
        means = np.where(ends >= 0, self.sides[0].mean[ends] * np.sqrt(weights), 0.0)
        norms = np.zeros(len(sentence))
        _prefix_norms(sentence, np.cumsum(weights), norms)
        return np.cumsum(means.sum(1)), norms


def _lengths(sentence: I4, prefixes: Sequence[int] | None) -> I8:
    return np.arange(1, len(sentence) + 1) if prefixes is None else np.asarray(prefixes, np.int64)


@kernel
def _add_kernels(offsets, sentences, values, ends, roots, column, table):
    """Add what ends at each word to the first prefix that has the word; prefixes then are running sums."""
    length, order = ends.shape
    width = table.shape[1]
    for word in range(length):
        if column[word] == width:
            break
        for p in range(order):
            gram = ends[word, p]
            if gram >= 0:
                for i in range(offsets[gram], offsets[gram + 1]):
                    table[sentences[i], column[word]] += roots[p] * values[i]
    for row in range(len(table)):
        for k in range(1, width):
            table[row, k] += table[row, k - 1]


@kernel
def _prefix_norms(sentence, cumulated, norms):
    """An n-gram that stood c times before adds 2 c + 1 to its square, weighted."""
    order = len(cumulated)
    total = 0.0
    for i in range(len(sentence)):
        total += cumulated[min(i + 1, order) - 1]
        for j in range(i):
            same = 0
            while same < order and same <= j and sentence[i - same] == sentence[j - same]:
                same += 1
            if same > 0:
                total += 2.0 * cumulated[same - 1]
        norms[i] = total


@kernel
def _reach(last, before, reachable, reached):
    for gram in range(len(last)):  # the n-gram before its last word has a lower number
        if reachable[last[gram]] and (before[gram] < 0 or reached[before[gram]]):
            reached[gram] = True


@kernel
def _add_worths(offsets, sentences, values, grams, multipliers, sums):
    width = sums.shape[1]
    for g in range(len(grams)):
        out = sums[g]
        for i in range(offsets[grams[g]], offsets[grams[g] + 1]):
            value = np.float64(values[i])
            row = multipliers[sentences[i]]
            for k in range(width):
                out[k] += value * row[k]
