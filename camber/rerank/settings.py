"""What a re-ranker may add to the features of a list, and how it may bend them."""

from __future__ import annotations

from dataclasses import dataclass

from camber.bend.settings import BendSettings, bend_setting
from camber.settings import Settings, setting

#: scopes of trees: parts, whole hypotheses, or what suits a list
LOCAL, GLOBAL, AUTO = "local", "global", "auto"


@dataclass(frozen=True)
class FeatureSettings(Settings):
    """Which features are made from the texts."""

    length: bool = setting(False, "add lengths in words and characters, and the ratio to the source if it is given")
    consensus: bool = setting(False, "add the agreement with the other hypotheses of the list")
    lm_language: str = setting("", "language whose rules tokenise the text for the language model (none: at spaces)")
    lm_lowercase: bool = setting(False, "lower-case the text for the language model")


@dataclass(frozen=True)
class ResponseSettings(BendSettings):
    """What learners make of features: bins, coarser and less tied than for dev sets, which are longer, and trees."""

    bits: int = bend_setting("bits", 4)
    beta: float = bend_setting("beta", 1000.0)
    softness: float = setting(
        0.0,
        "width of the edges of bins, which are sigmoids, as a share of the narrower bin beside them (0: hard edges)",
        low=0,
        high=1,
    )
    lines: bool = setting(True, "keep the straight line of a feature beside its bins")
    leaves: int = bend_setting("leaves", 4)
    tree_scope: str = setting(
        AUTO,
        "what trees look at: the parts of a hypothesis (local), as JSON Lines of camber translate have them, or the "
        "whole hypothesis (global); auto: parts where the list has some that are rules",
        choices=(AUTO, LOCAL, GLOBAL),
    )
