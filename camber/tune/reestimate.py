"""Re-estimate the kernels of a mixture by the gradient of expected BLEU, as weights are tuned (nguyen2007, 3.5).

    moved = reestimated(mixture, data, points, weights, ExpectedBleu(), ReestimateSettings(rounds=3))
    moved.mixture, moved.weights, moved.objectives      # the objective before and after every round, rising

A round computes which kernels every hypothesis has posteriors of, and moves all kernels (and with `weights`, all
weights) at once by the tuner's own method. It counts only if the objective is higher with posteriors computed anew, so
that it never falls; the first round that does not gain is undone, and the last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from camber.arrays.types import F8, I8, Bools
from camber.bend.mixtures.mixture import Mixture
from camber.bend.mixtures.reestimate import KeptPosteriors
from camber.engine import LOCAL, Engine
from camber.errors import CamberError
from camber.progress import log
from camber.settings import Settings, setting
from camber.tune.data import TuningData
from camber.tune.descent import Objective, lbfgs, rprop
from camber.tune.expected import ExpectedBleu
from camber.tune.posterior import Posterior
from camber.tune.regularise import L2

#: Logarithms of variances stay so near to where a round began: e³⁰ is as good as no variance, or no kernel.
_FAR = 30.0


@dataclass(frozen=True)
class ReestimateSettings(Settings):
    """What of the kernels is moved, and how far."""

    means: bool = setting(True, "move the means of kernels")
    variances: bool = setting(True, "move their variances")
    priors: bool = setting(True, "move their priors")
    weights: bool = setting(False, "move the weights of features and kernels, too")
    rounds: int = setting(5, "times that posteriors are computed anew, at most", low=1)
    steps: int = setting(20, "steps of the descent in a round", low=1)


class Kept(NamedTuple):
    """Which posteriors hypotheses keep, as :meth:`Mixture.posteriors` takes it."""

    bandwidth: float = 1.0
    mass: float = 0.99
    most: int = 256
    owners: I8 | None = None  # [hypotheses]: kernels of the same sentence are left out


@dataclass(frozen=True, eq=False)
class Reestimated:
    """Moved kernels, and how the objective rose."""

    mixture: Mixture
    weights: F8  # [features, then kernels]
    objectives: tuple[float, ...]  # before, and after every round that gained


def reestimated(
    mixture: Mixture,
    data: TuningData,
    points: F8,
    weights: F8,
    tuner: ExpectedBleu | None = None,
    settings: ReestimateSettings | None = None,
    kept: Kept | None = None,
    engine: Engine = LOCAL,
) -> Reestimated:
    """Move the kernels so that the objective of a tuner rises.

    `data` is a list without bins; `points` float64[hypotheses, dimensions] is where its hypotheses are for the
    mixture; `weights` are those of the list's features, then of the kernels.
    """
    tuner, settings, kept = tuner or ExpectedBleu(), settings or ReestimateSettings(), kept or Kept()
    if data.counts is not None or len(points) != data.hypotheses:
        raise CamberError(f"{len(points)} points for a list of {data.hypotheses} hypotheses without bins")
    if len(weights) != len(data.names) + len(mixture):
        raise CamberError(f"{len(weights)} weights for {len(data.names)} features and {len(mixture)} kernels")
    points = np.ascontiguousarray(points, np.float64)
    weights = np.array(weights, np.float64)
    task = _Task(data, points, tuner, settings, kept, engine)
    posteriors = task.posteriors(mixture)
    objectives = [task.value(mixture, weights, posteriors)]
    for number in range(1, settings.rounds + 1):
        other, moved = task.moved(mixture, weights, posteriors)
        posteriors = task.posteriors(other)
        value = task.value(other, moved, posteriors)
        log.info("kernels, round %d: objective %.5f, before %.5f", number, value, objectives[-1])
        if not value > objectives[-1]:
            break
        mixture, weights = other, moved
        objectives.append(value)
    return Reestimated(mixture, weights, tuple(objectives))


class _Task:
    """What all rounds share."""

    def __init__(
        self,
        data: TuningData,
        points: F8,
        tuner: ExpectedBleu,
        settings: ReestimateSettings,
        kept: Kept,
        engine: Engine,
    ) -> None:
        self.data, self.points, self.tuner, self.settings = data, points, tuner, settings
        self.kept, self.engine = kept, engine
        self.posterior = Posterior(data, np.zeros(len(data.names)))
        self.prior = L2(1.0 / tuner.variance if tuner.variance > 0.0 else 0.0)

    def posteriors(self, mixture: Mixture) -> KeptPosteriors:
        found = mixture.posteriors(self.points, **self.kept._asdict(), engine=self.engine)
        return KeptPosteriors(self.points, found, self.kept.bandwidth)

    def value(self, mixture: Mixture, weights: F8, posteriors: KeptPosteriors) -> float:
        return self._value_and_slopes(mixture, weights, posteriors)[0]

    def _value_and_slopes(self, mixture: Mixture, weights: F8, posteriors: KeptPosteriors) -> tuple[float, F8]:
        """Return the objective and its derivative in the score of every hypothesis."""
        features = len(self.data.names)
        posteriors.update(mixture)
        scores = self.data.scores(weights[:features]) + posteriors.scores(weights[features:])
        self.posterior.update_by_scores(self.tuner.scale, scores)
        value, slopes = self.tuner.reward(self.posterior)
        return value - self.prior.value_and_gradient(self._tuned(weights))[0], self.posterior.in_scores(slopes)

    def _tuned(self, weights: F8) -> F8:
        """Return the weights that are not fixed."""
        return np.concatenate([weights[self.data.free], weights[len(self.data.names) :]])

    def moved(self, mixture: Mixture, weights: F8, posteriors: KeptPosteriors) -> tuple[Mixture, F8]:
        """Climb from a mixture and weights, hypotheses keeping the same kernels."""
        at = _Places.of(mixture, self._tuned(weights), self.settings, self.kept.bandwidth)
        objective = self.objective(mixture, weights, posteriors, at)
        descend = rprop if self.tuner.method == "rprop" else lbfgs
        minimum = descend(objective, at.start, at.scales, self.settings.steps)
        return self.placed(mixture, weights, at, minimum.point)

    def placed(self, mixture: Mixture, weights: F8, at: _Places, point: F8) -> tuple[Mixture, F8]:
        """Return the mixture and the weights at a point of the descent."""
        parts = at.split(point)
        if "means" in parts:
            mixture = replace(mixture, means=parts["means"])
        if "variances" in parts:
            mixture = replace(mixture, variances=np.exp(at.near(parts["variances"])))
        if "priors" in parts:
            logs = mixture.log_priors.copy()
            logs[at.used] = parts["priors"] - np.logaddexp.reduce(parts["priors"])
            mixture = replace(mixture, log_priors=logs)
        if "weights" in parts:
            weights, free = weights.copy(), len(self.data.free)
            weights[self.data.free] = parts["weights"][:free]
            weights[len(self.data.names) :] = parts["weights"][free:]
        return mixture, weights

    def objective(self, mixture: Mixture, weights: F8, posteriors: KeptPosteriors, at: _Places) -> Objective:
        """Return the function that is minimised: a point → (-J, its gradient)."""
        features = len(self.data.names)

        def value_and_gradient(point: F8) -> tuple[float, F8]:
            here, now = self.placed(mixture, weights, at, point)
            value, slopes = self._value_and_slopes(here, now, posteriors)
            pulls = posteriors.gradient(now[features:], slopes, self.engine)
            parts = at.split(point)
            derivatives: dict[str, Callable[[], F8]] = {
                "means": lambda: pulls.means,
                "variances": lambda: np.where(at.is_near(parts["variances"]), pulls.log_variances, 0.0),
                "priors": lambda: pulls.log_priors[at.used],
                "weights": lambda: (
                    np.concatenate([self.data.project(slopes), posteriors.in_weights(slopes)])
                    - self.prior.value_and_gradient(self._tuned(now))[1]
                ),
            }
            return -value, -np.concatenate([derivatives[name]().ravel() for name in parts])

        return value_and_gradient


@dataclass(frozen=True, eq=False)
class _Places:
    """Where a descent has the parameters that it moves, one behind the other."""

    shapes: dict[str, tuple[int, ...]]
    start: F8
    scales: F8  # sizes at which they matter
    used: I8  # kernels with a prior: those without stay as they are
    logs: F8  # of the variances at the start

    @classmethod
    def of(cls, mixture: Mixture, weights: F8, settings: ReestimateSettings, bandwidth: float) -> _Places:
        """Lay out what the settings say; the steps of means are in standard deviations of their kernel."""
        used = np.flatnonzero(np.isfinite(mixture.log_priors))
        logs = np.log(mixture.variances)
        deviations = np.broadcast_to(bandwidth * np.sqrt(mixture.variances), mixture.means.shape)
        moving = {
            "means": (settings.means, mixture.means, deviations),
            "variances": (settings.variances, logs, np.ones(logs.shape)),
            "priors": (settings.priors, mixture.log_priors[used], np.ones(len(used))),
            "weights": (settings.weights, weights, np.full(len(weights), float(np.abs(weights).mean()) or 1.0)),
        }
        chosen = {name: (values, sizes) for name, (asked, values, sizes) in moving.items() if asked}
        if not chosen:
            raise CamberError("nothing of the kernels is to be moved; ask for means, variances, priors or weights")
        return cls(
            {name: values.shape for name, (values, _) in chosen.items()},
            np.concatenate([values.ravel() for values, _ in chosen.values()]),
            np.concatenate([sizes.ravel() for _, sizes in chosen.values()]),
            used,
            logs,
        )

    def split(self, point: F8) -> dict[str, F8]:
        """Take a point apart."""
        parts, at = {}, 0
        for name, shape in self.shapes.items():
            size = int(np.prod(shape))
            parts[name] = point[at : at + size].reshape(shape)
            at += size
        return parts

    def near(self, logs: F8) -> F8:
        """Keep logarithms of variances where they make sense."""
        return np.clip(logs, self.logs - _FAR, self.logs + _FAR)

    def is_near(self, logs: F8) -> Bools:
        """Say which of them do."""
        return np.abs(logs - self.logs) < _FAR
