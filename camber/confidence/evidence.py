"""What speaks for the words of a translation, and for all of it: columns of numbers, from derivations alone.

Of a word: how probable it is over the n-best list, what the rule that gave it is like, and the language model. Of a
translation: how probable it is, how it is covered by rules, and the language model. What a search has no feature for is
0 everywhere, and gets no weight then.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from camber.arrays.ragged import offsets_from, owners_of
from camber.arrays.types import F8, I8
from camber.decode.derivation import Derivation
from camber.features.feature import PROBABILITY, RULE, Feature, linear_table

#: of a word: log odds of its posterior; passed through; also in the source; of its rule: the logarithm of the number of
#: source words, the mean logarithm of probabilities, whether it has none, and whether it gave this word alone; the
#: language model for a word of its rule, and of the whole translation
WORD = ("posterior", "passed_through", "copied", "source_words", "rule", "bare", "alone", "lm", "sentence_lm")
#: of a translation: its log posterior, the list's entropy for each word; how many words, and for each source word; the
#: language model and the score for each word; the mean logarithm of the probabilities of its rules, how many of them
#: for each source word, and the share of source words that were passed through; how sure its words are: the mean log
#: odds, the least, and the share that is expected to be right
SENTENCE = (
    "posterior", "entropy", "words", "ratio", "lm", "score", "rule", "parts", "passed_through",
    "mean_word", "least_word", "right_words",
)  # fmt: skip
#: posteriors are taken to be at least this, and at most 1 minus this
_LEAST = 1e-3


class Evidence(NamedTuple):
    """Columns of words and of hypotheses; those that depend on posteriors are filled by :func:`add_posteriors`."""

    words: F8  # [words of all hypotheses, WORD]
    sentences: F8  # [hypotheses, SENTENCE]
    offsets: I8  # [hypotheses + 1] where the words of each hypothesis begin
    wanted: list[int]  # [sentences] hypotheses of each


def gather(lists: Sequence[Sequence[Derivation]], sources: Sequence[Sequence[str]], count: int) -> Evidence:
    """Return what speaks for the first `count` derivations of each list; `sources` are the tokens of the sentences."""
    wanted = [min(count, len(best)) for best in lists]
    flat = [item for best, some in zip(lists, wanted, strict=True) for item in best[:some]]
    tokens = [source for source, some in zip(sources, wanted, strict=True) for _ in range(some)]
    offsets = offsets_from(np.array([len(item.words) for item in flat], np.int64))
    words, sentences = np.zeros((offsets[-1], len(WORD))), np.zeros((len(flat), len(SENTENCE)))
    if not flat:
        return Evidence(words, sentences, offsets, wanted)
    parts = _Parts.of(flat)
    owner = np.concatenate([_owners(item) + first for item, first in zip(flat, parts.offsets.tolist(), strict=False)])
    own = np.bincount(owner, minlength=len(parts.rule))
    words[:, 1] = parts.passed[owner]
    words[:, 2] = [word in known for item, known in zip(flat, map(set, tokens), strict=True) for word in item.words]
    words[:, 3] = np.log(np.maximum(parts.source_words[owner], 1))
    words[:, 4] = parts.rule[owner]
    words[:, 5] = parts.bare[owner]
    words[:, 6] = own[owner] == 1
    words[:, 7] = (parts.lm / np.maximum(own, 1))[owner]
    lengths, sizes = np.maximum(np.diff(offsets), 1), np.maximum(np.array([len(some) for some in tokens]), 1)
    of_parts = np.maximum(np.diff(parts.offsets), 1)
    sentences[:, 2] = np.log(lengths)
    sentences[:, 3] = lengths / sizes
    sentences[:, 4] = _sums(parts.lm, parts.offsets) / lengths
    sentences[:, 5] = np.array([item.score for item in flat]) / lengths
    sentences[:, 6] = _sums(parts.rule, parts.offsets) / of_parts
    sentences[:, 7] = of_parts / sizes
    sentences[:, 8] = _sums(parts.passed, parts.offsets) / sizes
    words[:, 8] = np.repeat(sentences[:, 4], np.diff(offsets))
    return Evidence(words, sentences, offsets, wanted)


def add_posteriors(evidence: Evidence, lists: Sequence[Sequence[Derivation]], scale: float) -> None:
    """Fill the columns that depend on how much likelier a list takes a better score to be: p ∝ exp(scale · score).

    The posterior of a word that a hypothesis has for the n-th time is the sum of the probabilities of all hypotheses
    of the list that have it n times.
    """
    word, hypothesis = 0, 0
    odds, least, most = evidence.words[:, 0], math.log(_LEAST / (1 - _LEAST)), math.log((1 - _LEAST) / _LEAST)
    for best, wanted in zip(lists, evidence.wanted, strict=True):
        probabilities = _probabilities([item.score for item in best], scale)
        totals = _times(best, probabilities)
        entropy = -sum(p * math.log(p) for p in probabilities if p > 0.0)
        for item, p in zip(best[:wanted], probabilities, strict=False):
            seen: dict[str, int] = {}
            for each in item.words:
                nth = seen[each] = seen.get(each, 0) + 1
                q = totals[each, nth]
                odds[word] = most if q >= 1 - _LEAST else least if q <= _LEAST else math.log(q / (1 - q))
                word += 1
            evidence.sentences[hypothesis, 0] = math.log(max(p, _LEAST))
            evidence.sentences[hypothesis, 1] = entropy / max(1, len(item.words))
            hypothesis += 1


def word_posteriors(best: Sequence[Derivation], scale: float) -> list[float]:
    """Return the posterior of each word of the first derivation of a list."""
    totals = _times(best, _probabilities([item.score for item in best], scale))
    seen: dict[str, int] = {}
    posteriors = []
    for word in best[0].words:
        seen[word] = seen.get(word, 0) + 1
        posteriors.append(min(1.0, totals[word, seen[word]]))
    return posteriors


def _probabilities(scores: Sequence[float], scale: float) -> list[float]:
    highest = max(scores, default=0.0)
    weights = [math.exp(scale * (score - highest)) for score in scores]
    total = sum(weights)
    return [weight / total for weight in weights]


def _times(best: Sequence[Derivation], probabilities: Sequence[float]) -> dict[tuple[str, int], float]:
    """Return how probable it is that a word comes n times, for the words and n of a list."""
    totals: dict[tuple[str, int], float] = {}
    for item, p in zip(best, probabilities, strict=True):
        seen: dict[str, int] = {}
        for word in item.words:
            nth = seen[word] = seen.get(word, 0) + 1
            totals[word, nth] = totals.get((word, nth), 0.0) + p
    return totals


class _Parts(NamedTuple):
    """Columns of the parts of some derivations."""

    offsets: I8  # [derivations + 1]
    rule: F8  # the mean logarithm of probabilities, 0 where there are none
    bare: F8  # 1 where there are none
    passed: F8  # 1: a word that was passed through
    source_words: I8  # of its own: without those of its tails
    lm: F8

    @classmethod
    def of(cls, flat: Sequence[Derivation]) -> _Parts:
        """Read them."""
        inputs = flat[0].inputs
        offsets = offsets_from(np.array([len(item.rules) for item in flat], np.int64))
        table = linear_table(inputs, np.concatenate([item.features for item in flat]))
        # rows are added up in the same order whatever other rows there are
        chosen = np.ascontiguousarray(table[:, [at for at, feature in enumerate(inputs) if _tells(feature)]])
        there = ~np.isnan(chosen)
        count = there.sum(axis=1)
        rule = np.where(there, chosen, 0.0).sum(axis=1) / np.maximum(count, 1)
        models = [at for at, feature in enumerate(inputs) if feature.name.rstrip("0123456789") == "lm"]
        lm = np.nan_to_num(np.ascontiguousarray(table[:, models])).sum(axis=1)
        spans = np.concatenate([item.spans for item in flat]).reshape(-1, 2)
        own = spans[:, 1] - spans[:, 0]
        tails = [getattr(item, "tails", None) for item in flat]
        if any(some is not None for some in tails):
            size = own.copy()
            for some, first, last in zip(tails, offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
                if some is not None and last > first:
                    own[first:last] -= np.where(some >= 0, size[first + np.maximum(some, 0)], 0).sum(axis=1)
        passed = np.concatenate([item.rules for item in flat]) == -1
        return cls(offsets, rule, (count == 0).astype(float), passed.astype(float), own, lm)


def _tells(feature: Feature) -> bool:
    """Say whether a feature is a probability of a rule."""
    return feature.kind == PROBABILITY and feature.scope == RULE


def _owners(item: Derivation) -> I8:
    """Return the part that gave each word: the innermost one, which stands before those around it."""
    owner = np.zeros(len(item.words), np.int64)
    spans = item.target_spans.tolist()
    for part in range(len(spans) - 1, -1, -1):
        begin, end = spans[part]
        owner[begin:end] = part
    return owner


def _sums(values: F8, offsets: I8) -> F8:
    """Return the sums over the parts of each derivation, which do not depend on what stands before it."""
    return np.bincount(owners_of(offsets), values, len(offsets) - 1).astype(np.float64)
