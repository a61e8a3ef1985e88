"""How well predicted n-grams are those of the reference: BER, precision, recall and F1 (bicici Eq. 6-7)."""

from __future__ import annotations

from typing import NamedTuple

from camber.arrays.types import Bools


class Measures(NamedTuple):
    """Counts of n-grams, predicted and wanted or not; what is divided by 0 is 0.

    >>> import numpy as np
    >>> found = Measures.of(np.array([True, True, False, False]), np.array([True, False, True, False]))
    >>> found.precision, found.recall, found.f1, found.ber
    (0.5, 0.5, 0.5, 0.5)
    """

    true_positives: int
    false_positives: int
    true_negatives: int
    false_negatives: int

    @classmethod
    def of(cls, predicted: Bools, wanted: Bools, unreachable: int = 0) -> Measures:
        """Count; `unreachable` n-grams of the reference are in no instance, so that nobody can predict them."""
        both = int((predicted & wanted).sum())
        return cls(
            both,
            int(predicted.sum()) - both,
            int((~predicted & ~wanted).sum()),
            int(wanted.sum()) - both + unreachable,
        )

    def plus(self, other: Measures) -> Measures:
        """Return the counts of both together: measures of a set are those of its summed counts."""
        return Measures(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    @property
    def precision(self) -> float:
        """The share of predicted n-grams that are wanted."""
        return _share(self.true_positives, self.true_positives + self.false_positives)

    @property
    def recall(self) -> float:
        """The share of wanted n-grams that are predicted."""
        return _share(self.true_positives, self.true_positives + self.false_negatives)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        twice = 2 * self.true_positives
        return _share(twice, twice + self.false_positives + self.false_negatives)

    @property
    def ber(self) -> float:
        """The balanced error rate: the mean of the rates of false positives and of false negatives."""
        false_alarms = _share(self.false_positives, self.true_negatives + self.false_positives)
        return (false_alarms + _share(self.false_negatives, self.true_positives + self.false_negatives)) / 2


NOTHING = Measures(0, 0, 0, 0)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
