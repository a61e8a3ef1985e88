"""Is the difference between two systems chance? Tests over the statistics that a metric computed once.

- paired bootstrap (Koehn 2004) and paired approximate randomisation (Riezler and Maxwell 2005) of two outputs;
- stratified approximate randomisation (Clark et al. 2011) of two systems with several outputs each, one per run of an
  optimiser, which differ by chance too;
- Wilcoxon's signed-rank test on batches of sentences (as in nguyen2007).

A system's statistics are a table [sentences, columns], or a list of tables, one per run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from camber.arrays.types import F8, AnyArray
from camber.errors import CamberError
from camber.kernel import kernel
from camber.metrics.metric import Metric

#: Statistics [sentences, columns] of a system, or of each of its runs
Tables = AnyArray | Sequence[AnyArray]

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


def resampled_scores(metric: Metric, tables: list[AnyArray], samples: int = 1000, seed: int = 1) -> F8:
    """Score several systems on the same random test sets: tables [sentences, columns] → [samples, systems]."""
    tables = _checked(tables)
    sentences = len(tables[0])
    rng = np.random.default_rng(seed)
    wide = np.concatenate(tables, axis=1).astype(np.float64)
    scores = []
    for size in _blocks(samples, sentences):
        drawn = rng.choice(sentences, size=(size, sentences), replace=True)
        # how often each sentence was drawn, [size, sentences]; integer sums in float64 are exact
        flat = (drawn + np.arange(size)[:, None] * sentences).ravel()
        often = np.bincount(flat, minlength=size * sentences).reshape(size, sentences)
        sums = (often.astype(np.float64) @ wide).reshape(size, len(tables), -1)
        scores.append(metric.score(sums))
    return np.concatenate(scores)


def paired_bootstrap(
    metric: Metric,
    baseline: Tables,
    system: Tables,
    samples: int = 1000,
    seed: int = 1,
) -> Bootstrap:
    """Compare two systems by bootstrap resampling (Koehn 2004); of several runs the mean score counts.

    The p-value is sacreBLEU's: how often the difference, centred on its mean, reaches the one found.
    """
    first, second = _runs(baseline), _runs(system)
    scores = resampled_scores(metric, [*first, *second], samples, seed)
    one, two = scores[:, : len(first)].mean(1), scores[:, len(first) :].mean(1)
    real = abs(mean_score(metric, second) - mean_score(metric, first))
    spread = np.abs(two - one)
    better = two > one if metric.higher_is_better else two < one
    low, high = interval(two)
    return Bootstrap(_p_value(spread - spread.mean(), real), float(better.mean()), low, high)


def mean_score(metric: Metric, tables: Tables) -> float:
    """Return the corpus score of a system, the mean over its runs."""
    return float(np.mean([float(metric.score(table.sum(0))) for table in _runs(tables)]))


def _runs(tables: Tables) -> list[AnyArray]:
    return [tables] if isinstance(tables, np.ndarray) else list(tables)


def interval(scores: F8) -> tuple[float, float]:
    """Return the bounds between which 95 % of the scores lie."""
    ordered = np.sort(scores)
    cut = len(ordered) // 40
    return float(ordered[cut]), float(ordered[len(ordered) - cut - 1])


def paired_randomisation(
    metric: Metric,
    baseline: AnyArray,
    system: AnyArray,
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


def stratified_randomisation(
    metric: Metric, baseline: Tables, system: Tables, trials: int = 10_000, seed: int = 1
) -> float:
    """Return the p-value of a difference of mean scores over optimiser runs (Clark et al. 2011), two-sided.

    In a trial the outputs of a sentence (one per run, of both systems) are dealt out anew to the runs; the sentence is
    the stratum. The systems may have different numbers of runs.
    """
    first, second = _runs(baseline), _runs(system)
    tables = _checked([*first, *second])
    sentences, runs = len(tables[0]), len(tables)
    real = abs(mean_score(metric, second) - mean_score(metric, first))
    rows = np.ascontiguousarray(np.stack(tables, axis=1), np.float64)
    rng = np.random.default_rng(seed)
    spreads = []
    for size in _blocks(trials, sentences * runs):
        sums = np.zeros((size, runs, rows.shape[2]))
        _deal(rows, rng.random((size, sentences, runs - 1)), np.zeros(runs, np.int64), sums)
        scores = np.asarray(metric.score(sums)).reshape(size, runs)
        spreads.append(np.abs(scores[:, len(first) :].mean(1) - scores[:, : len(first)].mean(1)))
    return _p_value(np.concatenate(spreads), real)


@kernel
def _deal(rows, draws, order, sums):
    """Add the rows [sentences, runs, columns] of every sentence to `sums` [trials, runs, columns] in random order."""
    trials, sentences, _ = draws.shape
    runs, columns = rows.shape[1], rows.shape[2]
    for trial in range(trials):
        for s in range(sentences):
            for run in range(runs):
                order[run] = run
            for run in range(runs):
                if run < runs - 1:  # Fisher and Yates: one of those that are left
                    other = run + np.int64(draws[trial, s, run] * (runs - run))
                    order[run], order[other] = order[other], order[run]
                for column in range(columns):
                    sums[trial, run, column] += rows[s, order[run], column]


def wilcoxon_of_batches(metric: Metric, baseline: Tables, system: Tables, size: int = 10) -> float:
    """Return the p-value of Wilcoxon's signed-rank test on the scores of batches of `size` sentences, two-sided.

    A rest of fewer sentences at the end is a batch too. Equal scores say nothing; if all are equal, p is 1.
    """
    from scipy.stats import wilcoxon

    if size < 1:
        raise CamberError(f"batches of {size} sentences; expected at least 1")
    first, second = _runs(baseline), _runs(system)
    _checked([*first, *second])
    means = []
    for tables in (first, second):
        starts = np.arange(0, len(tables[0]), size)
        scores = [metric.score(np.add.reduceat(table, starts, axis=0)) for table in tables]
        means.append(np.mean(scores, axis=0))
    change = means[1] - means[0]
    change[np.abs(change) < 1e-9] = 0.0  # rounding
    if not change.any():
        return 1.0
    return float(wilcoxon(change, zero_method="wilcox").pvalue)


def _p_value(spreads: F8, real: float) -> float:
    # The found outcome counts as one of the trials, so that p is never 0. A spread equal to the real one, up to
    # rounding, counts against the difference: a system has p = 1 beside itself (in sacreBLEU it has the smallest p).
    return (int(np.sum(spreads >= real - 1e-9)) + 1) / (len(spreads) + 1)


def _checked(tables: list[AnyArray]) -> list[AnyArray]:
    shapes = {table.shape for table in tables}
    if len(shapes) != 1:
        raise CamberError(f"systems with different numbers of sentences ({sorted(shapes)}) cannot be compared")
    if not len(tables[0]):
        raise CamberError("no sentence to compare on")
    return tables
