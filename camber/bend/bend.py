"""What every bend offers.

A bend turns the raw features of parts into what has weights. There is always one: the plainest takes logarithms of
probabilities and counts, which is the classical linear model. A *local* bend acts on parts, so that a decoder can use
it; a *global* one acts on whole hypotheses, and can only re-rank.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol, Self

from camber.arrays.sparse import Counts
from camber.arrays.types import F8, I8
from camber.bend.neighbours import Regulariser
from camber.bend.response import Response
from camber.bend.settings import BendSettings
from camber.features.feature import Feature
from camber.features.parts import Parts

if TYPE_CHECKING:
    from camber.bend.trees.context import ContextTrees
    from camber.bend.trees.description import WeighedTree
    from camber.bend.weighing import Weighing


LOCAL, GLOBAL = "local", "global"
#: Raw values that a feature was seen to have, rising, and how often each: what bends are made from.
Seen = Mapping[str, tuple[F8, I8]]


class Design(NamedTuple):
    """What has weights, of every hypothesis: columns that all have, then sparse rows, in the order of the names."""

    dense: F8  # [hypotheses, columns]
    sparse: Counts | None  # [hypotheses, the other columns]


class Bend(Protocol):
    """A learnt transform of features; it is made once, and its weights are tuned."""

    #: the file of a model that holds it; empty for what needs none
    FILE: ClassVar[str]

    @property
    def kind(self) -> str:
        """Its name among the kinds of bends."""

    @property
    def scope(self) -> str:
        """LOCAL or GLOBAL."""

    @property
    def inputs(self) -> tuple[Feature, ...]:
        """What parts have, column by column."""

    @property
    def names(self) -> tuple[str, ...]:
        """What has weights: dense columns, then sparse ones."""

    @property
    def width(self) -> int:
        """How many of the names, the last ones, are sparse."""

    @property
    def grows(self) -> bool:
        """Whether it is still to be grown from lists of hypotheses, before weights are tuned."""

    @classmethod
    def settings(cls, kind: str) -> tuple[str, ...]:
        """Return the fields of :class:`BendSettings` that make a difference to a kind."""

    @classmethod
    def make(cls, kind: str, inputs: Sequence[Feature], seen: Seen, settings: BendSettings) -> Self:
        """Make a bend of a kind for features whose rules were seen to have some values."""

    def start(self, old: Weighing, seen: Seen) -> dict[str, float]:
        """Return weights under which scores come near to those of a model of another shape."""

    def linear_weights(self, weights: F8) -> F8:
        """Return the weights of the inputs as a linear model takes them: float64[names] → [inputs]."""

    def rule_worth(self, values: F8, columns: I8, weights: F8) -> F8:
        """Return what features of rules add to the score, before any search: float64[rules].

        values float64[rules, n], raw, NaN where absent; columns int64[n]: which inputs; weights float64[names].
        """

    def worth(self, name: str, values: F8, weights: F8) -> F8:
        """Return what raw values of one input add to the score, float64[values]."""

    def beyond_linear(self, name: str, values: F8, weights: F8) -> F8:
        """Return what raw values of one input add beyond their linear weight, float64[values]."""

    def in_context(self, columns: I8, weights: F8) -> ContextTrees | None:
        """Return what the searches must add where a part is placed; None if all is known before.

        columns int64[n] are the inputs that :meth:`rule_worth` gets to see.
        """

    def design(self, parts: Parts, offsets: I8) -> Design:
        """Return what has weights, of hypotheses whose parts are ``offsets[h]`` … ``offsets[h + 1] - 1``."""

    def penalty(self, settings: BendSettings, tuned: Sequence[str]) -> Regulariser | None:
        """Return what ties the sparse weights; `tuned` names all weights that are tuned, the sparse ones last."""

    def show(self, weights: Mapping[str, float]) -> list[Response]:
        """Return the curves that were learnt, for people."""

    def trees(self, weights: Mapping[str, float]) -> list[WeighedTree]:
        """Return the trees that were learnt, for people."""

    def write(self, path: str | Path) -> None:
        """Write the file :attr:`FILE`."""

    @classmethod
    def read(cls, path: str | Path, inputs: Sequence[Feature] | None = None) -> Self:
        """Read what :meth:`write` wrote, for features that are known (None: names are all that matters)."""
