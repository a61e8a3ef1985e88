"""The features of a phrase derivation: their names, their order, and the weights of an untuned system.

Every feature is a sum over parts. Probabilities enter as natural logarithms; counts and penalties as they are.
"""

from __future__ import annotations

import math

import numpy as np

from camber.kernel import kernel
from camber.rules.store import REORDERING_NAMES, SCORE_NAMES

#: Lexicalised reordering: `backward` relative to the phrase before, `forward` to the phrase after.
ORIENTATION_NAMES = tuple(f"reorder_{name}" for name in REORDERING_NAMES)
OTHER_NAMES = ("distortion", "word_penalty", "phrase_penalty", "unknown")

#: column of each group in a part's feature vector; language models follow at LM
SCORES, REORDERING = 0, 4
DISTORTION, WORD_PENALTY, PHRASE_PENALTY, UNKNOWN, LM = 10, 11, 12, 13, 14

#: Tables may hold a probability of 0. Its logarithm is taken to be -100, as in Moses: -inf times 0 would be a NaN.
SMALLEST = math.exp(-100.0)


@kernel
def log_of(probability):
    """Return the natural logarithm of a probability (stored in single precision), in double precision."""
    return math.log(max(np.float64(probability), SMALLEST))


def feature_names(language_models: int) -> tuple[str, ...]:
    """Name the columns of a part's feature vector.

    >>> feature_names(1)[-2:]
    ('unknown', 'lm')
    """
    lms = ("lm", *(f"lm{k}" for k in range(2, language_models + 1)))[:language_models]
    return (*SCORE_NAMES, *ORIENTATION_NAMES, *OTHER_NAMES, *lms)


def untuned_weights(language_models: int) -> dict[str, float]:
    """Return sensible weights for a system that was not tuned (the best of some twenty tried on three dev sets)."""
    weights = dict.fromkeys(SCORE_NAMES, 0.25)
    weights |= dict.fromkeys(ORIENTATION_NAMES, 0.3)
    weights |= {"distortion": 0.2, "word_penalty": -1.0, "phrase_penalty": 0.2, "unknown": -100.0}
    weights |= dict.fromkeys(feature_names(language_models)[LM:], 0.5 / max(1, language_models))
    return weights
