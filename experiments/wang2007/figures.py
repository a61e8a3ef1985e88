"""Figures 3 and 4 of the paper, drawn from what came out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from plan import features_of
from tables import Report

from camber.report.lines import line_chart


def draw(folder: Path, report: Report) -> None:
    """Write the figures of which there is something to draw."""
    orders = {
        f"{system.upper()}, {name}": [(row[0], row[1 + k]) for row in report.orders(system)]
        for system in ("lsr", "mmr")
        for k, name in enumerate(("dev", "test"))
    }
    if all(orders.values()):
        label = "BLEU by the longest n-gram of both regressions"
        (folder / "figure3.svg").write_text(line_chart(orders, "longest n-gram", "BLEU", label))
    for name, corpus in report.plan.corpora.items():
        curves = size_curves(report, name)
        if any(len(curve) > 1 for curve in curves.values()):
            label = f"BLEU by the number of training pairs: {corpus.title}"
            (folder / f"figure4.{name}.svg").write_text(line_chart(curves, "training pairs", "BLEU, test", label))


def size_curves(report: Report, name: str) -> dict[str, list[tuple[float, float]]]:
    """Return BLEU of the test set by the number of pairs, of every system."""
    curves: dict[str, list[tuple[float, float]]] = {}
    for size in report.plan.corpora[name].sizes:
        scores = [score for one in report.baseline(name, size) if (score := report.test_bleu(one)) is not None]
        if scores:
            curves.setdefault("phrases, MERT", []).append((size, float(np.mean(scores))))
        lsr, mmr = (replace(condition, corpus=name, size=size) for condition in report.chosen)
        systems = {
            "LSR": [lsr],
            "LSR, scale 1": [replace(lsr, scale=1.0)],
            "MMR": [mmr],
            "phrases with LSR": features_of(report.plan, lsr),
        }
        for title, conditions in systems.items():
            scores = [score for one in conditions if (score := report.test_bleu(one)) is not None]
            if scores:
                curves.setdefault(title, []).append((size, float(np.mean(scores))))
    return curves
