"""Modified Kneser-Ney smoothing, interpolated, with the conventions of KenLM's `lmplz`.

Chen and Goodman (1998), "An empirical study of smoothing techniques for language modeling", TR-10-98:

    p(w | h) = (a(h w) - D(a(h w))) / Σ_v a(h v)  +  γ(h) p(w | h')

where h' is h without its first word, and a(·) is the *adjusted count*: how often the n-gram occurs, if it has the
highest order or begins with `<s>`; otherwise how many different words precede it. Every order has three discounts
D(1), D(2), D(3 and more). Below the unigrams is the uniform distribution over all words, `</s>` and `<unk>` included,
`<s>` not.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.scratch import UNLIMITED, Scratch, memory_of
from camber.arrays.types import I4, I8, Array, Bools
from camber.corpus import Sentences
from camber.engine import LOCAL, Engine
from camber.errors import CamberError, SettingsError
from camber.kernel import kernel
from camber.lm.arpa import write_arpa
from camber.lm.counting import Level, count_ngrams
from camber.lm.text import NumberedText, numbered_sentences, read_text
from camber.lm.trie import BEGIN, NgramTrie
from camber.numbers import is_whole
from camber.progress import each, log
from camber.settings import Settings, setting

#: Discounts where the data do not define them (those of lmplz' --discount_fallback)
FALLBACK = (0.0, 0.5, 1.0, 1.5)
#: in place of a column that is not needed any more
_EMPTY = np.zeros(0, np.int32)
#: numbers that are looked at together
_BLOCK = 1 << 20


@dataclass(frozen=True)
class LmSettings(Settings, group="Language model"):
    """How a language model is estimated."""

    order: int = setting(5, "Longest n-gram.", low=1, high=6)
    prune: str = setting("", 'Drop n-grams seen at most so often, per order; "0 0 1": singletons from trigrams on.')

    def __post_init__(self) -> None:
        super().__post_init__()
        self.thresholds()

    def thresholds(self) -> list[int]:
        """Return the pruning threshold of every order; the last one given holds for all longer n-grams.

        >>> LmSettings(order=4, prune="0 1").thresholds()
        [0, 1, 1, 1]
        """
        fields = self.prune.split() or ["0"]
        what = f"LmSettings.prune is {self.prune!r}; expected"
        if not all(map(is_whole, fields)):
            raise SettingsError(f'{what} whole numbers, such as "0 0 1"')
        thresholds = [int(field) for field in fields]
        if len(thresholds) > self.order:
            raise SettingsError(f"{what} at most {self.order} numbers, one per order")
        if thresholds[0] != 0:
            raise SettingsError(f"{what} 0 first: unigrams are never dropped")
        if thresholds != sorted(thresholds):
            raise SettingsError(f"{what} numbers that do not fall: a longer n-gram needs its shorter ones")
        return thresholds + thresholds[-1:] * (self.order - len(thresholds))


def estimate_arpa(
    text: str | Path,
    arpa: str | Path,
    settings: LmSettings | None = None,
    tokenise: Callable[[str], list[str]] | None = None,
    *,
    engine: Engine = LOCAL,
    memory: int | str | None = None,
) -> NgramTrie:
    """Estimate a model from a text file (plain or .gz), by default a tokenised one, and write it in ARPA format.

    `tokenise` makes the tokens of a line; without it, they are what stands between spaces and tabs.
    What takes more than `memory` (bytes, or a text such as ``"2G"``; by default half of what is free) is in files
    beside `arpa` meanwhile.
    """
    with Scratch(memory_of(memory), Path(os.path.realpath(arpa)).parent) as scratch:
        trie = _estimate(read_text(text, scratch, tokenise), settings, engine, scratch)
        write_arpa(arpa, trie)
    return trie


def estimate(
    text: Sentences, settings: LmSettings | None = None, engine: Engine = LOCAL, scratch: Scratch = UNLIMITED
) -> NgramTrie:
    """Estimate a modified Kneser-Ney model from sentences.

    Tokens outside the text's vocabulary, and tokens spelled `<s>`, `</s>` or `<unk>`, are counted as `<unk>`. Orders
    longer than any sentence (with its two ends) are left out.
    """
    if len(text) == 0:
        raise CamberError("a language model needs at least one sentence, found none")
    return _estimate(numbered_sentences(text, scratch), settings, engine, scratch)


def _estimate(text: NumberedText, settings: LmSettings | None, engine: Engine, scratch: Scratch) -> NgramTrie:
    settings, words = settings or LmSettings(), text.words
    longest = min(settings.order, text.longest + 2)
    if longest < settings.order:
        log.info("lm: no sentence is long enough for %d-grams; the order is %d", settings.order, longest)
    levels = count_ngrams(text.tokens, len(words), settings.thresholds()[:longest], engine, scratch)
    del text
    starts = offsets_from([1, *(len(level.word) for level in levels)])
    if starts[-1] >= 2**31:
        raise CamberError(f"{starts[-1]:,} n-grams are too many; lower the order or prune the text")
    size = (int(starts[-1]),)
    here = [slice(*starts[n : n + 2].tolist()) for n in range(len(starts) - 1)]
    columns: dict[str, I4] = {}
    for name in ("prefix", "word", "suffix"):
        columns[name] = scratch.zeros(size, np.int32)
        for part, level in zip(here[1:], levels, strict=True):
            columns[name][part] = getattr(level, name)
            setattr(level, name, _EMPTY)
    dropped = np.zeros(size if any(len(level.dropped) for level in levels) else 0, bool)
    probability, backoff = scratch.empty(size, np.float64), scratch.empty(size, np.float64)
    trie = NgramTrie(words, starts, **columns, probability=probability, backoff=backoff)
    probability[0] = 1 / (len(words) - 1)  # uniform, without <s>
    for n in each(range(1, len(levels) + 1), "smooth", unit="orders"):
        level = levels.pop(0)
        _smooth(trie, level, n)
        if len(level.dropped):
            dropped[here[n]] = level.dropped
        for column in (probability, backoff):
            np.log10(column[here[n - 1]], out=column[here[n - 1]])  # what is longer needs it no more
    np.log10(probability[here[-1]], out=probability[here[-1]])
    backoff[here[-1]] = 0
    probability[0] = backoff[0] = 0
    probability[1 + BEGIN] = 0  # a matter of convention: it is never asked for
    return _without(trie, dropped) if dropped.any() else trie


def discounts(adjusted: I8 | I4) -> tuple[float, float, float, float]:
    """Return (0, D1, D2, D3+) of one order from its adjusted counts; ValueError where they are not defined.

    >>> [round(d, 3) for d in discounts(np.array([1, 1, 1, 1, 2, 2, 3, 4]))]
    [0.0, 0.5, 1.25, 1.0]
    """
    blocks = (adjusted[first : first + _BLOCK] for first in range(0, len(adjusted), _BLOCK))
    n = sum((np.bincount(np.minimum(block, 5), minlength=6) for block in blocks), np.zeros(6, np.int64)).tolist()
    if 0 in n[1:4]:
        raise ValueError(f"no n-grams with adjusted count {n.index(0, 1)}")
    y = n[1] / (n[1] + 2 * n[2])  # Chen and Goodman Eq. 26
    taken = [k - (k + 1) * y * n[k + 1] / n[k] for k in (1, 2, 3)]
    for k, discount in enumerate(taken, 1):
        if discount <= 0:
            raise ValueError(f"the discount of adjusted count {k} would be {discount:.3f}")
    return 0.0, taken[0], taken[1], taken[2]


def _smooth(trie: NgramTrie, level: Level, n: int) -> None:
    """Fill in γ of the contexts of n-grams, and the probabilities of these, given those of the shorter ones.

    Neither is a logarithm yet.
    """
    try:
        discount = np.array(discounts(level.adjusted))
    except ValueError as problem:
        discount = np.array(FALLBACK)
        log.warning("lm: %d-grams: %s; taking the discounts 0.5, 1, 1.5", n, problem)
    counts = _Counts(level.adjusted, level.dropped, discount)
    above, here = (slice(*trie.starts[k : k + 2].tolist()) for k in (n - 1, n))
    gamma = trie.backoff[above]
    gamma[:] = 0
    _smooth_level(
        counts, trie.prefix[here], trie.suffix[here], above.start, trie.probability[above], np.zeros(len(gamma)), gamma,
        trie.probability[here],
    )  # fmt: skip


class _Counts(NamedTuple):
    """The counts of one order, and what is taken from them."""

    adjusted: Array  # int32[n-grams]
    dropped: Array  # bool[n-grams], or none
    discount: Array  # float64[4]


@kernel
def _smooth_level(counts, prefix, suffix, first, above, denominator, gamma, probability):
    """Fill γ of all contexts, whose numbers in the trie begin at `first`, and p of the n-grams after them."""
    for gram in range(len(prefix)):
        count, context = np.int64(counts.adjusted[gram]), np.int64(prefix[gram]) - first
        denominator[context] += count
        # what is taken from the n-grams after a context; from a dropped one, everything
        all_of_it = len(counts.dropped) > 0 and counts.dropped[gram]
        gamma[context] += count if all_of_it else counts.discount[min(count, 3)]
    for context in range(len(gamma)):
        gamma[context] = gamma[context] / max(denominator[context], 1.0) if denominator[context] > 0 else 1.0
    for gram in range(len(prefix)):
        count, context = np.int64(counts.adjusted[gram]), np.int64(prefix[gram]) - first
        lower = gamma[context] * above[np.int64(suffix[gram]) - first]
        probability[gram] = (count - counts.discount[min(count, 3)]) / denominator[context] + lower


def _without(trie: NgramTrie, dropped: Bools) -> NgramTrie:
    """Return the trie without some n-grams, none of which is a prefix or suffix of one that stays."""
    kept = ~dropped
    place = np.cumsum(kept, dtype=np.int32) - np.int32(1)
    counts = [int(np.count_nonzero(kept[a:b])) for a, b in zip(trie.starts, trie.starts[1:], strict=False)]
    while counts[-1] == 0:  # no n-gram of the highest order is left
        counts.pop()
    return NgramTrie(
        words=trie.words,
        starts=offsets_from(counts),
        prefix=place[trie.prefix[kept]],
        word=trie.word[kept],
        suffix=place[trie.suffix[kept]],
        probability=trie.probability[kept],
        backoff=trie.backoff[kept],
    )
