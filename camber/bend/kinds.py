"""The kinds of bends, listed once; other packages add theirs by the entry point group ``camber.bends``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from camber.registry import Entry, Registry

if TYPE_CHECKING:
    from camber.bend.bend import Bend, Seen
    from camber.bend.settings import BendSettings
    from camber.features.feature import Feature

_BINS = "camber.bend.discrete:DiscreteBend"
#: name → where it is made, what it is, and the settings that make a difference to it
_KINDS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "none": ("camber.bend.log:LogBend", "a weight for each logarithm of a probability or count", ()),
    "raw": (_BINS, "no bins: probabilities and counts as they are, without logarithms", ()),
    "bins": (_BINS, "an indicator for every bin", ("bits",)),
    "overlap": (_BINS, "bins that reach over their neighbours", ("bits",)),
    "lnr": (_BINS, "bins, each pulled to the middle between its neighbours", ("bits", "beta")),
    "mnr": (_BINS, "bins, pulled towards any monotone curve", ("bits", "beta", "gamma")),
}

BENDS: Registry[type[Bend]] = Registry(
    "bend", "camber.bends", {name: Entry(home, told) for name, (home, told, _) in _KINDS.items()}
)
#: built-in kinds that cut the values of features into bins
BINNED = tuple(name for name, (_, _, settings) in _KINDS.items() if "bits" in settings)
#: what a tuning may ask for instead of a kind: the bend that a model has
KEEP = "keep"


class _Choices:
    """All that `bend` may be in the settings of tuning."""

    def __iter__(self) -> Iterator[str]:
        yield from (KEEP, *BENDS)

    def __contains__(self, name: object) -> bool:
        return name == KEEP or name in BENDS


CHOICES = _Choices()


def settings_of(kind: str) -> tuple[str, ...]:
    """Return the settings of bends that make a difference to a kind; all of them to one of another package.

    >>> settings_of("lnr")
    ('bits', 'beta')
    """
    if kind == KEEP:
        return ()
    return _KINDS[kind][2] if kind in _KINDS else ("bits", "beta", "gamma")


def idle_settings(kind: str) -> list[str]:
    """Return the settings of bends that make no difference to a kind."""
    return [name for name in ("bits", "beta", "gamma") if name not in settings_of(kind)]


def make_bend(kind: str, inputs: Sequence[Feature], seen: Seen, settings: BendSettings) -> Bend:
    """Make a bend of a kind for features whose rules were seen to have some values."""
    return BENDS.load(kind).make(kind, inputs, seen, settings)


def files_of_bends() -> dict[str, type[Bend]]:
    """Return the files that bends of a model are kept in, and who reads them."""
    return {bend.FILE: bend for bend in map(BENDS.load, BENDS) if bend.FILE}
