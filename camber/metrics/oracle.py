"""Oracles: the best (or worst) choice of one hypothesis per sentence that a list allows.

Per sentence, by sentence scores (BLEU+1 for BLEU); or greedy at the level of the corpus, where the choices of all
sentences count together: sentence by sentence, the hypothesis that makes the corpus score best is taken, again and
again until nothing changes.

    rows = nbest.statistics(metric, references)
    chosen = corpus_oracle(metric, rows, nbest.sentence_offsets)
    metric.score(rows[chosen].sum(0))
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from camber.arrays.types import I8
from camber.errors import CamberError
from camber.metrics.metric import Metric
from camber.metrics.sentence import corpus_scores, sentence_scores

_PASSES = 50  # of the greedy search, which needs two or three


def sentence_oracle(
    metric: Metric, rows: npt.NDArray, offsets: npt.ArrayLike, *, worst: bool = False, k: int | None = None
) -> I8:
    """Return the hypothesis of every sentence with the best sentence score, int64[sentences]; -1 where there is none.

    `rows` are statistics [hypotheses, columns]; hypotheses of sentence `s` are ``offsets[s]`` … ``offsets[s + 1] - 1``.
    `worst` makes it the anti-oracle; with `k` only the first `k` hypotheses of a sentence count. Of equals the first
    wins.

    >>> from camber.metrics.ter import TER
    >>> sentence_oracle(TER(), np.array([[3, 9], [1, 9], [2, 9]]), [0, 2, 3]).tolist()
    [1, 2]
    """
    scores = sentence_scores(metric, rows)
    scores = -scores if worst else scores
    return np.array(
        [start + int(np.argmax(scores[start:end])) if end > start else -1 for start, end in _groups(offsets, rows, k)],
        np.int64,
    )


def corpus_oracle(
    metric: Metric,
    rows: npt.NDArray,
    offsets: npt.ArrayLike,
    *,
    worst: bool = False,
    k: int | None = None,
    missing: npt.ArrayLike | None = None,
) -> I8:
    """Return the hypotheses, int64[sentences], that a greedy search for the best (worst) corpus score ends with.

    It starts from :func:`sentence_oracle` and never does worse. `missing` [columns] are the statistics of sentences
    without hypotheses, which count in the corpus score.
    """
    chosen = sentence_oracle(metric, rows, offsets, worst=worst, k=k)
    table = np.ascontiguousarray(rows, np.float64)
    total = table[chosen[chosen >= 0]].sum(0)
    if missing is not None:
        total += np.asarray(missing, np.float64)
    groups = _groups(offsets, rows, k)
    sign = -1.0 if worst else 1.0
    for _ in range(_PASSES):
        changed = False
        for sentence, (start, end) in enumerate(groups):
            if end - start < 2:
                continue
            now = chosen[sentence]
            others = total - table[now]
            quality = sign * corpus_scores(metric, others + table[start:end])
            best = start + int(np.argmax(quality))
            # equals keep the choice, or two of them could take turns for ever
            if quality[best - start] > quality[now - start]:
                chosen[sentence], changed = best, True
                total = others + table[best]
        if not changed:
            break
    return chosen


def oracle_scores(
    metric: Metric, rows: npt.NDArray, offsets: npt.ArrayLike, ks: Sequence[int], missing: npt.ArrayLike | None = None
) -> dict[int, float]:
    """Return the corpus score of the greedy oracle of the first `k` hypotheses, for every `k` (oracle@k)."""
    scores = {}
    for k in ks:
        if k < 1:
            raise CamberError(f"oracle@{k}: expected at least 1")
        chosen = corpus_oracle(metric, rows, offsets, k=k, missing=missing)
        total = rows[chosen[chosen >= 0]].sum(0) + (0 if missing is None else np.asarray(missing))
        scores[k] = float(metric.score(total))
    return scores


def _groups(offsets: npt.ArrayLike, rows: npt.NDArray, k: int | None) -> list[tuple[int, int]]:
    bounds = np.asarray(offsets, np.int64)
    if len(bounds) == 0 or bounds[0] != 0 or bounds[-1] != len(rows) or (np.diff(bounds) < 0).any():
        raise ValueError(f"offsets must rise from 0 to {len(rows)}")
    ends = bounds[1:] if k is None else np.minimum(bounds[1:], bounds[:-1] + k)
    return list(zip(bounds[:-1].tolist(), ends.tolist(), strict=True))
