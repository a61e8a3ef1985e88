"""The log-linear model's probabilities over each sentence's list, and derivatives through them (nguyen2007, 2.1)."""

from __future__ import annotations

import numpy as np

from camber.arrays.types import F8
from camber.kernel import kernel
from camber.tune.data import TuningData


class Posterior:
    """Probabilities ``p_k ∝ exp(scale (λ · h_k + fixed))`` inside every sentence; it owns its working space."""

    def __init__(self, data: TuningData, start: F8) -> None:
        self.data = data
        self.scale = 1.0
        self._base = data.base(start)
        self._scores = np.empty(data.hypotheses)
        self.probabilities = np.empty(data.hypotheses)
        self.logs = np.empty(data.hypotheses)  # log p, finite even where p is 0

    def update(self, scale: float, weights: F8) -> None:
        """Fill `probabilities` and `logs` for tuned weights float64[free]."""
        self._scores[:] = self._base
        self.data.add_scores(weights, self._scores)
        self.update_by_scores(scale, self._scores)

    def update_by_scores(self, scale: float, scores: F8) -> None:
        """Fill `probabilities` and `logs` for scores float64[hypotheses]."""
        self.scale = scale
        _normalise(self.data.sentence_offsets, scores, scale, self.probabilities, self.logs)

    def expected(self, table: F8) -> F8:
        """Return Σ p_k row_k over all hypotheses: [hypotheses, columns] → float64[columns]."""
        sums = np.zeros(table.shape[1])
        _expect(self.probabilities, table, sums)
        return sums

    def weighted(self, table: F8, factors: F8) -> F8:
        """Return the sum of every row's cells times `factors`: [hypotheses, columns], [columns] → [hypotheses]."""
        totals = np.empty(len(table))
        _weigh(table, np.ascontiguousarray(factors), totals)
        return totals

    def through_scores(self, slopes: F8) -> F8:
        """Return the gradient in the weights, given derivatives in the scaled scores: float64[hypotheses] → [free]."""
        return self.scale * self.data.project(slopes)

    def through_probabilities(self, slopes: F8) -> F8:
        """Return the gradient in the weights, given derivatives in the probabilities: float64[hypotheses] → [free].

        ∇p_k = scale p_k (h_k - Σ p_j h_j).
        """
        return self.through_scores(self._centred(slopes))

    def in_scores(self, slopes: F8) -> F8:
        """Return derivatives in the scores, given those in the probabilities: float64[hypotheses] both."""
        return self.scale * self._centred(slopes)

    def _centred(self, slopes: F8) -> F8:
        """Return derivatives in the scaled scores: p_k (slope_k - Σ p_j slope_j)."""
        inner = np.empty(self.data.hypotheses)
        _centre(self.data.sentence_offsets, self.probabilities, np.ascontiguousarray(slopes), inner)
        return inner


@kernel
def _normalise(offsets, scores, scale, probabilities, logs):
    for s in range(len(offsets) - 1):
        start, end = offsets[s], offsets[s + 1]
        if start == end:
            continue
        highest = scale * scores[start]
        for h in range(start + 1, end):
            highest = max(highest, scale * scores[h])
        total = 0.0
        for h in range(start, end):
            probabilities[h] = np.exp(scale * scores[h] - highest)
            total += probabilities[h]
        log_total = np.log(total)
        for h in range(start, end):
            probabilities[h] /= total
            logs[h] = scale * scores[h] - highest - log_total


@kernel
def _expect(probabilities, table, sums):
    for h in range(len(probabilities)):
        for c in range(len(sums)):
            sums[c] += probabilities[h] * table[h, c]


@kernel
def _weigh(table, factors, totals):
    for h in range(len(totals)):
        total = 0.0
        for c in range(len(factors)):
            total += factors[c] * table[h, c]
        totals[h] = total


@kernel
def _centre(offsets, probabilities, slopes, inner):
    for s in range(len(offsets) - 1):
        mean = 0.0
        for h in range(offsets[s], offsets[s + 1]):
            mean += probabilities[h] * slopes[h]
        for h in range(offsets[s], offsets[s + 1]):
            inner[h] = probabilities[h] * (slopes[h] - mean)
