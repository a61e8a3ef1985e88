"""Settings of the phrase decoder."""

from __future__ import annotations

from dataclasses import dataclass

from camber.settings import Settings, setting

#: What becomes of words that no rule translates.
UNKNOWN_WORDS = ("stay", "move")


@dataclass(frozen=True)
class DecodeSettings(Settings, group="Search"):
    """How wide the search is, and what it may do."""

    pop_limit: int = setting(400, "hypotheses taken from the queue for every stack, at most", low=1)
    #: lists lose their tails by it, so that it is for the single best translation only
    stack_beam: float = setting(
        20.0,
        "single best: stop a stack at what is worse than its best by so many nats of LM, by half of it at the pop limit"
        " (0: never)",
        low=0,
    )
    distortion_limit: int = setting(6, "longest jump, in source words (-1: any)", low=-1)
    options: int = setting(20, "translation options for each source phrase", low=1)
    unknown: str = setting(
        "stay",
        "words that no rule translates stay behind the word before them, as does the next word; or move like others",
        choices=UNKNOWN_WORDS,
    )
    window: int = setting(150, "longer sentences are decoded in windows of this many words", low=10)
