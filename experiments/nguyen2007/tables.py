"""The tables of the README."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from lists import METRIC, cost
from systems import LAST, Job, Trainer

from camber.metrics.oracle import sentence_oracle
from camber.metrics.significance import paired_randomisation, wilcoxon_of_batches

TITLES = {"de": "Multi30k, de→en", "fr": "Multi30k, fr→en"}
#: the paper's Table 1: train, dev, eval
PAPER = {
    "Oracle": "14.10, N/A, N/A",
    "Baseline": "10.95, 35.15, 25.95",
    "GMM-ML-1k": "10.95, 35.15, 25.95",
    "GMM-ML-16k": "11.09, 35.25, 25.89",
    "GMM-PCP (dev)": "10.95, 35.15, 25.95 (2k)",
    f"{LAST}, unregularised": "13.00, N/A, N/A (300k)",
    LAST: "12.11, 35.74, 26.42 (300k)",
}


def report_of(
    trainer: Trainer, chosen: dict[str, Job], starts: dict[str, Any], binned: dict[str, Any], times: dict[str, float]
) -> dict[str, str]:
    """Look at test, once, with what was chosen, and tell everything about a language pair."""
    if not (kept := trainer.work / f"{trainer.language}.tested.npz").exists():
        tables = {row: trainer.statistics(job, "test") for row, job in chosen.items()}
        np.savez(kept, **tables)
    with np.load(kept) as file:
        tests = {row: file[row] for row in chosen}
    lists = trainer.lists
    sizes = ", ".join(f"{name} {len(data):,} × {data.hypotheses:,}" for name, data in lists.items())
    lines = [
        f"**{TITLES[trainer.language]}** (sentences × hypotheses: {sizes})",
        "",
        "| row | kernels | bandwidth | variance | kernels kept, mass dropped | train | dev | test | − baseline |"
        " p Wilcoxon | p randomisation | paper: train, dev, eval |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
        _oracle(trainer),
    ]
    for row, job in chosen.items():
        lines.append(_line(trainer, row, job, tests))
    lines += ["", _bandwidths(trainer), "", _figures(starts, binned, times), "", _cost(trainer)]
    return {"text": "\n".join(lines)}


def _oracle(trainer: Trainer) -> str:
    scores = []
    for data in trainer.lists.values():
        best = sentence_oracle(METRIC, data.statistics, data.sentence_offsets)
        scores.append(f"{METRIC.score(data.statistics[best].sum(0)):.2f}")
    return f"| Oracle |  |  |  |  | {' | '.join(scores)} |  |  |  | {PAPER['Oracle']} |"


def _line(trainer: Trainer, row: str, job: Job, tests: dict[str, np.ndarray]) -> str:
    result = trainer.result(job)
    assert result is not None
    score = float(METRIC.score(tests[row].sum(0)))
    change = wilcoxon = randomised = kernels = kept = ""
    if row != "Baseline":
        change = f"{score - float(METRIC.score(tests['Baseline'].sum(0))):+.2f}"
        wilcoxon = f"{wilcoxon_of_batches(METRIC, tests['Baseline'], tests[row]):.3f}"
        randomised = f"{paired_randomisation(METRIC, tests['Baseline'], tests[row]):.3f}"
        kernels, kept = f"{result['kernels']:,}", f"{result['kept']:.1f}, {100 * result['dropped']:.1f} %"
    cells = [
        row, kernels, f"{job.bandwidth:g}" if kernels else "", _variance(job) if kernels else "", kept,
        f"{result['train']:.2f}", f"{result['dev']:.2f}", f"{score:.2f}", change, wilcoxon, randomised,
        PAPER.get(row, ""),
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _variance(job: Job) -> str:
    return f"{job.variance:g}" if job.variance else "no prior"


def _bandwidths(trainer: Trainer) -> str:
    """Tell what every bandwidth did, on train and dev."""
    middle = trainer.scale.variances[len(trainer.scale.variances) // 2]
    lines = [
        f"What the bandwidth does (variance {middle:g}): train / dev BLEU; kernels kept of a hypothesis, mass dropped",
        "",
        f"| row | {' | '.join(f'{width:g}' for width in trainer.scale.bandwidths)} |",
        f"|---|{'---|' * len(trainer.scale.bandwidths)}",
    ]
    for row in trainer.scale.rows():
        cells = []
        for width in trainer.scale.bandwidths:
            result = trainer.result(Job(row, width, middle))
            cells.append(
                ""
                if result is None
                else f"{result['train']:.2f} / {result['dev']:.2f}; {result['kept']:.1f}, "
                f"{100 * result['dropped']:.1f} %"
            )
        lines.append(f"| {row} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _figures(starts: dict[str, Any], binned: dict[str, Any], times: dict[str, float]) -> str:
    dev = np.array(starts["dev"])
    ratio = times["mert_cpu"] / times["rprop_cpu"]
    half = f"{np.quantile(dev, 0.25):.2f} and {np.quantile(dev, 0.75):.2f}"

    def bleu(when: str) -> str:
        return f"{binned[f'train_{when}']:.2f} on train, {binned[f'dev_{when}']:.2f} on dev"

    return (
        f"From {len(dev)} vertices of the hypercube, training ends between {dev.min():.2f} and {dev.max():.2f} BLEU on "
        f"dev, half of them between {half}. The linear model has {bleu('linear')}; converted into {binned['bins']} "
        f"bins {bleu('converted')}; trained again {bleu('trained')}. RProp took {times['rprop_cpu']:.1f} CPU-s (BLEU "
        f"of its list {times['rprop_bleu']:.2f}), MERT {times['mert_cpu']:.1f} ({times['mert_bleu']:.2f}): {ratio:.1f} "
        "times as long; the paper: about 6."
    )


def _cost(trainer: Trainer) -> str:
    """Say how long everything took."""
    steps = [json.loads(place.read_text()).get("cpu", 0.0) for place in trainer.work.glob(f"{trainer.language}.*.json")]
    total = (sum(steps) + cost(trainer.work, trainer.language)) / 60
    return f"{total:.0f} CPU-minutes for lists, kernels and fits; posteriors are not counted."
