"""Bins in place of features (clark2014): each bent feature becomes an indicator for every bin of its values.

    bend = DiscreteBend(("p_coherent", "lm"), {"p_coherent": Bins.make(values, bits=4)})
    bend.names                              # ('lm', 'p_coherent@0', 'p_coherent@1', …)

The bend acts on parts, so that a decoder can use it: what a rule's features are worth is one number, looked up before
the search begins. With overlap (Eq. 8) a value fires its own bin and both neighbours. With soft edges (nguyen2007) it
is in several by shares, which suits whole hypotheses only: a decoder looks bins up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.sparse import Counts
from camber.arrays.types import F8, I8
from camber.bend.bend import GLOBAL, LOCAL, Design, Seen
from camber.bend.bins import Bins
from camber.bend.bins_file import BinsFile, read_bins, write_bins
from camber.bend.log import slope
from camber.bend.lookup import Lookup
from camber.bend.neighbours import LinearNeighbours, MonotoneNeighbours, Regulariser
from camber.bend.response import Response
from camber.bend.settings import BendSettings
from camber.bend.soft import SoftEdges
from camber.errors import CamberError, SettingsError
from camber.features.feature import NUMBER, RULE, Feature, names_of
from camber.features.parts import Parts

if TYPE_CHECKING:
    from camber.bend.trees.context import ContextTrees
    from camber.bend.trees.description import WeighedTree
    from camber.bend.weighing import Weighing


#: kinds that differ in which bins a value fires, or in how neighbours are tied when weights are tuned
RAW, BINS, OVERLAP, LNR, MNR = "raw", "bins", "overlap", "lnr", "mnr"

#: what the penalty for words is called, here and in cdec; it is there as it was, beside its bins
WORD_PENALTIES = ("word_penalty", "WordPenalty")

_FINE = 6  # points of a smooth curve for every bin, and for every gap between two


@dataclass(frozen=True, eq=False)
class DiscreteBend:
    """Which features are bent, and their bins; weights are those of the other features, then of the bins."""

    inputs: tuple[Feature, ...]  # what the parts of a hypothesis have, column by column
    bins: Mapping[str, Bins]  # bent feature → its bins
    kind: str = BINS
    copied: tuple[str, ...] = ()  # bent features that are there as they were, too
    softness: float = 0.0  # width of edges, as a share of the narrower bin beside them; 0: hard ones
    FILE: ClassVar[str] = "bins.tsv"
    grows: ClassVar[bool] = False

    def __post_init__(self) -> None:
        known = names_of(self.inputs)
        if self.kind not in (RAW, BINS, OVERLAP, LNR, MNR):
            raise SettingsError(f"no bend with bins is called {self.kind!r}")
        if unknown := [name for name in self.bins if name not in known]:
            raise SettingsError(f"bins for {', '.join(unknown)}, but the features are {', '.join(known)}")
        if unknown := [name for name in self.copied if name not in self.bins]:
            raise SettingsError(f"{', '.join(unknown)} cannot be kept beside bins that are not there")
        if not 0.0 <= self.softness <= 1.0:
            raise SettingsError(f"edges of softness {self.softness}; expected 0 to 1")
        if self.softness and self.kind == OVERLAP:
            raise SettingsError("overlapping bins cannot have soft edges: these reach over their neighbours already")
        object.__setattr__(self, "bins", {name: self.bins[name] for name in known if name in self.bins})

    @classmethod
    def settings(cls, kind: str) -> tuple[str, ...]:
        """Return how finely values are cut, unless they are not, and how neighbours are tied, where they are."""
        return {RAW: (), LNR: ("bits", "beta"), MNR: ("bits", "beta", "gamma")}.get(kind, ("bits",))

    @classmethod
    def make(cls, kind: str, inputs: Sequence[Feature], seen: Seen, settings: BendSettings) -> DiscreteBend:
        """Make bins of uniform population for all features of rules that were seen to have values."""
        if kind == RAW:
            if not any(feature.logarithmic for feature in inputs):
                raise SettingsError(
                    "the rules of this model have no raw values, only what its tables say; choose another bend"
                )
            return cls(tuple(inputs), {}, kind)
        bins = {name: Bins.make(values, settings.bits, often) for name, (values, often) in seen.items() if len(values)}
        return cls(tuple(inputs), bins, kind, tuple(name for name in WORD_PENALTIES if name in bins))

    @property
    def scope(self) -> str:
        """Local, if what is bent is known of a rule and edges are hard; global otherwise."""
        if self.softness:
            return GLOBAL
        return LOCAL if all(self.inputs[column].scope == RULE for column in self.columns.tolist()) else GLOBAL

    @cached_property
    def linear(self) -> I8:
        """The inputs that are used as they are, int64[linear]: columns."""
        return np.array(
            [at for at, name in enumerate(names_of(self.inputs)) if name not in self.bins or name in self.copied],
            np.int64,
        )

    @cached_property
    def columns(self) -> I8:
        """The inputs that are bent, int64[bent]: columns."""
        known = names_of(self.inputs)
        return np.array([known.index(name) for name in self.bins], np.int64)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The features that have weights."""
        own = [f"{name}@{number}" for name, bins in self.bins.items() for number in range(len(bins))]
        return (*(self.inputs[at].name for at in self.linear.tolist()), *own)

    @cached_property
    def chains(self) -> I8:
        """Where the bins of each bent feature begin and end among all bins, int64[bent, 2]."""
        edges = offsets_from(map(len, self.bins.values()))
        return np.stack([edges[:-1], edges[1:]], axis=1)

    @property
    def width(self) -> int:
        """The number of bins of all features."""
        return int(self.chains[-1, 1]) if len(self.chains) else 0

    @cached_property
    def lookup(self) -> Lookup:
        """The tables that find bins quickly."""
        return Lookup.of(list(self.bins.values()))

    @cached_property
    def soft(self) -> SoftEdges:
        """The soft edges, where they are."""
        return SoftEdges.of(list(self.bins.values()), self.softness)

    # --- weights -----------------------------------------------------------------------------------------------------

    def linear_weights(self, weights: F8) -> F8:
        """Return the weights of the inputs as they are, 0 for those that are only bent: float64[names] → [inputs]."""
        linear = np.zeros(len(self.inputs))
        linear[self.linear] = weights[: len(self.linear)]
        return linear

    def bin_values(self, weights: F8) -> F8:
        """Return what a value in each bin adds to the score: float64[names] → [bins]."""
        bin_weights = np.array(weights[len(self.linear) :], np.float64)
        if self.kind != OVERLAP:
            return bin_weights
        values = bin_weights.copy()
        for first, last in self.chains.tolist():
            values[first + 1 : last] += bin_weights[first : last - 1]
            values[first : last - 1] += bin_weights[first + 1 : last]
        return values

    def start(self, old: Weighing, seen: Seen) -> dict[str, float]:
        """Return weights under which scores come near to those of a model of another shape.

        A bin gets the mean of what its lowest and its highest value are worth to that model, beyond what the feature
        has as it is. Without bins, a feature gets the slope of the straight line through what its values are worth.
        """
        linear = old.linear_by_name()
        for feature in self.inputs:
            values, often = seen.get(feature.name, (None, None))
            if self.kind == RAW and values is not None and often is not None:
                linear[feature.name] = slope(values, old.worth(feature.name, values), often)
            elif feature.logarithmic and values is not None and not len(values):
                linear[feature.name] = 0.0  # a weight of logarithms says nothing about raw values
        weights = [linear[self.inputs[at].name] for at in self.linear.tolist()]
        for name, bins in self.bins.items():
            middle = 0.5 * (old.worth(name, bins.lows) + old.worth(name, bins.highs))
            if name in self.copied:
                middle -= linear[name] * 0.5 * (bins.lows + bins.highs)
            if self.kind == OVERLAP:  # shared by all bins that a value fires
                reach = np.full(len(bins), min(3.0, len(bins)))
                reach[[0, -1]] = min(2.0, len(bins))
                middle /= reach
            weights += middle.tolist()
        return dict(zip(self.names, weights, strict=True))

    def rule_worth(self, values: F8, columns: I8, weights: F8) -> F8:
        """Return the weighted sums of linear features, and what the bins of the others add: float64[rules]."""
        place = {column: at for at, column in enumerate(columns.tolist())}
        bent = [place.get(column, -1) for column in self.columns.tolist()]
        if self.softness:
            there = np.column_stack([values, np.full(len(values), np.nan)])[:, bent]  # -1: the last, which is absent
            scores = self.soft.worth(there, self.bin_values(weights))
            linear = self.linear_weights(weights)[columns]
            for column in np.flatnonzero(linear).tolist():  # in the order of features: the same bytes everywhere
                scores += linear[column] * np.nan_to_num(values[:, column])
            return scores
        return self.lookup.score(values, bent, self.bin_values(weights), self.linear_weights(weights)[columns])

    def worth(self, name: str, values: F8, weights: F8) -> F8:
        """Return what raw values of one input add to the score, float64[values]."""
        line = self.linear_weights(weights)[names_of(self.inputs).index(name)]
        return np.asarray(line * values + self.beyond_linear(name, values, weights))

    def beyond_linear(self, name: str, values: F8, weights: F8) -> F8:
        """Return what the bins of values of one input add to the score: 0 where it is not bent."""
        if name not in self.bins:
            return np.zeros(len(values))
        bent = list(self.bins).index(name)
        if self.softness:
            table = np.full((len(values), len(self.bins)), np.nan)
            table[:, bent] = values
            return self.soft.worth(table, self.bin_values(weights))
        hit = self.lookup.find(bent, values)
        return np.where(hit >= 0, self.bin_values(weights)[int(self.chains[bent, 0]) + hit], 0.0)

    def penalty(self, settings: BendSettings, tuned: Sequence[str]) -> Regulariser | None:
        """Return what ties neighbouring bins, where this kind does."""
        beta, chains = settings.strength(self.kind), self.chains + (len(tuned) - self.width)
        if self.kind == LNR:
            return LinearNeighbours(beta, chains)
        return MonotoneNeighbours(beta, settings.gamma, chains) if self.kind == MNR else None

    def show(self, weights: Mapping[str, float]) -> list[Response]:
        """Return the learnt response of every bent feature: what its bins add, and its line where it has one."""
        vector = np.array([weights[name] for name in self.names])
        if self.softness:
            return [self._smooth(name, bins, vector) for name, bins in self.bins.items()]
        values = self.bin_values(vector)
        slopes = {name: weights[name] if name in self.copied else 0.0 for name in self.bins}
        return [
            Response(
                name,
                bins.lows,
                bins.highs,
                bins.populations,
                values[first:last] + slopes[name] * 0.5 * (bins.lows + bins.highs),
            )
            for (name, bins), (first, last) in zip(self.bins.items(), self.chains.tolist(), strict=True)
        ]

    def _smooth(self, name: str, bins: Bins, weights: F8) -> Response:
        """Return a response with soft edges: what it is at the middle of every bin, and as a curve."""
        middles = 0.5 * (bins.lows + bins.highs)
        ends = np.unique(np.concatenate([bins.lows, bins.highs]))
        parts = np.arange(_FINE) / _FINE
        x = np.append((ends[:-1, None] + np.diff(ends)[:, None] * parts).ravel(), ends[-1:])
        curve = np.stack([x, self.worth(name, x, weights)], axis=1)
        return Response(name, bins.lows, bins.highs, bins.populations, self.worth(name, middles, weights), curve)

    def trees(self, weights: Mapping[str, float]) -> list[WeighedTree]:
        """There are none."""
        return []

    # --- hypotheses --------------------------------------------------------------------------------------------------

    def in_context(self, columns: I8, weights: F8) -> ContextTrees | None:
        """Return nothing: all is known before the search."""
        return None

    def design(self, parts: Parts, offsets: I8) -> Design:
        """Return the sums of the linear features of every hypothesis, and how often it hits every bin."""
        dense = np.nan_to_num(self._as_numbers(parts).linear_sums(offsets, self.linear.tolist()), copy=False)
        return Design(dense, self.counts(parts, offsets) if self.width else None)

    def _as_numbers(self, parts: Parts) -> Parts:
        """Return parts whose rules' features are taken as they are."""
        features = tuple(replace(f, kind=NUMBER) if f.scope == RULE else f for f in parts.features)
        return replace(parts, features=features)

    def counts(self, parts: Parts, offsets: I8) -> Counts:
        """Return how often every hypothesis hits every bin.

        A part that is no rule, such as a word that is passed through, hits none. With soft edges, a hypothesis must be
        one part, and is in its bins by shares.
        """
        if self.softness:
            if not np.array_equal(offsets, np.arange(len(parts) + 1)):
                raise CamberError("soft edges are for features of whole hypotheses, but these have several parts")
            return self.soft.memberships(np.column_stack([parts.column(name) for name in self.bins]))
        reach = (-1, 0, 1) if self.kind == OVERLAP else (0,)
        keys = np.full((len(parts), len(self.columns) * len(reach)), -1, np.int64)
        for bent, (name, (first, last)) in enumerate(zip(self.bins, self.chains.tolist(), strict=True)):
            hit = np.where(parts.rules >= 0, parts.map_column(name, partial(self.lookup.find, bent)), -1)
            for place, step in enumerate(reach):
                there = first + hit + step
                inside = (hit >= 0) & (there >= first) & (there < last)
                keys[:, bent * len(reach) + place] = np.where(inside, there, -1)
        return Counts.gather(keys.ravel(), offsets * keys.shape[1], self.width)

    # --- files -------------------------------------------------------------------------------------------------------

    def write(self, path: str | Path) -> None:
        """Write `bins.tsv`: one line for each bin; numbers are written so that they come back exactly."""
        write_bins(path, BinsFile(self.kind, self.inputs, self.bins, self.copied, self.softness))

    @classmethod
    def read(cls, path: str | Path, inputs: Sequence[Feature] | None = None) -> DiscreteBend:
        """Read `bins.tsv`; without `inputs`, those that it names are taken for numbers of hypotheses."""
        return read_bins(path, inputs, lambda file: cls(file.inputs, file.bins, file.kind, file.copied, file.softness))


