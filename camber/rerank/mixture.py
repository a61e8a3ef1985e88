"""The learner with kernels: a linear model, plus the posteriors of a Gaussian mixture over the features (nguyen2007).

The linear learner comes first. Then kernels are put into the space of all features, and each gets a weight, which
begins at 0 and is tuned together with those of the features: what is learnt for a kernel counts for all hypotheses near
it, so regions can be told that no line and no curve of one feature can tell.

Kernels are a mixture of maximum likelihood of all hypotheses, or *perceptron* kernels: the best hypothesis by the
linear model and the best by the metric of every sentence where they differ. Those of a sentence are left out while its
own hypotheses are learnt from. Otherwise every best hypothesis would recognise itself.

The bandwidth decides how far a kernel reaches. Of several, the one is taken with which sentences that were held out are
ranked best. A cautious fit (:mod:`camber.tune.caution`) asks at the same time how far to go: from the linear model
towards the one with kernels, as far as those sentences confirm, and clearly (`SURE`). Neither line nor kernels had seen
them. Both are scaled so that their scores vary alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from camber.arrays.types import F8, I8
from camber.bend.mixtures.bend import MixtureBend
from camber.bend.mixtures.em import fit_mixture
from camber.bend.mixtures.mixture import Mixture
from camber.bend.mixtures.perceptron import NothingToLearn, perceptron_kernels
from camber.bend.neighbours import Tie
from camber.bend.response import Response
from camber.bend.trees.description import WeighedTree
from camber.errors import SettingsError
from camber.features.feature import Feature, names_of
from camber.features.weights import Weights
from camber.files import write_lines
from camber.metrics.bleu import BLEU
from camber.model.bend import write_bend
from camber.model.directory import Draft, ModelDirectory
from camber.progress import log
from camber.rerank.learner import Fitting, Texts, on_scale_of_100
from camber.rerank.linear import Linear
from camber.rerank.moved import Moved
from camber.rerank.settings import ML
from camber.tune.caution import FEW, STEPS, SURE, way_by_folds
from camber.tune.data import TuningData
from camber.tune.expected import ExpectedBleu
from camber.tune.reestimate import Kept, ReestimateSettings, reestimated
from camber.tune.tuner import ANY_METRIC, REGULARISER, SPARSE
from camber.tune.tuners import check_tuner

#: steps of RProp with kernels; the paper's converged after 30 to 50
RPROP_STEPS = 50
#: kernels that `kernels.tsv` lists, for people
_LISTED = 1000


@dataclass(frozen=True, eq=False)
class Mixed:
    """Weights of features and of kernels."""

    default_tuner: ClassVar[str] = "expected-bleu"
    needs: ClassVar[frozenset[str]] = frozenset({SPARSE, REGULARISER})
    task: ClassVar[str] = "the weights of kernels"

    bend: MixtureBend
    weights: F8  # [bend.names]
    origin: float = 1.0  # the step of the linear model that it started from
    bent: float = 1.0  # how far from that model (0) to the one with kernels (1)
    dropped: float = 0.0  # mean share of the posteriors' mass that was cut off while it was fitted
    moved: Moved = field(default_factory=Moved)  # hypotheses that it moved to or from the first place

    @classmethod
    def settings(cls, learner: str) -> frozenset[str]:
        """Return the hyper-parameters of kernels."""
        return frozenset({"kernels", "kernel_kind", "bandwidth", "mass", "prior", "leave_out", "reestimate"})

    @property
    def names(self) -> tuple[str, ...]:
        """The features of a list."""
        return names_of(self.bend.inputs)

    @property
    def step(self) -> float:
        """How far from the list's own order (0) to the tuned weights (1)."""
        return 1.0 - (1.0 - self.origin) * (1.0 - self.bent)

    @classmethod
    def fit(cls, data: TuningData, how: Fitting) -> Self:
        """Tune a linear model from the list's own order, then let kernels add to it."""
        if not isinstance(data.metric, BLEU):
            check_tuner(how.tuner, {*cls.needs, ANY_METRIC}, f"the weights of kernels for {data.metric.name}")
        if how.responses.reestimate and how.tuner != cls.default_tuner:
            raise SettingsError(f"kernels can be re-estimated only by the tuner {cls.default_tuner}, not {how.tuner}")
        if how.tuner == cls.default_tuner:
            how = replace(how, tuner_settings={"steps": RPROP_STEPS, **how.tuner_settings})
        linear = Linear.fit(data, how)
        whole = on_scale_of_100(data)
        line = cls.of_line(whole, linear.weights, linear.step)
        bandwidth, step = line.confirmed(whole, linear, how)
        if step == 0.0:
            log.info("mixture: held-out sentences did not confirm kernels, and the model is linear")
            return line
        made = line.with_mixture(whole, how)
        if not made.bend.width:
            log.info("mixture: no sentence has a better hypothesis than the linear model's; the model is linear")
            return line
        grown = made.trained(whole, how, bandwidth, whole=True)
        weights = step * grown.weights
        weights[: len(line.weights)] += (1.0 - step) * line.weights
        mixed = replace(grown, weights=weights, bent=step)
        log.info(
            "mixture: %s kernels, bandwidth %g, %.2f %% of the posteriors' mass dropped",
            f"{mixed.bend.width:,}", bandwidth, 100 * mixed.dropped,
        )  # fmt: skip
        return replace(mixed, moved=mixed.moved_in(whole, line, how))

    def confirmed(self, data: TuningData, linear: Linear, how: Fitting) -> tuple[float, float]:
        """Return the bandwidth, and how far to go from this linear model: what sentences confirm that were held out."""
        cautious, widths = how.cautious, how.responses.bandwidths
        if len(data) < FEW or not (cautious or len(widths) > 1):
            return widths[len(widths) // 2], 0.0 if cautious else 1.0  # a few sentences confirm nothing
        steps = STEPS[1:] if cautious else STEPS[-1:]
        ways = [(width, step) for width in widths for step in steps]
        if cautious:
            ways = [(widths[0], 0.0), *ways]

        def chosen(seen: TuningData, held: TuningData) -> list[I8]:
            start = self.of_line(seen, linear.of_some(seen, how))
            made, features = start.with_mixture(seen, how), held.present()
            one = start.scores(features)
            two = {width: made.trained(seen, how, width).scores(features) for width in widths}
            return [held.best_by((1.0 - step) * one + step * two[width]) for width, step in ways]

        return ways[way_by_folds(data, chosen, len(ways), SURE if cautious else 0.0, how.seed)]

    @classmethod
    def of_line(cls, data: TuningData, weights: F8, origin: float = 1.0) -> Self:
        """Return a linear model without any kernel, whose scores of this list vary by 1."""
        bend = MixtureBend.without_kernels(tuple(map(Feature, data.names)), data.present())
        return cls(bend, weights, origin, 0.0).scaled(data)

    def scaled(self, data: TuningData) -> Self:
        """Return the same with scores of this list that vary by 1, if they vary."""
        return replace(self, weights=self.weights / (data.spread(self.scores(data.present())) or 1.0))

    def with_mixture(self, data: TuningData, how: Fitting) -> Self:
        """Return this linear model with kernels in the space of its features, whose weights are 0."""
        mixture = make_mixture(self.bend.points(data.present()), data, self.scores(data.present()), how)
        bend = replace(self.bend, mixture=mixture, mass=how.responses.mass)
        return replace(self, bend=bend, weights=np.concatenate([self.weights, np.zeros(bend.width)]))

    def trained(self, data: TuningData, how: Fitting, bandwidth: float, *, whole: bool = False) -> Self:
        """Return this model with tuned weights, and scores of this list that vary by 1; `whole`: it is the whole list.

        It starts where scores vary by 1, too. A larger start, such as the one that expected BLEU likes best for the
        line alone, leaves the probabilities of a list no room: weights of kernels then hardly move.
        """
        if not self.bend.width:
            return self
        bend, scales = replace(self.bend, bandwidth=bandwidth), data.scales()
        line, nothing = bend.apart(self.weights)
        alike = replace(data, features=data.features / scales)
        wide, dropped = with_posteriors(alike, bend, how, data.present())
        start = np.concatenate([line * scales, nothing])
        penalty = Prior(1.0 / how.responses.prior if how.responses.prior else 0.0, len(line))

        weights = how.tuned(wide, start, lambda weights: 1.0, whole=whole, regulariser=penalty)
        if how.responses.reestimate:
            bend, weights = _reestimated(bend, weights, alike, data.present(), how)
            wide, dropped = with_posteriors(alike, bend, how, data.present())
        weights = weights / (data.spread(wide.scores(weights)) or 1.0)
        weights[: len(line)] /= scales
        return replace(self, bend=bend, weights=weights, dropped=dropped, bent=1.0)

    def scores(self, features: F8, parts: object = None) -> F8:
        """Return the score of every hypothesis: [hypotheses, features], NaN where absent → [hypotheses]."""
        return self.bend.rule_worth(features, np.arange(features.shape[1]), self.weights)

    def moved_in(self, data: TuningData, line: Self, how: Fitting) -> Moved:
        """Return hypotheses that the kernels moved to and from the first place in the list that was learnt from.

        A sentence's own kernels are left out here, too.
        """
        wide, _ = with_posteriors(data, self.bend, how, data.present())
        before, after = data.best_by(line.scores(data.present())), wide.one_best(self.weights)
        return Moved.between(data, before, after)

    def responses(self) -> list[Response]:
        """A kernel is no curve: it looks at several features."""
        return []

    def trees(self) -> list[WeighedTree]:
        """There are none."""
        return []

    def watched(self, data: TuningData, texts: Texts) -> Self:
        """Return the same: what moved is known from the fitting."""
        return self

    def keeping_order(self, data: TuningData, own_order: int) -> Self:
        """Return weights that rank as the list's own order does, and no kernel."""
        return self.of_line(data, np.eye(len(data.names))[own_order], 0.0)

    def record(self) -> dict[str, Any]:
        """Return how far it went, in all and in both parts, and what became of the posteriors."""
        shares = {"step": self.step, "origin": self.origin, "bent": self.bent}
        return shares | ({"bandwidth": self.bend.bandwidth, "dropped": self.dropped} if self.bend.width else {})

    def sizes(self) -> dict[str, int]:
        """Count the kernels."""
        return {"kernels": self.bend.width}

    def save(self, draft: Draft) -> None:
        """Write ``weights.tsv``, the files of the mixture, ``moved.tsv`` and, for people, ``kernels.tsv``."""
        Weights.from_vector(self.bend.names, self.weights).write(draft.path("weights.tsv"))
        write_bend(self.bend, draft)
        self.moved.write(draft.path(Moved.FILE), self.names)
        kernel_weights = self.bend.apart(self.weights)[1]
        if self.bend.mixture is None:
            return
        chosen = self.bend.heaviest(kernel_weights, _LISTED)
        lines = [f"# {len(chosen):,} of {self.bend.width:,} kernels, those whose weights differ most from the mean"]
        lines.append("\t".join(["name", "weight", "log_prior", *self.names]))
        for kernel, where in zip(chosen.tolist(), self.bend.raw_means(chosen).tolist(), strict=True):
            numbers = [float(kernel_weights[kernel]), float(self.bend.kernels.log_priors[kernel]), *where]
            lines.append("\t".join([self.bend.kernel_names[kernel], *(f"{number:.6g}" for number in numbers)]))
        write_lines(draft.path("kernels.tsv"), lines)

    @classmethod
    def load(cls, model: ModelDirectory, recorded: Mapping[str, Any]) -> Self:
        """Open what :meth:`save` wrote."""
        bend = MixtureBend.read(model.file(MixtureBend.FILE))
        weights = Weights.read(model.file("weights.tsv"), bend.names).vector(bend.names)
        origin, bent, dropped = (float(recorded.get(name, 0.0)) for name in ("origin", "bent", "dropped"))
        return cls(bend, weights, origin, bent, dropped, Moved.read(model.file(Moved.FILE), names_of(bend.inputs)))


def make_mixture(points: F8, data: TuningData, line: F8, how: Fitting) -> Mixture | None:
    """Make kernels among points float64[hypotheses, features] of a list, which `line` float64[hypotheses] ranks.

    None: there is nothing to make them from. Perceptron kernels come in pairs, so there are two at least.
    """
    settings = how.responses
    if settings.kernel_kind == ML:
        return fit_mixture(points, min(settings.kernels, len(points)), seed=how.seed, engine=how.engine).mixture
    quality, best, oracle = data.sentence_scores(), data.best_by(line), data.oracle()
    same = (oracle >= 0) & (quality[oracle] <= quality[best])  # as good is no other: there is nothing to learn
    oracle = np.where(same, -1, oracle)
    try:
        return perceptron_kernels(points, data.sentence_offsets, line, oracle, most=settings.kernels)
    except NothingToLearn:
        return None


def with_posteriors(data: TuningData, bend: MixtureBend, how: Fitting, values: F8) -> tuple[TuningData, float]:
    """Return a list with the posteriors of kernels beside its features, and the mean share of mass that was dropped.

    Kernels see the features `values` float64[hypotheses, features], NaN where absent.
    """
    owners = data.owners if how.responses.leave_out else None
    kept = bend.posteriors(values, owners, how.engine)
    fixed = np.zeros(len(bend.names), bool)
    wide = replace(data, names=bend.names, counts=kept.sparse, fixed=fixed)
    return wide, float(kept.dropped.mean()) if data.hypotheses else 0.0


def _reestimated(bend: MixtureBend, weights: F8, data: TuningData, values: F8, how: Fitting) -> tuple[MixtureBend, F8]:
    """Move kernels by the gradient of expected BLEU, and return them with their weights."""
    owners = data.owners if how.responses.leave_out else None
    tuner = ExpectedBleu.from_dict(dict(how.tuner_settings))
    kept = Kept(bend.bandwidth, bend.mass, bend.most, owners)
    settings = ReestimateSettings(rounds=how.responses.reestimate)
    moved = reestimated(bend.kernels, data, bend.points(values), weights, tuner, settings, kept, how.engine)
    return replace(bend, mixture=moved.mixture), moved.weights


@dataclass(frozen=True)
class Prior:
    """A Gaussian prior on the weights from number `first` on: ``strength / 2 * |weights|²``.

    >>> Prior(2.0, 1).value_and_gradient(np.array([5.0, 3.0]))
    (9.0, array([0., 6.]))
    """

    strength: float
    first: int

    def value_and_gradient(self, weights: F8) -> tuple[float, F8]:
        """Return the penalty and its gradient."""
        own = weights[self.first :]
        return 0.5 * self.strength * float(own @ own), np.concatenate([np.zeros(self.first), self.strength * own])

    def ties(self) -> list[Tie]:
        """Tie nothing."""
        return []
