"""Registries: kinds of things by name, each imported only when it is asked for.

    TUNERS: Registry[type[Tuner]] = Registry(
        "tuner", "camber.tuners", {"mert": Entry("camber.tune.mert:Mert", "exact line search on the corpus metric")}
    )
    list(TUNERS), TUNERS.help("mert")       # for help texts: imports nothing of ours
    TUNERS.load("mert")                     # imports camber.tune.mert

Other packages add kinds of their own by entry points of the registry's group, in their ``pyproject.toml``:

    [project.entry-points."camber.tuners"]
    mine = "my_package.tuners:Mine"

These are looked for only where all names are listed, or one is asked for that is not built in. Built-in names cannot be
taken.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from camber.errors import CamberError, SettingsError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Entry:
    """Where a kind lives, and what it is."""

    home: str  # "module:attribute"
    help: str = ""


class Registry(Generic[Kind]):
    """Names and what they stand for.

    >>> shapes: Registry[type] = Registry("shape", "camber.shapes", {"fraction": Entry("fractions:Fraction", "p / q")})
    >>> list(shapes), "square" in shapes, shapes.help("fraction"), shapes.load("fraction").__name__
    (['fraction'], False, 'p / q', 'Fraction')
    """

    def __init__(self, what: str, group: str, entries: Mapping[str, Entry]) -> None:
        self.what, self.group = what, group
        self._entries = dict(entries)
        self._found: tuple[object, dict[str, EntryPoint]] = (None, {})  # by which function, and what

    def __iter__(self) -> Iterator[str]:
        """Yield all names: the built-in ones in their order, then those of other packages."""
        yield from self._entries
        yield from sorted(self._outside().keys() - self._entries.keys())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self._entries or name in self._outside())

    def load(self, name: str) -> Kind:
        """Import what a name stands for; an unknown name is an error that lists the known ones."""
        if not isinstance(name, str):  # a damaged model's
            raise self.unknown(name)
        if name in self._entries:
            module, _, attribute = self._entries[name].home.partition(":")
            return cast(Kind, getattr(importlib.import_module(module), attribute))
        outside = self._outside()
        if name not in outside:
            raise self.unknown(name)
        try:
            return cast(Kind, outside[name].load())
        except (ImportError, AttributeError) as error:
            raise CamberError(
                f"{self.what} {name!r} should be {outside[name].value}, which cannot be imported: {error}; "
                "mend or remove the package that registers it"
            ) from error

    def load_all(self) -> dict[str, Kind]:
        """Import all kinds, but none of another package that is broken: who needs one of the others shall get it."""
        kinds = {}
        for name in self:
            try:
                kinds[name] = self.load(name)
            except CamberError:
                continue
        return kinds

    def help(self, name: str) -> str:
        """Say what a kind is; one of another package by the first line of its docstring, for which it is imported."""
        if name in self._entries:
            return self._entries[name].help
        return (self.load(name).__doc__ or "").strip().partition("\n")[0]

    def unknown(self, name: str, *others: str) -> SettingsError:
        """Return the error for a name that is not known; `others` are legal, too, in the caller's own way."""
        return SettingsError(f"unknown {self.what} {name!r}; known: {', '.join([*self, *others])}")

    def _outside(self) -> dict[str, EntryPoint]:
        import importlib.metadata  # costs as much as all else that `camber --help` needs

        look_for = importlib.metadata.entry_points  # which reads a file of every package that is installed
        if self._found[0] is not look_for:
            self._found = (look_for, {point.name: point for point in look_for(group=self.group)})
        return self._found[1]
