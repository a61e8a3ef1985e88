"""Thresholds that turn predicted values into n-grams, one for each length, so that F1 is the highest there is.

    thresholds = best_thresholds(values, lengths, wanted, unreachable=12)
    predicted = above(values, lengths, thresholds)

Values carry √weight, and long n-grams are harder to predict than words; so a threshold belongs to a length. F1 of all
lengths together is 2 Σ hits / (Σ predicted + wanted), a ratio of sums over lengths. It is at least q where
Σ (2 hits - q predicted) ≥ q · wanted, and for a given q each length is best served by the cut that maximises its own
2 hits - q predicted. From any q, the F1 of these cuts is a better q, until it is the best one (Dinkelbach).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from camber.arrays.types import F8, I8, Bools


def above(values: F8, lengths: npt.NDArray[np.integer], thresholds: F8) -> Bools:
    """Say which n-grams are predicted: those whose value is above the threshold of their length.

    >>> above(np.array([0.3, 0.9]), np.array([1, 2]), np.array([0.2, 1.0])).tolist()
    [True, False]
    """
    return np.asarray(values > thresholds[np.asarray(lengths, np.int64) - 1])


def best_thresholds(
    values: F8, lengths: npt.NDArray[np.integer], wanted: Bools, unreachable: int = 0, orders: int = 0
) -> F8:
    """Return the thresholds with the highest F1, by length: float64[orders] (0: as many as the longest has words).

    Equal values are on one side. A threshold lies in the middle between the values around it; of equally good ones it
    is the highest. Where no n-gram of a length should be predicted, it is infinite. `unreachable` n-grams of the
    references are missed whatever the thresholds are.

    >>> best_thresholds(np.array([0.1, 0.5, 0.9]), np.ones(3, int), np.array([False, True, True])).tolist()
    [0.3]
    """
    lengths = np.asarray(lengths, np.int64)
    orders = orders or int(lengths.max(initial=0))
    cuts = [_Cuts(values[lengths == n], wanted[lengths == n]) for n in range(1, orders + 1)]
    total = int(wanted.sum()) + unreachable
    ratio = 0.0
    chosen = [0] * orders
    while total:
        places = [cut.best(ratio) for cut in cuts]
        hits = sum(int(cut.hits[place]) for cut, place in zip(cuts, places, strict=True))
        predicted = sum(int(cut.sizes[place]) for cut, place in zip(cuts, places, strict=True))
        score = 2 * hits / (predicted + total)
        if score <= ratio:
            break
        ratio, chosen = score, places
    return np.array([cut.threshold(place) for cut, place in zip(cuts, chosen, strict=True)])


class _Cuts:
    """All ways to cut the values of one length; the first predicts nothing."""

    values: F8  # falling
    sizes: I8  # [cuts]: how many are predicted
    hits: I8  # [cuts]: how many of these are wanted

    def __init__(self, values: F8, wanted: Bools) -> None:
        order = np.argsort(-values, kind="stable")
        self.values = values[order]
        ends = np.flatnonzero(np.append(np.diff(self.values) != 0, True)) + 1 if len(values) else np.zeros(0, np.int64)
        self.sizes = np.append(0, ends)
        self.hits = np.append(0, np.cumsum(wanted[order]))[self.sizes]

    def best(self, ratio: float) -> int:
        """Return the first cut that maximises 2 hits - ratio · size."""
        return int(np.argmax(2 * self.hits - ratio * self.sizes))

    def threshold(self, cut: int) -> float:
        size = int(self.sizes[cut])
        if size == 0:
            return float("inf")
        last = float(self.values[size - 1])
        if size == len(self.values):
            return last - max(abs(last), 1.0) * 1e-6  # below all values
        below = float(self.values[size])
        middle = (last + below) / 2
        return middle if below <= middle < last else below
