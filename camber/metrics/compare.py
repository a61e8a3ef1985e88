"""Score one or more systems, and say whether the others differ from the first by more than chance.

A system may have several outputs, one per run of an optimiser: its score is their mean, its spread is told, and the
test takes the runs into account (Clark et al. 2011).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from camber.arrays.types import AnyArray
from camber.errors import CamberError
from camber.metrics.metric import CLOSEST, Metric, References, grouped_references, make_metric
from camber.metrics.outside import Outside
from camber.metrics.significance import (
    interval,
    mean_score,
    paired_bootstrap,
    paired_randomisation,
    resampled_scores,
    stratified_randomisation,
    wilcoxon_of_batches,
)
from camber.progress import each, log, step
from camber.text.scripts import splitting_tokenizer

#: Sentences whose scores are compared together in Wilcoxon's test
BATCH = 10


@dataclass(frozen=True)
class Result:
    """A score of one system, with a 95 % interval and, from the second system on, how it compares with the first."""

    system: str
    metric: str
    score: float  # the mean over the runs
    low: float
    high: float
    signature: str
    runs: int = 1
    run_scores: tuple[float, ...] | None = None  # of several runs
    run_sd: float | None = None  # standard deviation between runs: the optimiser's chance
    test_sd: float | None = None  # standard deviation between resampled test sets, the mean over the runs
    difference: float | None = None
    bootstrap_p: float | None = None
    wins: float | None = None  # share of resampled test sets on which it beats the first
    randomisation_p: float | None = None  # stratified by sentence if there are several runs
    wilcoxon_p: float | None = None  # on batches of 10 sentences

    def to_dict(self) -> dict[str, Any]:
        """Return the plain values, without what does not apply."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def compare(
    systems: Mapping[str, Sequence[str] | Sequence[Sequence[str]]],
    references: References,
    metrics: Sequence[str] = ("bleu",),
    tokenize: str = "13a",
    *,
    lowercase: bool = False,
    samples: int = 1000,
    trials: int = 10_000,
    seed: int = 1,
    reference_length: str = CLOSEST,
    outside: Mapping[str, Mapping[str, Sequence[npt.ArrayLike]]] | None = None,
) -> list[Result]:
    """Score every system by every metric (bleu, sbp, chrf, ter, extra:NAME); results by metric, then by system.

    A system is its lines, or a list of runs with their lines. `outside` holds the scores of the metrics extra:NAME:
    name → system → numbers of every run.

    >>> [result] = compare({"mine": ["a b c d"]}, [["a b c d"]])
    >>> result.metric, round(result.score, 2)
    ('BLEU', 100.0)
    """
    groups = grouped_references(references)
    counts = {len(group) for group in groups}
    number = counts.pop() if len(counts) == 1 else -1
    outputs = {name: _runs(lines) for name, lines in systems.items()}
    for name, runs in outputs.items():
        for lines in runs:
            if len(lines) != len(groups):
                raise CamberError(f"{name} has {len(lines):,} lines, the reference {len(groups):,}; expected as many")
    results = []
    for short in metrics:
        metric = make_metric(short, tokenize, lowercase=lowercase, reference_length=reference_length)
        with step(metric.name):
            tables = _tables(metric, outputs, references, (outside or {}).get(metric.name, {}))
            results += compare_tables(metric, tables, number, samples, trials, seed)
    return results


def compare_tables(
    metric: Metric,
    tables: Mapping[str, list[AnyArray]],
    references: int,
    samples: int = 1000,
    trials: int = 10_000,
    seed: int = 1,
) -> list[Result]:
    """Score systems by the statistics [sentences, columns] of their runs; `references` is a sentence's number of them.

    >>> from camber.metrics.bleu import BLEU
    >>> rows = BLEU().statistics(["a b c d"], [["a b c d"]])
    >>> round(compare_tables(BLEU(), {"mine": [rows]}, 1)[0].score)
    100
    """
    first = next(iter(tables.values()))
    return [
        _result(metric, name, table, first if position else None, references, samples, trials, seed)
        for position, (name, table) in enumerate(each(tables.items(), "resample", unit="systems"))
    ]


