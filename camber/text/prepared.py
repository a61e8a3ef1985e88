"""A line that is ready to be translated, and what must be remembered of it until its translation is finished."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Prepared:
    """A raw line, prepared once; every candidate for its translation is finished with it."""

    line: str
    tokens: tuple[str, ...]  # as the model sees them
    plain: tuple[str, ...]  # before their case was changed: they say how the line begins
    shouted: bool  # the line is written in capitals
