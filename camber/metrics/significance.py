"""Is the difference between two systems chance? Paired bootstrap and approximate randomisation over statistics.

Both resample the rows of statistics that the metric computed once: a sample is a matrix product.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from camber.errors import CamberError
from camber.metrics.metric import Metric

_CELLS = 4_000_000  # of a block of samples × sentences, to bound the memory


@dataclass(frozen=True)
class Bootstrap:
    """What resampled test sets say about a difference."""

    p: float  # of a difference this large if there were none
    wins: float  # share of test sets on which the second system is better
    low: float  # 95 % interval of the second system's score
    high: float


def _blocks(samples: int, sentences: int) -> Iterator[int]:
    size = max(1, _CELLS // max(1, sentences))
    for start in range(0, samples, size):
        yield min(size, samples - start)


def resampled_scores(
    metric: Metric, tables: list[npt.NDArray[Any]], samples: int = 1000, seed: int = 1
) -> npt.NDArray[np.float64]:
    """Score several systems on the same random test sets: tables [sentences, columns] → [samples, systems]."""
    tables = _checked(tables)
    sentences = len(tables[0])
    rng = np.random.default_rng(seed)
    wide = np.concatenate(tables, axis=1).astype(np.float64)
    found = []
    for size in _blocks(samples, sentences):
        drawn = rng.choice(sentences, size=(size, sentences), replace=True)
        # how often each sentence was drawn, [size, sentences]; integer sums in float64 are exact
        flat = (drawn + np.arange(size)[:, None] * sentences).ravel()
        often = np.bincount(flat, minlength=size * sentences).reshape(size, sentences)
        sums = (often.astype(np.float64) @ wide).reshape(size, len(tables), -1)
        found.append(metric.score(sums))
    return np.concatenate(found)


def paired_bootstrap(
    metric: Metric,
    baseline: npt.NDArray[Any],
    system: npt.NDArray[Any],
    samples: int = 1000,
    seed: int = 1,
) -> Bootstrap:
    """Compare two systems by bootstrap resampling (Koehn 2004), statistics [sentences, columns] each.

    The p-value is sacreBLEU's: how often the difference, centred on its mean, reaches the one found.
    """
    scores = resampled_scores(metric, [baseline, system], samples, seed)
    real = abs(float(metric.score(system.sum(0))) - float(metric.score(baseline.sum(0))))
    spread = np.abs(scores[:, 1] - scores[:, 0])
    better = scores[:, 1] > scores[:, 0] if metric.higher_is_better else scores[:, 1] < scores[:, 0]
    low, high = interval(scores[:, 1])
    return Bootstrap(_p_value(spread - spread.mean(), real), float(better.mean()), low, high)


def interval(scores: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Return the bounds between which 95 % of the scores lie."""
    ordered = np.sort(scores)
    cut = len(ordered) // 40
    return float(ordered[cut]), float(ordered[len(ordered) - cut - 1])


def paired_randomisation(
    metric: Metric,
    baseline: npt.NDArray[Any],
    system: npt.NDArray[Any],
    trials: int = 10_000,
    seed: int = 1,
) -> float:
    """Return the p-value of a difference by approximate randomisation (Riezler and Maxwell 2005), two-sided.

    In a trial every sentence's pair of outputs is swapped with probability one half.
    """
    first, second = _checked([baseline, system])
    sentences = len(first)
    rng = np.random.default_rng(seed)
    change = second.astype(np.float64) - first
    total = first.sum(0) + second.sum(0).astype(np.float64)
    real = abs(float(metric.score(second.sum(0))) - float(metric.score(first.sum(0))))
    spreads = []
    for size in _blocks(trials, sentences):
        swapped = rng.integers(2, size=(size, sentences), dtype=bool)
        sums = first.sum(0) + swapped.astype(np.float64) @ change
        spreads.append(np.abs(metric.score(sums) - metric.score(total - sums)))
    return _p_value(np.concatenate(spreads), real)


def _p_value(spreads: npt.NDArray[np.float64], real: float) -> float:
    # The found outcome counts as one of the trials, so that p is never 0. A spread equal to the real one, up to
    # rounding, counts against the difference: a system has p = 1 beside itself (in sacreBLEU it has the smallest p).
    return (int(np.sum(spreads >= real - 1e-9)) + 1) / (len(spreads) + 1)


def _checked(tables: list[npt.NDArray[Any]]) -> list[npt.NDArray[Any]]:
    shapes = {table.shape for table in tables}
    if len(shapes) != 1:
        raise CamberError(f"systems with different numbers of sentences ({sorted(shapes)}) cannot be compared")
    if not len(tables[0]):
        raise CamberError("no sentence to compare on")
    return tables