def tally(pieces: Sequence[tuple[F8, I8]]) -> tuple[F8, I8]:
    """Count equal values: pairs (values, how often each) → distinct values in rising order, and how often each.

    NaN, an absent feature, is left out.

    >>> [column.tolist() for column in tally([(np.array([0.5, 0.1, 0.5]), np.array([1, 1, 2]))])]
    [[0.1, 0.5], [1, 3]]
    """
    values = np.concatenate([np.zeros(0), *(numbers for numbers, _ in pieces)])
    often = np.concatenate([np.zeros(0, np.int64), *(count for _, count in pieces)])
    present = ~np.isnan(values)
    values, often = values[present], often[present]
    distinct, places = np.unique(values, return_inverse=True)
    return distinct, np.bincount(places, often, len(distinct)).astype(np.int64)


def tally_columns(names: Sequence[str], tables: Iterable[tuple[F8, I8]]) -> Seen:
    """Count the values of features: tables float64[rules, names], with how often each rule counts.

    Each table is counted when it comes, so that many need not fit in memory.
    """
    tallies: dict[str, list[tuple[F8, I8]]] = {name: [] for name in names}
    for table, often in tables:
        for name, column in zip(names, table.T, strict=True):
            tallies[name].append(tally([(column, often)]))
    return {name: tally(pieces) for name, pieces in tallies.items()}
