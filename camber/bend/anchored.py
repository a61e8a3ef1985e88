"""A curve that is anchored to a line: each feature keeps the weight that a linear model gives it, and bins add to that.

    response(x) = a · log x + δ(bin of x)

What bins add is a random walk over the quantiles of the feature's values (:mod:`camber.bend.walk`), and pays for how
far it walks. With a strength (`beta`) that grows, the walk comes to a stand, and what is left is the classical model:
not nearly, as with bins in place of features, but itself. One strength means the same for any number of bins. Counts
and probabilities have logarithms for lines, all else is taken as it is.

The kind "isotonic" is the same, but the whole response may never turn against the direction of its line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from camber.arrays.types import F8, I8
from camber.bend.bend import Design, Seen
from camber.bend.bins import Bins
from camber.bend.bins_file import BinsFile, read_bins, write_bins
from camber.bend.discrete import BINS, DiscreteBend
from camber.bend.log import LogBend
from camber.bend.neighbours import Regulariser
from camber.bend.response import Response
from camber.bend.settings import ANCHORED, ISOTONIC, BendSettings
from camber.bend.walk import AGAINST, OneWay, RandomWalk
from camber.errors import SettingsError
from camber.features.feature import Feature, names_of
from camber.features.parts import Parts

if TYPE_CHECKING:
    from camber.bend.trees.context import ContextTrees
    from camber.bend.trees.description import WeighedTree
    from camber.bend.weighing import Weighing


@dataclass(frozen=True, eq=False)
class AnchoredBend:
    """A line for every input, and bins beside those of some; weights are those of the lines, then of the bins.

    >>> bend = AnchoredBend((Feature("p", "probability", "rule"),), {"p": Bins.make([0.25, 0.5], 1)})
    >>> bend.worth("p", np.array([0.25, 0.5]), np.array([1.0, 0.1, 0.0])).round(3).tolist()
    [-1.286, -0.693]
    """

    inputs: tuple[Feature, ...]
    bins: Mapping[str, Bins]  # bent feature → its bins
    kind: str = ANCHORED
    FILE: ClassVar[str] = DiscreteBend.FILE
    grows: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.kind not in (ANCHORED, ISOTONIC):
            raise SettingsError(f"no bend with lines and bins is called {self.kind!r}")
        # in the order of the inputs, and only of what they have
        object.__setattr__(self, "bins", DiscreteBend(self.inputs, self.bins).bins)

    @cached_property
    def line(self) -> LogBend:
        """The lines: a linear model of all inputs."""
        return LogBend(self.inputs)

    @cached_property
    def steps(self) -> DiscreteBend:
        """What bins add to the lines; every input stays beside them, but is weighed by the lines."""
        return DiscreteBend(self.inputs, self.bins, BINS, tuple(self.bins))

    @classmethod
    def settings(cls, kind: str) -> tuple[str, ...]:
        """Return how finely values are cut, and how strongly curves are held to their lines."""
        return ("bits", "beta")

    @classmethod
    def make(cls, kind: str, inputs: Sequence[Feature], seen: Seen, settings: BendSettings) -> AnchoredBend:
        """Make bins of uniform population for all features of rules that were seen to have several values."""
        bins = {
            name: Bins.make(values, settings.bits, often) for name, (values, often) in seen.items() if len(values) > 1
        }
        return cls(tuple(inputs), bins, kind)

    @property
    def scope(self) -> str:
        """Local, if what is bent is known of a rule."""
        return self.steps.scope

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The inputs, then the bins."""
        return (*names_of(self.inputs), *self.steps.names[len(self.inputs) :])

    @property
    def width(self) -> int:
        """The number of bins of all features."""
        return self.steps.width

    def _apart(self, weights: F8) -> tuple[F8, F8]:
        """Return the weights of the lines, and those of bins behind lines that weigh nothing."""
        lines = len(self.inputs)
        return weights[:lines], np.concatenate([np.zeros(lines), weights[lines:]])

    def start(self, old: Weighing, seen: Seen) -> dict[str, float]:
        """Return the lines that are nearest to what values were worth, and bins that make up for the rest.

        From a linear model that is the model itself, and all bins are 0.
        """
        weights = self.line.start(old, seen)
        vector = np.array([weights[name] for name in names_of(self.inputs)])
        for name, bins in self.bins.items():
            ends = [old.worth(name, at) - self.line.worth(name, at, vector) for at in (bins.lows, bins.highs)]
            own = [0.0] * len(bins) if old.bend.kind == self.line.kind else (0.5 * (ends[0] + ends[1])).tolist()
            weights |= {f"{name}@{number}": worth for number, worth in enumerate(own)}
        return {name: weights[name] for name in self.names}

    def linear_weights(self, weights: F8) -> F8:
        """Return the weights of the lines."""
        return weights[: len(self.inputs)].copy()

    def rule_worth(self, values: F8, columns: I8, weights: F8) -> F8:
        """Return the weighted sums of logarithms, and what the bins add: float64[rules]."""
        lines, bins = self._apart(weights)
        return self.line.rule_worth(values, columns, lines) + self.steps.rule_worth(values, columns, bins)

    def worth(self, name: str, values: F8, weights: F8) -> F8:
        """Return what raw values of one input add to the score, float64[values]."""
        return self.line.worth(name, values, self._apart(weights)[0]) + self.beyond_linear(name, values, weights)

    def beyond_linear(self, name: str, values: F8, weights: F8) -> F8:
        """Return what the bins of values of one input add to the score: 0 where it is not bent."""
        return self.steps.beyond_linear(name, values, self._apart(weights)[1])

    def in_context(self, columns: I8, weights: F8) -> ContextTrees | None:
        """Return nothing: all is known before the search."""
        return None

    def design(self, parts: Parts, offsets: I8) -> Design:
        """Return the sums of logarithms of every hypothesis, and how often it hits every bin."""
        return Design(self.line.design(parts, offsets).dense, self.steps.counts(parts, offsets) if self.width else None)

    def penalty(self, settings: BendSettings, tuned: Sequence[str]) -> Regulariser | None:
        """Return what holds the bins to the lines."""
        if not self.width:
            return None
        chains = self.steps.chains + (len(tuned) - self.width)
        walk = RandomWalk(settings.strength(self.kind), chains, self.gaps)
        if self.kind != ISOTONIC:
            return walk
        place = {name: at for at, name in enumerate(tuned)}
        lines = np.repeat([place[name] for name in self.bins], np.diff(chains, axis=1).ravel()).astype(np.int64)
        return OneWay(walk, AGAINST * max(1.0, walk.strength), lines, self.rises)

    @cached_property
    def gaps(self) -> F8:
        """How far each bin is from the next one in quantiles, middle to middle, float64[bins]; of a last one 0."""
        gaps = []
        for bins in self.bins.values():
            shares = np.maximum(bins.populations, 1) / np.maximum(bins.populations, 1).sum()
            gaps.append(np.append(0.5 * (shares[:-1] + shares[1:]), 0.0))
        return np.concatenate([np.zeros(0), *gaps])

    @cached_property
    def rises(self) -> F8:
        """How much a line of the weight 1 rises from the middle of each bin to that of the next one, float64[bins]."""
        return np.concatenate([np.zeros(0), *(np.append(np.diff(self._middles(name)), 0.0) for name in self.bins)])

    def _middles(self, name: str) -> F8:
        """Return what a line of the weight 1 is worth in the middle of every bin."""
        feature = self.inputs[names_of(self.inputs).index(name)]
        bins = self.bins[name]
        return 0.5 * (feature.linear(bins.lows) + feature.linear(bins.highs))

    def show(self, weights: Mapping[str, float]) -> list[Response]:
        """Return the whole response of every bent feature in the middle of every bin: its line, and what bins add."""
        return [
            Response(
                name,
                bins.lows,
                bins.highs,
                bins.populations,
                weights[name] * self._middles(name) + [weights[f"{name}@{number}"] for number in range(len(bins))],
            )
            for name, bins in self.bins.items()
        ]

    def trees(self, weights: Mapping[str, float]) -> list[WeighedTree]:
        """There are none."""
        return []

    def write(self, path: str | Path) -> None:
        """Write `bins.tsv`, as bins in place of features do."""
        write_bins(path, BinsFile(self.kind, self.inputs, self.steps.bins, self.steps.copied))

    @classmethod
    def read(cls, path: str | Path, inputs: Sequence[Feature] | None = None) -> AnchoredBend:
        """Read what :meth:`write` wrote; without `inputs`, those that it names are taken for numbers."""
        return read_bins(path, inputs, lambda file: cls(file.inputs, file.bins, file.kind))
