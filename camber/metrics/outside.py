"""An outside score as a metric: COMET, a person's judgement, any number per hypothesis; the corpus score is the mean.

nbest = nbest.with_extra("comet", numbers)
metric = Outside("comet")
metric.score(nbest.statistics(metric, []).sum(0))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from camber.arrays.types import F8
from camber.errors import CamberError
from camber.metrics.metric import Metric, References


class Outside(Metric):
    """The mean of scores that another program or a person gave.

    With `values` they belong to the hypotheses that :meth:`statistics` is asked for, in order; without, an n-best list
    brings them along (its `extra`).

    >>> metric = Outside("comet", [0.5, 0.7])
    >>> float(metric.score(metric.statistics(["a", "b"], []).sum(0)).round(3))
    0.6
    """

    def __init__(self, column: str, values: npt.ArrayLike | None = None, *, higher_is_better: bool = True) -> None:
        self.column = self.name = column
        self.higher_is_better = higher_is_better
        self.values = None if values is None else np.asarray(values, np.float64)

    def rows(self, values: npt.ArrayLike) -> F8:
        """Return the statistics of given scores, float64[hypotheses, 2]: sum and number."""
        scores = np.asarray(values, np.float64)
        if not np.isfinite(scores).all():
            raise CamberError(f"an outside score {self.column} is not a finite number")
        return np.stack([scores, np.ones(len(scores))], axis=1)

    def on_scale_of_100(self, rows: F8) -> F8:
        """Return rows whose lowest score is 1 and whose highest is 100: the same order for tuners that expect BLEU's.

        Outside scores have any range, negative ones too.
        """
        values = rows[:, 0]
        low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
        return self.rows(1.0 + 99.0 * (values - low) / (high - low) if high > low else np.full(len(values), 1.0))

    def statistics(
        self, hypotheses: Sequence[str], references: References, sentences: npt.ArrayLike | None = None
    ) -> F8:
        """Return float64[hypotheses, 2]: the score, and 1; the texts are not looked at.

        Without values only empty hypotheses (of sentences that have none) can be told: they do not count.
        """
        if self.values is None:
            if any(hypotheses):
                raise CamberError(f"the outside scores {self.column} of these texts are not known")
            return np.zeros((len(hypotheses), 2))
        if len(self.values) != len(hypotheses):
            raise CamberError(f"{len(self.values):,} outside scores {self.column} for {len(hypotheses):,} hypotheses")
        return self.rows(self.values)

    def score(self, statistics: npt.ArrayLike) -> Any:
        """Return the means of summed rows: [..., 2] → [...]."""
        sums = np.asarray(statistics, np.float64)
        total, count = sums[..., 0], sums[..., 1]
        return np.divide(total, count, out=np.zeros_like(total), where=count > 0)[()]

    def signature(self, references: int) -> str:
        """Say which scores these are."""
        return f"outside:{self.column}|mean|better:{'higher' if self.higher_is_better else 'lower'}"


def digits_of(signature: str) -> int:
    """Return how many decimals a score deserves: two from 0 to 100, four of an outside score, which may be small."""
    return 4 if signature.startswith("outside:") else 2
