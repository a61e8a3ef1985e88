"""Settings of what is learnt about words, for features of phrase pairs and of hierarchical rules."""

from __future__ import annotations

from dataclasses import dataclass

from camber.settings import Settings, setting


@dataclass(frozen=True, kw_only=True)
class WordSettings(Settings, group="Features of words"):
    """How words are clustered and cut, and how many of them have features of their own."""

    frequent_words: int = setting(15, "words of either side whose insertion or deletion is a feature", low=0, high=1000)
    clusters: int = setting(50, "clusters of words of either side, for features", low=1, high=1000)
    signatures: int = setting(40, "pairs of sequences of clusters that are features", low=0, high=10_000)
    subword_merges: int = setting(3000, "merges that pieces of words are made with, for features", low=0)
