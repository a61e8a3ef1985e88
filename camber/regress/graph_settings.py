"""Settings of the search for paths, its features, and the weights of an untuned system.

Every feature is a sum over the parts of a path: one for each word, and one for its end.

- `regression_p`: how often the p-gram that the part completes is expected. An n-gram that is expected m times (rounded)
  counts a share of 1/m each of the first m times, and no more after that: the sum is what was predicted.
- `lm`, `lm2`, …: the natural logarithm of the word's probability.
- `brevity`: e^(α (l_R - |s| / |path|)), at most 1 (bicici, 4); only the end has it. As printed it would grow without a
  limit, since it rewards every further word; l_R is the number of source words for each target word of the corpus.
- `glue`: words that the path's context lost because no n-gram of the graph led on.
- `copied`: source words that were passed through. No n-gram can predict a word of which the instances know nothing, so
  it stands alone, and may be glued into a path once for each time that it stands in the source.
- `word_penalty` and `repeats` (n-grams used more often than expected) are beyond the paper. With them, the model can
  say what the distance to the predicted vector is: |ŷ - y|² = const + Σ c (c - 2 ŷ) over the n-grams' counts c.

The paper's fourth feature, future cost, is part of the search, not of the score: it is 0 for every path that has ended,
so that no list of translations could tell its weight. `future` in the settings is what it counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from camber.features.feature import CONTEXT, HYPOTHESIS, INDICATOR, NUMBER, PROBABILITY, RULE, Feature, names_of
from camber.regress.paths import Columns
from camber.settings import Settings, setting

NEEDED, ALWAYS = "needed", "always"
PAPER, MORE = "paper", "more"
NONE, NUMBERS, ALL = "none", "numbers", "all"


@dataclass(frozen=True)
class GraphSettings(Settings, group="Search of sparse models"):
    """How wide the search for paths is, and what it may do."""

    beam: int = setting(300, "paths that are kept for every number of words", low=1)
    glue: str = setting(
        NEEDED,
        "when a word may follow that no n-gram leads to; needed: only where no path comes to an end otherwise",
        choices=(NEEDED, ALWAYS),
    )
    glue_words: int = setting(20, "such words that are tried behind every path", low=1)
    future: float = setting(0.5, "what the estimate of the rest counts when paths are ranked", low=0)
    brevity: float = setting(1.0, "how sharply paths are punished that are too short (the paper's α)", low=0)
    stretch: float = setting(1.5, "longest path, for each word that the source's length makes one expect", low=1)
    copy: str = setting(
        ALL,
        "unknown source words that may be passed through: none, those without letters, or all",
        choices=(NONE, NUMBERS, ALL),
    )
    features: str = setting(
        MORE, "the paper's features, or a penalty of words and repeats beside them", choices=(PAPER, MORE)
    )
    window: int = setting(150, "longer sentences are decoded in windows of this many words", low=10)

    def longest(self, source: int, ratio: float) -> int:
        """Return how many words a path may have."""
        return int(np.ceil(self.stretch * source / ratio)) + 5

    def copies(self, word: str) -> bool:
        """Say whether an unknown source word may be passed through."""
        return self.copy == ALL or (self.copy == NUMBERS and not any(map(str.isalpha, word)))


def graph_features(language_models: int, orders: Sequence[int], chosen: str = MORE) -> tuple[Feature, ...]:
    """Return the columns of a part's feature vector.

    >>> names_of(graph_features(1, (1, 2)))[:3]
    ('regression_1', 'regression_2', 'word_penalty')
    """
    lms = ("lm", *(f"lm{k}" for k in range(2, language_models + 1)))[:language_models]
    more = (Feature("word_penalty", NUMBER, RULE), Feature("repeats", NUMBER, CONTEXT))
    return (
        *(Feature(regression_name(n), NUMBER, RULE) for n in orders),
        *(more if chosen == MORE else ()),
        Feature("glue", NUMBER, CONTEXT),
        Feature("copied", INDICATOR, RULE),
        Feature("brevity", PROBABILITY, HYPOTHESIS),
        *(Feature(name, NUMBER, CONTEXT) for name in lms),
    )


def regression_name(length: int) -> str:
    """Name the feature of n-grams of a length."""
    return f"regression_{length}"


def columns_of(features: Sequence[Feature], order: int) -> Columns:
    """Return where the features are, as kernels look for them."""
    names = names_of(features)
    place = {name: column for column, name in enumerate(names)}
    return Columns(
        np.array([-1, *(place.get(regression_name(n), -1) for n in range(1, order + 1))], np.int64),
        place.get("word_penalty", -1),
        place.get("repeats", -1),
        place["glue"],
        place["copied"],
        place["brevity"],
        place.get("lm", len(names)),
    )


def untuned_weights(language_models: int, orders: Sequence[int], chosen: str = MORE) -> dict[str, float]:
    """Return sensible weights for a system that was not tuned (the best of some twenty tried on Multi30k)."""
    names = names_of(graph_features(language_models, orders, chosen))
    lm = 0.2 if chosen == MORE else 0.8  # without a penalty of words, nothing else keeps paths short
    weights = dict.fromkeys(names, lm / max(1, language_models))
    weights |= {regression_name(n): 4.0 if n == 1 else 8.0 for n in orders}
    weights |= {"word_penalty": 2.0 if 1 in orders else 1.0, "repeats": -1.0}
    weights |= {"glue": -2.0, "copied": 8.0, "brevity": 2.0}
    return {name: weights[name] for name in names}
