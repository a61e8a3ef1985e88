"""Bins in place of features (clark2014): each bent feature becomes an indicator for every bin of its values.

    bend = DiscreteBend(("p_coherent", "lm"), {"p_coherent": Bins.make(values, bits=4)})
    bend.names                              # ('lm', 'p_coherent@0', 'p_coherent@1', …)

The bend acts on parts, so that a decoder can use it: what a rule's features are worth is one number, looked up before
the search begins. With overlap (Eq. 8) a value fires its own bin and both neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.sparse import Counts
from camber.arrays.types import F8, I8, Bools
from camber.bend.bins import Bins
from camber.bend.lookup import Lookup
from camber.bend.response import Response
from camber.errors import CamberError, InputError, SettingsError
from camber.files import decode_lines, read_bytes, write_lines

#: kind → what it is, for help texts; `bins`, `lnr` and `mnr` differ in how neighbours are tied when weights are tuned
KINDS = {
    "raw": "no bins: probabilities and counts as they are, without logarithms",
    "bins": "an indicator for every bin",
    "overlap": "bins that reach over their neighbours",
    "lnr": "bins, each pulled to the middle between its neighbours",
    "mnr": "bins, pulled towards any monotone curve",
}

#: hyper-parameter → the kinds of bends to which it makes a difference
APPLIES = {"bits": ("bins", "overlap", "lnr", "mnr"), "beta": ("lnr", "mnr"), "gamma": ("mnr",)}

#: what the penalty for words is called, here and in cdec; it is there as it was, beside its bins
WORD_PENALTIES = ("word_penalty", "WordPenalty")

HEADER = "# camber bins 1 "


@dataclass(frozen=True, eq=False)
class DiscreteBend:
    """Which features are bent, and their bins; weights are those of the other features, then of the bins."""

    inputs: tuple[str, ...]  # what the parts of a hypothesis have, column by column
    bins: Mapping[str, Bins]  # bent feature → its bins
    kind: str = "bins"
    copied: tuple[str, ...] = ()  # bent features that are there as they were, too

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise SettingsError(f"no bend {self.kind!r}; there are {', '.join(KINDS)}")
        if unknown := [name for name in self.bins if name not in self.inputs]:
            raise SettingsError(f"bins for {', '.join(unknown)}, but the features are {', '.join(self.inputs)}")
        if unknown := [name for name in self.copied if name not in self.bins]:
            raise SettingsError(f"{', '.join(unknown)} cannot be kept beside bins that are not there")
        object.__setattr__(self, "bins", {name: self.bins[name] for name in self.inputs if name in self.bins})

    @cached_property
    def linear(self) -> I8:
        """The inputs that are used as they are, int64[linear]: columns."""
        return np.array(
            [at for at, name in enumerate(self.inputs) if name not in self.bins or name in self.copied], np.int64
        )

    @cached_property
    def columns(self) -> I8:
        """The inputs that are bent, int64[bent]: columns."""
        return np.array([self.inputs.index(name) for name in self.bins], np.int64)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The features that have weights."""
        own = [f"{name}@{number}" for name, bins in self.bins.items() for number in range(len(bins))]
        return (*(self.inputs[at] for at in self.linear), *own)

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

    # --- weights -----------------------------------------------------------------------------------------------------

    def linear_weights(self, weights: F8) -> F8:
        """Return the weights of the inputs as they are, 0 for those that are only bent: float64[names] → [inputs]."""
        found = np.zeros(len(self.inputs))
        found[self.linear] = weights[: len(self.linear)]
        return found

    def bin_values(self, weights: F8) -> F8:
        """Return what a value in each bin adds to the score: float64[names] → [bins]."""
        own = np.array(weights[len(self.linear) :], np.float64)
        if self.kind != "overlap":
            return own
        found = own.copy()
        for first, last in self.chains.tolist():
            found[first + 1 : last] += own[first : last - 1]
            found[first : last - 1] += own[first + 1 : last]
        return found

    def start(self, worth: Callable[[str, F8], F8], linear: Mapping[str, float]) -> F8:
        """Return weights that come near to a model of another shape, float64[names].

        `worth` gives what values of a feature add to that model's score; `linear` are the weights of the other
        features. A bin gets the mean of what its lowest and its highest value are worth, beyond what the feature has
        as it is.
        """
        found = [linear[self.inputs[at]] for at in self.linear]
        for name, bins in self.bins.items():
            middle = 0.5 * (worth(name, bins.lows) + worth(name, bins.highs))
            if name in self.copied:
                middle -= linear[name] * 0.5 * (bins.lows + bins.highs)
            if self.kind == "overlap":  # shared by all bins that a value fires
                reach = np.full(len(bins), min(3.0, len(bins)))
                reach[[0, -1]] = min(2.0, len(bins))
                middle /= reach
            found += middle.tolist()
        return np.array(found)

    def responses(self, weights: Mapping[str, float]) -> list[Response]:
        """Return the learnt response of every bent feature: what its bins add, and its line where it has one."""
        values = self.bin_values(np.array([weights[name] for name in self.names]))
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

    # --- hypotheses --------------------------------------------------------------------------------------------------

    def counts(self, features: F8, present: Bools, part_offsets: I8) -> Counts:
        """Return how often every hypothesis hits every bin.

        features float64[parts, inputs]; present bool[parts]: whether the part is a rule, which has the bent features (a
        word passed through has none, and fires no bin); part_offsets int64[hypotheses + 1].
        """
        reach = (-1, 0, 1) if self.kind == "overlap" else (0,)
        keys = np.full((len(features), len(self.columns) * len(reach)), -1, np.int64)
        for bent, (column, (first, last)) in enumerate(zip(self.columns.tolist(), self.chains.tolist(), strict=True)):
            hit = np.where(present, self.lookup.find(bent, features[:, column]), -1)
            for place, step in enumerate(reach):
                there = first + hit + step
                inside = (hit >= 0) & (there >= first) & (there < last)
                keys[:, bent * len(reach) + place] = np.where(inside, there, -1)
        return Counts.gather(keys.ravel(), part_offsets * keys.shape[1], self.width)

    # --- files -------------------------------------------------------------------------------------------------------

    def write(self, path: str | Path) -> None:
        """Write `bins.tsv`: one line for each bin; numbers are written so that they come back exactly."""
        lines = [
            f"{HEADER}{self.kind}",
            f"# inputs {' '.join(self.inputs)}",
            f"# copied {' '.join(self.copied)}".rstrip(),
            "feature\tbin\tlow\thigh\tpopulation",
        ]
        for name, bins in self.bins.items():
            rows = zip(bins.lows.tolist(), bins.highs.tolist(), bins.populations.tolist(), strict=True)
            lines += [f"{name}\t{number}\t{a!r}\t{b!r}\t{count}" for number, (a, b, count) in enumerate(rows)]
        write_lines(path, lines)

    @classmethod
    def read(cls, path: str | Path) -> DiscreteBend:
        """Read `bins.tsv`."""
        lines = decode_lines(read_bytes(path), path)
        if len(lines) < 4 or not lines[0].startswith(HEADER) or not lines[1].startswith("# inputs "):
            raise InputError("no bins of ours in this file", path, 1, remedy="tune the model again with --bend")
        kind, inputs = lines[0][len(HEADER) :].strip(), tuple(lines[1].split()[2:])
        rows: dict[str, list[tuple[float, float, int]]] = {}
        for number, line in enumerate(lines[4:], 5):
            try:
                name, place, low, high, population = line.split("\t")
                rows.setdefault(name, []).append((float(low), float(high), int(population)))
                if int(place) != len(rows[name]) - 1:
                    raise ValueError(f"bin {place} of {name} comes out of order")
            except ValueError as error:
                raise InputError(f"not a bin: {error}", path, number, remedy="tune the model again") from None
        bins = {}
        try:
            for name, found in rows.items():
                lows, highs, populations = (np.array(column) for column in zip(*found, strict=True))
                bins[name] = Bins(lows, highs, populations)
            return cls(inputs, bins, kind, tuple(lines[2].split()[2:]))
        except CamberError as error:
            raise InputError(str(error), path, remedy="tune the model again with --bend") from None


