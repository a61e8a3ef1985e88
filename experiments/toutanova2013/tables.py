"""The tables of the README, and the learnt trees in words."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from conditions import BASELINE, NOT_RUN, ROWS, Job, Result, Scale, jobs_of, read, test_place
from lists import SBP, strict
from steps import spread
from texts import TEXTS

from camber.bend.trees.document import forest_from_json
from camber.metrics.significance import stratified_randomisation


def report_of(name: str, scale: Scale, work: Path) -> list[str]:
    """Return the table of a text, and its trees."""
    look = partial(read, scale=scale, work=work)
    jobs = jobs_of(name, scale, look)
    results = {row: [result for job in group if (result := look(job)) is not None] for row, group in jobs.items()}
    tests = {
        row: [json.loads(place.read_text()) for job in group if (place := test_place(job, scale, work)).exists()]
        for row, group in jobs.items()
    }
    lines = [
        f"**{TEXTS[name].title}**",
        "",
        "| row | K, alpha | leaves | trees | Dev-Train SBP | Dev-Select SBP | test SBP | test BLEU | − base-PRO | p |"
        " paper: Chs-En Dev-Train, Test; Fin-En |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in ROWS:
        lines.append(line_of(row, jobs.get(row, []), results.get(row, []), tests))
    return ["\n".join(lines), *([trees_of(name, results["boost-local"][0])] if results.get("boost-local") else [])]


def line_of(row: str, jobs: Sequence[Job], results: Sequence[Result], tests: Mapping[str, list[Result]]) -> str:
    """Return one line of the table."""

    def cell(values: Sequence[float]) -> str:
        return spread(values) if values else NOT_RUN

    tested, base = tests.get(row, []), tests.get(BASELINE, [])
    change = p = ""
    if tested and base and row != BASELINE:
        change = f"{np.mean([r['sbp'] for r in tested]) - np.mean([r['sbp'] for r in base]):+.2f}"
        tables = [[strict(np.array(result["statistics"])) for result in group] for group in (base, tested)]
        p = f"{stratified_randomisation(SBP, *tables):.3f}"
    first = jobs[0] if jobs else Job("", row)
    trees = [len(result["forest"]["trees"]) for result in results if result["forest"]]
    cells = [
        row,
        f"{first.keep}, {first.alpha:g}" if first.keep else "",
        f"{first.leaves} {first.leaf}" if first.leaf and any(trees) else "",
        ", ".join(map(str, trees)) if any(trees) or (results and first.leaf and ROWS[row].bend != "none") else "",
        cell([r["train"]["sbp"] for r in results]),
        cell([r["select"]["sbp"] for r in results]),
        cell([r["sbp"] for r in tested]),
        cell([r["bleu"] for r in tested]),
        change,
        p,
        ROWS[row].paper,
    ]
    return f"| {' | '.join(cells)} |"


def trees_of(name: str, result: Result) -> str:
    """Tell the trees of the first replica as the paper tells its own: what they combine, then every one."""
    forest = forest_from_json(result["forest"])
    if not len(forest):
        return f"boost-local, {TEXTS[name].title}: no tree was any better on Dev-Select than none."
    together = Counter(" and ".join(forest.names_used(k)) for k in range(len(forest)))
    told = "; ".join(f"{names} ({often})" for names, often in together.most_common())
    lines = "\n".join(result["told"])
    return (
        f"boost-local, {TEXTS[name].title}, first replica: {len(forest)} trees. What they look at: {told}.\n\n"
        f"<details><summary>All trees</summary>\n\n```\n{lines}\n```\n\n</details>"
    )


def cost(work: Path) -> str:
    """Say how long everything took."""
    places = [*work.glob("*.json"), *work.glob("*.seconds")]
    minutes = sum(json.loads(place.read_text()).get("cpu", 0.0) for place in places) / 60
    return f"{len(places)} steps kept, {minutes:.0f} CPU-minutes without training."
