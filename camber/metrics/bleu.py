"""BLEU (Papineni et al. 2002), equal to sacreBLEU's, and BLEU-SBP (Chiang et al. 2008), from n-gram statistics.

Text is tokenised by sacreBLEU's own tokenisers (13a by default, as there). The n-grams are counted by a kernel over
word ids, so that the statistics of a long n-best list cost little more than looking its words up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from camber.arrays.ragged import offsets_from
from camber.arrays.types import I8, Array
from camber.corpus import Sentences, Vocabulary
from camber.errors import CamberError, SettingsError
from camber.kernel import kernel, kernel_inlined
from camber.kernel.table import empty_table, find, insert
from camber.metrics.metric import (
    CLOSEST,
    REFERENCE_LENGTHS,
    SHORTEST,
    Conventions,
    Metric,
    References,
    grouped_references,
    owners,
    signature_of_sacrebleu,
)
from camber.progress import each

SMOOTHING = ("exp", "floor", "add-k", "none")
_LOG_OF_ZERO = -9999999999.0  # what sacreBLEU takes for it: a score of 0 without a NaN on the way


class BLEU(Metric):
    """BLEU with sacreBLEU's defaults; ``strict=True`` makes it BLEU-SBP.

    For single sentences use ``effective_order=True``, or ``smooth="add-k"`` (BLEU+1 of Lin and Och 2004). The columns
    are: hypothesis length (SBP: but at most the reference length), reference length, matches of orders 1…N, n-grams
    of orders 1…N.

    >>> bleu = BLEU()
    >>> rows = bleu.statistics(["the cat sat down"], [["the cat sat there"]])
    >>> rows.tolist()
    [[4, 4, 3, 2, 1, 0, 4, 3, 2, 1]]
    >>> round(float(bleu.score(rows.sum(0))), 2)
    59.46
    """

    def __init__(
        self,
        tokenize: str = "13a",
        *,
        lowercase: bool = False,
        smooth: str = "exp",
        smooth_value: float | None = None,
        effective_order: bool = False,
        order: int = 4,
        strict: bool = False,
        reference_length: str = CLOSEST,
    ) -> None:
        import sacrebleu.metrics

        known = list(sacrebleu.metrics.BLEU.TOKENIZERS)
        for what, value, legal in (
            ("tokenizer", tokenize, known),
            ("smoothing", smooth, SMOOTHING),
            ("reference length", reference_length, REFERENCE_LENGTHS),
        ):
            if value not in legal:
                raise SettingsError(f"unknown {what} {value!r}; known: {', '.join(legal)}")
        if order < 1:
            raise SettingsError(f"the order of BLEU is {order}; expected at least 1")
        try:
            self._inner: Any = sacrebleu.metrics.BLEU(
                lowercase=lowercase,
                tokenize=tokenize,
                smooth_method=smooth,
                smooth_value=smooth_value,
                effective_order=effective_order,
                max_ngram_order=order,
            )
        except (ImportError, RuntimeError, OSError) as error:  # a tokeniser that needs another package or a download
            raise CamberError(f"the tokenizer {tokenize} cannot be used: {error}") from None
        self.name = "BLEU-SBP" if strict else "BLEU"
        self.lowercase, self.smooth, self.effective_order = lowercase, smooth, effective_order
        default = sacrebleu.metrics.BLEU.SMOOTH_DEFAULTS[smooth] or 0.0
        self.smooth_value = default if smooth_value is None else smooth_value
        self.order, self.strict, self.reference_length = order, strict, reference_length

    def words(self, line: str) -> list[str]:
        """Return the words that count, as sacreBLEU cuts them."""
        if self.lowercase:
            line = line.lower()
        return self._inner.tokenizer(line.rstrip()).split()

    def statistics(
        self, hypotheses: Sequence[str], references: References, sentences: npt.ArrayLike | None = None
    ) -> I8:
        """Return int64[hypotheses, 2 + 2 * order]."""
        groups = grouped_references(references)
        owner = owners(len(hypotheses), len(groups), sentences)
        words = [self.words(line) for group in groups for line in group]
        # with the empty word, which never occurs, because references without any word must have a vocabulary too
        vocabulary = Vocabulary(["", *dict.fromkeys(word for line in words for word in line)])
        return self.statistics_of_ids(
            Sentences.encode([self.words(line) for line in each(hypotheses, "tokenise", unit="texts")], vocabulary),
            Sentences.encode(words, vocabulary),
            offsets_from(map(len, groups)),
            owner,
        )

    def statistics_of_ids(
        self,
        hypotheses: Sentences,
        references: Sentences,
        reference_offsets: npt.ArrayLike,
        sentences: npt.ArrayLike,
    ) -> I8:
        """Return int64[hypotheses, 2 + 2 * order] of text that is already words, as ids of one vocabulary.

        Sentence `s` has the references ``reference_offsets[s]`` … ``reference_offsets[s + 1] - 1``; hypothesis `h` is
        one of sentence ``sentences[h]``. Negative ids match nothing.
        """
        if hypotheses.vocabulary is not references.vocabulary and hypotheses.vocabulary != references.vocabulary:
            raise ValueError("hypotheses and references need one vocabulary")
        offsets = np.array(reference_offsets, np.int64)
        owner = owners(len(hypotheses), len(offsets) - 1, sentences)
        tokens = references.offsets[offsets]
        rows = np.zeros((len(hypotheses), 2 + 2 * self.order), np.int64)
        _count_matches(
            _Texts.of(hypotheses),
            _Texts.of(references),
            offsets,
            owner,
            np.argsort(owner, kind="stable"),
            self.reference_length == SHORTEST,
            _Ngrams.of(self.order, int(np.diff(tokens).max(initial=0)), len(references.vocabulary)),
            rows,
        )
        if self.strict:
            rows[:, 0] = np.minimum(rows[:, 0], rows[:, 1])
        return rows

    def score(self, statistics: npt.ArrayLike) -> Any:
        """Return BLEU of summed rows: [..., 2 + 2 * order] → [...]."""
        sums = np.array(statistics, np.float64)
        length, reference = sums[..., 0], sums[..., 1]
        matches, totals = sums[..., 2 : 2 + self.order], sums[..., 2 + self.order :]
        nothing = ~matches.any(-1)
        if self.smooth == "add-k":
            matches[..., 1:] += self.smooth_value
            totals[..., 1:] += self.smooth_value
        there = np.logical_and.accumulate(totals > 0, axis=-1)
        missed = there & (matches == 0)
        if self.smooth == "exp":  # the k-th order without a match counts as 1 / 2^k matches
            matches = np.where(missed, 0.5 ** np.cumsum(missed, axis=-1), matches)
        elif self.smooth == "floor":
            matches = np.where(missed, self.smooth_value, matches)
        usable = there & (matches > 0)
        precisions = np.divide(100.0 * matches, totals, out=np.ones_like(totals), where=usable)
        logs = np.where(usable, np.log(precisions), _LOG_OF_ZERO)
        if self.effective_order:
            orders = np.where(there.any(-1), there.sum(-1), self.order)
            logs = np.where(np.arange(self.order) < orders[..., None], logs, 0.0)
        else:
            orders = np.full(length.shape, self.order)
        ratio = np.divide(reference, length, out=np.full(length.shape, np.inf), where=length > 0)
        penalty = np.where(length < reference, np.exp(1.0 - np.maximum(ratio, 1.0)), 1.0)
        return np.where(nothing, 0.0, penalty * np.exp(logs.sum(-1) / orders))[()]

    def signature(self, references: int) -> str:
        """Describe the score as sacreBLEU does."""
        text = signature_of_sacrebleu(self._inner, references)
        if self.order != 4:
            text = f"order:{self.order}|{text}"
        if self.reference_length != CLOSEST:
            text = f"length:{self.reference_length}|{text}"
        return text


def bleu(how: Conventions, *, strict: bool = False) -> BLEU:
    """Make BLEU by conventions."""
    return BLEU(how.tokenize, lowercase=how.lowercase, strict=strict, reference_length=how.reference_length)


def bleu_sbp(how: Conventions) -> BLEU:
    """Make BLEU with a strict brevity penalty by conventions."""
    return bleu(how, strict=True)


class _Texts(NamedTuple):
    """Sentences, as kernels take them."""

    ids: Array  # int64[tokens]
    offsets: Array  # int64[sentences + 1]

    @classmethod
    def of(cls, sentences: Sentences) -> _Texts:
        """Take the arrays of sentences."""
        return cls(sentences.ids.astype(np.int64), sentences.offsets.astype(np.int64))


class _Ngrams(NamedTuple):
    """The n-grams of the references of one sentence.

    An n-gram is a node of a trie: the slot of its key (slot of its prefix + 1) * words + last word.
    """

    order: int
    words: int  # in the vocabulary
    table: Array  # int64[slots]: keys
    limits: Array  # int64[slots]: the largest count in one reference
    counts: Array  # int64[slots]: the count in the text whose number is in `stamps`
    stamps: Array  # int64[slots]
    used: Array  # int64[slots]: the slots that are taken

    @classmethod
    def of(cls, order: int, tokens: int, words: int) -> _Ngrams:
        """Make room for the n-grams of so many tokens."""
        table = empty_table(order * tokens)
        limits, counts, stamps, used = (np.zeros(len(table), np.int64) for _ in range(4))
        return cls(order, words, table, limits, counts, stamps, used)


@kernel
def _count_matches(hypotheses, references, group_offsets, owner, by_sentence, shortest, ngrams, rows):
    """Fill `rows` with lengths, clipped matches and n-grams of every hypothesis."""
    taken = 0
    current = -1
    text = 0  # a new number for every reference and hypothesis that is walked through
    for k in range(len(by_sentence)):
        h = by_sentence[k]
        sentence = owner[h]
        first, last = group_offsets[sentence], group_offsets[sentence + 1]
        if sentence != current:
            current = sentence
            for i in range(taken):
                ngrams.table[ngrams.used[i]] = -1
                ngrams.limits[ngrams.used[i]] = 0
            taken = 0
            for r in range(first, last):
                text += 1
                taken = _add_reference(references, r, text, ngrams, taken)
        text += 1
        length = hypotheses.offsets[h + 1] - hypotheses.offsets[h]
        rows[h, 0] = length
        rows[h, 1] = _reference_length(references.offsets, first, last, length, shortest)
        for n in range(ngrams.order):
            rows[h, 2 + ngrams.order + n] = max(0, length - n)
        _match(hypotheses, h, text, ngrams, rows[h])


@kernel
def _count_again(ngrams, slot, text):
    """Count an n-gram of a text; return how often it was there so far."""
    if ngrams.stamps[slot] != text:
        ngrams.stamps[slot] = text
        ngrams.counts[slot] = 0
    ngrams.counts[slot] += 1
    return ngrams.counts[slot]


@kernel_inlined
def _add_reference(references, r, text, ngrams, taken):
    """Add the n-grams of a reference; return how many slots are taken."""
    start, end = references.offsets[r], references.offsets[r + 1]
    for i in range(start, end):
        prefix = 0
        for j in range(i, min(i + ngrams.order, end)):
            word = references.ids[j]
            if word < 0:
                break
            slot = insert(ngrams.table, prefix * ngrams.words + word)
            count = _count_again(ngrams, slot, text)
            if ngrams.limits[slot] == 0:
                ngrams.used[taken] = slot
                taken += 1
            if count > ngrams.limits[slot]:
                ngrams.limits[slot] = count
            prefix = slot + 1
    return taken


@kernel
def _reference_length(offsets, first, last, length, shortest):
    """Return the length of the shortest or closest reference, of two as close the shorter; -1: there is none."""
    best = -1
    for r in range(first, last):
        other = offsets[r + 1] - offsets[r]
        if best < 0:
            best = other
        elif shortest:
            best = min(best, other)
        else:
            nearer = abs(other - length) - abs(best - length)
            if nearer < 0 or (nearer == 0 and other < best):
                best = other
    return best


@kernel_inlined
def _match(hypotheses, h, text, ngrams, row):
    """Count the n-grams of a hypothesis that the references have, each as often as one of them at most."""
    start, end = hypotheses.offsets[h], hypotheses.offsets[h + 1]
    for i in range(start, end):
        prefix = 0
        for n in range(min(ngrams.order, end - i)):
            word = hypotheses.ids[i + n]
            if word < 0:
                break
            slot = find(ngrams.table, prefix * ngrams.words + word)
            if slot < 0:
                break
            if _count_again(ngrams, slot, text) <= ngrams.limits[slot]:
                row[2 + n] += 1
            prefix = slot + 1
