"""Does a bend lose? Curves anchored to the classical model, and others, on eight sets that they were not made for.

    python experiments/bends/run.py [--data ../shared] [--work FOLDER] [--sets multi30k-de,…] [--test] [--write]

A replica tunes phrase models by PRO on a third of a pool of each set: the classical model first, then each bend from
it, as it is (all the way) and as far as held-out sentences confirm (cautious). All are judged on the other two thirds,
and with --test once on test text. Finished runs are kept in the work folder; --write puts the tables into README.md.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy.stats import binomtest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "tuners")]

from steps import arguments, kept, write_tables  # noqa: E402
from texts import TEXTS, Lines, Set, read_set, trained  # noqa: E402

from camber.engine import Threads  # noqa: E402
from camber.metrics.bleu import BLEU  # noqa: E402
from camber.metrics.significance import stratified_randomisation  # noqa: E402
from camber.model.translator import Translator  # noqa: E402
from camber.pipeline.tune import dev_set  # noqa: E402
from camber.tune.confirming import confirmed  # noqa: E402
from camber.tune.course import classical_first, made_decoder  # noqa: E402
from camber.tune.loop import Outcome, TuneSettings, tune_bent  # noqa: E402

ONE = Threads(1)
REPLICAS = 3
#: name → what is asked for
BENDS: dict[str, dict[str, Any]] = {
    **{f"anchored {bits} bits, β {beta}": {"bend": "anchored", "bits": bits, "beta": float(beta)}
       for bits, beta in ((4, 30), (8, 10), (8, 30), (8, 100), (8, 300), (12, 30))},
    "isotonic 8 bits, β 30": {"bend": "isotonic", "bits": 8, "beta": 30.0},
    "mnr 8 bits": {"bend": "mnr", "bits": 8},
}  # fmt: skip
CLASSICAL, CAUTIOUS = "classical", ", cautious"


def main() -> None:
    """Run what is missing and print the tables."""
    parser = arguments(__doc__, HERE)
    parser.add_argument("--sets", default=",".join(TEXTS))
    parser.add_argument("--bends", default=";".join(BENDS), help="names, with semicolons between them")
    parser.add_argument("--replicas", type=int, default=REPLICAS)
    parser.add_argument("--test", action="store_true", help="also translate test text, by what was chosen")
    options = parser.parse_args()
    if not (options.data / "data").is_dir():
        raise SystemExit(f"{options.data / 'data'}: no such folder; name the data folder with --data")
    options.work.mkdir(parents=True, exist_ok=True)
    results: dict[str, list[dict[str, Any]]] = {}
    for name in options.sets.split(","):
        results[name] = []
        for replica in range(options.replicas):
            results[name].append(run(name, replica, options.bends.split(";"), options))
    text = table(results, "judged")
    if options.test:
        text += "\n\n" + table(results, "test")
    print(text)
    if options.write:
        write_tables(HERE, text)


def run(name: str, replica: int, bends: Sequence[str], options: Any) -> dict[str, Any]:
    """Return what every system has on the text that judges, and on test: statistics of all sentences, as lists."""
    opened: list[tuple[Set, Translator]] = []

    def data() -> tuple[Set, Translator]:
        if not opened:
            of_set = read_set(name, options.data)
            opened.append((of_set, trained(of_set, "phrase", options.work / "models", ONE)))
        return opened[0]

    found: dict[str, Any] = {}
    stem = f"{name}.{replica}"
    for bend in bends:
        place = options.work / f"{stem}.{bend.replace(' ', '-').replace(',', '')}{'.test' if options.test else ''}.json"
        found |= kept(place, lambda bend=bend: tuned(*data(), replica, bend, test=options.test))
    print(stem, {system: round(bleu(rows["judged"]), 2) for system, rows in found.items()}, flush=True)
    return found


def tuned(data: Set, model: Translator, replica: int, bend: str, *, test: bool) -> dict[str, Any]:
    """Tune the classical model and a bend from it, and translate with both and with what is between them."""
    start = time.process_time()
    part = data.part(replica)
    dev = dev_set(model, part.source, [part.target])
    settings = TuneSettings(tuner="pro", **BENDS[bend])
    decoder = model.decoder.remembering()
    seed = 1 + 1000 * replica
    classical = classical_first(decoder, dev, settings, seed, ONE)
    assert classical is not None
    of_line = time.process_time() - start
    bent = tune_bent(made_decoder(classical.decoder, dev, settings, seed, ONE), dev, settings, seed, ONE)
    of_bend = time.process_time() - start - of_line
    way = confirmed(classical, bent, dev, settings, seed, ONE)
    of_way = time.process_time() - start - of_line - of_bend

    def shown(outcome: Outcome) -> dict[str, Any]:
        translator = model.shaped(outcome.decoder, outcome.weights)
        rows = {"judged": statistics(translator, data.others(replica))}
        return rows | ({"test": statistics(translator, data.test)} if test else {})

    return {
        CLASSICAL: {**shown(classical), "cpu": of_line},
        bend: {**shown(bent), "cpu": of_bend},
        bend + CAUTIOUS: {**shown(way.outcome), "cpu": of_way, "step": way.step},
    }


def metric_of(name: str) -> BLEU:
    """Return BLEU as texts of a set want it."""
    return BLEU(tokenize="13a" if TEXTS[name].raw else "none")


def statistics(translator: Translator, lines: Lines) -> list[list[int]]:
    """Return the statistics of every sentence."""
    metric = BLEU(tokenize="none" if translator.text.settings.tokenizer == "none" else "13a")
    return metric.statistics(translator.translate(lines.source, engine=ONE), [lines.target]).astype(int).tolist()


def bleu(rows: Sequence[Sequence[int]]) -> float:
    """Return the score of sentences."""
    return float(BLEU().score(np.asarray(rows, np.float64).sum(0)))


def table(results: dict[str, list[dict[str, Any]]], text: str) -> str:
    """Lay out the means over replicas, each bend as its difference from the classical model."""
    systems = [name for name in next(iter(results.values()))[0] if name != CLASSICAL]
    lines = [
        f"**BLEU on text of the kind “{text}”**: {CLASSICAL}, and the difference that bends make",
        "",
        f"| system | {' | '.join(results)} | mean | worst | sets won (p) | step | CPU-s |",
        "|---|" + "---|" * (len(results) + 5),
    ]

    def score(name: str, system: str) -> list[float]:
        return [bleu(replica[system][text]) for replica in results[name]]

    base = {name: float(np.mean(score(name, CLASSICAL))) for name in results}
    cpu = np.mean([replica[CLASSICAL]["cpu"] for replicas in results.values() for replica in replicas])
    own = " | ".join(f"{value:.2f}" for value in base.values())
    lines.append(f"| {CLASSICAL} | {own} | {np.mean([*base.values()]):.2f} | | | | {cpu:.0f} |")
    for system in systems:
        gains = {name: float(np.mean(score(name, system))) - base[name] for name in results}
        marks = {name: "*" if significance(results[name], system, text) < 0.05 else "" for name in results}
        won, lost = (sum(sign * gain > 0.005 for gain in gains.values()) for sign in (1, -1))
        p = binomtest(won, won + lost).pvalue if won + lost else 1.0
        runs = [replica[system] for replicas in results.values() for replica in replicas]
        step = f"{np.mean([one['step'] for one in runs]):.2f}" if "step" in runs[0] else "1"
        cells = " | ".join(f"{gains[name]:+.2f}{marks[name]}" for name in results)
        values = [*gains.values()]
        lines.append(
            f"| {system} | {cells} | {np.mean(values):+.2f} | {min(values):+.2f} | {won}:{lost} ({p:.2f}) | {step} | "
            f"{np.mean([one['cpu'] for one in runs]):.0f} |"
        )
    lines.append("")
    lines.append("\\* p < .05 by approximate randomisation over the sentences of all replicas.")
    return "\n".join(lines)


def significance(replicas: Sequence[dict[str, Any]], system: str, text: str) -> float:
    """Return how likely chance makes such a difference, over the sentences of all replicas."""
    one, two = (
        [np.concatenate([np.array(replica[which][text], np.float64) for replica in replicas])]
        for which in (CLASSICAL, system)
    )
    return stratified_randomisation(BLEU(), one, two, trials=500)


if __name__ == "__main__":
    main()
