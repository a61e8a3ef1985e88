"""The tables of README.md: what was measured, with the paper's numbers beside it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from decoding import GRAPHS, METRIC, SIZES
from features import GRIDS, SPANS
from texts import CORPORA

from camber.metrics.sentence import sentence_bleu
from camber.metrics.significance import interval as interval_of
from camber.metrics.significance import paired_bootstrap, resampled_scores

#: the paper's Tables 1 to 3: (regressor, n-grams) → BER, precision, recall, F1; its lasso is FSR
TABLE1 = {
    ("ridge", "1-grams"): (0.18, 0.47, 0.65, 0.55), ("fsr", "1-grams"): (0.15, 0.60, 0.71, 0.65),
    ("l1", "1-grams"): (0.28, 0.62, 0.45, 0.52), ("svr", "1-grams"): (0.20, 0.54, 0.61, 0.57),
    ("threshold", "1-grams"): (0.17, 0.40, 0.68, 0.50), ("phrases", "1-grams"): (0.23, 0.68, 0.54, 0.60),
    ("ridge", "2-grams"): (0.38, 0.44, 0.25, 0.32), ("fsr", "2-grams"): (0.32, 0.51, 0.37, 0.43),
    ("l1", "2-grams"): (0.41, 0.37, 0.19, 0.25), ("svr", "2-grams"): (0.39, 0.43, 0.22, 0.29),
    ("threshold", "2-grams"): (0.41, 0.60, 0.18, 0.27), ("phrases", "2-grams"): (0.38, 0.37, 0.24, 0.28),
    ("ridge", "1&2-grams"): (0.27, 0.52, 0.45, 0.49), ("fsr", "1&2-grams"): (0.24, 0.57, 0.53, 0.55),
    ("phrases", "1&2-grams"): (0.30, 0.58, 0.40, 0.47),
    ("logreg", "1&2-grams"): (0.33, 0.58, 0.34, 0.43), ("svc", "1&2-grams"): (0.30, 0.47, 0.41, 0.44),
}  # fmt: skip
TABLE3 = {
    ("ridge", "1-grams"): (0.18, 0.45, 0.65, 0.53), ("fsr", "1-grams"): (0.14, 0.61, 0.73, 0.66),
    ("ridge", "2-grams"): (0.39, 0.40, 0.23, 0.29), ("fsr", "2-grams"): (0.32, 0.52, 0.37, 0.43),
    ("ridge", "1&2-grams"): (0.28, 0.47, 0.44, 0.45), ("fsr", "1&2-grams"): (0.23, 0.58, 0.54, 0.56),
}  # fmt: skip
#: scov and tcov of 1-grams, 2-grams and both
COVERED = {100: ((1.0, 0.94, 0.97), (0.96, 0.74, 0.85)), 250: ((1.0, 0.94, 0.96), (0.96, 0.75, 0.86))}
#: the paper's Table 4: longest phrase → BLEU of 100, 250 and 500 instances
TABLE4 = {2: (31.48, 34.42, 37.09), 3: (34.29, 35.34, 40.31)}
MOSES = {"multi30k": 34.22, "eutrans": 93.40}
TITLES = {"phrases": "phrase table (Moses)"}


def found(work: Path, corpus: str, *condition: object) -> Any:
    """Return what a condition left, or None."""
    name = ", ".join(map(str, condition)).replace(", ", ".").replace(" ", "-")
    place = work / corpus / f"{name}.json"
    return json.loads(place.read_text()) if place.exists() else None


def report(work: Path, names: Sequence[str]) -> str:
    """Return all tables."""
    parts = []
    for name in names:
        if CORPORA[name].grouped:
            parts += [coverage(work, name), table12(work, name), table3(work, name)]
        if name in GRAPHS:
            parts += [sizes_table(work, name), table4(work, name), others(work, name), correlation(work, name)]
    return "\n\n".join(part for part in parts if part)


def four(values: Sequence[float]) -> str:
    """Write BER, precision, recall and F1."""
    return " | ".join(f"{value:.2f}".removeprefix("0") for value in values)


def measures(entry: dict[str, Any]) -> list[float]:
    """Return the four measures of a condition."""
    return [entry[name] for name in ("ber", "precision", "recall", "f1")]


def rows_of(work: Path, corpus: str, paper: dict[Any, Any], names: Sequence[str], instances: int, where: str) -> str:
    """Return the rows of Tables 1 to 3."""
    lines = [
        "| n-grams | | BER | Prec | Rec | F1 | paper: BER | Prec | Rec | F1 | chosen on dev | thresholds | CPU-s |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for span in SPANS:
        for name in names:
            entry = found(work, corpus, "features", name, span, instances, where)
            if entry is None:
                continue
            theirs = four(paper[name, span]) if (name, span) in paper else " | | | "
            edges = ", ".join(f"{value:.3g}" for value in entry["thresholds"].values())
            title = TITLES.get(name) or GRIDS[name][0]
            # all trials on dev, and one more on the set that is told; sets are equally large
            cost = "" if name == "phrases" else f"{entry['cpu'] / (len(entry['tried']) + 1) / 100:.3f}"
            lines.append(
                f"| {span} | {title} | {four(measures(entry))} | {theirs} | {entry['settings']} | {edges} | {cost} |"
            )
    return "\n".join(lines)


def coverage(work: Path, name: str) -> str:
    """Return what selections cover."""
    lines = [
        f"**Coverage, {CORPORA[name].title}**: scov and tcov of 1-grams, 2-grams and both",
        "",
        "| | instances | set | scov | tcov |",
        "|---|---|---|---|---|",
    ]

    def write(values: Sequence[float]) -> str:
        return ", ".join(f"{value:.3f}" for value in values)

    for instances, where in ((100, "dev2"), (250, "test")):
        for selector in ("dice", "round-robin"):
            if entry := found(work, name, "coverage", selector, instances):
                lines.append(
                    f"| {selector} | {instances} | {where} | {write(entry['scov'])} | {write(entry['tcov'])} |"
                )
        scov, tcov = COVERED[instances]
        lines.append(f"| paper: dice | {instances} | {where} | {write(scov)} | {write(tcov)} |")
    return "\n".join(lines)


def table12(work: Path, name: str) -> str:
    """Return Tables 1 and 2."""
    rows = rows_of(work, name, TABLE1, [*GRIDS, "phrases"], 100, "dev2")
    sizes = [
        (span, entry["sizes"]) for span in SPANS if (entry := found(work, name, "features", "ridge", span, 100, "dev2"))
    ]
    told = ", ".join(f"{span} {a:,.0f} × {b:,.0f}" for span, (a, b) in sizes)
    return f"**Tables 1 and 2, {CORPORA[name].title}**: dev2, 100 instances by dice; mean N_X × N_Y: {told}\n\n{rows}"


def table3(work: Path, name: str) -> str:
    """Return Table 3."""
    rows = rows_of(work, name, TABLE3, ["ridge", "fsr", "lasso"], 250, "test")
    return f"**Table 3, {CORPORA[name].title}**: test, 250 instances by dice\n\n{rows}"


def bleu(entry: dict[str, Any] | None) -> str:
    """Write BLEU of a system."""
    return "" if entry is None else f"{entry['bleu']:.2f}"


def p_value(first: dict[str, Any] | None, second: dict[str, Any] | None) -> str:
    """Write the p of a difference by bootstrap resampling."""
    if first is None or second is None:
        return ""
    return f"{paired_bootstrap(METRIC, *(np.array(one['statistics']) for one in (first, second))).p:.3f}"


def sizes_table(work: Path, name: str) -> str:
    """Return the numbers of Figures 2 to 4."""
    figure = "2" if name == "multi30k" else "3"
    lines = [
        f"**Figures {figure} and 4, {CORPORA[name].title}**: BLEU on test by instances; graphs of {GRAPHS[name]}, W of "
        "1&2-grams as a phrase table; p of L2 and lasso by paired bootstrap resampling",
        "",
        "| instances | graph: L2 | lasso | p | sentences that nothing connected: L2, lasso | table: L2 | lasso | p |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for size in SIZES:
        graphs, others_ = (
            [found(work, name, kind, regressor, size) for regressor in ("ridge", "lasso")]
            for kind in ("graph", "table")
        )
        apart = ", ".join(str(one["work"]["sentences that nothing connected"]) if one else "" for one in graphs)
        lines.append(
            f"| {size} | {bleu(graphs[0])} | {bleu(graphs[1])} | {p_value(*graphs)} | {apart} | "
            f"{bleu(others_[0])} | {bleu(others_[1])} | {p_value(*others_)} |"
        )
    return "\n".join(lines)


def table4(work: Path, name: str) -> str:
    """Return Table 4."""
    lines = [
        f"**Table 4, {CORPORA[name].title}**: individual phrase systems without lexical weights, BLEU on test "
        "(the paper's are de→en)",
        "",
        f"| longest phrase | {' | '.join(map(str, SIZES))} | phrases of all pairs | paper: 100, 250, 500 |",
        "|---|" + "---|" * (len(SIZES) + 2),
    ]
    for longest in (2, 3):
        own = " | ".join(bleu(found(work, name, "individual", longest, size)) for size in SIZES)
        whole = bleu(found(work, name, "phrase", f"{longest} words", "few"))
        lines.append(f"| {longest} | {own} | {whole} | {', '.join(f'{value:.2f}' for value in TABLE4[longest])} |")
    return "\n".join(lines)


def others(work: Path, name: str) -> str:
    """Return the systems beyond the paper, and the baseline."""
    baseline = found(work, name, "phrase")
    if baseline is None:
        return ""
    rows = [
        ("phrases of all pairs, 7 words (the paper's Moses: "
         f"{MOSES[name]:.2f})", ("phrase",)),
        ("the same, tuned on the whole dev file", ("phrase", "whole dev")),
        ("individual, 7 words, 250 instances", ("individual", 7, 250)),
        ("individual, 7 words, 500 instances", ("individual", 7, 500)),
        ("mixed with all pairs, 250 instances", ("mixed", 250)),
        ("mixed with all pairs, 500 instances", ("mixed", 500)),
        ("all pairs with W of L2 as a feature, 250 instances", ("feature", "ridge", 250)),
        ("all pairs with W of lasso as a feature, 250 instances", ("feature", "lasso", 250)),
        ("graph, L2, 250 instances", ("graph", "ridge", 250)),
        ("the same with a penalty of words and repeats", ("graph more", "ridge", 250)),
        ("graph, lasso, 250 instances", ("graph", "lasso", 250)),
        ("the same with a penalty of words and repeats", ("graph more", "lasso", 250)),
    ]  # fmt: skip
    lines = [
        f"**Beside the phrase system, {CORPORA[name].title}**",
        "",
        "| | dev | test | 95 % | p, against the first | ms a sentence (CPU) |",
        "|---|---|---|---|---|---|",
    ]
    for title, condition in rows:
        if entry := found(work, name, *condition):
            low, high = interval_of(resampled_scores(METRIC, [np.array(entry["statistics"])])[:, 0])
            p = "" if entry == baseline else p_value(baseline, entry)
            lines.append(
                f"| {title} | {entry['dev']:.2f} | {entry['bleu']:.2f} | {low:.1f}–{high:.1f} | {p} | "
                f"{1000 * entry['cpu_sentence']:.0f} |"
            )
    return "\n".join(lines)


def correlation(work: Path, name: str) -> str:
    """Return how F1 goes with BLEU of graph decoding."""
    entries = [
        entry
        for size in SIZES
        for regressor in ("ridge", "lasso")
        if (entry := found(work, name, "graph", regressor, size))
    ]
    if len(entries) < 3:
        return ""
    over = np.corrcoef([entry["f1"] for entry in entries], [entry["bleu"] for entry in entries])[0, 1]
    inside = [
        np.corrcoef(entry["sentence_f1"], sentence_bleu(np.array(entry["statistics"])))[0, 1] for entry in entries
    ]
    return (
        f"**F1 and BLEU, {CORPORA[name].title}**: over the {len(entries)} conditions of graph decoding, Pearson's r of "
        f"F1 and BLEU on test is {over:.2f}; over the sentences of a condition, r of F1 and smoothed BLEU is "
        f"{np.mean(inside):.2f} on average ({min(inside):.2f} to {max(inside):.2f})."
    )
