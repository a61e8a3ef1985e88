"""The last word of a cautious fit: the list's own order is kept if the weights do no better on the list itself."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from camber.progress import log
from camber.rerank.learner import Learner
from camber.tune.data import TuningData

Fitted = TypeVar("Fitted", bound=Learner)


def unless_worse(fitted: Fitted, data: TuningData, own_order: int) -> Fitted:
    """Return what was fitted if it ranks its own list better than the feature `own_order` does; else the own order.

    Tuners may aim at something else than the metric, and a step that held-out sentences like may still do harm.
    """
    if fitted.step == 0.0:
        return fitted
    rankings = data.features[:, own_order], fitted.scores(data.present(), data.parts)
    before, after = data.quality(np.array([data.sums_of(data.best_by(scores)) for scores in rankings])).tolist()
    if after > before:
        return fitted
    log.info("rerank: the weights do no better on the list that they were fitted to; its own order is kept")
    return fitted.keeping_order(data, own_order)
