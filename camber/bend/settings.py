"""The settings of all bends, declared once."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from camber.errors import SettingsError
from camber.settings import Settings, setting

#: headings of the flags
BENDS, TREES = "Bends", "Trees"
#: curves that are anchored to lines, and those that never turn against them
ANCHORED, ISOTONIC = "anchored", "isotonic"
#: the `beta` that stands for what suits the kind
USUAL = -1.0
#: of 10³, 10⁵ and 10⁷ for tied bins, which translate about alike (experiments/clark2014), the middle
TIED = 1e5
#: … and for curves held to their lines
HELD = 30.0


@dataclass(frozen=True)
class BinSettings(Settings, group=BENDS):
    """How finely values are cut into bins, and how strongly neighbouring bins are tied."""

    bits: int = setting(8, "at most 2^bits bins for a feature", low=1, high=20)
    beta: float = setting(
        USUAL,
        "how strongly neighbouring bins are tied (lnr, mnr; more bits want more), or curves are held to their lines "
        f"(anchored, isotonic), on the scale of PRO's summed loss ({USUAL:g}: {TIED:g} for the former, {HELD:g} for "
        "the latter)",
        low=USUAL,
        high=1e18,
    )
    gamma: float = setting(2.0, "how sharply monotone steps are told from others (mnr)", low=0.1, high=100)

    def __post_init__(self) -> None:
        super().__post_init__()
        if USUAL < self.beta < 0.0:
            name = f"{type(self).__name__}.beta"
            raise SettingsError(f"{name} is {self.beta:g}; expected at least 0, or {USUAL:g} for what suits the kind")

    def strength(self, kind: str) -> float:
        """Return how strongly a kind of bend ties its bins.

        >>> BinSettings().strength("anchored"), BinSettings(beta=5.0).strength("mnr")
        (30.0, 5.0)
        """
        return self.beta if self.beta >= 0.0 else HELD if kind in (ANCHORED, ISOTONIC) else TIED


@dataclass(frozen=True)
class TreeSettings(Settings, group=TREES):
    """How trees grow (toutanova2013): their shape, the pairs of hypotheses that they learn to rank, their weights."""

    trees: int = setting(25, "trees at most; held-out sentences say when to stop", low=1, high=10_000)
    leaves: int = setting(
        2, "leaves of a tree; 2 ask one question, which is no conjunction of features: that wants 3 or more",
        low=2, high=64,
    )  # fmt: skip
    leaf: str = setting(
        "constant", "what leaves are: constants, or lines in one feature", choices=("constant", "linear")
    )
    tree_split: str = setting(
        "parts",
        "how splits are scored: by squares over parts, all of a hypothesis with one gradient, or by what they do to "
        "pairs of hypotheses",
        choices=("parts", "pairs"),
    )
    tree_pairs: str = setting(
        "largest",
        "which pairs of hypotheses are ranked, of those that were drawn: the largest differences, or any alike",
        choices=("largest", "uniform"),
    )
    tree_keep: int = setting(100, "pairs of hypotheses per sentence that trees learn to rank", low=1, high=1_000_000)
    tree_alpha: float = setting(
        1.0, "what is added to all counts of the sentence BLEU that tells the better of a pair", low=0.0, high=1e6
    )
    tree_shrinkage: float = setting(1.0, "how much of its weight a new tree gets", low=1e-6, high=1.0)
    tree_refit: bool = setting(False, "fit all weights again after every tree")

    def __post_init__(self) -> None:
        super().__post_init__()
        name = type(self).__name__
        if self.tree_split == "pairs" and self.leaf == "linear":
            raise SettingsError(
                f"{name}.leaf is linear, but where splits are scored by pairs, leaves are constants; leave it out, or "
                f"{name}.tree_split"
            )
        if self.tree_refit and self.tree_shrinkage != 1.0:
            raise SettingsError(
                f"{name}.tree_shrinkage is {self.tree_shrinkage:g}, which makes no difference where all weights are "
                f"fitted again; leave it out, or {name}.tree_refit"
            )


@dataclass(frozen=True)
class BendSettings(TreeSettings, BinSettings):
    """The settings of bins, then those of trees."""


#: the settings of trees
TREE_SETTINGS = tuple(item.name for item in fields(TreeSettings))


def bend_setting(name: str, default: Any) -> Any:
    """Return one of these settings with another default.

    >>> bend_setting("bits", 4).default
    4
    """
    (known,) = (item for item in fields(BendSettings) if item.name == name)
    return field(default=default, metadata=dict(known.metadata))
