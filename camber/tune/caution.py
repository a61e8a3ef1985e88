"""Caution: how far to go from what is known to work towards what a tuner says.

A tuner trusts a short list too much. So a cautious fit goes on the straight line between the two to the point that is
best on sentences that the tuner had not seen, folds of the list that it is fitted to. That may be where it came from: a
list's own order, or a linear model that was to bend. Or it goes to where the best points of many resampled sets of such
sentences are on average (:func:`mean_step`), which is steadier where going far and staying are much alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from camber.arrays.ragged import offsets_from, places_of
from camber.arrays.types import F8, I8
from camber.metrics.significance import paired_bootstrap, resampled_scores
from camber.progress import each
from camber.tune.data import TuningData

#: points between the start (0) and the tuned weights (1) that are tried
STEPS = (0.0, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 1.0)
FEW = 10  # sentences: fewer are not split
#: curves are taken only if they beat the line on this share of resampled sets of held-out sentences
SURE = 0.8
SAMPLES = 500  # of sentences, for a mean of steps
FOLDS = 3  # of the sentences that are held out in turn


def confirmed_step(
    data: TuningData,
    ends: tuple[F8, F8],
    fitted: Callable[[TuningData], tuple[F8, F8]],
    *,
    cautious: bool,
    sure: float = 0.0,
    seed: int = 1,
) -> float:
    """Return how far to go between two weights, the `ends` that all of `data` leads to; all the way if not cautious.

    The rest is as for :func:`careful_step`.
    """
    if np.array_equal(*ends):
        return 0.0
    return careful_step(data, fitted, sure, seed) if cautious and len(data) >= FEW else 1.0


def careful_step(
    data: TuningData,
    fitted: Callable[[TuningData], tuple[F8, F8]],
    sure: float = 0.0,
    seed: int = 1,
) -> float:
    """Return the step whose weights score best on sentences that were held out; of equals the shortest.

    `fitted` gives the weights to come from and those to go to, of sentences that it may look at. `sure`: stay, unless
    the step is better than staying on this share of resampled sets of those sentences.
    """
    return STEPS[way_by_sentences(data, _at_every_step(data, fitted), len(STEPS), sure, seed)]


def _at_every_step(data: TuningData, fitted: Callable[[TuningData], tuple[F8, F8]]) -> Callable[[I8, I8], list[I8]]:
    """Return what each of `STEPS` chooses between the weights that are `fitted` to some sentences, for others."""

    def chosen(seen: I8, held: I8) -> list[I8]:
        start, weights = fitted(of_sentences(data, seen))
        lists = of_sentences(data, held)
        return [lists.one_best((1.0 - step) * start + step * weights) for step in STEPS]

    return chosen


def step_by_folds(
    data: TuningData,
    chosen_by: Callable[[TuningData, TuningData], list[I8]],
    sure: float = 0.0,
    seed: int = 1,
) -> float:
    """Return the step whose choices score best on sentences that were held out, as :func:`careful_step` does.

    `chosen_by` gets sentences that it may look at and others, and gives the best hypotheses of the latter (-1: none)
    for each of `STEPS`.
    """
    return STEPS[way_by_folds(data, chosen_by, len(STEPS), sure, seed)]


def way_by_folds(
    data: TuningData,
    chosen_by: Callable[[TuningData, TuningData], list[I8]],
    ways: int,
    sure: float = 0.0,
    seed: int = 1,
) -> int:
    """Return the number of the way whose choices score best on sentences that were held out; of equals the first.

    `chosen_by` gives best hypotheses for each of so many `ways`, as for :func:`step_by_folds`. With `sure`, the first
    is to stay: another must beat it on this share of resampled sets of those sentences.
    """

    def chosen(seen: I8, held: I8) -> list[I8]:
        return chosen_by(of_sentences(data, seen), of_sentences(data, held))

    return way_by_sentences(data, chosen, ways, sure, seed)


def way_by_sentences(
    data: TuningData,
    chosen_by: Callable[[I8, I8], list[I8]],
    ways: int,
    sure: float = 0.0,
    seed: int = 1,
) -> int:
    """Do the same where `chosen_by` gets the numbers of sentences that it may look at, and of others."""
    chosen = held_out(data, chosen_by, ways, FOLDS)
    highest = int(np.argmax(data.quality(chosen.sum(1))))
    if highest and sure and paired_bootstrap(data.metric, chosen[0], chosen[highest], 500, seed).wins < sure:
        return 0
    return highest


def mean_step(data: TuningData, fitted: Callable[[TuningData], tuple[F8, F8]], seed: int, folds: int) -> float:
    """Return the step that is best on resampled sets of held-out sentences, on average.

    Where scores of steps differ by less than chance, the best of them may be any, and their mean is in the middle;
    where they differ by more, it is nearly that of :func:`careful_step`. `fitted` is as there; `folds` are held out in
    turn.
    """
    return mean_step_of(data, _at_every_step(data, fitted), seed, folds)


def mean_step_of(data: TuningData, chosen_by: Callable[[I8, I8], list[I8]], seed: int, folds: int = FOLDS) -> float:
    """Return the same where `chosen_by` gets numbers of sentences, as for :func:`way_by_sentences`."""
    tables = held_out(data, chosen_by, len(STEPS), folds)
    scores = resampled_scores(data.metric, list(tables), SAMPLES, seed)
    best = (scores if data.metric.higher_is_better else -scores).argmax(1)
    return float(np.array(STEPS)[best].mean())


def held_out(data: TuningData, chosen_by: Callable[[I8, I8], list[I8]], ways: int, folds: int) -> F8:
    """Return the statistics of what each way chooses, float64[ways, sentences, columns], each sentence held out once.

    `chosen_by` gets the numbers of sentences that it may look at, and of others.
    """
    fold_of = np.arange(len(data)) % folds
    chosen = np.zeros((ways, len(data), data.statistics.shape[1]))
    for fold in each(range(folds), "held-out folds"):
        sentences = np.flatnonzero(fold_of == fold)
        held = of_sentences(data, sentences)
        for row, best in enumerate(chosen_by(np.flatnonzero(fold_of != fold), sentences)):
            chosen[row, sentences[best >= 0]] = held.statistics[best[best >= 0]]
    return chosen


def of_sentences(data: TuningData, chosen: I8) -> TuningData:
    """Return the columns of some sentences."""
    starts, counts = data.sentence_offsets[:-1][chosen], np.diff(data.sentence_offsets)[chosen]
    part = data.take(places_of(starts, counts), offsets_from(counts))
    return replace(part, missing=np.zeros(len(data.missing)))
