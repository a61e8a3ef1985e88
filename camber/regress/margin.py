"""Maximum margin regression (wang2007, 2.3): W = Σ α_i ȳ_i x̄_iᵀ, with vectors that are centred and then normalised.

    fitted = MarginRegression(cost=1.0).fit(source_rows, target_rows)
    fitted.alphas, fitted.gap

Eq. 5 is a support vector machine without a bias over joint features: pairs of a source and a target n-gram, with one
example ⟨ȳ_i, W x̄_i⟩ ≥ 1 - ξ_i for each sentence pair. Dual coordinate descent (Hsieh et al. 2008) takes one pair after
the other to the best α_i in [0, C] and keeps W up to date. (Eq. 6 lacks a ½ of the quadratic term, which is the same as
C doubled and W halved; here it is there.)

Centred vectors are dense, but W is not needed densely: with b_i = α_i / (‖x̂_i‖ ‖ŷ_i‖), means μ and sparse x_i, y_i,

    W = Σ b_i (y_i - μ_y)(x_i - μ_x)ᵀ = S - μ_y aᵀ - c μ_xᵀ + B μ_y μ_xᵀ
    S = Σ b_i y_i x_iᵀ,   a = Σ b_i x_i,   c = Σ b_i y_i,   B = Σ b_i

so S on pairs of n-grams that stand together in some sentence pair, and a few vectors, are enough. A pair of n-grams
that stands together only once adds to nothing but the diagonal, so it is folded into it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.sparse import Counts
from camber.arrays.types import F4, F8, I4, I8
from camber.kernel import kernel
from camber.progress import each, log
from camber.regress.spectrum import transposed
from camber.settings import Settings, setting


class Centred(NamedTuple):
    """One side: sparse rows, their mean, and the lengths of the rows less the mean."""

    rows: Counts
    mean: F8  # [n-grams]
    onto_mean: F8  # [sentences]: products of rows with the mean
    lengths: F8  # [sentences]

    @classmethod
    def of(cls, rows: Counts) -> Centred:
        """Centre rows; one that is the mean has no direction, and gets the length 1."""
        mean = np.bincount(rows.columns, rows.values.astype(np.float64), rows.width) / max(1, len(rows))
        onto_mean = rows.products(mean)
        squares = np.zeros(len(rows))
        _row_squares(rows.offsets, rows.values, squares)
        lengths = np.sqrt(np.maximum(squares - 2.0 * onto_mean + float(mean @ mean), 0.0))
        lengths[lengths < 1e-9] = 1.0
        return cls(rows, mean, onto_mean, lengths)


class JointPairs(NamedTuple):
    """The pairs of n-grams of every sentence pair that stand together elsewhere, too."""

    offsets: I8  # [sentence pairs + 1]
    places: I4  # [entries]: place in S
    values: F4  # [entries]: the product of both values
    folded: F8  # [sentence pairs]: the sum of squared products of all others
    size: int  # of S

    @classmethod
    def of(cls, source: Counts, target: Counts) -> JointPairs:
        """Find them: for every source n-gram, the target n-grams of its sentence pairs are counted."""
        columns = transposed(source)
        count = np.zeros(target.width, np.int32)
        touched = np.empty(target.width, np.int32)
        sizes, folded = np.zeros(len(source), np.int64), np.zeros(len(source))
        size = _count_pairs(
            columns.offsets, columns.columns, columns.values, target.offsets, target.columns, target.values,
            count, touched, sizes, folded,
        )  # fmt: skip
        offsets = offsets_from(sizes)
        places, values = np.empty(int(offsets[-1]), np.int32), np.empty(int(offsets[-1]), np.float32)
        _place_pairs(
            columns.offsets, columns.columns, columns.values, target.offsets, target.columns, target.values,
            count, touched, offsets[:-1].copy(), places, values,
        )  # fmt: skip
        return cls(offsets, places, values, folded, int(size))


@dataclass(frozen=True, eq=False)
class Margin:
    """What was learnt: a multiplier for every sentence pair."""

    alphas: F8  # [sentence pairs], 0 … C
    scaled: F8  # [sentence pairs]: alphas over both lengths
    primal: float
    dual: float
    epochs: int

    @property
    def gap(self) -> float:
        """The duality gap, relative to the primal value."""
        return (self.primal - self.dual) / max(abs(self.primal), 1e-300)


@dataclass(frozen=True)
class MarginRegression(Settings):
    """How the multipliers are found."""

    cost: float = setting(1.0, "C: what a sentence pair inside the margin costs", low=1e-9)
    gap: float = setting(1e-3, "relative duality gap at which to stop", low=1e-12)
    epochs: int = setting(100, "passes over all pairs at most", low=1)

    def fit(self, source: Counts, target: Counts, *, seed: int = 1) -> Margin:
        """Learn from n-gram vectors of both sides, one row each for every sentence pair."""
        left, right = Centred.of(source), Centred.of(target)
        pairs = JointPairs.of(source, target)
        state = _State.of(left, right, pairs)
        order = np.arange(len(source))
        generator = np.random.default_rng(seed)
        primal = dual = 0.0
        epoch = 0
        for epoch in each(range(1, self.epochs + 1), "maximise the margin", unit="epochs"):
            generator.shuffle(order)
            _descend(order, self.cost, state)
            primal, dual = state.values(self.cost)
            log.debug("margin: epoch %d, primal %.6g, dual %.6g", epoch, primal, dual)
            if primal - dual <= self.gap * abs(primal):
                break
        return Margin(state.alphas, state.alphas * state.inverse, primal, dual, epoch)


class _State(NamedTuple):
    """All that coordinate descent reads and keeps up to date."""

    source_offsets: I8
    source_columns: I4
    source_values: F4
    source_onto: F8
    target_offsets: I8
    target_columns: I4
    target_values: F4
    target_onto: F8
    offsets: I8
    places: I4
    values_of_pairs: F4
    folded: F8
    inverse: F8  # 1 / (‖x̂‖ ‖ŷ‖)
    squares: F8  # ‖μ_x‖², ‖μ_y‖²
    alphas: F8
    joint: F8  # S
    a: F8  # Σ b x
    c: F8  # Σ b y
    p: F8  # S μ_x
    q: F8  # Sᵀ μ_y
    sums: F8  # B, μ_yᵀ S μ_x, Σ b x·μ_x, Σ b y·μ_y
    quadratic: F8  # the diagonal of the dual problem: 1 but for rows that are the mean

    @classmethod
    def of(cls, left: Centred, right: Centred, pairs: JointPairs) -> _State:
        count = len(left.rows)
        quadratic = np.empty(count)
        for side_lengths in (left, right):
            squares = np.zeros(count)
            _row_squares(side_lengths.rows.offsets, side_lengths.rows.values, squares)
            own = squares - 2.0 * side_lengths.onto_mean + float(side_lengths.mean @ side_lengths.mean)
            factor = np.maximum(own, 0.0) / side_lengths.lengths**2
            quadratic = factor if side_lengths is left else quadratic * factor
        return cls(
            left.rows.offsets, left.rows.columns, left.rows.values, left.onto_mean,
            right.rows.offsets, right.rows.columns, right.rows.values, right.onto_mean,
            pairs.offsets, pairs.places, pairs.values, pairs.folded,
            1.0 / (left.lengths * right.lengths),
            np.array([float(left.mean @ left.mean), float(right.mean @ right.mean)]),
            np.zeros(count), np.zeros(max(1, pairs.size)),
            np.zeros(left.rows.width), np.zeros(right.rows.width), np.zeros(right.rows.width),
            np.zeros(left.rows.width), np.zeros(4), quadratic,
        )  # fmt: skip

    def values(self, cost: float) -> tuple[float, float]:
        """Return the primal and the dual value."""
        margins = np.empty(len(self.alphas))
        _margins(self, margins)
        half = 0.5 * float(self.alphas @ margins)  # ½ ‖W‖² = ½ αᵀ Q α
        primal = half + cost * float(np.maximum(1.0 - margins, 0.0).sum())
        return primal, float(self.alphas.sum()) - half


@kernel
def _row_squares(offsets, values, squares):
    for r in range(len(squares)):
        total = 0.0
        for i in range(offsets[r], offsets[r + 1]):
            total += np.float64(values[i]) * values[i]
        squares[r] = total


@kernel
def _count_pairs(offsets, sentences, values, t_offsets, t_columns, t_values, count, touched, sizes, folded):
    """Count the entries of every sentence pair that are shared, and return how many different ones there are."""
    size = 0
    for gram in range(len(offsets) - 1):
        first, last = offsets[gram], offsets[gram + 1]
        used = 0
        for i in range(first, last):
            s = sentences[i]
            for j in range(t_offsets[s], t_offsets[s + 1]):
                other = t_columns[j]
                if count[other] == 0:
                    touched[used] = other
                    used += 1
                count[other] += 1
        for i in range(first, last):
            s = sentences[i]
            for j in range(t_offsets[s], t_offsets[s + 1]):
                if count[t_columns[j]] > 1:
                    sizes[s] += 1
                else:
                    product = np.float64(values[i]) * t_values[j]
                    folded[s] += product * product
        for u in range(used):
            if count[touched[u]] > 1:
                size += 1
            count[touched[u]] = 0
    return size


@kernel
def _place_pairs(offsets, sentences, values, t_offsets, t_columns, t_values, count, touched, ends, places, products):
    """Number the shared pairs as they are met, and write those of every sentence pair."""
    size = 0
    for gram in range(len(offsets) - 1):
        first, last = offsets[gram], offsets[gram + 1]
        used = 0
        for i in range(first, last):
            s = sentences[i]
            for j in range(t_offsets[s], t_offsets[s + 1]):
                other = t_columns[j]
                if count[other] == 0:
                    touched[used] = other
                    used += 1
                count[other] += 1
        for u in range(used):  # from a number of occurrences to minus a place less one
            other = touched[u]
            if count[other] > 1:
                count[other] = -1 - size
                size += 1
        for i in range(first, last):
            s = sentences[i]
            for j in range(t_offsets[s], t_offsets[s + 1]):
                if count[t_columns[j]] < 0:
                    places[ends[s]] = -1 - count[t_columns[j]]
                    products[ends[s]] = values[i] * t_values[j]
                    ends[s] += 1
        for u in range(used):
            count[touched[u]] = 0


@kernel
def _margin(t, i):
    """⟨ȳ_i, W x̄_i⟩."""
    total = t.alphas[i] * t.inverse[i] * t.folded[i]
    for e in range(t.offsets[i], t.offsets[i + 1]):
        total += t.values_of_pairs[e] * t.joint[t.places[e]]
    xa = 0.0  # x · a
    xq = 0.0
    for e in range(t.source_offsets[i], t.source_offsets[i + 1]):
        xa += t.source_values[e] * t.a[t.source_columns[e]]
        xq += t.source_values[e] * t.q[t.source_columns[e]]
    yc = 0.0
    yp = 0.0
    for e in range(t.target_offsets[i], t.target_offsets[i + 1]):
        yc += t.target_values[e] * t.c[t.target_columns[e]]
        yp += t.target_values[e] * t.p[t.target_columns[e]]
    x_on, y_on = t.source_onto[i], t.target_onto[i]
    x_mean, y_mean = t.squares[0], t.squares[1]
    weight, middle, a_mean, c_mean = t.sums[0], t.sums[1], t.sums[2], t.sums[3]
    total += -yp - xq + middle  # (y - μ_y)ᵀ S (x - μ_x)
    total -= (y_on - y_mean) * (xa - a_mean)  # (y - μ_y)ᵀ μ_y · aᵀ (x - μ_x)
    total -= (yc - c_mean) * (x_on - x_mean)
    total += weight * (y_on - y_mean) * (x_on - x_mean)
    return total * t.inverse[i]


@kernel
def _margins(t, margins):
    for i in range(len(margins)):
        margins[i] = _margin(t, i)


@kernel
def _descend(order, cost, t):
    """Take one multiplier after the other to its best value."""
    for place in range(len(order)):
        i = order[place]
        if not t.quadratic[i] > 0.0:
            continue
        old = t.alphas[i]
        new = min(max(old - (_margin(t, i) - 1.0) / t.quadratic[i], 0.0), cost)
        if new == old:
            continue
        step = (new - old) * t.inverse[i]
        t.alphas[i] = new
        for e in range(t.offsets[i], t.offsets[i + 1]):
            t.joint[t.places[e]] += step * t.values_of_pairs[e]
        x_on, y_on = t.source_onto[i], t.target_onto[i]
        for e in range(t.source_offsets[i], t.source_offsets[i + 1]):
            column = t.source_columns[e]
            t.a[column] += step * t.source_values[e]
            t.q[column] += step * t.source_values[e] * y_on
        for e in range(t.target_offsets[i], t.target_offsets[i + 1]):
            column = t.target_columns[e]
            t.c[column] += step * t.target_values[e]
            t.p[column] += step * t.target_values[e] * x_on
        t.sums[0] += step
        t.sums[1] += step * x_on * y_on
        t.sums[2] += step * x_on
        t.sums[3] += step * y_on
