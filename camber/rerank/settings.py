"""What a re-ranker may add to the features of a list, and how it may bend them."""

from __future__ import annotations

from dataclasses import dataclass

from camber.settings import Settings, setting


@dataclass(frozen=True)
class FeatureSettings(Settings):
    """Which features are made from the texts."""

    length: bool = setting(False, "add lengths in words and characters, and the ratio to the source if it is given")
    consensus: bool = setting(False, "add the agreement with the other hypotheses of the list")
    lm_language: str = setting("", "language whose rules tokenise the text for the language model (none: at spaces)")
    lm_lowercase: bool = setting(False, "lower-case the text for the language model")


@dataclass(frozen=True)
class ResponseSettings(Settings):
    """How finely features are cut into bins, and how strongly the bins are tied."""

    bits: int = setting(4, "learners with bins: at most 2^bits bins for a feature", low=1, high=20)
    beta: float = setting(1000.0, "learners lnr, mnr: how strongly neighbouring bins are tied", low=0.0)
    gamma: float = setting(2.0, "learner mnr: how sharply monotone steps are told from others", low=0.1)
