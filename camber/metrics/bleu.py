"""BLEU (Papineni et al. 2002), equal to sacreBLEU's, and BLEU-SBP (Chiang et al. 2008), from n-gram statistics.

Text is tokenised by sacreBLEU's own tokenisers (13a by default, as there). The n-grams are counted by a kernel over
word ids, so that the statistics of a long n-best list cost little more than looking its words up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from camber.arrays.ragged import offsets_from
from camber.arrays.types import I8
from camber.corpus import Sentences, Vocabulary
from camber.errors import CamberError, SettingsError
from camber.kernel import kernel
from camber.kernel.table import empty_table, find, insert
from camber.metrics.metric import Conventions, Metric, References, grouped_references, owners, signature_of_sacrebleu

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
        reference_length: str = "closest",
    ) -> None:
        import sacrebleu.metrics

        known = list(sacrebleu.metrics.BLEU.TOKENIZERS)
        for what, value, legal in (
            ("tokenizer", tokenize, known),
            ("smoothing", smooth, SMOOTHING),
            ("reference length", reference_length, ("closest", "shortest")),
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
            Sentences.encode([self.words(line) for line in hypotheses], vocabulary),
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
        table = empty_table(self.order * int(np.diff(tokens).max(initial=0)))
        size = len(table)
        rows = np.zeros((len(hypotheses), 2 + 2 * self.order), np.int64)
        _count_matches(
            hypotheses.ids.astype(np.int64),
            hypotheses.offsets.astype(np.int64),
            np.argsort(owner, kind="stable"),
            owner,
            references.ids.astype(np.int64),
            references.offsets.astype(np.int64),
            offsets,
            len(references.vocabulary),
            self.order,
            self.reference_length == "shortest",
            table,
            np.zeros(size, np.int64),
            np.zeros(size, np.int64),
            np.zeros(size, np.int64),
            np.zeros(size, np.int64),
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
        if self.reference_length != "closest":
            text = f"length:{self.reference_length}|{text}"
        return text


def bleu(how: Conventions, *, strict: bool = False) -> BLEU:
    """Make BLEU by conventions."""
    return BLEU(how.tokenize, lowercase=how.lowercase, strict=strict, reference_length=how.reference_length)


def bleu_sbp(how: Conventions) -> BLEU:
    """Make BLEU with a strict brevity penalty by conventions."""
    return bleu(how, strict=True)


@kernel
def _count_matches(
    hypothesis_ids,
    hypothesis_offsets,
    by_sentence,
    owner,
    reference_ids,
    reference_offsets,
    group_offsets,
    words,
    order,
    shortest,
    table,
    limits,
    counts,
    stamps,
    used,
    rows,
):
    """Fill `rows` with lengths, clipped matches and n-grams of every hypothesis.

    An n-gram is a node of a trie: the slot of its key (slot of its prefix + 1) * words + last word. `limits` holds the
    largest count in one reference; `counts` the count in the text whose number is in `stamps`.
    """
    in_table = 0
    current = -1
    text = 0  # a new number for every reference and hypothesis that is walked through
    for k in range(len(by_sentence)):
        h = by_sentence[k]
        sentence = owner[h]
        if sentence != current:
            current = sentence
            for i in range(in_table):
                table[used[i]] = -1
                limits[used[i]] = 0
            in_table = 0
            for r in range(group_offsets[sentence], group_offsets[sentence + 1]):
                text += 1
                start, end = reference_offsets[r], reference_offsets[r + 1]
                for i in range(start, end):
                    prefix = 0
                    for j in range(i, min(i + order, end)):
                        if reference_ids[j] < 0:
                            break
                        slot = insert(table, prefix * words + reference_ids[j])
                        if stamps[slot] != text:
                            stamps[slot] = text
                            counts[slot] = 0
                        counts[slot] += 1
                        if limits[slot] == 0:
                            used[in_table] = slot
                            in_table += 1
                        if counts[slot] > limits[slot]:
                            limits[slot] = counts[slot]
                        prefix = slot + 1
        text += 1
        start, end = hypothesis_offsets[h], hypothesis_offsets[h + 1]
        length = end - start
        best = -1
        for r in range(group_offsets[sentence], group_offsets[sentence + 1]):
            other = reference_offsets[r + 1] - reference_offsets[r]
            if best < 0:
                best = other
            elif shortest:
                best = min(best, other)
            else:  # the closest; of two as close, the shorter
                nearer = abs(other - length) - abs(best - length)
                if nearer < 0 or (nearer == 0 and other < best):
                    best = other
        rows[h, 0] = length
        rows[h, 1] = best
        for n in range(order):
            rows[h, 2 + order + n] = max(0, length - n)
        for i in range(start, end):
            prefix = 0
            for n in range(min(order, end - i)):
                word = hypothesis_ids[i + n]
                if word < 0:
                    break
                slot = find(table, prefix * words + word)
                if slot < 0:
                    break
                if stamps[slot] != text:
                    stamps[slot] = text
                    counts[slot] = 0
                counts[slot] += 1
                if counts[slot] <= limits[slot]:
                    rows[h, 2 + n] += 1
                prefix = slot + 1
