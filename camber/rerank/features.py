"""Features made from the texts of a list, for lists that bring few of their own.

    list.score, or list.rank        the engine's own order: its score or, without scores, minus the place in the list
    lm, lm.unknown                  log probability under an n-gram model, words that it does not know
    length.words, length.characters, length.ratio       the ratio to the source in characters, if sources are given
    consensus                       how much a hypothesis agrees with the others of its list

The own order is always among them, so that a model can at least keep it. The consensus is the mean F1 of n-grams of
orders 1 to 4 with their mean counts over the list: the closed form that minimum Bayes risk leads to when n-gram counts
stand for the translations (DeNero et al. 2009).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from camber.arrays.types import F8
from camber.errors import CamberError
from camber.lm.ngrams import NgramModel
from camber.lm.trie import SPECIAL
from camber.nbest import NBest
from camber.rerank.settings import FeatureSettings
from camber.text.tokenise import Tokenizer

OWN_SCORE, OWN_RANK = "list.score", "list.rank"
_ORDER = 4
_WORD = re.compile(r"\w+|[^\w\s]")


def own_order(nbest: NBest) -> tuple[str, F8]:
    """Return the name and the values, float64[hypotheses], of the feature that ranks a list as it is."""
    if nbest.scores is not None:
        return OWN_SCORE, nbest.scores
    starts = np.repeat(nbest.sentence_offsets[:-1], np.diff(nbest.sentence_offsets))
    return OWN_RANK, (starts - np.arange(nbest.hypotheses)).astype(np.float64)


def text_features(
    nbest: NBest,
    settings: FeatureSettings,
    lm: NgramModel | None = None,
    sources: Sequence[str] | None = None,
) -> dict[str, F8]:
    """Return the features that settings ask for, name → float64[hypotheses]; the list's own order comes first."""
    name, values = own_order(nbest)
    features = {name: values}
    if lm is not None:
        features |= _lm_features(nbest.texts, lm, settings)
    if settings.length:
        features |= _lengths(nbest, sources)
    if settings.consensus:
        features["consensus"] = consensus(nbest)
    return features


def _lm_features(texts: Sequence[str], lm: NgramModel, settings: FeatureSettings) -> dict[str, F8]:
    tokenise: Callable[[str], list[str]] = Tokenizer(
        "moses" if settings.lm_language else "none", settings.lm_language
    ).tokenise
    lines = [tokenise(text.lower() if settings.lm_lowercase else text) for text in texts]
    unknown = [sum(lm.vocabulary.id(word) < len(SPECIAL) for word in line) for line in lines]
    return {"lm": lm.score(lines), "lm.unknown": np.array(unknown, np.float64)}


def _lengths(nbest: NBest, sources: Sequence[str] | None) -> dict[str, F8]:
    words = np.array([len(text.split()) for text in nbest.texts], np.float64)
    characters = np.array([len(text) for text in nbest.texts], np.float64)
    features = {"length.words": words, "length.characters": characters}
    if sources is not None:
        if len(sources) != len(nbest):
            raise CamberError(f"{len(sources):,} sources for {len(nbest):,} sentences; expected one for each")
        lengths = np.array([max(1, len(line)) for line in sources], np.float64)
        features["length.ratio"] = characters / lengths[nbest.sentences()]
    return features


def consensus(nbest: NBest) -> F8:
    """Return how much every hypothesis agrees with the mean n-gram counts of its list, float64[hypotheses], 0 to 1.

    >>> nbest = NBest.of_hypotheses((), [0, 3], ["a b", "a b", "c"], np.empty((3, 0)))
    >>> bool(consensus(nbest)[0] > consensus(nbest)[2])
    True
    """
    agreement = np.zeros(nbest.hypotheses)
    for start, end in zip(nbest.sentence_offsets[:-1].tolist(), nbest.sentence_offsets[1:].tolist(), strict=True):
        counts = [_ngrams(text) for text in nbest.texts[start:end]]
        total: Counter[tuple[str, ...]] = Counter()
        for count in counts:
            total.update(count)
        sizes = np.zeros((end - start + 1, _ORDER))  # n-grams of every order, of each hypothesis and of all
        both = np.zeros((end - start, _ORDER))
        for gram, often in total.items():
            sizes[-1, len(gram) - 1] += often
        share = 1.0 / max(1, end - start)
        for row, count in enumerate(counts):
            for gram, often in count.items():
                order = len(gram) - 1
                sizes[row, order] += often
                both[row, order] += min(often, total[gram] * share)
        below = sizes[:-1] + sizes[-1] * share
        # an order that neither has says nothing against the hypothesis
        agreement[start:end] = np.divide(2.0 * both, below, out=np.ones_like(both), where=below > 0).mean(1)
    return agreement


def _ngrams(text: str) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(text)
    return Counter(tuple(words[i : i + n]) for n in range(1, _ORDER + 1) for i in range(len(words) - n + 1))
