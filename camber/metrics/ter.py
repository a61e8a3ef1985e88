"""TER: edits, shifts of word blocks included, per reference word (Snover et al. 2006), as sacreBLEU counts them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from camber.arrays.ragged import offsets_from, places_of
from camber.arrays.types import F8
from camber.metrics.edits import edits
from camber.metrics.metric import Conventions, Metric, References, grouped_references, owners, signature_of_sacrebleu


class TER(Metric):
    """Translation edit rate: 0 is perfect, smaller is better.

    >>> ter = TER()
    >>> float(ter.score(ter.statistics(["a b c d"], [["a b c e"]]).sum(0)))
    25.0
    """

    name = "TER"
    higher_is_better = False

    def __init__(self, *, case_sensitive: bool = False) -> None:
        import sacrebleu.metrics  # it takes its time

        self._inner: Any = sacrebleu.metrics.TER(case_sensitive=case_sensitive)

    def statistics(
        self, hypotheses: Sequence[str], references: References, sentences: npt.ArrayLike | None = None
    ) -> F8:
        """Return float64[hypotheses, 2]: edits to the nearest reference, mean reference length."""
        groups = grouped_references(references)
        owner = owners(len(hypotheses), len(groups), sentences)
        numbers = _Numbers()
        known: dict[tuple[int, str], int] = {}
        places = [known.setdefault(key, len(known)) for key in zip(owner.tolist(), hypotheses, strict=True)]
        texts = [self._numbered(text, numbers) for _, text in known]
        needed = set(owner.tolist())
        lines = [self._numbered(line, numbers) if s in needed else [] for s, g in enumerate(groups) for line in g]
        first = offsets_from(map(len, groups))
        of_text = np.array([sentence for sentence, _ in known], np.int64)
        sizes = (first[of_text + 1] - first[of_text]).astype(np.int64)
        pairs = np.column_stack((np.repeat(np.arange(len(texts)), sizes), places_of(first[of_text], sizes)))
        lengths = np.array(list(map(len, lines)), np.float64)
        starts = offsets_from(sizes)[:-1]
        rows = np.zeros((len(texts), 2))
        if len(texts):
            rows[:, 0] = np.minimum.reduceat(edits(texts, lines, pairs), starts)
            rows[:, 1] = np.add.reduceat(lengths[pairs[:, 1]], starts) / sizes
        return rows[np.array(places, np.int64)]

    def _numbered(self, line: str, numbers: _Numbers) -> list[int]:
        return list(map(numbers.__getitem__, self._inner._preprocess_segment(line).split()))

    def score(self, statistics: npt.ArrayLike) -> Any:
        """Return TER of summed rows: [..., 2] → [...]."""
        sums = np.asarray(statistics, np.float64)
        edits, length = sums[..., 0], sums[..., 1]
        without_reference = np.where(edits > 0, 1.0, 0.0)
        return 100.0 * np.divide(edits, length, out=without_reference, where=length > 0)[()]

    def signature(self, references: int) -> str:
        """Describe the score as sacreBLEU does."""
        return signature_of_sacrebleu(self._inner, references)


class _Numbers(dict[str, int]):
    """Numbers of words, from 0 in the order in which they are asked for."""

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        return number


def ter(how: Conventions) -> TER:
    """Make TER, which no convention concerns."""
    return TER()
