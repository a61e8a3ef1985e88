"""Whether a model remembers what it was trained on."""

from __future__ import annotations

from dataclasses import dataclass

from camber.settings import Settings, setting


@dataclass(frozen=True)
class MemorySettings(Settings, group="Memory"):
    """What is kept of the training pairs."""

    memory: bool = setting(
        True, "do not keep the training pairs as they are, for `camber match` and --fuzzy", only_off=True
    )
