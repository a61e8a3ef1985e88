#!/usr/bin/env python3
"""What the repair of fuzzy matches gains: the manual of Python, by how like a line is to something remembered.

    python experiments/fuzzy/run.py [--data ../shared] [--model MODEL] [--write]

Without --model, one is trained (pythondocs-fr-en, all defaults). Lines of dev that have a match of 50 % choose the
threshold; those of test are translated once with it. BLEU as sacreBLEU's, chrF, paired bootstrap.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from steps import arguments, kept, write_tables

import camber
from camber.engine import Threads
from camber.files import read_lines
from camber.metrics.bleu import BLEU
from camber.metrics.chrf import ChrF
from camber.metrics.metric import Metric
from camber.metrics.significance import paired_bootstrap
from camber.pipeline.settings import TrainSettings

FOLDER = Path(__file__).resolve().parent
SET = "pythondocs-fr-en"
ONE = Threads(1)
THRESHOLDS = 0.5, 0.6, 0.7, 0.8, 0.9
BANDS = 50, 70, 90


def score(metric: Metric, output: list[str], reference: list[str], rows: list[int]) -> float:
    """Return the score of some lines."""
    statistics = metric.statistics([output[row] for row in rows], [[reference[row] for row in rows]])
    return float(metric.score(statistics.sum(0)))


def equal(output: list[str], reference: list[str], rows: list[int]) -> int:
    """Return how many lines are those of the reference, white space included."""
    return sum(output[row] == reference[row] for row in rows)


def main() -> None:
    """Choose a threshold on dev, judge it on test."""
    parser = arguments(__doc__, FOLDER)
    parser.add_argument("--model", type=Path, help="a trained model with a memory")
    options = parser.parse_args()
    data = options.data / "data" / SET
    if not data.is_dir():
        raise SystemExit(f"{data}: no such folder; name the data folder with --data")
    options.work.mkdir(parents=True, exist_ok=True)
    if options.model:
        model = camber.load(options.model)
    else:
        settings = TrainSettings.from_dict({"text": {"source_lang": "fr", "target_lang": "en"}})
        sides = {"source": data / "train.fr", "target": data / "train.en"}
        dev = {"dev_source": data / "dev.fr", "dev_target": data / "dev.en"}
        model = camber.train(**sides, **dev, model=options.work / "model", settings=settings, engine=ONE)

    def translated(name: str, thresholds: tuple[float | None, ...]) -> Any:
        lines, reference = (read_lines(data / f"{name}.{side}") for side in ("fr", "en"))
        found = [next(iter(model.matches(line, BANDS[0] / 100, 1)), None) for line in lines]
        rows = [row for row, match in enumerate(found) if match is not None]
        chosen = [lines[row] for row in rows]
        return {
            "all": len(lines),
            "percent": [found[row].percent for row in rows],
            "memory": [found[row].target for row in rows],
            "reference": [reference[row] for row in rows],
            **{str(threshold): model.translate(chosen, ONE, fuzzy=threshold) for threshold in thresholds},
        }

    metrics = {"BLEU": BLEU(tokenize="13a"), "chrF": ChrF()}
    dev = kept(options.work / "dev.json", lambda: translated("dev", (None, *THRESHOLDS)))
    everything = list(range(len(dev["percent"])))
    systems = {"without": "None"} | {f"{100 * threshold:.0f} %": str(threshold) for threshold in THRESHOLDS}
    scores = {
        system: [score(metric, dev[key], dev["reference"], everything) for metric in metrics.values()]
        for system, key in systems.items()
    }
    rows = [f"Dev: {len(everything)} of {dev['all']:,} lines have a match of {BANDS[0]} %.\n"]
    rows += ["| from | " + " | ".join(systems) + " |", "|---" * (len(systems) + 1) + "|"]
    for place, name in enumerate(metrics):
        rows.append(f"| {name} | " + " | ".join(f"{values[place]:.2f}" for values in scores.values()) + " |")
    same = [equal(dev[key], dev["reference"], everything) for key in systems.values()]
    rows.append("| lines like the reference | " + " | ".join(map(str, same)) + " |")
    best = max(THRESHOLDS, key=lambda threshold: scores[f"{100 * threshold:.0f} %"][0])
    rows.append(f"\nChosen on dev: {100 * best:.0f} %. Test:\n")
    test = kept(options.work / f"test-{best}.json", lambda: translated("test", (None, best)))
    rows.append("| matches of | lines | | the match as it is | without | repaired | p |")
    rows.append("|---|---|---|---|---|---|---|")
    for band in (*BANDS, 100):
        own = [row for row, percent in enumerate(test["percent"]) if percent >= band]
        for name, metric in metrics.items():
            columns = [score(metric, test[key], test["reference"], own) for key in ("memory", "None", str(best))]
            tables = [
                metric.statistics([test[key][row] for row in own], [[test["reference"][row] for row in own]])
                for key in ("None", str(best))
            ]
            p = paired_bootstrap(metric, tables[0], tables[1], samples=1000).p
            cells = " | ".join(f"{value:.2f}" for value in columns)
            rows.append(f"| {band} % and more | {len(own)} | {name} | {cells} | {p:.3f} |")
        counts = [str(equal(test[key], test["reference"], own)) for key in ("memory", "None", str(best))]
        rows.append(f"| {band} % and more | {len(own)} | lines like the reference | {' | '.join(counts)} | |")
    print("\n".join(rows))
    if options.write:
        write_tables(FOLDER, "\n".join(rows))


if __name__ == "__main__":
    main()
