"""Score one or more systems, and say whether the others differ from the first by more than chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from camber.errors import CamberError
from camber.metrics.metric import References, grouped_references, make_metric
from camber.metrics.significance import interval, paired_bootstrap, paired_randomisation, resampled_scores
from camber.progress import log


@dataclass(frozen=True)
class Result:
    """A score of one system, with a 95 % interval and, from the second system on, how it compares with the first."""

    system: str
    metric: str
    score: float
    low: float
    high: float
    signature: str
    difference: float | None = None
    bootstrap_p: float | None = None
    wins: float | None = None  # share of resampled test sets on which it beats the first
    randomisation_p: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the plain values, without what does not apply."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def compare(
    systems: Mapping[str, Sequence[str]],
    references: References,
    metrics: Sequence[str] = ("bleu",),
    tokenize: str = "13a",
    lowercase: bool = False,
    samples: int = 1000,
    trials: int = 10_000,
    seed: int = 1,
) -> list[Result]:
    """Score every system by every metric (bleu, sbp, chrf, ter); results by metric, then by system.

    >>> [result] = compare({"mine": ["a b c d"]}, [["a b c d"]])
    >>> result.metric, round(result.score, 2)
    ('BLEU', 100.0)
    """
    groups = grouped_references(references)
    counts = {len(group) for group in groups}
    number = counts.pop() if len(counts) == 1 else -1
    for name, lines in systems.items():
        if len(lines) != len(groups):
            raise CamberError(f"{name} has {len(lines):,} lines, the reference {len(groups):,}; expected as many")
    results = []
    for short in metrics:
        metric = make_metric(short, tokenize, lowercase)
        tables = {name: metric.statistics(lines, references) for name, lines in systems.items()}
        first = next(iter(tables.values()))
        base = float(metric.score(first.sum(0)))
        for position, (name, table) in enumerate(tables.items()):
            score = float(metric.score(table.sum(0)))
            signature = metric.signature(number)
            if position == 0:
                low, high = interval(resampled_scores(metric, [table], samples, seed)[:, 0])
                results.append(Result(name, metric.name, score, low, high, signature))
                continue
            boot = paired_bootstrap(metric, first, table, samples, seed)
            chance = paired_randomisation(metric, first, table, trials, seed)
            signature += f"|bs:{samples}|ar:{trials}|seed:{seed}"
            results.append(
                Result(
                    name, metric.name, score, boot.low, boot.high, signature, score - base, boot.p, boot.wins, chance
                )
            )
    return results


def warn_if_tokenised(systems: Mapping[str, Sequence[str]]) -> None:
    """Warn, as sacreBLEU does, if text that will be tokenised looks tokenised already."""
    for name, lines in systems.items():
        ends = sum(line.rstrip().endswith(" .") for line in lines)
        if ends >= 100:
            log.warning(
                "%s: %s lines end in ' .': is this text tokenised already? Then say --tokenize none", name, f"{ends:,}"
            )
