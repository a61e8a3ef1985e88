"""Settings of phrase extraction."""

from __future__ import annotations

from dataclasses import dataclass

from camber.rules.phrase.features import RULE_FEATURES, SETS, chosen_features
from camber.rules.phrase.significance import THRESHOLDS
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
        "base",
        f"features of the phrase pairs, separated by commas: any of {', '.join((*SETS, *RULE_FEATURES))}",
    )
    frequent_words: int = setting(15, "words of either side whose insertion or deletion is a feature", low=0, high=1000)
    clusters: int = setting(50, "clusters of words of either side, for features", low=1, high=1000)
    signatures: int = setting(40, "pairs of sequences of clusters that are features", low=0, high=10_000)
    subword_merges: int = setting(3000, "merges that pieces of words are made with, for features", low=0)

    def __post_init__(self) -> None:
        """Check the names of the features, too."""
        super().__post_init__()
        chosen_features(self.rule_features)

    @property
    def features(self) -> tuple[str, ...]:
        """The features of the phrase pairs, by their names, and groups of features."""
        return chosen_features(self.rule_features)
