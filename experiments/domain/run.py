#!/usr/bin/env python3
"""What weights of corpora, and a language model of the own domain, gain: software manuals and everyday sentences.

    python experiments/domain/run.py [--data ../shared] [--general 158000] [--own 18817 3000] [--write]

The own domain is the Python manual (pythondocs-fr-en), all of it or its first pairs, the rest Tatoeba (tatoeba-fr-en).
Weights are tuned on the first half of 1,000 dev lines; the other half chooses among the conditions; the test set is
judged for either text alone, both as one, and what was chosen of those with both. BLEU as sacreBLEU's, chrF, paired
bootstrap.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from engines import add_engine, engine_of
from steps import arguments, kept, write_tables

import camber
from camber.files import read_lines, write_lines
from camber.metrics.bleu import BLEU
from camber.metrics.chrf import ChrF
from camber.metrics.significance import paired_bootstrap
from camber.pipeline.settings import TrainSettings

FOLDER = Path(__file__).resolve().parent
OWN, GENERAL = "pythondocs-fr-en", "tatoeba-fr-en"
#: condition → weights of the general text and the own one (0: not there), and whether there is a language model
CONDITIONS = {
    "general": (1.0, 0.0, False),
    "own": (0.0, 1.0, False),
    "1:1": (1.0, 1.0, False),
    "1:5": (1.0, 5.0, False),
    "1:1 + LM": (1.0, 1.000001, True),
    "1:5 + LM": (1.0, 5.0, True),
    "1:25 + LM": (1.0, 25.0, True),
}
BASELINE, OTHERS = "1:1", ("general", "own")
TUNED = 500


def trained(condition: str, own_file: Path, options: argparse.Namespace) -> camber.Translator:
    """Train a condition; those with the same corpora share what does not depend on their weights."""
    *weights, own_lm = CONDITIONS[condition]
    files = options.work / "general.tsv", own_file
    settings = TrainSettings.from_dict(
        {
            "text": {"source_lang": "fr", "target_lang": "en"},
            "domain": {"own_lm": own_lm},
            "memory": {"memory": False},
        }
    )
    return camber.train(
        model=options.work / ("both-" * all(weights) + (files[0] if not weights[1] else own_file).stem),
        corpus=[f"{file}:{weight}" for file, weight in zip(files, weights, strict=True) if weight],
        dev_source=options.work / "tune.fr",
        dev_target=options.work / "tune.en",
        settings=settings,
        engine=engine_of(options),
    )


def table(own: int, choosing: list[list[str]], test: list[list[str]], options: argparse.Namespace) -> list[str]:
    """Train all conditions with so many pairs of the own domain, choose one, judge it; return what to write of it."""
    own_file = options.work / f"own-{own}.tsv"

    engine = engine_of(options)

    def judged(condition: str) -> Any:
        def work() -> Any:
            model = trained(condition, own_file, options)
            outputs = {"dev": model.translate(choosing[0], engine), "test": model.translate(test[0], engine)}
            return {"outputs": outputs, "weights": model.weights.values}

        name = condition if condition == "general" else f"{own}-{condition.replace(':', '-').replace(' ', '')}"
        return kept(options.work / f"{name}.json", work)

    metrics = {"BLEU": BLEU(tokenize="13a"), "chrF": ChrF()}
    found = {condition: judged(condition) for condition in CONDITIONS}
    rows = [f"{own:,} pairs of the own domain, held-out dev:\n"]
    rows += ["| | " + " | ".join(CONDITIONS) + " |", "|---" * (len(CONDITIONS) + 1) + "|"]
    scores = {
        name: [
            float(metric.score(metric.statistics(run["outputs"]["dev"], [choosing[1]]).sum(0)))
            for run in found.values()
        ]
        for name, metric in metrics.items()
    }
    rows += [f"| {name} | " + " | ".join(f"{score:.2f}" for score in row) + " |" for name, row in scores.items()]
    both = [(score, name) for score, name in zip(scores["BLEU"], CONDITIONS, strict=True) if all(CONDITIONS[name][:2])]
    chosen = max(both)[1]
    rows.append(f"\nChosen of those with both: {chosen}. Test, with p of the difference from {BASELINE}:\n")
    rows += ["| | BLEU | p | chrF | p |", "|---|---|---|---|---|"]
    for name in dict.fromkeys((*OTHERS, BASELINE, chosen)):
        cells = []
        for metric in metrics.values():
            base, ours = (metric.statistics(found[it]["outputs"]["test"], [test[1]]) for it in (BASELINE, name))
            p = "" if name == BASELINE else f"{paired_bootstrap(metric, base, ours, samples=1000).p:.3f}"
            cells += [f"{metric.score(ours.sum(0)):.2f}", p]
        rows.append(f"| {name} | {' | '.join(cells)} |")
    lms = {name: value for name, value in found[chosen]["weights"].items() if name.startswith("lm")}
    rows.append(f"\nWeights of the language models there: {', '.join(f'{n} {v:.3f}' for n, v in lms.items())}.\n")
    return rows


def main() -> None:
    """Write the corpora, and a table for each size of the own domain."""
    parser = arguments(__doc__, FOLDER)
    add_engine(parser, threads=1)
    parser.add_argument("--general", type=int, default=158_000, help="pairs of the general text, at most")
    parser.add_argument("--own", type=int, nargs="+", default=[18_817, 3_000], help="pairs of the own domain, at most")
    options = parser.parse_args()
    data = options.data / "data"
    if not (data / OWN).is_dir() or not (data / GENERAL).is_dir():
        raise SystemExit(f"{data}: no {OWN} and {GENERAL}; name the data folder with --data")
    options.work.mkdir(parents=True, exist_ok=True)
    corpora = [("general", GENERAL, options.general), *((f"own-{own}", OWN, own) for own in options.own)]
    for name, folder, most in corpora:
        sides = (read_lines(data / folder / f"train.{side}")[:most] for side in ("fr", "en"))
        pairs = [[text.replace("\t", " ") for text in pair] for pair in zip(*sides, strict=True)]
        write_lines(options.work / f"{name}.tsv", ["fr\ten", *("\t".join(pair) for pair in pairs)])
    dev = [read_lines(data / OWN / f"dev.{side}") for side in ("fr", "en")]
    test = [read_lines(data / OWN / f"test.{side}") for side in ("fr", "en")]
    for side, lines in zip(("fr", "en"), dev, strict=True):
        write_lines(options.work / f"tune.{side}", lines[:TUNED])
    choosing = [lines[TUNED : 2 * TUNED] for lines in dev]
    rows = [row for own in options.own for row in table(own, choosing, test, options)]
    print("\n".join(rows))
    if options.write:
        write_tables(FOLDER, "\n".join(rows).rstrip())


if __name__ == "__main__":
    main()
