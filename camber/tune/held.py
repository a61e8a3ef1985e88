"""Expected BLEU under a Gaussian prior around the weights that tuning began with.

Without a prior, nothing keeps the weights of :mod:`camber.tune.expected` from growing until every sentence has one
hypothesis with all of the probability: what is maximised then is the BLEU of single hypotheses of a dev set, with all
its luck. A weight is held to where it was, w°, by how much the scores inside a sentence would change:

    prior = held / (2 T) Σ_f (s_f (w_f - w°_f))²        s_f: standard deviation of feature f inside sentences

So its strength means the same for features of any scale, and it fades as the number of sentences T grows. It also makes
the objective so round that L-BFGS needs some tens of evaluations.

    tuned = HeldBleu().fit(data, start, seed=1)         # start: w°
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from camber.arrays.types import F8
from camber.bend.neighbours import Penalty, Regulariser
from camber.settings import setting
from camber.tune.data import TuningData
from camber.tune.expected import METHODS, ExpectedBleu
from camber.tune.regularise import Home
from camber.tune.tuner import HOME, REGULARISER, SPARSE

#: Scores by w° vary by this inside sentences, at least and at most: sharper or flatter probabilities than those teach
#: little, and weights of other programs may have any scale.
SPREADS = (1.0, 4.0)


@dataclass(frozen=True)
class HeldBleu(ExpectedBleu):
    """Maximise the BLEU of expected counts near the weights that tuning began with."""

    takes: ClassVar[frozenset[str]] = frozenset({SPARSE, REGULARISER, HOME})
    tolerance: ClassVar[float] = 1e-6

    method: str = setting("lbfgs", "how to climb", choices=METHODS)
    held: float = setting(1.0, "how strongly weights are held to those that tuning began with (0: not)", low=0.0)

    def penalties(self, data: TuningData, start: F8, regulariser: Regulariser | None) -> Sequence[Penalty]:
        """Return those of expected BLEU, and the prior around `start`."""
        home = Home(self.held / max(1, len(data)), sized(data, start), data.scales())
        return [*super().penalties(data, start, regulariser), home]


def sized(data: TuningData, weights: F8) -> F8:
    """Return the tuned ones of some weights at a scale by which scores vary as `SPREADS` says."""
    free = weights[data.free]
    scores = np.zeros(data.hypotheses)
    data.add_scores(free, scores)
    spread = data.spread(scores)
    return free * (float(np.clip(spread, *SPREADS)) / spread) if spread > 0.0 else free
