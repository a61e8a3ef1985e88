"""BLEU of single sentences and of many sums at once: what tuners need, on the statistics that BLEU counts.

One sentence seldom has a match of every order, so counts are smoothed: BLEU+1 (Lin and Och 2004) adds one to the
matches and n-grams of orders 2 and more; add-alpha adds `alpha` to all orders. Smoothing lifts the precision and not
the brevity penalty, which makes a tuner prefer short output: with ``brevity="smoothed"`` the reference is longer by the
same amount (Nakov, Guzmán and Vogel 2012).

    rows = bleu.statistics(hypotheses, [references], sentences)
    sentence_scores(bleu, rows)                                 # 0 to 100, one per row
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from camber.arrays.types import F8, AnyArray
from camber.errors import SettingsError
from camber.kernel import kernel
from camber.metrics.bleu import BLEU, SMOOTHING
from camber.metrics.metric import Metric

BREVITY = ("plain", "smoothed")


def sentence_bleu(
    rows: npt.ArrayLike, order: int = 4, alpha: float = 1.0, *, all_orders: bool = False, brevity: str = "plain"
) -> F8:
    """Return smoothed BLEU (0 to 100) of every row: [sentences, 2 + 2 * order] → float64[sentences].

    `alpha` is added to matches and n-grams of orders 2 and more (BLEU+1), of `all_orders` if so asked. A sentence
    without any matching word scores 0 unless all orders are smoothed.

    >>> sentence_bleu([[4, 4, 3, 2, 1, 0, 4, 3, 2, 1]]).round(2).tolist()
    [65.8]
    """
    if brevity not in BREVITY:
        raise SettingsError(f"unknown brevity penalty {brevity!r}; known: {', '.join(BREVITY)}")
    if alpha < 0:
        raise SettingsError(f"alpha is {alpha}; expected at least 0")
    table = np.array(rows, np.float64)
    length, reference = table[:, 0], table[:, 1]
    matches, totals = table[:, 2 : 2 + order], table[:, 2 + order : 2 + 2 * order]
    first = 0 if all_orders else 1
    matches[:, first:] += alpha
    totals[:, first:] += alpha
    usable = (matches > 0).all(1) & (totals > 0).all(1) & (length > 0)
    ratios = np.divide(matches, totals, out=np.ones_like(totals), where=usable[:, None])
    target = reference + (alpha if brevity == "smoothed" else 0.0)
    ratio = np.divide(target, length, out=np.ones_like(target), where=usable)
    penalty = np.minimum(0.0, 1.0 - ratio)
    return np.where(usable, 100.0 * np.exp(np.log(ratios).mean(1) + penalty), 0.0)


def sentence_scores(metric: Metric, rows: npt.ArrayLike, brevity: str = "plain") -> F8:
    """Return a score of every row, higher is better: BLEU+1 for BLEU, the metric's own for others (TER: negated)."""
    table = np.asarray(rows, np.float64)
    if isinstance(metric, BLEU):
        return sentence_bleu(table, metric.order, brevity=brevity)
    scores = np.asarray(metric.score(table), np.float64).reshape(len(table))
    return scores if metric.higher_is_better else -scores


def corpus_scores(metric: Metric, sums: F8) -> F8:
    """Return the metric of every sum of rows, higher is better (TER: negated): [n, columns] → float64[n].

    BLEU has a kernel, because a line search asks for thousands of sums.
    """
    parameters = bleu_parameters(metric)
    if parameters is None:
        scores = np.asarray(metric.score(sums), np.float64).reshape(len(sums))
        return scores if metric.higher_is_better else -scores
    scores = np.empty(len(sums))
    _bleu_of_rows(np.ascontiguousarray(sums, np.float64), *parameters, scores)
    return scores


def bleu_parameters(metric: Metric) -> tuple[int, int, float] | None:
    """Return (order, smoothing as a number, its value) for the kernels, or None for a metric they do not know."""
    if not isinstance(metric, BLEU) or metric.effective_order:
        return None
    return metric.order, SMOOTHING.index(metric.smooth), float(metric.smooth_value)


@kernel
def bleu_of_row(rows, row, order, smooth, value):
    """Return BLEU (0 to 100) of one sum of rows, as `BLEU.score` has it; `smooth` is a place in `SMOOTHING`."""
    ratio = 0.0
    if order == 4 and smooth != 2:  # the usual case in one go: this line is most of a line search
        below = rows[row, 6] * rows[row, 7] * rows[row, 8] * rows[row, 9]
        if below > 0.0:
            ratio = rows[row, 2] * rows[row, 3] * rows[row, 4] * rows[row, 5] / below
    if ratio <= 0.0:
        ratio = _smoothed_ratio(rows, row, order, smooth, value)
        if ratio <= 0.0:
            return 0.0
    length, reference = rows[row, 0], rows[row, 1]
    score = 100.0 * (np.sqrt(np.sqrt(ratio)) if order == 4 else ratio ** (1.0 / order))
    if length < reference:
        score *= np.exp(1.0 - reference / length) if length > 0.0 else 0.0
    return score


@kernel
def _smoothed_ratio(rows, row, order, smooth, value):
    """Return the product of the smoothed precisions, 0 if BLEU is 0."""
    ratio = 1.0
    missed = 0
    some = False
    for n in range(order):
        matches, total = rows[row, 2 + n], rows[row, 2 + order + n]
        some = some or matches > 0.0
        if smooth == 2 and n > 0:  # add-k
            matches += value
            total += value
        if total <= 0.0:
            return 0.0
        if matches <= 0.0:
            missed += 1
            if smooth == 0:  # exp: the k-th order without a match counts as 1 / 2^k matches
                matches = 0.5**missed
            elif smooth == 1:  # floor
                matches = value
        ratio *= matches / total
    return ratio if some else 0.0


@kernel
def _bleu_of_rows(rows, order, smooth, value, scores):
    for row in range(len(rows)):
        scores[row] = bleu_of_row(rows, row, order, smooth, value)


def lengths_in_words(metric: Metric, rows: AnyArray) -> F8 | None:
    """Return the length of every hypothesis in words if the metric's statistics hold it, else None."""
    if isinstance(metric, BLEU) and not metric.strict:
        return np.ascontiguousarray(rows[:, 0], np.float64)
    if isinstance(metric, BLEU):  # BLEU-SBP clips the length in the first column: count the unigrams
        return np.ascontiguousarray(rows[:, 2 + metric.order], np.float64)
    return None
