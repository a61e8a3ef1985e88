"""Expected BLEU, nguyen2007's "BLEU soft": the BLEU of expected counts, which is smooth in the weights.

    J = log B̃P + Σ_n 1/N log(Σ_t E c_n / Σ_t E a_n)  -  prior  +  entropy weight · H

Expectations are over ``p_k ∝ exp(scale λ · h_k)`` inside each list. The hard minimum in the brevity penalty, min(0, z)
with ``z = 1 - r / a`` of the lengths r of the references and a of the hypotheses, is made smooth in one of two ways:

    sigmoid   u(steepness (r - a) / r) z              nguyen2007's: a small bonus just above r
    capped    -log(1 + exp(-steepness z)) / steepness   never above 0, and rising with the length everywhere

The bonus of the sigmoid is below 0.279 / steepness (x / (1 + eˣ) is at most 0.2785), 0.3 % of BLEU by default; the
capped penalty is at most log 2 / steepness below the hard one. The paper's slope is per word of the mean length: its
slope α is a steepness of α times the mean length of a reference.

    tuned = ExpectedBleu().fit(data, start, seed=1)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from camber.arrays.types import F8
from camber.bend.neighbours import Penalty, Regulariser
from camber.engine import LOCAL, Engine
from camber.metrics.bleu import BLEU
from camber.settings import Settings, setting
from camber.tune.data import Tuned, TuningData
from camber.tune.descent import Minimum, Objective, lbfgs, rprop, tied_coordinates
from camber.tune.guards import check_task, finished
from camber.tune.posterior import Posterior
from camber.tune.regularise import L2, PAIRS, Scaled
from camber.tune.tuner import REGULARISER, SPARSE

METHODS = ("rprop", "lbfgs")
SIGMOID, CAPPED = "sigmoid", "capped"  # smooth brevity penalties
_PATIENCE = 20  # idle steps of RProp under a regulariser, which pulls back what a first step of all weights overshot
#: first steps that are tried under a regulariser, as shares of what a weight is usually moved by
_FIRST_STEPS = (0.1, 0.01, 0.001, 0.0001)
#: With ties, hundreds of steps gain hardly anything together, and no translation is better for it. So a descent ends
#: when twenty steps raise the logarithm of BLEU by less than this, or after so many (benchmarks/tune.py).
SLOW, MOST = 1e-3, 500
_LEAST = 1e-12  # expected matches below this count as this: the logarithm stays finite


def log_bleu(sums: F8, order: int, steepness: float, brevity: str = SIGMOID) -> tuple[float, F8]:
    """Return log BLEU of expected statistics and its derivative in them, float64[2 + 2 * order].

    nguyen2007, 2.3.1; counts are summed over the corpus, in the penalty as in the precisions, so both have the same
    1/T, which the print forgets in the gradient of the penalty.
    """
    derivative = np.zeros(len(sums))
    matches = np.maximum(sums[2 : 2 + order], _LEAST)
    totals = np.maximum(sums[2 + order : 2 + 2 * order], _LEAST)
    derivative[2 : 2 + order] = np.where(sums[2 : 2 + order] > _LEAST, 1.0 / (order * matches), 0.0)
    derivative[2 + order :] = np.where(sums[2 + order : 2 + 2 * order] > _LEAST, -1.0 / (order * totals), 0.0)
    value = float(np.log(matches / totals).mean())
    penalty, longer, more = log_brevity(float(sums[0]), float(sums[1]), steepness, brevity)
    derivative[0] += longer
    derivative[1] += more
    return value + penalty, derivative


def log_brevity(length: float, reference: float, steepness: float, brevity: str) -> tuple[float, float, float]:
    """Return the smooth logarithm of the brevity penalty, and its derivatives in both lengths.

    The sigmoid looks at the length relative to the reference, so that the steepness means the same for a corpus of any
    size.

    >>> [round(log_brevity(length, 100.0, 100.0, "capped")[0], 4) for length in (90.0, 100.0, 110.0)]
    [-0.1111, -0.0069, -0.0]
    """
    if length <= _LEAST or reference <= 0.0:
        return 0.0, 0.0, 0.0
    short = 1.0 - reference / length
    if brevity == CAPPED:
        gate = float(np.exp(-np.logaddexp(0.0, steepness * short)))
        penalty = -float(np.logaddexp(0.0, -steepness * short)) / steepness
        return penalty, gate * reference / length**2, -gate / length
    away = steepness * (1.0 - length / reference)
    gate = float(np.exp(-np.logaddexp(0.0, -away)))
    slope = gate * (1.0 - gate) * steepness
    return (
        gate * short,
        gate * reference / length**2 - slope / reference * short,
        slope * length / reference**2 * short - gate / length,
    )


def entropy(posterior: Posterior) -> tuple[float, F8]:
    """Return H = -(1/T) Σ p log p over T sentences and its derivative in the probabilities, float64[hypotheses].

    ∇H = -(1/T) Σ (1 + log p) ∇p; the 1 falls out, because the probabilities of a sentence sum to 1.
    """
    sentences = max(1, len(posterior.data))
    value = -float((posterior.probabilities * posterior.logs).sum()) / sentences
    return value, -(1.0 + posterior.logs) / sentences


@dataclass(frozen=True)
class ExpectedBleu(Settings):
    """Maximise the BLEU of expected counts, by RProp or L-BFGS."""

    takes: ClassVar[frozenset[str]] = frozenset({SPARSE, REGULARISER})
    step: ClassVar[float] = 1.0
    tolerance: ClassVar[float] = 1e-9  # L-BFGS stops at a step that gains less, relative to the objective

    method: str = setting("rprop", "how to climb", choices=METHODS)
    scale: float = setting(1.0, "factor of the scores in the probabilities; a large one nears the 1-best", low=1e-9)
    brevity: str = setting(SIGMOID, "smooth brevity penalty: as printed, or never above 0", choices=(SIGMOID, CAPPED))
    steepness: float = setting(100.0, "of the smooth brevity penalty, per relative length", low=1e-9)
    variance: float = setting(0.0, "variance of the Gaussian prior on the weights (0: no prior)", low=0.0)
    entropy: float = setting(0.0, "weight of the entropy of the probabilities; negative ones sharpen them")
    steps: int = setting(200, "largest number of steps (for tied bins at least 500)", low=1)

    def fit(
        self,
        data: TuningData,
        start: npt.ArrayLike,
        *,
        seed: int,
        engine: Engine = LOCAL,
        regulariser: Regulariser | None = None,
    ) -> Tuned:
        """Return the weights; the objective is J (higher is better), prior and entropy included.

        `regulariser` (on the tuned weights) is subtracted too, divided by `PAIRS` for every sentence, so that its
        strength means about the same as in PRO. Weights that it ties together are found by L-BFGS whatever the method:
        RProp moves each on its own.
        """
        first = data.start(start)
        check_task(self, data, regulariser)
        objective = self.objective(data, first, regulariser)
        if regulariser is not None and regulariser.ties():
            seen = tied_coordinates(data, regulariser, 1.0 / (PAIRS * len(data)))
            minimum = lbfgs(objective, first[data.free], seen, max(self.steps, MOST), slow=SLOW)
        elif self.method == "rprop":
            minimum = self._climb(objective, first[data.free], 1.0 / data.scales(), held=regulariser is not None)
        else:
            minimum = lbfgs(objective, first[data.free], 1.0 / data.scales(), self.steps, self.tolerance)
        weights = first.copy()
        weights[data.free] = minimum.point
        return finished(data, weights, -minimum.value, {"steps": minimum.steps}, moved=minimum.moved)

    def _climb(self, objective: Objective, start: F8, scales: F8, *, held: bool) -> Minimum:
        """Climb by RProp; where a regulariser holds weights and all steps overshoot, begin again with shorter ones."""
        if not held:
            return rprop(objective, start, scales, self.steps)
        below = objective(start)[0]
        for first_step in _FIRST_STEPS:
            minimum = rprop(objective, start, scales, self.steps, first_step, _PATIENCE)
            if minimum.value < below:
                break
        return minimum

    def objective(self, data: TuningData, start: F8, regulariser: Regulariser | None = None) -> Objective:
        """Return the function that is minimised: tuned weights float64[free] → (-J, its gradient)."""
        posterior = Posterior(data, start)
        penalties = self.penalties(data, start, regulariser)

        def value_and_gradient(weights: F8) -> tuple[float, F8]:
            posterior.update(self.scale, weights)
            value, slopes = self.reward(posterior)
            gradient = posterior.through_probabilities(slopes)
            for penalty in penalties:
                less, down = penalty.value_and_gradient(weights)
                value -= less
                gradient = gradient - down
            return -value, -gradient

        return value_and_gradient

    def penalties(self, data: TuningData, start: F8, regulariser: Regulariser | None) -> Sequence[Penalty]:
        """Return what is subtracted: the prior, and a regulariser, shared among the sentences."""
        prior = [L2(1.0 / self.variance)] if self.variance > 0.0 else []
        shared = [] if regulariser is None else [Scaled(regulariser, 1.0 / (PAIRS * max(1, len(data))))]
        return [*prior, *shared]

    def reward(self, posterior: Posterior) -> tuple[float, F8]:
        """Return J without its penalties on weights, and its derivative in the probabilities, float64[hypotheses]."""
        data = posterior.data
        assert isinstance(data.metric, BLEU)  # `takes` does not name other metrics
        sums = posterior.expected(data.statistics) + data.missing
        value, derivative = log_bleu(sums, data.metric.order, self.steepness, self.brevity)
        slopes = posterior.weighted(data.statistics, derivative)
        if self.entropy:
            uncertain, more = entropy(posterior)
            value += self.entropy * uncertain
            slopes += self.entropy * more
        return value, slopes
