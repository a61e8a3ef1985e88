"""Significance pruning: drop phrase pairs that occur together no more often than chance would have it.

Johnson, Martin, Foster & Kuhn (2007), "Improving translation quality by discarding most of the phrasetable". The
one-tailed Fisher exact test asks how probable it is that s and t, which occur c(s) and c(t) times among N, meet at
least c(s,t) times.

We count *extracted phrase pair occurrences* (the counts of the store), not sentences as in the paper: N is the number
of all occurrences. As there, alpha = ln N is the −ln p of a pair whose two sides occur once, together: "alpha-epsilon"
keeps those pairs, "alpha+epsilon" drops them along with everything less sure.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from camber.arrays.types import F8
from camber.errors import CamberError
from camber.kernel import kernel
from camber.rules.phrase.store import RuleStore

#: Names of thresholds: how far from alpha = ln N they lie.
THRESHOLDS = {"alpha-epsilon": -0.01, "alpha+epsilon": 0.01}


def significance(together: npt.ArrayLike, source: npt.ArrayLike, target: npt.ArrayLike, total: int) -> F8:
    """Return −ln p of Fisher's exact test for counts c(s,t), c(s), c(t) among `total` events (1-D arrays).

    >>> significance([1, 3], [1, 3], [1, 3], 1000).round(2).tolist()    # ln N for a pair seen once
    [6.91, 18.93]
    """
    counts = np.column_stack([np.asarray(x, np.int64) for x in (together, source, target)])
    out = np.empty(len(counts))
    _significance(counts, total, out)
    return out


def significant(store: RuleStore, threshold: str | float = "alpha+epsilon", total: int = 0) -> RuleStore:
    """Keep the rules whose −ln p is at least `threshold`: a number, "alpha-epsilon" or "alpha+epsilon".

    `total` is N; by default the sum of c(s) over the store, which is too small for a table that was filtered or pruned.
    """
    if isinstance(threshold, str) and threshold not in THRESHOLDS:
        raise CamberError(f"significance threshold {threshold!r}; expected a number or one of {', '.join(THRESHOLDS)}")
    if len(store) and store.counts.min() <= 0:
        raise CamberError("significance pruning needs the counts c(s), c(t), c(s,t), which this phrase table lacks")
    together, target = store.counts[:, 1].astype(np.int64), store.counts[:, 0].astype(np.int64)
    source = np.repeat(store.source_counts, np.diff(store.rule_offsets))
    total = max(total or int(store.source_counts.sum()), int(target.max(initial=0)), int(source.max(initial=0)))
    least = np.log(max(total, 1)) + THRESHOLDS[threshold] if isinstance(threshold, str) else float(threshold)
    return store.select(significance(together, source, target, total) >= least)


@kernel
def _significance(counts, total, out):
    """Fill −ln P(X ≥ k), X hypergeometric, for rows (k, s, t)."""
    for row in range(len(counts)):
        k, s, t = counts[row, 0], counts[row, 1], counts[row, 2]
        lowest = max(0, s + t - total)
        if k <= lowest:
            out[row] = 0.0
            continue
        # Terms fall away from the mean on either side: sum the tail beyond k, or what is missing to 1.
        upper = k * total > s * t
        x = k if upper else k - 1
        log_term = math.lgamma(s + 1.0) - math.lgamma(x + 1.0) - math.lgamma(s - x + 1.0)
        log_term += math.lgamma(total - s + 1.0) - math.lgamma(t - x + 1.0) - math.lgamma(total - s - t + x + 1.0)
        log_term -= math.lgamma(total + 1.0) - math.lgamma(t + 1.0) - math.lgamma(total - t + 1.0)
        ratio, tail = 1.0, 0.0  # relative to the first term, which may be too small for a float
        while ratio > 1e-17 * tail:
            tail += ratio
            if upper:
                ratio *= (s - x) * (t - x) / ((x + 1.0) * (total - s - t + x + 1.0))
                x += 1
            else:
                ratio *= x * (total - s - t + x) / ((s - x + 1.0) * (t - x + 1.0))
                x -= 1
        log_tail = log_term + math.log(tail)
        out[row] = -log_tail if upper else -math.log1p(-min(math.exp(log_tail), 1.0))
