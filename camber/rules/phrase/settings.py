"""Settings of phrase extraction."""

from __future__ import annotations

from dataclasses import dataclass

from camber.rules.phrase.features import RULE_FEATURES, SETS, chosen_features
from camber.rules.phrase.significance import THRESHOLDS
from camber.rules.settings import WordSettings
from camber.settings import setting


@dataclass(frozen=True)
class RuleSettings(WordSettings, group="Phrases"):
    """How phrase pairs are extracted, and which are kept."""

    max_phrase_length: int = setting(7, "longest phrase in words, on either side", low=1, high=15)
    reordering: bool = setting(True, "learn how phrases are reordered (msd-bidirectional-fe)")
    options_per_phrase: int = setting(100, "translations kept per source phrase, by p(t|s); 0: all", low=0)
    significance: str = setting(
        "none", "drop phrase pairs that chance explains (Fisher's exact test)", choices=("none", *THRESHOLDS)
    )
    rule_features: str = setting(
        "base",
        f"features of the phrase pairs, separated by commas: any of {', '.join((*SETS, *RULE_FEATURES))}",
    )

    def __post_init__(self) -> None:
        """Check the names of the features, too."""
        super().__post_init__()
        chosen_features(self.rule_features)

    @property
    def features(self) -> tuple[str, ...]:
        """The features of the phrase pairs, by their names, and groups of features."""
        return chosen_features(self.rule_features)
