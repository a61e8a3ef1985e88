"""The features of a phrase derivation: their names, their order, and the weights of an untuned system.

Every feature is a sum over parts. A rule's own probabilities and counts are raw; what the language models say and the
reordering of phrases are natural logarithms: of six orientations a part has one or two, and no logarithm (0) means that
an orientation is none of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from camber.features.feature import CONTEXT, INDICATOR, LEAST, NUMBER, RULE, Feature, names_of
from camber.kernel import kernel
from camber.rules.phrase.features import SCORE_NAMES, feature_of
from camber.rules.phrase.store import REORDERING_NAMES

#: Lexicalised reordering: `backward` relative to the phrase before, `forward` to the phrase after.
ORIENTATION_NAMES = tuple(f"reorder_{name}" for name in REORDERING_NAMES)

#: A part's feature vector begins with its rule's own features; these are the columns behind them, from 0 on. Language
#: models follow at LM, and what scores n-grams for each sentence (`ngram_scores`) is the last.
REORDERING, DISTORTION, WORD_PENALTY, PHRASE_PENALTY, UNKNOWN, LM = 0, 6, 7, 8, 9, 10

#: Tables may hold a probability of 0. Its logarithm is taken to be -100, as in Moses: -inf times 0 would be a NaN.
SMALLEST = math.exp(LEAST)


@kernel
def log_of(probability):
    """Return the natural logarithm of a probability (stored in single precision), in double precision; NaN of NaN."""
    value = np.float64(probability)
    return math.log(SMALLEST) if value < SMALLEST else math.log(value)


def features(language_models: int, own: Sequence[Feature], more: Sequence[Feature] = ()) -> tuple[Feature, ...]:
    """Return the columns of a part's feature vector; `own` are those of its rule, `more` what looks at context, too."""
    lms = ("lm", *(f"lm{k}" for k in range(2, language_models + 1)))[:language_models]
    return (
        *own,
        *(Feature(name, NUMBER, CONTEXT) for name in ORIENTATION_NAMES),  # logarithms of what the phrases' places cost
        Feature("distortion", NUMBER, CONTEXT),
        Feature("word_penalty", NUMBER, RULE),
        Feature("phrase_penalty", NUMBER, RULE),
        Feature("unknown", INDICATOR, RULE),
        *(Feature(name, NUMBER, CONTEXT) for name in lms),
        *more,
    )


def feature_names(language_models: int, rule_features: Sequence[str] = SCORE_NAMES) -> tuple[str, ...]:
    """Name the columns of a part's feature vector.

    >>> feature_names(1)[-2:]
    ('unknown', 'lm')
    """
    return names_of(features(language_models, tuple(map(feature_of, rule_features))))


def untuned_weights(language_models: int, rule_features: Sequence[str] = SCORE_NAMES) -> dict[str, float]:
    """Return sensible weights for a system that was not tuned (the best of some twenty tried on three dev sets).

    `rule_features` are the names of the rules' own features. Where there are no phrase probabilities, counts get what
    the probabilities made of them would get: log p(t|s) is log c(s, t) - log c(s). All else is 0 until it is tuned.
    """
    own = tuple(Feature(name, NUMBER, RULE) for name in rule_features)
    names = names_of(features(language_models, own))
    weights = {name: 0.25 if name in SCORE_NAMES else 0.0 for name in rule_features}
    if not {"p_t_given_s", "p_s_given_t"} <= weights.keys():
        whole = [name for name in ("count_s", "count_t") if name in weights]
        weights |= dict.fromkeys(whole, -0.25)
        if "count_st" in weights:
            weights["count_st"] = 0.25 * max(1, len(whole))
    weights |= dict.fromkeys(ORIENTATION_NAMES, 0.3)
    weights |= {"distortion": 0.2, "word_penalty": -1.0, "phrase_penalty": 0.2, "unknown": -100.0}
    weights |= dict.fromkeys(names[len(rule_features) + LM :], 0.5 / max(1, language_models))
    return {name: weights[name] for name in names}
