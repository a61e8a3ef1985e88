"""The settings of all bends, declared once."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from camber.settings import Settings, setting


@dataclass(frozen=True)
class BendSettings(Settings):
    """How finely values are cut into bins, how strongly neighbouring bins are tied, and how trees grow."""

    bits: int = setting(8, "at most 2^bits bins for a feature", low=1, high=20)
    beta: float = setting(
        1e5,  # of 10³, 10⁵ and 10⁷, which translate about alike (experiments/clark2014), the middle
        "how strongly neighbouring bins are tied (lnr, mnr), on the scale of PRO's summed loss; more bits want more",
        low=0,
        high=1e18,
    )
    gamma: float = setting(2.0, "how sharply monotone steps are told from others (mnr)", low=0.1, high=100)
    trees: int = setting(25, "trees at most; held-out sentences say when to stop", low=1, high=10_000)
    leaves: int = setting(2, "leaves of a tree", low=2, high=64)
    leaf: str = setting(
        "constant", "what leaves are: constants, or lines in one feature", choices=("constant", "linear")
    )


def bend_setting(name: str, default: Any) -> Any:
    """Return one of these settings with another default.

    >>> bend_setting("bits", 4).default
    4
    """
    (known,) = (item for item in fields(BendSettings) if item.name == name)
    return field(default=default, metadata=dict(known.metadata))
