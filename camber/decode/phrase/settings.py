"""Settings of the phrase decoder."""

from __future__ import annotations

from dataclasses import dataclass

from camber.settings import Settings, setting


@dataclass(frozen=True)
class DecodeSettings(Settings, group="Search"):
    """How wide the search is, and what it may do."""

    pop_limit: int = setting(400, "hypotheses taken from the queue for every stack", low=1)
    distortion_limit: int = setting(6, "longest jump, in source words (-1: any)", low=-1)
    options: int = setting(20, "translation options for each source phrase", low=1)
    window: int = setting(150, "longer sentences are decoded in windows of this many words", low=10)