def _runs(lines: Sequence[str] | Sequence[Sequence[str]]) -> list[Sequence[str]]:
    return [lines] if not lines or isinstance(lines[0], str) else list(lines)  # type: ignore[list-item]


def _tables(
    metric: Metric,
    outputs: Mapping[str, list[Sequence[str]]],
    references: References,
    outside: Mapping[str, Sequence[npt.ArrayLike]],
) -> dict[str, list[AnyArray]]:
    """Return the statistics of every run of every system, computed in one go: runs often agree on a sentence."""
    if isinstance(metric, Outside):
        for name, runs in outputs.items():
            if len(outside.get(name, ())) != len(runs):
                raise CamberError(f"no outside scores {metric.name} for {name}; give a file for each of its outputs")
        return {
            name: [
                Outside(metric.name, v).statistics(lines, references)
                for v, lines in zip(outside[name], runs, strict=True)
            ]
            for name, runs in outputs.items()
        }
    flat = [run for runs in outputs.values() for run in runs]
    sentences = len(references[0])
    rows = metric.statistics(
        [line for run in flat for line in run], references, np.tile(np.arange(sentences), len(flat))
    )
    pieces = iter(rows.reshape(len(flat), sentences, -1))
    return {name: [next(pieces) for _ in runs] for name, runs in outputs.items()}


def _result(
    metric: Metric,
    name: str,
    tables: list[AnyArray],
    first: list[AnyArray] | None,
    references: int,
    samples: int,
    trials: int,
    seed: int,
) -> Result:
    score, signature = mean_score(metric, tables), metric.signature(references)
    resampled = resampled_scores(metric, tables, samples, seed)
    low, high = interval(resampled.mean(1))
    more: dict[str, Any] = {
        "runs": len(tables),
        "test_sd": float(resampled.std(0, ddof=1).mean()) if samples > 1 else None,
    }
    if len(tables) > 1:
        each = [float(metric.score(table.sum(0))) for table in tables]
        more |= {"run_scores": tuple(each), "run_sd": float(np.std(each, ddof=1))}
    if first is not None:
        boot = paired_bootstrap(metric, first, tables, samples, seed)
        several = len(first) + len(tables) > 2
        if several:
            chance = stratified_randomisation(metric, first, tables, trials, seed)
        else:
            chance = paired_randomisation(metric, first[0], tables[0], trials, seed)
        signature += f"|bs:{samples}|{'sar' if several else 'ar'}:{trials}|seed:{seed}"
        low, high = boot.low, boot.high
        more |= {
            "difference": score - mean_score(metric, first),
            "bootstrap_p": boot.p,
            "wins": boot.wins,
            "randomisation_p": chance,
            "wilcoxon_p": wilcoxon_of_batches(metric, first, tables, BATCH),
        }
    return Result(name, metric.name, score, low, high, signature, **more)


def warn_if_tokenised(systems: Mapping[str, Sequence[str]]) -> None:
    """Warn, as sacreBLEU does, if text that will be tokenised looks tokenised already."""
    for name, lines in systems.items():
        ends = sum(line.rstrip().endswith(" .") for line in lines)
        if ends >= 100:
            log.warning(
                "%s: %s lines end in ' .': is this text tokenised already? Then say --tokenize none", name, f"{ends:,}"
            )


def warn_if_unsplit(references: References, tokenize: str) -> None:
    """Warn if the tokenizer leaves whole sentences in one piece, because their script has no spaces."""
    suited = splitting_tokenizer([line for lines in references for line in lines if line])
    if suited and tokenize in ("13a", "intl"):
        also = "" if suited == "char" else " or --tokenize char"
        log.warning(
            "this text is written without spaces, and %s leaves its sentences whole, or nearly: say --tokenize %s%s",
            tokenize, suited, also,
        )  # fmt: skip
