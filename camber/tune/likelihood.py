"""Likelihood of the oracle (Och and Ney 2002): weights under which the best hypotheses by the metric are probable.

tuned = Likelihood().fit(data, start, seed=1)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy.typing as npt

from camber.arrays.types import F8, I8
from camber.bend.neighbours import Penalty, Regulariser
from camber.engine import LOCAL, Engine
from camber.settings import Settings, setting
from camber.tune.data import Tuned, TuningData
from camber.tune.descent import TIED_STEPS, lbfgs, tied_coordinates
from camber.tune.guards import check_task, finished
from camber.tune.posterior import Posterior
from camber.tune.regularise import L2, PAIRS, Scaled, Sum
from camber.tune.tuner import ANY_METRIC, REGULARISER, SPARSE


def oracle_loss(posterior: Posterior, oracle: I8, weights: F8, scale: float = 1.0) -> tuple[float, F8]:
    """Return -Σ log p(oracle) over the sentences and its gradient, float64[free]."""
    posterior.update(scale, weights)
    chosen = oracle[oracle >= 0]
    loss = -float(posterior.logs[chosen].sum())
    # ∇ log p_o = scale (h_o - Σ p_k h_k): the derivative with respect to every score is p_k - [k = o]
    slopes = posterior.probabilities.copy()
    slopes[chosen] -= 1.0
    return loss, posterior.through_scores(slopes)


@dataclass(frozen=True)
class Likelihood(Settings):
    """Maximum likelihood of the oracle hypothesis of every sentence among its list."""

    takes: ClassVar[frozenset[str]] = frozenset({SPARSE, REGULARISER, ANY_METRIC})
    step: ClassVar[float] = 1.0

    l2: float = setting(1.0, "strength of the L2 penalty on the summed loss", low=0.0)
    steps: int = setting(200, "largest number of L-BFGS steps (for tied bins at least 1,000)", low=1)

    def fit(
        self,
        data: TuningData,
        start: npt.ArrayLike,
        *,
        seed: int,
        engine: Engine = LOCAL,
        regulariser: Regulariser | None = None,
    ) -> Tuned:
        """Return the weights; the objective is the loss per sentence, penalty included (lower is better).

        `regulariser` (on the tuned weights) is added to the loss and to L2, as if a sentence were `PAIRS` pairs of PRO.
        """
        first = data.start(start)
        check_task(self, data, regulariser)
        posterior = Posterior(data, first)
        oracle = data.oracle()
        penalty: Penalty = L2(self.l2) if regulariser is None else Sum((L2(self.l2), Scaled(regulariser, 1.0 / PAIRS)))

        def objective(weights: F8) -> tuple[float, F8]:
            loss, gradient = oracle_loss(posterior, oracle, weights)
            more, slope = penalty.value_and_gradient(weights)
            return (loss + more) / len(data), (gradient + slope) / len(data)

        seen = tied_coordinates(data, regulariser, 1.0 / (PAIRS * len(data)))
        steps = self.steps if regulariser is None else max(self.steps, TIED_STEPS)
        minimum = lbfgs(objective, first[data.free], seen, steps)
        weights = first.copy()
        weights[data.free] = minimum.point
        return finished(data, weights, minimum.value, {"steps": minimum.steps}, moved=minimum.moved)
