"""How a decoder weighs features: by weights alone, or by weights of bins where a feature is bent.

What depends on a rule alone becomes one number for each rule before the search begins. So the search is the same, and
as quick, whatever the shape of the response.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from camber.arrays.sparse import Counts
from camber.arrays.types import F8, I8
from camber.bend.discrete import DiscreteBend
from camber.bend.lookup import Lookup
from camber.errors import CamberError


class Weighing:
    """Weights for the features of parts (`inputs`); with a bend, for what the bend makes of them."""

    def __init__(self, inputs: Sequence[str], weights: Mapping[str, float], bend: DiscreteBend | None = None) -> None:
        self.inputs, self.bend = tuple(inputs), bend
        if bend is not None and bend.inputs != self.inputs:
            raise CamberError(
                f"the bend was made for the features {', '.join(bend.inputs)}, but these are {', '.join(inputs)}; "
                "tune the model again with --bend"
            )
        self.names = self.inputs if bend is None else bend.names
        missing = [name for name in self.names if name not in weights]
        if missing:
            raise CamberError(f"no weight for {', '.join(missing[:10])}; the features are {', '.join(self.names[:30])}")
        self.weights = np.array([weights[name] for name in self.names], np.float64)
        if not np.isfinite(self.weights).all():
            bad = self.names[int(np.flatnonzero(~np.isfinite(self.weights))[0])]
            raise CamberError(f"the weight of {bad} is not a finite number")
        #: of the inputs as they are, float64[inputs]
        self.linear = self.weights.copy() if bend is None else bend.linear_weights(self.weights)
        self._lookup = Lookup.of([]) if bend is None else bend.lookup
        self._values = np.zeros(0) if bend is None else bend.bin_values(self.weights)

    @property
    def bins(self) -> int:
        """The number of bins of all features, whose weights come last."""
        return 0 if self.bend is None else self.bend.width

    def by_name(self) -> dict[str, float]:
        """Return the weights by name."""
        return dict(zip(self.names, self.weights.tolist(), strict=True))

    def bent_columns(self, columns: I8) -> I8:
        """Return where the bent features are among `columns` of the inputs, which must have them all."""
        if self.bend is None:
            return np.zeros(0, np.int64)
        place = {int(column): at for at, column in enumerate(columns)}
        missing = [self.inputs[column] for column in self.bend.columns if int(column) not in place]
        if missing:
            raise CamberError(f"{', '.join(missing)} cannot be bent: what it adds depends on more than the rule")
        return np.array([place[int(column)] for column in self.bend.columns], np.int64)

    def of_rules(self, features: F8, linear: F8, bent: I8) -> F8:
        """Return what the features of rules are worth, float64[rules].

        features float64[rules, F], NaN where absent; linear float64[F]: their weights; bent: see :meth:`bent_columns`,
        -1 for a feature that is not among them.
        """
        return self._lookup.score(features, bent, self._values, linear)

    def worth(self, name: str, values: F8) -> F8:
        """Return what values of one input add to the score, float64[values]."""
        return self.linear[self.inputs.index(name)] * values + self.of_bins(name, values)

    def of_bins(self, name: str, values: F8) -> F8:
        """Return what the bins that values of one input fall into add to the score: 0 where it is not bent."""
        if self.bend is None or name not in self.bend.bins:
            return np.zeros(len(values))
        bent = list(self.bend.bins).index(name)
        found = self.bend.lookup.find(bent, values)
        return np.where(found >= 0, self._values[int(self.bend.chains[bent, 0]) + found], 0.0)

    def of_hypotheses(self, features: F8, rules: I8, part_offsets: I8, sums: F8) -> tuple[F8, Counts | None]:
        """Return the features that have weights: a matrix, and what hits bins in sparse rows.

        features float64[parts, inputs], NaN where a rule lacks a feature; rules int64[parts], below 0 where a part is
        no rule and so has no bent feature; part_offsets int64[hypotheses + 1]; sums float64[hypotheses, inputs].
        """
        if self.bend is None:
            return sums, None
        counts = self.bend.counts(features, rules >= 0, part_offsets) if self.bins else None
        return sums[:, self.bend.linear], counts


class Weighed:
    """What every decoder says about its features and weights."""

    weighing: Weighing

    @property
    def inputs(self) -> tuple[str, ...]:
        """The features of a part, before any bend."""
        return self.weighing.inputs

    @property
    def names(self) -> tuple[str, ...]:
        """The features that have weights."""
        return self.weighing.names

    @property
    def weights(self) -> F8:
        """The weights, [names]."""
        return self.weighing.weights

    @property
    def bend(self) -> DiscreteBend | None:
        """What is done to features before they are weighed; None: what a linear model takes, and no more."""
        return self.weighing.bend