def bend_features(
    inputs: Sequence[str],
    values: Mapping[str, tuple[F8, I8]],
    kind: str,
    bits: int,
    copied: Sequence[str] = WORD_PENALTIES,
) -> DiscreteBend:
    """Make a bend with bins of uniform population: feature → (values that were seen, how often each)."""
    bins: dict[str, Bins] = {}
    if kind != "raw":
        bins = {name: Bins.make(seen, bits, often) for name, (seen, often) in values.items() if len(seen)}
    return DiscreteBend(tuple(inputs), bins, kind, tuple(name for name in copied if name in bins))


def tally(pieces: Sequence[tuple[F8, I8]]) -> tuple[F8, I8]:
    """Count equal values: pairs (values, how often each) → distinct values in rising order, and how often each.

    NaN, an absent feature, is left out.

    >>> [found.tolist() for found in tally([(np.array([0.5, 0.1, 0.5]), np.array([1, 1, 2]))])]
    [[0.1, 0.5], [1, 3]]
    """
    values = np.concatenate([np.zeros(0), *(found for found, _ in pieces)])
    often = np.concatenate([np.zeros(0, np.int64), *(count for _, count in pieces)])
    present = ~np.isnan(values)
    values, often = values[present], often[present]
    distinct, places = np.unique(values, return_inverse=True)
    return distinct, np.bincount(places, often, len(distinct)).astype(np.int64)
