"""When tuning must not be called a success."""

from __future__ import annotations

from typing import Any

import numpy as np

from camber.arrays.types import F8
from camber.bend.neighbours import Regulariser
from camber.errors import TuneError, UnmovedError
from camber.metrics.bleu import BLEU
from camber.tune.data import Tuned, TuningData
from camber.tune.tuner import ANY_METRIC, REGULARISER, SPARSE, Tuner
from camber.tune.tuners import refuse


def check_task(tuner: Tuner, data: TuningData, regulariser: Regulariser | None) -> None:
    """Refuse what a tuner does not take, and a list from which no weight can be learnt."""
    needs = {}
    if data.counts is not None:
        needs[SPARSE] = f"the {data.bins:,} weights of a bent model"
    if regulariser is not None:
        needs[REGULARISER] = "weights under a regulariser"
    if not isinstance(data.metric, BLEU):
        needs[ANY_METRIC] = f"weights for this metric: it needs the statistics of BLEU, not of {data.metric.name}"
    for need, task in needs.items():
        if need not in tuner.takes:
            raise refuse(tuner, needs, task)
    check_list(data)


def check_list(data: TuningData) -> None:
    """Refuse a list from which no weight can be learnt."""
    if not len(data.free):
        raise TuneError("every feature is fixed: there is nothing to tune; leave at least one weight free")
    if not data.hypotheses:
        raise TuneError("the n-best list has no hypotheses at all; check the decoder's output")
    if (np.diff(data.sentence_offsets) <= 1).all():
        raise TuneError("no sentence has more than one hypothesis; ask the decoder for an n-best list")
    if not data.varies():
        raise TuneError(
            "the hypotheses of every sentence have the same features, so no weights can tell them apart;"
            " check the features of the list"
        )
    if not _statistics_vary(data):
        raise TuneError(
            f"the hypotheses of every sentence have the same {data.metric.name} statistics, so no choice among them"
            " is better; check the references, or use longer lists"
        )


def _statistics_vary(data: TuningData) -> bool:
    """Say whether the hypotheses of some sentence differ in a statistic."""
    first = np.repeat(data.sentence_offsets[:-1], np.diff(data.sentence_offsets))
    return bool((data.statistics != data.statistics[first]).any())


def finished(data: TuningData, weights: F8, objective: float, info: dict[str, Any], *, moved: bool) -> Tuned:
    """Check an outcome and wrap it up; `moved` says whether the objective changed from its start."""
    if not np.isfinite(weights).all() or not np.isfinite(objective):
        raise TuneError("tuning ended with numbers that are not finite; are some features very large? scale them")
    if not weights[data.free].any():
        raise TuneError("tuning ended with all weights 0, which ranks nothing; start from other weights")
    score = data.corpus_score(weights)
    if data.metric.higher_is_better and score <= 0.0:
        raise TuneError(
            f"{data.metric.name} of the tuned weights is 0: no hypothesis matches its reference;"
            " check that the references belong to this list and are tokenised like it"
        )
    if not moved:
        raise UnmovedError(
            "tuning did not change its objective at all; the start is as good as anything it tried."
            " Check the references, use longer lists or another start, or keep the weights you have"
        )
    return Tuned(weights, float(objective), score, info)
