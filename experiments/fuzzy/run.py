#!/usr/bin/env python3
"""What the repair of fuzzy matches gains: the manual of Python, by how like a line is to something remembered.

    python experiments/fuzzy/run.py [--data ../shared] [--model MODEL] [--part-model MODEL] [--write]

Without --model, one is trained (pythondocs-fr-en, all defaults). Lines of dev that have a match of 50 % choose the
threshold; those of test, other documents, are translated once with it. So are 2,000 lines of the training text, drawn
at random, by a model of the others (--part-model) with the weights of the first: they are what comes next in documents
that were translated before. BLEU as sacreBLEU's, chrF, paired bootstrap.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from engines import add_engine, engine_of
from steps import arguments, kept, write_tables

import camber
from camber.engine import Engine
from camber.files import read_lines, write_lines
from camber.metrics.bleu import BLEU
from camber.metrics.chrf import ChrF
from camber.metrics.metric import Metric
from camber.metrics.significance import paired_bootstrap
from camber.pipeline.settings import TrainSettings

FOLDER = Path(__file__).resolve().parent
SET = "pythondocs-fr-en"
THRESHOLDS = 0.5, 0.6, 0.7, 0.8, 0.9
BANDS = 50, 70, 90
DRAWN = 2000


def score(metric: Metric, output: list[str], reference: list[str], rows: list[int]) -> float:
    """Return the score of some lines."""
    statistics = metric.statistics([output[row] for row in rows], [[reference[row] for row in rows]])
    return float(metric.score(statistics.sum(0)))


def equal(output: list[str], reference: list[str], rows: list[int]) -> int:
    """Return how many lines are those of the reference, white space included."""
    return sum(output[row] == reference[row] for row in rows)


def parted(data: Path, work: Path) -> None:
    """Draw lines of the training text, and write them and the others."""
    sides = {side: read_lines(data / f"train.{side}") for side in ("fr", "en")}
    drawn = set(random.Random(5).sample(range(len(sides["fr"])), DRAWN))
    for side, lines in sides.items():
        write_lines(work / f"drawn.{side}", [line for row, line in enumerate(lines) if row in drawn])
        write_lines(work / f"others.{side}", [line for row, line in enumerate(lines) if row not in drawn])


def trained(source: Path, target: Path, model: Path, engine: Engine, **more: Any) -> camber.Translator:
    """Train with all defaults."""
    settings = TrainSettings.from_dict({"text": {"source_lang": "fr", "target_lang": "en"}})
    return camber.train(source, target, model, settings=settings, engine=engine, **more)


def translated(
    model: camber.Translator,
    lines: list[str],
    reference: list[str],
    thresholds: tuple[float | None, ...],
    engine: Engine,
) -> Any:
    """Translate the lines that have a match, without it and with repair from each threshold."""
    found = [next(iter(model.matches(line, BANDS[0] / 100, 1)), None) for line in lines]
    rows = [row for row, match in enumerate(found) if match is not None]
    chosen = [lines[row] for row in rows]
    return {
        "all": len(lines),
        "percent": [found[row].percent for row in rows],
        "memory": [found[row].target for row in rows],
        "reference": [reference[row] for row in rows],
        **{str(threshold): model.translate(chosen, engine, fuzzy=threshold) for threshold in thresholds},
    }


def table(found: Any, repaired: str, metrics: dict[str, Metric]) -> list[str]:
    """Return the rows of a table: the match as it is, the model alone, and the model with repair, by bands."""
    rows = [f"{len(found['percent']):,} of {found['all']:,} lines have a match of {BANDS[0]} %.\n"]
    rows += ["| matches of | lines | | the match as it is | without | repaired | p |", "|---|---|---|---|---|---|---|"]
    bands = [(f"{band} % and more", band, 100) for band in BANDS]
    bands += [(f"{band} to 99 %", band, 99) for band in BANDS] + [("100 %", 100, 100)]
    for name, least, most in bands:
        own = [row for row, percent in enumerate(found["percent"]) if least <= percent <= most]
        if not own:
            continue
        for metric_name, metric in metrics.items():
            columns = [score(metric, found[key], found["reference"], own) for key in ("memory", "None", repaired)]
            tables = [
                metric.statistics([found[key][row] for row in own], [[found["reference"][row] for row in own]])
                for key in ("None", repaired)
            ]
            p = paired_bootstrap(metric, tables[0], tables[1], samples=1000).p
            cells = " | ".join(f"{value:.2f}" for value in columns)
            rows.append(f"| {name} | {len(own)} | {metric_name} | {cells} | {p:.3f} |")
        counts = [str(equal(found[key], found["reference"], own)) for key in ("memory", "None", repaired)]
        rows.append(f"| {name} | {len(own)} | lines like the reference | {' | '.join(counts)} | |")
    return rows


def main() -> None:
    """Choose a threshold on dev, judge it on test and on lines of known documents."""
    parser = arguments(__doc__, FOLDER)
    add_engine(parser, threads=1)
    parser.add_argument("--model", type=Path, help="a trained model with a memory")
    parser.add_argument("--part-model", type=Path, help="a model of the training text without the lines drawn")
    options = parser.parse_args()
    data = options.data / "data" / SET
    if not data.is_dir():
        raise SystemExit(f"{data}: no such folder; name the data folder with --data")
    work, engine = options.work, engine_of(options)
    work.mkdir(parents=True, exist_ok=True)
    dev_text, test_text = ([read_lines(data / f"{name}.{side}") for side in ("fr", "en")] for name in ("dev", "test"))
    if options.model:
        model = camber.load(options.model)
    else:
        given = {"dev_source": data / "dev.fr", "dev_target": data / "dev.en"}
        model = trained(data / "train.fr", data / "train.en", work / "model", engine, **given)
    metrics: dict[str, Metric] = {"BLEU": BLEU(tokenize="13a"), "chrF": ChrF()}
    dev = kept(work / "dev.json", lambda: translated(model, *dev_text, (None, *THRESHOLDS), engine))
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
    test = kept(work / f"test-{best}.json", lambda: translated(model, *test_text, (None, best), engine))
    rows += [f"\nChosen on dev: {100 * best:.0f} %. Test, other documents:\n", *table(test, str(best), metrics)]

    def of_known_documents() -> Any:
        parted(data, work)
        if options.part_model:
            part = camber.load(options.part_model)
        else:
            part = trained(work / "others.fr", work / "others.en", work / "part", engine, tuned=False, held_out=0)
        lines, reference = (read_lines(work / f"drawn.{side}") for side in ("fr", "en"))
        return translated(part.reweighted(model.weights), lines, reference, (None, best), engine)

    rows += ["\nLines of the training's own documents:\n"]
    rows += table(kept(work / f"drawn-{best}.json", of_known_documents), str(best), metrics)
    print("\n".join(rows))
    if options.write:
        write_tables(FOLDER, "\n".join(rows))


if __name__ == "__main__":
    main()
