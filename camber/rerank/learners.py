"""The learners by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from camber.bend.kinds import BENDS, BINNED
from camber.registry import Entry, Registry
from camber.tune.tuners import TUNERS, takers

if TYPE_CHECKING:
    from camber.rerank.learner import Learner

#: how a list's features become scores; every kind of bins is a learner, and so are trees and kernels
LEARNERS: Registry[type[Learner]] = Registry(
    "learner",
    "camber.learners",
    {
        "linear": Entry("camber.rerank.linear:Linear", "one weight for each feature"),
        **{kind: Entry("camber.rerank.binned:Binned", f"a curve for each: {BENDS.help(kind)}") for kind in BINNED},
        "trees": Entry("camber.rerank.trees:Trees", "one weight for each, and regression trees over all of them"),
        "mixture": Entry("camber.rerank.mixture:Mixed", "one weight for each, and kernels in the space of all of them"),
    },
)


def usual_tuner(learner: str, metric: str) -> str:
    """Return the tuner of a learner where none is named: its own, or the first that can fit to this metric.

    >>> [usual_tuner(*pair) for pair in (("linear", "bleu"), ("linear", "chrf"), ("mnr", "chrf"), ("mixture", "chrf"))]
    ['expected-bleu', 'mert', 'pro', 'pro']
    """
    from camber.tune.tuner import ANY_METRIC

    chosen = LEARNERS.load(learner)
    if metric == "bleu" or ANY_METRIC in TUNERS.load(chosen.default_tuner).takes:
        return chosen.default_tuner
    return takers({*chosen.needs, ANY_METRIC})[0]
