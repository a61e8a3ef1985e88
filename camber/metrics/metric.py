"""What every metric offers: statistics per hypothesis, a score from sums of them, a signature.

A corpus score is a function of the *sum* of the rows, so tuning, oracles and significance tests compute the rows once
and then only add. Scores are sacreBLEU's: 0 to 100.

    metric = make_metric("bleu")
    rows = metric.statistics(hypotheses, [references])      # [hypotheses, columns]
    metric.score(rows.sum(0)), metric.signature(1)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from camber.arrays.types import I8, AnyArray
from camber.errors import CamberError
from camber.progress import each
from camber.registry import Entry, Registry

#: One reference text per element, each as long as the test set; None where a sentence lacks that reference.
References = Sequence[Sequence[str | None]]

#: which of several references a brevity penalty looks at: sacreBLEU's choice, and that of mteval-v11b
CLOSEST, SHORTEST = REFERENCE_LENGTHS = ("closest", "shortest")

EXTRA = "extra:"  # before the name of an outside score


class Metric(ABC):
    """A way to measure translations: the same three methods for all."""

    name: str
    higher_is_better = True

    @abstractmethod
    def statistics(
        self, hypotheses: Sequence[str], references: References, sentences: npt.ArrayLike | None = None
    ) -> AnyArray:
        """Return one row of sufficient statistics per hypothesis, [hypotheses, columns].

        Hypothesis `h` is compared with the references of sentence ``sentences[h]`` (n-best lists), or of sentence `h`.
        """

    @abstractmethod
    def score(self, statistics: npt.ArrayLike) -> Any:
        """Return the scores of summed rows: [..., columns] → [...]."""

    @abstractmethod
    def signature(self, references: int) -> str:
        """Describe everything the score depends on, in sacreBLEU's style; `references` is their number."""


def grouped_references(references: References) -> list[list[str]]:
    """Turn parallel reference texts into the list of references of every sentence.

    >>> grouped_references([["a", "b"], ["A", None]])
    [['a', 'A'], ['b']]
    """
    if isinstance(references, str) or not references or isinstance(references[0], str):
        raise TypeError("references is a list of reference texts, each a list of lines")
    counts = {len(text) for text in references}
    if len(counts) > 1:
        raise CamberError(f"reference texts of {' and '.join(map(str, sorted(counts)))} lines; expected equal numbers")
    groups = [[line for line in lines if line is not None] for lines in zip(*references, strict=True)]
    for number, group in enumerate(groups, 1):
        if not group:
            raise CamberError(f"sentence {number} has no reference")
    return groups


def owners(hypotheses: int, references: int, sentences: npt.ArrayLike | None) -> I8:
    """Return the sentence of every hypothesis, int64[hypotheses], checked."""
    if sentences is None:
        if hypotheses != references:
            raise CamberError(f"{hypotheses:,} hypotheses but {references:,} references; expected one for each")
        return np.arange(hypotheses)
    owner = np.asarray(sentences, np.int64)
    if owner.shape != (hypotheses,):
        raise CamberError(f"{owner.size:,} sentence numbers for {hypotheses:,} hypotheses")
    if len(owner) and not (owner.min() >= 0 and owner.max() < references):
        raise CamberError(f"a hypothesis of sentence {owner.max()}, but there are only {references:,} references")
    return owner


def statistics_of_sacrebleu(
    inner: Any, hypotheses: Sequence[str], references: References, sentences: npt.ArrayLike | None
) -> list[list[float]]:
    """Return the rows that a metric of sacreBLEU computes; references are prepared, and equal texts counted, once."""
    groups = grouped_references(references)
    owner = owners(len(hypotheses), len(groups), sentences)
    needed = dict.fromkeys(owner.tolist())
    prepared = {
        sentence: inner._extract_reference_info([inner._preprocess_segment(line) for line in groups[sentence]])
        for sentence in needed
    }
    known: dict[tuple[int, str], list[float]] = {}
    keys = zip(owner.tolist(), hypotheses, strict=True)
    for key in each(keys, "count n-grams", len(hypotheses), "texts"):
        if key not in known:
            line = inner._preprocess_segment(key[1])
            known[key] = inner._compute_segment_statistics(line, prepared[key[0]])
    return [known[key] for key in zip(owner.tolist(), hypotheses, strict=True)]


def signature_of_sacrebleu(inner: Any, references: int) -> str:
    """Return the signature that sacreBLEU prints for this metric and number of references (-1: it varies)."""
    inner.num_refs = references
    return str(inner.get_signature())


@dataclass(frozen=True)
class Conventions:
    """What a score may depend on beside the texts; a metric takes from it what concerns it."""

    tokenize: str = "13a"  # for metrics of words
    lowercase: bool = False
    reference_length: str = CLOSEST  # of several references, for a brevity penalty


#: makers of metrics: conventions → metric
METRICS: Registry[Callable[[Conventions], Metric]] = Registry(
    "metric",
    "camber.metrics",
    {
        "bleu": Entry("camber.metrics.bleu:bleu", "BLEU, as sacreBLEU has it"),
        "sbp": Entry("camber.metrics.bleu:bleu_sbp", "BLEU with a strict brevity penalty"),
        "chrf": Entry("camber.metrics.chrf:chrf", "F-score of character n-grams"),
        "ter": Entry("camber.metrics.ter:ter", "translation edit rate"),
    },
)


def outside_column(name: str) -> str:
    """Return the name of the outside scores that a metric's name asks for; empty if it is another metric.

    >>> outside_column("extra:-edits"), outside_column("bleu")
    ('edits', '')
    """
    return name.removeprefix(EXTRA).removeprefix("-") if name.startswith(EXTRA) else ""


def make_metric(
    name: str, tokenize: str = "13a", *, lowercase: bool = False, reference_length: str = CLOSEST
) -> Metric:
    """Make a metric by its short name: bleu, sbp, chrf, ter, or extra:NAME (an outside score of an n-best list).

    `tokenize` and `reference_length` (closest or shortest) concern BLEU only; TER ignores case anyway, as sacreBLEU's
    does by default. ``extra:-NAME`` is an outside score of which less is better.
    """
    if column := outside_column(name):
        from camber.metrics.outside import Outside

        return Outside(column, higher_is_better=not name.startswith(f"{EXTRA}-"))
    if name not in METRICS:
        raise METRICS.unknown(name, f"{EXTRA}NAME")
    return METRICS.load(name)(Conventions(tokenize, lowercase, reference_length))
