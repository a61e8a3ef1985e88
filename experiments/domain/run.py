#!/usr/bin/env python3
"""What weights of corpora, and a language model of the own domain, gain: software manuals and everyday sentences.

    python experiments/domain/run.py [--data ../shared] [--general 40000] [--write]

The own domain is the Python manual (pythondocs-fr-en), the rest Tatoeba (tatoeba-fr-en). Weights are tuned on the first
half of 1,000 dev lines; the other half chooses among the conditions; the test set is translated by the own domain
alone, all text as one, and what was chosen. BLEU as sacreBLEU's, chrF, paired bootstrap.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from steps import arguments, kept, write_tables

import camber
from camber.engine import Threads
from camber.files import read_lines, write_lines
from camber.metrics.bleu import BLEU
from camber.metrics.chrf import ChrF
from camber.metrics.significance import paired_bootstrap
from camber.pipeline.settings import TrainSettings

FOLDER = Path(__file__).resolve().parent
ONE = Threads(1)
OWN, GENERAL = "pythondocs-fr-en", "tatoeba-fr-en"
#: condition → weights of the general text and the own one (0: not there), and whether there is a language model
CONDITIONS = {
    "own": (0.0, 1.0, False),
    "1:1": (1.0, 1.0, False),
    "1:5": (1.0, 5.0, False),
    "1:1 + LM": (1.0, 1.000001, True),
    "1:5 + LM": (1.0, 5.0, True),
    "1:25 + LM": (1.0, 25.0, True),
}
BASELINES = "own", "1:1"
TUNED = 500


def trained(condition: str, options: argparse.Namespace) -> camber.Translator:
    """Train a condition; those with both corpora share what does not depend on their weights."""
    general, own, own_lm = CONDITIONS[condition]
    corpora: list[Any] = [f"{options.work / 'own.tsv'}:{own}"]
    if general:
        corpora.insert(0, f"{options.work / 'general.tsv'}:{general}")
    settings = TrainSettings.from_dict(
        {
            "text": {"source_lang": "fr", "target_lang": "en"},
            "domain": {"own_lm": own_lm},
            "memory": {"memory": False},
        }
    )
    return camber.train(
        model=options.work / ("both" if general else "own"),
        corpus=corpora,
        dev_source=options.work / "tune.fr",
        dev_target=options.work / "tune.en",
        settings=settings,
        engine=ONE,
    )


def main() -> None:
    """Train all conditions, choose one, judge it."""
    parser = arguments(__doc__, FOLDER)
    parser.add_argument("--general", type=int, default=40_000, help="pairs of the general text")
    options = parser.parse_args()
    data = options.data / "data"
    if not (data / OWN).is_dir() or not (data / GENERAL).is_dir():
        raise SystemExit(f"{data}: no {OWN} and {GENERAL}; name the data folder with --data")
    options.work.mkdir(parents=True, exist_ok=True)
    for name, folder, most in (("general", GENERAL, options.general), ("own", OWN, None)):
        sides = (read_lines(data / folder / f"train.{side}")[:most] for side in ("fr", "en"))
        pairs = [[text.replace("\t", " ") for text in pair] for pair in zip(*sides, strict=True)]
        write_lines(options.work / f"{name}.tsv", ["fr\ten", *("\t".join(pair) for pair in pairs)])
    dev = [read_lines(data / OWN / f"dev.{side}") for side in ("fr", "en")]
    test = [read_lines(data / OWN / f"test.{side}") for side in ("fr", "en")]
    for side, lines in zip(("fr", "en"), dev, strict=True):
        write_lines(options.work / f"tune.{side}", lines[:TUNED])
    choosing = [lines[TUNED : 2 * TUNED] for lines in dev]

    def judged(condition: str) -> Any:
        def work() -> Any:
            model = trained(condition, options)
            outputs = {"dev": model.translate(choosing[0], ONE), "test": model.translate(test[0], ONE)}
            return {"outputs": outputs, "weights": model.weights.values}

        return kept(options.work / f"{condition.replace(':', '-').replace(' ', '')}.json", work)

    bleu, chrf = BLEU(tokenize="13a"), ChrF()
    found = {condition: judged(condition) for condition in CONDITIONS}
    rows = ["| | " + " | ".join(CONDITIONS) + " |", "|---" * (len(CONDITIONS) + 1) + "|"]
    scores = {
        name: bleu.score(bleu.statistics(run["outputs"]["dev"], [choosing[1]]).sum(0)) for name, run in found.items()
    }
    rows.append("| BLEU, held-out dev | " + " | ".join(f"{score:.2f}" for score in scores.values()) + " |")
    chosen = max(scores, key=lambda name: scores[name])
    rows.append(f"\nChosen on dev: {chosen}.\n")
    rows += ["| test | BLEU | chrF | against 1:1 |", "|---|---|---|---|"]
    base = bleu.statistics(found["1:1"]["outputs"]["test"], [test[1]])
    for name in dict.fromkeys((*BASELINES, chosen)):
        output = found[name]["outputs"]["test"]
        own = bleu.statistics(output, [test[1]])
        told = ""
        if name != "1:1":
            told = f"p = {paired_bootstrap(bleu, base, own, samples=1000).p:.3f}"
        other = chrf.score(chrf.statistics(output, [test[1]]).sum(0))
        rows.append(f"| {name} | {bleu.score(own.sum(0)):.2f} | {other:.2f} | {told} |")
    lms = {name: value for name, value in found[chosen]["weights"].items() if name.startswith("lm")}
    rows.append(f"\nWeights of the language models there: {', '.join(f'{n} {v:.3f}' for n, v in lms.items())}.")
    print("\n".join(rows))
    if options.write:
        write_tables(FOLDER, "\n".join(rows))


if __name__ == "__main__":
    main()
