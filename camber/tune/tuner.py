"""What every tuner offers, and what it says about itself.

A tuner's class declares what it takes, so that nobody has to try it out or know it by name:

    class Mine(Settings):
        takes: ClassVar = frozenset({SPARSE, REGULARISER})
        step: ClassVar = 1.0

        def fit(self, data, start, *, seed, engine=LOCAL, regulariser=None): ...
"""

from __future__ import annotations

from typing import ClassVar, Protocol

import numpy.typing as npt

from camber.bend.neighbours import Regulariser
from camber.engine import LOCAL, Engine
from camber.tune.data import Tuned, TuningData

SPARSE = "sparse rows"  # thousands of bins beside the features (`TuningData.counts`)
REGULARISER = "regularisers"  # a penalty that is given with the list, such as one that ties neighbouring bins
ANY_METRIC = "any metric"  # not BLEU alone
HOME = "the first weights"  # a loop starts every fit where tuning began, not where the last round ended


class Tuner(Protocol):
    """The one interface: settings in the constructor, then `fit`."""

    takes: ClassVar[frozenset[str]]  # of the constants above
    step: ClassVar[float]  # how far the loop goes from the weights of a round towards the fitted ones

    def fit(
        self,
        data: TuningData,
        start: npt.ArrayLike,
        *,
        seed: int,
        engine: Engine = LOCAL,
        regulariser: Regulariser | None = None,
    ) -> Tuned:
        """Return weights for `data`; the same seed gives the same bytes on any engine.

        The penalty of `regulariser` is on the tuned weights. What a tuner does not take it refuses
        (:func:`camber.tune.guards.check_task`).
        """
        ...
