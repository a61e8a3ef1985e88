"""Settings of phrase extraction."""

from __future__ import annotations

from dataclasses import dataclass

from camber.errors import SettingsError
from camber.rules.phrase.significance import THRESHOLDS
from camber.rules.phrase.store import RULE_FEATURES, SCORE_NAMES
from camber.settings import Settings, setting


@dataclass(frozen=True)
class RuleSettings(Settings):
    """How phrase pairs are extracted, and which are kept."""

    max_phrase_length: int = setting(7, "longest phrase in words, on either side", low=1, high=15)
    reordering: bool = setting(True, "learn how phrases are reordered (msd-bidirectional-fe)")
    options_per_phrase: int = setting(100, "translations kept per source phrase, by p(t|s); 0: all", low=0)
    significance: str = setting(
        "none", "drop phrase pairs that chance explains (Fisher's exact test)", choices=("none", *THRESHOLDS)
    )
    rule_features: str = setting(
        ",".join(SCORE_NAMES), f"features of the phrase pairs, separated by commas: any of {', '.join(RULE_FEATURES)}"
    )

    def __post_init__(self) -> None:
        """Check the names of the features, too."""
        super().__post_init__()
        unknown = [name for name in self.features if name not in RULE_FEATURES]
        if unknown or not self.features:
            raise SettingsError(
                f"{unknown[0] if unknown else 'nothing'!r} is no feature of phrase pairs; known: "
                f"{', '.join(RULE_FEATURES)}"
            )
        if len(set(self.features)) < len(self.features):
            raise SettingsError(f"a feature is named twice in {self.rule_features!r}")

    @property
    def features(self) -> tuple[str, ...]:
        """The features of the phrase pairs, by their names."""
        return tuple(name.strip() for name in self.rule_features.split(",") if name.strip())
