"""chrF: F-score of character n-grams (Popović 2015), on sacreBLEU's statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from camber.arrays.types import I8
from camber.metrics.metric import Conventions, Metric, References, signature_of_sacrebleu, statistics_of_sacrebleu


class ChrF(Metric):
    """chrF2 with character n-grams up to 6; `word_order` 2 makes it chrF2++.

    >>> chrf = ChrF()
    >>> rows = chrf.statistics(["the cat sat"], [["the cat sat"]])
    >>> round(float(chrf.score(rows.sum(0))), 2)
    100.0
    """

    def __init__(self, *, lowercase: bool = False, word_order: int = 0, beta: int = 2) -> None:
        self.name = f"chrF{beta}" + "+" * word_order
        self.beta = beta
        import sacrebleu.metrics  # it takes its time

        self._inner: Any = sacrebleu.metrics.CHRF(lowercase=lowercase, word_order=word_order, beta=beta)

    def statistics(
        self, hypotheses: Sequence[str], references: References, sentences: npt.ArrayLike | None = None
    ) -> I8:
        """Return int64[hypotheses, 3 * orders]: for every order the n-grams of hypothesis, reference, and both."""
        rows = statistics_of_sacrebleu(self._inner, hypotheses, references, sentences)
        return np.array(rows, np.int64).reshape(len(rows), 3 * self._inner.order)

    def score(self, statistics: npt.ArrayLike) -> Any:
        """Return chrF of summed rows: [..., 3 * orders] → [...]."""
        sums = np.asarray(statistics, np.float64)
        sums = sums.reshape(*sums.shape[:-1], -1, 3)
        hypothesis, reference, both = sums[..., 0], sums[..., 1], sums[..., 2]
        # precision and recall are averages over the orders that occur on both sides ("effective order")
        used = (hypothesis > 0) & (reference > 0)
        orders = np.maximum(used.sum(-1), 1)
        precision = np.divide(both, hypothesis, out=np.zeros_like(both), where=used).sum(-1) / orders
        recall = np.divide(both, reference, out=np.zeros_like(both), where=used).sum(-1) / orders
        factor = self.beta**2
        below = factor * precision + recall
        above = 100.0 * (1 + factor) * precision * recall
        return np.divide(above, below, out=np.zeros_like(above), where=below > 0)[()]

    def signature(self, references: int) -> str:
        """Describe the score as sacreBLEU does."""
        return signature_of_sacrebleu(self._inner, references)


def chrf(how: Conventions) -> ChrF:
    """Make chrF by conventions."""
    return ChrF(lowercase=how.lowercase)
