"""What is known of a hypothesis that one or several searches found: their scores, and what it shares with the others.

Every member of a consensus has features of its own, numbered from 1: `m1_score` is its score less that of its best
hypothesis (absent where it did not find this one), `m1_listed` says whether it did; `m1_grams1` to `m1_grams4` are
sums of n-gram posteriors by its list, `m1_bleu` the sentence BLEU to be expected by it. `words` counts the words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from camber.arrays.types import F8, I8
from camber.decode.consensus.grams import ORDER, gram_posteriors
from camber.features.feature import HYPOTHESIS, INDICATOR, NUMBER, Feature

#: precision of unigrams, and what each longer n-gram keeps of the precision of the one before (Tromble et al. 2008)
PRECISION, RATIO = 0.85, 0.72
#: columns of a member
SCORE, LISTED, GRAMS, BLEU = 0, 1, 2, 2 + ORDER
PER_MEMBER = BLEU + 1


@dataclass(frozen=True)
class ConsensusFeatures:
    """The features of a number of members."""

    members: int

    @cached_property
    def all(self) -> tuple[Feature, ...]:
        """All features, in the order of the columns."""
        features = []
        for m in range(1, self.members + 1):
            kinds = {"score": NUMBER, "listed": INDICATOR, **{f"grams{n}": NUMBER for n in range(1, ORDER + 1)}}
            features += [Feature(f"m{m}_{name}", kind, HYPOTHESIS) for name, kind in kinds.items()]
            features.append(Feature(f"m{m}_bleu", NUMBER, HYPOTHESIS))
        return (*features, Feature("words", NUMBER, HYPOTHESIS))

    def linear_bleu(self) -> dict[str, float]:
        """Return weights for the linear approximation of expected BLEU, all members alike (Tromble et al. 2008)."""
        # per word: θ0 = -1 / T, θn = 1 / (4 T p r^(n-1)) (sec. 3.4); T only scales
        weights = dict.fromkeys((feature.name for feature in self.all), 0.0)
        weights["words"] = -1.0
        for m in range(1, self.members + 1):
            for n in range(1, ORDER + 1):
                weights[f"m{m}_grams{n}"] = 1.0 / (ORDER * PRECISION * RATIO ** (n - 1) * self.members)
        return weights

    def expected_bleu(self) -> dict[str, float]:
        """Return weights for the expected sentence BLEU, all members alike."""
        weights = dict.fromkeys((feature.name for feature in self.all), 0.0)
        for m in range(1, self.members + 1):
            weights[f"m{m}_bleu"] = 1.0 / self.members
        return weights

    def columns(self, words: Sequence[I8], scores: F8, scales: F8, pairs: F8 | None = None) -> F8:
        """Return the features of all hypotheses of a sentence, float64[hypotheses, features].

        words: each hypothesis as ids; scores [hypotheses, members], NaN where a member did not find one; scales
        [members]: posteriors of a member's list are in proportion to exp(scale · score); pairs: what `pair_bleu`
        gives, without which expected sentence BLEU is 0.
        """
        listed = ~np.isnan(scores)
        below = scores - np.where(listed, scores, -np.inf).max(0, initial=-np.inf)  # 0: the best of its list
        chances = np.where(listed, np.exp(scales * np.where(listed, below, 0.0)), 0.0)
        sums = chances.sum(0)
        chances /= np.where(sums > 0, sums, 1.0)
        table = np.empty((len(words), len(self.all)))
        grams = gram_posteriors(words, chances)
        expected = np.zeros(chances.shape) if pairs is None else pairs @ chances
        for m in range(self.members):
            at = m * PER_MEMBER
            table[:, at + SCORE] = below[:, m]
            table[:, at + LISTED] = listed[:, m]
            table[:, at + GRAMS : at + BLEU] = grams[:, m]
            table[:, at + BLEU] = expected[:, m]
        table[:, -1] = [len(row) for row in words]
        return table
