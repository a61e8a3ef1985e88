"""Choose a learner's settings on the list itself, by cross-validation: every combination of a grid, three folds.

    reranker = Reranker("trees", grid={"leaves": [2, 4], "tree_keep": [100, 300]}).fit(nbest, references)
    reranker.leaves, reranker.trials

What held-out sentences then say of the re-ranker (:mod:`camber.rerank.report`) includes the choice: every fold makes
one of its own, without these sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from camber.arrays.types import F8
from camber.errors import SettingsError, TuneError
from camber.progress import each, log
from camber.rerank.learner import Learner
from camber.rerank.settings import ResponseSettings
from camber.tune.caution import FEW, FOLDS, of_sentences
from camber.tune.data import TuningData
from camber.tune.grid import Grid, Value, told_value


@dataclass(frozen=True)
class Trial:
    """One combination, and the metric of what it chose of sentences that it had not seen; None where fitting failed."""

    values: Mapping[str, Value]
    score: float | None


def combinations(
    grid: Grid, settings: ResponseSettings, useful: frozenset[str], learner: str
) -> list[tuple[dict[str, Value], ResponseSettings]]:
    """Return every combination with its settings; keys that make no difference and values out of range are errors."""
    known = ", ".join(name for name in settings.to_dict() if name in useful) or "none"
    for key, values in grid.items():
        if key not in useful:
            raise SettingsError(f"grid: {key} is no setting of the learner {learner}; there are: {known}")
        if not len(values):
            raise SettingsError(f"grid: no values for {key}; give at least one")
    if not grid:
        raise SettingsError(f"the grid is empty; name values to try of: {known}")
    axes = {key: list(dict.fromkeys(values)) for key, values in grid.items()}
    chosen: list[dict[str, Any]] = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]
    return [(values, replace(settings, **values)) for values in chosen]


def best_settings(
    data: TuningData,
    todo: list[tuple[dict[str, Value], ResponseSettings]],
    fitted: Callable[..., Learner],  # of data and its `responses`
) -> tuple[ResponseSettings, tuple[Trial, ...]]:
    """Return the settings whose choices of held-out sentences are best (the first among equals), and all trials."""
    if len(data) < FEW:
        raise SettingsError(f"{len(data)} sentences are too few to choose among settings; expected at least {FEW}")
    trials, qualities = [], []
    failed: TuneError | None = None
    for values, settings in each(todo, "grid", unit="settings"):
        name = ", ".join(f"{key} {told_value(value)}" for key, value in values.items())
        try:
            sums = _held_out_sums(data, partial(fitted, responses=settings))
        except TuneError as error:
            log.warning("grid: %s: %s", name, error)
            failed = failed or error
            trials.append(Trial(values, None))
            qualities.append(-np.inf)
            continue
        score = float(data.metric.score(sums))
        trials.append(Trial(values, score))
        qualities.append(float(data.quality(sums[None])[0]))
        log.info("grid: %s: %s %.4g held out", name, data.metric.name, score)
    if failed is not None and np.isneginf(qualities).all():
        raise failed
    return todo[int(np.argmax(qualities))][1], tuple(trials)


def _held_out_sums(data: TuningData, fitted: Callable[[TuningData], Learner]) -> F8:
    """Return the metric's sums over hypotheses that learners chose who had not seen their sentences."""
    fold_of = np.arange(len(data)) % FOLDS
    sums = data.missing.copy()
    for fold in each(range(FOLDS), "held-out folds"):
        held = of_sentences(data, np.flatnonzero(fold_of == fold))
        learner = fitted(of_sentences(data, np.flatnonzero(fold_of != fold)))
        sums += held.sums_of(held.best_by(learner.scores(held.present(), held.parts)))
    return sums
