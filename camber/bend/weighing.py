"""A bend with its weights: what turns the raw features of rules, parts and hypotheses into scores.

What depends on a rule alone becomes one number for each rule before the search begins. So the search is the same, and
as quick, whatever the shape of the response.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from camber.arrays.types import F8, I8
from camber.bend.bend import LOCAL, Bend, Design
from camber.errors import CamberError
from camber.features.feature import RULE, Feature, names_of
from camber.features.parts import Parts

if TYPE_CHECKING:
    from camber.bend.trees.context import ContextTrees


class Weighing:
    """Weights for what a bend makes of the features of parts."""

    def __init__(self, bend: Bend, weights: Mapping[str, float]) -> None:
        self.bend = bend
        missing = [name for name in bend.names if name not in weights]
        if missing:
            raise CamberError(f"no weight for {', '.join(missing[:10])}; the features are {', '.join(self.names[:30])}")
        self.weights = np.array([weights[name] for name in bend.names], np.float64)
        if not np.isfinite(self.weights).all():
            bad = bend.names[int(np.flatnonzero(~np.isfinite(self.weights))[0])]
            raise CamberError(f"the weight of {bad} is not a finite number")
        #: of the inputs as a linear model takes them, float64[inputs]
        self.linear = bend.linear_weights(self.weights)

    @property
    def inputs(self) -> tuple[Feature, ...]:
        """The features of parts, before the bend."""
        return self.bend.inputs

    @property
    def names(self) -> tuple[str, ...]:
        """What has weights."""
        return self.bend.names

    def by_name(self) -> dict[str, float]:
        """Return the weights by name."""
        return dict(zip(self.names, self.weights.tolist(), strict=True))

    def linear_by_name(self) -> dict[str, float]:
        """Return the linear weights of the inputs by name; 0 for what is only bent."""
        return dict(zip(names_of(self.inputs), self.linear.tolist(), strict=True))

    def check_inputs(self, inputs: tuple[Feature, ...]) -> None:
        """Refuse a bend that was made for other features than those of a decoder, or that a decoder cannot use."""
        if names_of(self.inputs) != names_of(inputs):
            raise CamberError(
                f"the bend was made for the features {', '.join(names_of(self.inputs))}, but these are "
                f"{', '.join(names_of(inputs))}; tune the model again with --bend"
            )
        if self.bend.scope != LOCAL:
            scopes = {feature.name: feature.scope for feature in inputs}
            bent = [name for name in names_of(self.inputs) if name not in self.names and scopes[name] != RULE]
            if not bent:
                raise CamberError(f"a {self.bend.kind} looks at whole hypotheses: it can re-rank, but not translate")
            raise CamberError(f"{', '.join(bent)} cannot be bent: what it adds depends on more than the rule")

    def rule_worth(self, values: F8, columns: I8) -> F8:
        """Return what features of rules are worth, float64[rules].

        values float64[rules, n], raw, NaN where absent; columns int64[n]: which inputs they are.
        """
        return self.bend.rule_worth(values, columns, self.weights)

    def in_context(self, columns: I8) -> ContextTrees | None:
        """Return what the searches must add where a part is placed, beyond :meth:`rule_worth` of these columns."""
        return self.bend.in_context(columns, self.weights)

    def worth(self, name: str, values: F8) -> F8:
        """Return what raw values of one input add to the score, float64[values]."""
        return self.bend.worth(name, values, self.weights)

    def beyond_linear(self, name: str, values: F8) -> F8:
        """Return what raw values of one input add beyond their linear weight, float64[values]."""
        return self.bend.beyond_linear(name, values, self.weights)

    def design(self, parts: Parts, offsets: I8) -> Design:
        """Return what has weights, of every hypothesis."""
        return self.bend.design(parts, offsets)

    def scores(self, parts: Parts, offsets: I8) -> F8:
        """Return the score of every hypothesis by its parts, float64[hypotheses]."""
        return self.scores_of(self.design(parts, offsets))

    def scores_of(self, design: Design) -> F8:
        """Return the score of every hypothesis, float64[hypotheses]."""
        dense, sparse = design
        scores = dense @ self.weights[: dense.shape[1]]
        if sparse is not None:
            sparse.add_products(self.weights[dense.shape[1] :], scores)
        return np.asarray(scores)


class Weighed:
    """What everything with a weighing says about its features and weights."""

    weighing: Weighing

    @property
    def inputs(self) -> tuple[Feature, ...]:
        """The features of a part, before the bend."""
        return self.weighing.inputs

    @property
    def names(self) -> tuple[str, ...]:
        """What has weights."""
        return self.weighing.names

    @property
    def weights(self) -> F8:
        """The weights, [names]."""
        return self.weighing.weights

    @property
    def bend(self) -> Bend:
        """What is done to features before they are weighed."""
        return self.weighing.bend
