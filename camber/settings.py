"""Settings: one frozen dataclass per stage, which is also its command-line flags and what the model records.

    @dataclass(frozen=True)
    class LmSettings(Settings):
        order: int = setting(5, "longest n-gram", low=1, high=6)

`LmSettings.from_dict` refuses unknown keys; values are checked when the object is made.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from camber.errors import SettingsError


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
) -> Any:
    """Declare one setting with its default, its help line and its legal values.

    `contrary` is the flag that switches a setting off, without its hyphens (none: no-NAME).
    """
    rule = {"help": help, "choices": choices, "low": low, "high": high, "contrary": contrary}
    return field(default=default, metadata=rule)


@dataclass(frozen=True)
class Settings:
    """Base of the settings of a stage."""

    def __post_init__(self) -> None:
        for item in dataclasses.fields(self):
            value, rule = getattr(self, item.name), item.metadata
            name = f"{type(self).__name__}.{item.name}"
            kind = type(item.default)
            if isinstance(value, int) and kind is float and not isinstance(value, bool):
                object.__setattr__(self, item.name, value := float(value))
            if type(value) is not kind or value != value:  # a NaN differs from itself
                raise SettingsError(f"{name} is {value!r}; expected {kind.__name__}, such as {item.default!r}")
            if rule.get("choices") and value not in rule["choices"]:
                raise SettingsError(f"{name} is {value!r}; expected one of {', '.join(rule['choices'])}")
            if rule.get("low") is not None and value < rule["low"]:
                raise SettingsError(f"{name} is {value}; expected at least {rule['low']}")
            if rule.get("high") is not None and value > rule["high"]:
                raise SettingsError(f"{name} is {value}; expected at most {rule['high']}")

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Make settings from a dictionary; an unknown key is an error that lists the known ones."""
        known = {item.name for item in dataclasses.fields(cls)}
        for key in values:
            if key not in known:
                raise SettingsError(f"unknown setting {key!r} for {cls.__name__}; known: {', '.join(sorted(known))}")
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain values, in declared order."""
        return dataclasses.asdict(self)
