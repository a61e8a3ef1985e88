"""The kinds of bends, listed once; other packages add theirs by the entry point group ``camber.bends``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

from camber.bend.settings import ANCHORED, ISOTONIC, BendSettings
from camber.registry import Entry, Registry

if TYPE_CHECKING:
    from camber.bend.bend import Bend, Seen
    from camber.features.feature import Feature

#: the bend that every model begins with
NONE = "none"
_BINS = "camber.bend.discrete:DiscreteBend"
_LINES = "camber.bend.anchored:AnchoredBend"
_TREES = "camber.bend.trees.bend:TreesBend"
#: built-in kinds that cut the values of features into bins
BINNED = ("bins", "overlap", "lnr", "mnr")
BENDS: Registry[type[Bend]] = Registry(
    "bend",
    "camber.bends",
    {
        NONE: Entry("camber.bend.log:LogBend", "a weight for each logarithm of a probability or count"),
        "raw": Entry(_BINS, "no bins: probabilities and counts as they are, without logarithms"),
        "bins": Entry(_BINS, "an indicator for every bin"),
        "overlap": Entry(_BINS, "bins that reach over their neighbours"),
        "lnr": Entry(_BINS, "bins, each pulled to the middle between its neighbours"),
        "mnr": Entry(_BINS, "bins, pulled towards any monotone curve"),
        "trees": Entry(_TREES, "logarithms, and regression trees over the features of a part in its context"),
        **{f"{kind}+trees": Entry(_TREES, f"{kind}, and trees") for kind in BINNED},
        ANCHORED: Entry(_LINES, "logarithms, and bins that walk away from them as far as it pays"),
        ISOTONIC: Entry(_LINES, "the same, and never turn against their direction"),
    },
)
#: bends of whole hypotheses, which only re-rankers can use
GLOBAL_BENDS: Registry[type[Bend]] = Registry(
    "global bend",
    "camber.global_bends",
    {"mixture": Entry("camber.bend.mixtures.bend:MixtureBend", "logarithms, and kernels in the space of all features")},
)
#: what a tuning may ask for instead of a kind: the bend that a model has
KEEP = "keep"


class _Choices:
    """All that `bend` may be in the settings of tuning."""

    def __iter__(self) -> Iterator[str]:
        yield from (KEEP, *BENDS)

    def __contains__(self, name: object) -> bool:
        return name == KEEP or name in BENDS


CHOICES = _Choices()


def bend_class(kind: str) -> type[Bend]:
    """Return the class of a kind, local or global.

    >>> bend_class("mixture").FILE
    'mixture.tsv'
    """
    return (GLOBAL_BENDS if kind in GLOBAL_BENDS else BENDS).load(kind)


def settings_of(kind: str) -> tuple[str, ...]:
    """Return the settings of bends that make a difference to a kind.

    >>> settings_of("lnr")
    ('bits', 'beta')
    """
    return () if kind == KEEP else BENDS.load(kind).settings(kind)


def idle_settings(kind: str) -> list[str]:
    """Return the settings of bends that make no difference to a kind."""
    return [item.name for item in fields(BendSettings) if item.name not in settings_of(kind)]


def make_bend(kind: str, inputs: Sequence[Feature], seen: Seen, settings: BendSettings) -> Bend:
    """Make a bend of a kind for features whose rules were seen to have some values."""
    return BENDS.load(kind).make(kind, inputs, seen, settings)
