"""Settings of the chart decoder."""

from __future__ import annotations

from dataclasses import dataclass

from camber.settings import Settings, setting


@dataclass(frozen=True)
class ChartSettings(Settings, group="Search of hierarchical models"):
    """How wide the search is, and how far a rule may reach."""

    pop_limit: int = setting(200, "hypotheses taken from the queue for every span", low=1)
    #: lists lose their tails by it, so that it is for the single best translation only
    beam: float = setting(
        12.0, "single best: drop what is worse than the best of its span by so many nats of LM (0: nothing)", low=0
    )
    span_limit: int = setting(10, "longest span of source words that a rule covers (0: any)", low=0)
    copy_known: bool = setting(False, "let words be copied that have a rule of their own, too")
    window: int = setting(150, "longer sentences are decoded in windows of this many words", low=10)
