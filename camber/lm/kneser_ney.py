"""Modified Kneser-Ney smoothing, interpolated, with the conventions of KenLM's `lmplz`.

Chen and Goodman (1998), "An empirical study of smoothing techniques for language modeling", TR-10-98:

    p(w | h) = (a(h w) - D(a(h w))) / Σ_v a(h v)  +  γ(h) p(w | h')

where h' is h without its first word, and a(·) is the *adjusted count*: how often the n-gram occurs, if it has the
highest order or begins with `<s>`; otherwise how many different words precede it. Every order has three discounts
D(1), D(2), D(3 and more). Below the unigrams is the uniform distribution over all words, `</s>` and `<unk>` included,
`<s>` not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.types import I4, I8, Bools
from camber.corpus import Sentences
from camber.errors import CamberError, SettingsError
from camber.files import read_lines, words
from camber.kernel import kernel
from camber.kernel.table import capacity_for, record_slot
from camber.lm.arpa import write_arpa
from camber.lm.trie import BEGIN, END, SPECIAL, UNKNOWN, NgramTrie
from camber.numbers import is_whole
from camber.progress import log
from camber.settings import Settings, setting

#: Discounts where the data do not define them (those of lmplz' --discount_fallback)
FALLBACK = (0.0, 0.5, 1.0, 1.5)

#: A table of n-grams by prefix and last word (-1: a free slot)
ENTRY = np.dtype([("key", "i8"), ("gram", "i8")])


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
    tokenise: Callable[[str], list[str]] = words,
) -> NgramTrie:
    """Estimate a model from a text file (plain or .gz), by default a tokenised one, and write it in ARPA format."""
    trie = estimate(Sentences.encode([tokenise(line) for line in read_lines(text)]), settings)
    write_arpa(arpa, trie)
    return trie


def estimate(text: Sentences, settings: LmSettings | None = None) -> NgramTrie:
    """Estimate a modified Kneser-Ney model from sentences.

    Tokens outside the text's vocabulary, and tokens spelled `<s>`, `</s>` or `<unk>`, are counted as `<unk>`. Orders
    longer than any sentence (with its two ends) are left out.
    """
    settings = settings or LmSettings()
    if len(text) == 0:
        raise CamberError("a language model needs at least one sentence, found none")
    vocabulary, tokens = _tokens(text)
    longest = min(settings.order, text.longest + 2)
    if longest < settings.order:
        log.info("lm: no sentence is long enough for %d-grams; the order is %d", settings.order, longest)
    levels = _count(tokens, len(vocabulary), longest)
    starts = offsets_from([1, *(len(level.word) for level in levels)])
    if starts[-1] >= 2**31:
        raise CamberError(f"{starts[-1]:,} n-grams are too many; lower the order or prune the text")
    trie = NgramTrie(
        words=vocabulary,
        starts=starts,
        prefix=np.concatenate([np.zeros(1, np.int32), *(level.prefix for level in levels)]),
        word=np.concatenate([np.zeros(1, np.int32), *(level.word for level in levels)]),
        suffix=np.concatenate([np.zeros(1, np.int32), *(level.suffix for level in levels)]),
        probability=np.zeros(starts[-1]),
        backoff=np.zeros(starts[-1]),
    )
    dropped = np.zeros(starts[-1], bool)
    for n, (level, threshold) in enumerate(zip(levels, settings.thresholds(), strict=False), 1):
        if threshold:
            dropped[starts[n] : starts[n + 1]] = level.count <= threshold
    _smooth(trie, levels, dropped)
    return _without(trie, dropped) if dropped.any() else trie


@dataclass
class _Level:
    """The n-grams of one order, in the order of their first occurrence (unigrams: by word)."""

    prefix: I4
    word: I4
    suffix: I4
    count: I8  # occurrences
    types: I8  # different words before it

    def adjusted(self, *, highest: bool) -> I8:
        """Return the adjusted counts; only an n-gram that begins with <s> has nothing before it."""
        return self.count if highest else np.where(self.types > 0, self.types, self.count)


def _tokens(text: Sentences) -> tuple[tuple[str, ...], I4]:
    """Return the model's words, and the text in their numbers with <s> and </s> around every sentence."""
    seen = np.bincount(text.ids[text.ids >= 0], minlength=len(text.vocabulary)) > 0
    for word in SPECIAL:
        if (index := text.vocabulary.id(word)) >= 0 and seen[index]:
            seen[index] = False
            log.warning("lm: the text contains the token %s; it is counted as an unknown word", word)
    # one entry more, which the id -1 of an unknown word finds
    new = np.append(np.where(seen, np.cumsum(seen) + len(SPECIAL) - 1, UNKNOWN), UNKNOWN).astype(np.int32)
    used = (text.vocabulary.words[index] for index in np.flatnonzero(seen))
    tokens = np.full(len(text.ids) + 2 * len(text), END, np.int32)
    inside = np.ones(len(tokens), bool)
    first = text.offsets[:-1] + 2 * np.arange(len(text))
    inside[first] = inside[first + text.lengths + 1] = False
    tokens[first] = BEGIN
    tokens[inside] = new[text.ids]
    return (*SPECIAL, *used), tokens


