"""The learners by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from camber.bend.kinds import BENDS, BINNED
from camber.registry import Entry, Registry
from camber.tune.tuners import TUNERS

if TYPE_CHECKING:
    from camber.rerank.learner import Learner

#: how a list's features become scores; every kind of bins is a learner, and so are trees
LEARNERS: Registry[type[Learner]] = Registry(
    "learner",
    "camber.learners",
    {
        "linear": Entry("camber.rerank.linear:Linear", "one weight for each feature"),
        **{kind: Entry("camber.rerank.binned:Binned", f"a curve for each: {BENDS.help(kind)}") for kind in BINNED},
        "trees": Entry("camber.rerank.trees:Trees", "one weight for each, and regression trees over all of them"),
    },
)


def usual_tuner(learner: str, metric: str) -> str:
    """Return the tuner of a learner where none is named: its own, or mert if that cannot fit to this metric.

    >>> usual_tuner("linear", "bleu"), usual_tuner("linear", "chrf"), usual_tuner("mnr", "chrf")
    ('expected-bleu', 'mert', 'pro')
    """
    from camber.tune.tuner import ANY_METRIC

    own = LEARNERS.load(learner).default_tuner
    return own if metric == "bleu" or ANY_METRIC in TUNERS.load(own).takes else "mert"
