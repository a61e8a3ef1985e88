"""Settings: one frozen dataclass per stage, which is also its command-line flags and what the model records.

    @dataclass(frozen=True)
    class LmSettings(Settings, group="Language model"):
        order: int = setting(5, "longest n-gram", low=1, high=6)

`LmSettings.from_dict` refuses unknown keys; values are checked when the object is made. `group` is the heading under
which help lists the flags of these settings.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, Self

from camber.errors import SettingsError

#: No number of anything is larger: sums and products of two of them are integers of kernels.
_LARGEST = 2**31 - 1
#: half surrogate pairs, which no file can hold
_HALF = re.compile("[\ud800-\udfff]")
#: the heading of what most people need, which help lists first
EVERYDAY = "Everyday"


class Choices(Protocol):
    """Names to choose from: a tuple, or a registry."""

    def __iter__(self) -> Iterator[str]: ...

    def __contains__(self, name: object, /) -> bool: ...


def setting(
    default: Any,
    help: str,
    *,
    choices: Choices = (),
    low: float | None = None,
    high: float | None = None,
    contrary: str = "",
    only_off: bool = False,
    group: str = "",
) -> Any:
    """Declare one setting with its default, its help line and its legal values.

    `contrary` is the flag that switches a setting off, without its hyphens (none: no-NAME), which `only_off` makes its
    only one; `group` is a heading of its own, where that of its class is not the right one.
    """
    rule = {"help": help, "choices": choices, "low": low, "high": high, "contrary": contrary, "group": group}
    return field(default=default, metadata={**rule, "only_off": only_off})


@dataclass(frozen=True)
class Settings:
    """Base of the settings of a stage; `group` is the heading of their flags."""

    group: ClassVar[str] = EVERYDAY

    def __init_subclass__(cls, *, group: str = "", **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if group:
            cls.group = group

    def __post_init__(self) -> None:
        for item in dataclasses.fields(self):
            value, rule = getattr(self, item.name), item.metadata
            name = f"{type(self).__name__}.{item.name}"
            kind = type(item.default)
            if type(value) is int and abs(value) > _LARGEST:
                raise SettingsError(f"{name} is too large a number; the most is {_LARGEST:,}")
            if isinstance(value, int) and kind is float and not isinstance(value, bool):
                object.__setattr__(self, item.name, value := float(value))
            if type(value) is not kind or value != value:  # a NaN differs from itself
                raise SettingsError(f"{name} is {value!r}; expected {kind.__name__}, such as {item.default!r}")
            if isinstance(value, str) and _HALF.search(value):  # from a command line that is no UTF-8
                raise SettingsError(f"{name} is {value!r}; expected text that UTF-8 can hold")
            if value in (math.inf, -math.inf):
                raise SettingsError(f"{name} is {value}; expected a finite number, such as {item.default!r}")
            if rule.get("choices") and value not in rule["choices"]:
                raise SettingsError(f"{name} is {value!r}; expected one of {', '.join(rule['choices'])}")
            if rule.get("low") is not None and value < rule["low"]:
                raise SettingsError(f"{name} is {value}; expected at least {rule['low']}")
            if rule.get("high") is not None and value > rule["high"]:
                raise SettingsError(f"{name} is {value}; expected at most {rule['high']}")

    @classmethod
    def group_of(cls, name: str) -> str:
        """Return the heading of a setting: its own, or that of the class which declared it first.

        >>> @dataclass(frozen=True)
        ... class Rules(Settings, group="Rules"):
        ...     length: int = setting(7, "longest phrase")
        >>> @dataclass(frozen=True)
        ... class Large(Rules, group="Large rules"):
        ...     length: int = setting(9, "longest phrase")
        ...     gaps: int = setting(2, "most gaps")
        >>> Large.group_of("length"), Large.group_of("gaps")
        ('Rules', 'Large rules')
        """
        if own := {item.name: item.metadata for item in dataclasses.fields(cls)}[name].get("group"):
            return str(own)
        declaring = [
            kind for kind in cls.__mro__ if issubclass(kind, Settings) and name in inspect.get_annotations(kind)
        ]
        return declaring[-1].group

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Make settings from a dictionary; an unknown key is an error that lists the known ones."""
        known = {item.name for item in dataclasses.fields(cls)}
        for key in values:
            if key not in known:
                raise SettingsError(f"unknown setting {key!r} for {cls.__name__}; known: {', '.join(sorted(known))}")
        return cls(**values)

    @classmethod
    def values_of(cls, text: str) -> dict[str, Any]:
        """Read ``name=value name=value …``, each value as the setting's default is.

        An unknown name is an error that lists the known ones; ranges are checked when settings are made.
        """
        usual = {item.name: item.default for item in dataclasses.fields(cls)}
        values: dict[str, Any] = {}
        for item in text.split():
            name, equals, value = item.partition("=")
            if not equals or not value:
                raise SettingsError(f"{item!r}; expected name=value, the names are {', '.join(usual)}")
            if name not in usual:
                raise SettingsError(f"unknown setting {name!r} for {cls.__name__}; known: {', '.join(usual)}")
            if name in values:
                raise SettingsError(f"{name} is given twice: {values[name]} and {value}")
            values[name] = _as_default(cls.__name__, name, value, usual[name])
        return values

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain values, in declared order."""
        return dataclasses.asdict(self)


def _as_default(owner: str, name: str, text: str, default: Any) -> Any:
    """Turn the text of a value into what the default of its setting is."""
    if isinstance(default, str):
        return text
    try:
        return {"true": True, "false": False}[text] if isinstance(default, bool) else type(default)(text)
    except (KeyError, ValueError):
        kind = "true or false" if isinstance(default, bool) else type(default).__name__
        raise SettingsError(f"{owner}.{name} is {text!r}; expected {kind}, such as {default!r}") from None