def _count(tokens: I4, words: int, order: int) -> list[_Level]:
    """Count the n-grams of all orders up to `order`."""
    count = np.bincount(tokens, minlength=words)
    count[BEGIN] = 0  # <s> is never predicted
    zeros = np.zeros(words, np.int32)
    levels = [_Level(zeros, np.arange(words, dtype=np.int32), zeros, count, np.zeros(words, np.int64))]
    grams = tokens.astype(np.int64)  # which n-gram (of its level) begins at a token; -1 where none fits
    start = 1
    for n in range(2, order + 1):
        shorter = levels[-1]
        room = _places(tokens, grams, n, shorter.count)
        prefix, word, suffix = (np.empty(room[0], np.int32) for _ in range(3))
        count, types = np.empty(room[0], np.int64), np.zeros(room[0], np.int64)
        table = np.empty(capacity_for(room[1]), ENTRY)
        table["key"] = -1
        size = _count_level(
            tokens, grams, n, words, start, shorter.count, shorter.types, table, prefix, word, suffix, count
        )
        levels.append(_Level(prefix[:size], word[:size], suffix[:size], count[:size], types[:size]))
        start += len(shorter.word)
    return levels


def _places(tokens: I4, grams: I8, n: int, count: I8) -> tuple[int, int]:
    """Return at how many places there is an n-gram, and at how many of them it may have been seen before."""
    fits = (grams[:-1] >= 0) & (grams[1:] >= 0)
    if n == 2:
        fits &= tokens[:-1] != END
    often = count != 1
    again = fits & often[grams[:-1]] & often[grams[1:]]
    return int(np.count_nonzero(fits)), int(np.count_nonzero(again))


@kernel
def _count_level(tokens, grams, n, words, start, shorter_count, shorter_types, table, prefix, word, suffix, count):
    """Count the n-grams, given which (n - 1)-gram begins at each token; return how many different ones there are.

    `grams` is brought up to date for the next order. `start` is the number of the first (n - 1)-gram in the trie.
    """
    size = 0
    for place in range(len(tokens) - 1):
        head, tail = grams[place], grams[place + 1]
        if head < 0 or tail < 0 or (n == 2 and tokens[place] == END):
            grams[place] = -1
            continue
        last = np.int64(tokens[place + n - 1])
        slot = -1
        # an n-gram around one that occurs once occurs once: no need to look (<s>, whose count is 0, is often there)
        if shorter_count[head] != 1 and shorter_count[tail] != 1:
            key = head * words + last
            slot = record_slot(table, key)
            if table[slot]["key"] == key:
                gram = table[slot]["gram"]
                count[gram] += 1
                grams[place] = gram
                continue
            table[slot]["key"] = key
            table[slot]["gram"] = size
        prefix[size] = start + head
        suffix[size] = start + tail
        word[size] = last
        count[size] = 1
        shorter_types[tail] += 1
        grams[place] = size
        size += 1
    grams[len(tokens) - 1] = -1
    return size


def discounts(adjusted: I8) -> tuple[float, float, float, float]:
    """Return (0, D1, D2, D3+) of one order from its adjusted counts; ValueError where they are not defined.

    >>> [round(d, 3) for d in discounts(np.array([1, 1, 1, 1, 2, 2, 3, 4]))]
    [0.0, 0.5, 1.25, 1.0]
    """
    n = np.bincount(np.minimum(adjusted, 5), minlength=6).tolist()
    if 0 in n[1:4]:
        raise ValueError(f"no n-grams with adjusted count {n.index(0, 1)}")
    y = n[1] / (n[1] + 2 * n[2])  # Chen and Goodman Eq. 26
    taken = [k - (k + 1) * y * n[k + 1] / n[k] for k in (1, 2, 3)]
    for k, discount in enumerate(taken, 1):
        if discount <= 0:
            raise ValueError(f"the discount of adjusted count {k} would be {discount:.3f}")
    return 0.0, taken[0], taken[1], taken[2]


def _smooth(trie: NgramTrie, levels: Sequence[_Level], dropped: Bools) -> None:
    """Fill in probabilities and backoffs."""
    probability = np.zeros(len(trie.word))
    probability[0] = 1 / (len(trie.words) - 1)  # uniform, without <s>
    gamma = np.ones(len(trie.word))
    for n, level in enumerate(levels, 1):
        here = slice(int(trie.starts[n]), int(trie.starts[n + 1]))
        above = slice(int(trie.starts[n - 1]), int(trie.starts[n]))
        counts = level.adjusted(highest=n == len(levels))
        try:
            discount = np.array(discounts(counts))
        except ValueError as problem:
            discount = np.array(FALLBACK)
            log.warning("lm: %d-grams: %s; taking the discounts 0.5, 1, 1.5", n, problem)
        taken = discount[np.minimum(counts, 3)]
        context = level.prefix - above.start
        size = above.stop - above.start
        denominator = np.bincount(context, counts, size)
        # what is taken from the n-grams after a context; from a dropped one, everything
        lost = np.bincount(context, np.where(dropped[here], counts, taken), size)
        gamma[above] = np.where(denominator > 0, lost / np.maximum(denominator, 1), 1.0)
        lower = gamma[level.prefix] * probability[level.suffix]
        probability[here] = (counts - taken) / denominator[context] + lower
    probability[1 + BEGIN] = 1  # a matter of convention: it is never asked for
    gamma[0] = 1
    np.log10(probability, out=trie.probability)
    np.log10(gamma, out=trie.backoff)
    trie.probability[0] = 0


def _without(trie: NgramTrie, dropped: Bools) -> NgramTrie:
    """Return the trie without some n-grams, none of which is a prefix or suffix of one that stays."""
    kept = ~dropped
    place = (np.cumsum(kept) - 1).astype(np.int32)
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
