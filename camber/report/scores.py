"""The page of `camber score`: systems beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from camber.metrics.compare import Result
from camber.metrics.metric import CLOSEST, References, make_metric
from camber.metrics.outside import Outside
from camber.report.blocks import cards, write_page
from camber.report.comparison import Comparison


def write_scores(
    path: str | Path,
    systems: Mapping[str, Sequence[Sequence[str]]],
    references: References,
    results: Sequence[Result],
    metric: str,
    tokenize: str = "13a",
    *,
    lowercase: bool = False,
    reference_length: str = CLOSEST,
    outside: Mapping[str, Mapping[str, Sequence[npt.ArrayLike]]] | None = None,
    sources: Sequence[str] | None = None,
) -> None:
    """Write what :func:`camber.metrics.compare.compare` found; sentences are compared by the first `metric`.

    Of a system with several runs, the sentences are those of the first run.
    """
    texts = {name: runs[0] for name, runs in systems.items()}
    measure = make_metric(metric, tokenize, lowercase=lowercase, reference_length=reference_length)
    if isinstance(measure, Outside):
        numbers = (outside or {})[measure.name]
        tables = {
            name: Outside(measure.name, np.asarray(numbers[name][0], np.float64)).statistics(lines, references)
            for name, lines in texts.items()
        }
    else:
        tables = {name: measure.statistics(lines, references) for name, lines in texts.items()}
    several = any(len(runs) > 1 for runs in systems.values())
    note = "Sentences and lengths are those of the first run of every system." if several else ""
    shown = Comparison(texts, tables, measure, results, references, sources, tokenize, note)
    facts = [(f"{one.score:.1f}", f"{one.metric} of {one.system}") for one in results[:4]]
    write_page(path, "Scores", ", ".join(texts), cards(facts), *shown.sections())
