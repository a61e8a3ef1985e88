"""TER: edits, shifts of word blocks included, per reference word (Snover et al. 2006), on sacreBLEU's statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import sacrebleu.metrics

from camber.arrays.types import F8
from camber.metrics.metric import Conventions, Metric, References, signature_of_sacrebleu, statistics_of_sacrebleu


class TER(Metric):
    """Translation edit rate: 0 is perfect, smaller is better.

    >>> ter = TER()
    >>> float(ter.score(ter.statistics(["a b c d"], [["a b c e"]]).sum(0)))
    25.0
    """

    name = "TER"
    higher_is_better = False

    def __init__(self, *, case_sensitive: bool = False) -> None:
        self._inner = sacrebleu.metrics.TER(case_sensitive=case_sensitive)

    def statistics(
        self, hypotheses: Sequence[str], references: References, sentences: npt.ArrayLike | None = None
    ) -> F8:
        """Return float64[hypotheses, 2]: edits to the nearest reference, mean reference length."""
        rows = statistics_of_sacrebleu(self._inner, hypotheses, references, sentences)
        return np.array(rows, np.float64).reshape(len(rows), 2)

    def score(self, statistics: npt.ArrayLike) -> Any:
        """Return TER of summed rows: [..., 2] → [...]."""
        sums = np.asarray(statistics, np.float64)
        edits, length = sums[..., 0], sums[..., 1]
        without_reference = np.where(edits > 0, 1.0, 0.0)
        return 100.0 * np.divide(edits, length, out=without_reference, where=length > 0)[()]

    def signature(self, references: int) -> str:
        """Describe the score as sacreBLEU does."""
        return signature_of_sacrebleu(self._inner, references)


def ter(how: Conventions) -> TER:
    """Make TER, which no convention concerns."""
    return TER()
