"""Bins with structured regularisation (clark2014) on Multi30k: every condition of its Table 3, Table 2 and Figure 7.

    python experiments/clark2014/run.py [--data ../shared] [--work FOLDER] [--jobs 2] [--pairs de,fr] [--write]

Weights are tuned by PRO on the first half of dev (WeightTune); bits and beta are chosen by BLEU on the second half
(HyperTune); test is translated with the chosen ones only, once per replica. Finished runs are kept in the work folder,
so that an interrupted experiment goes on where it was. --write puts the tables into README.md and draws Figure 7.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import camber
from camber.bend.response import Response
from camber.engine import Threads
from camber.files import read_lines
from camber.metrics.significance import stratified_randomisation
from camber.model.translator import Translator
from camber.pipeline.settings import TrainSettings
from camber.pipeline.tune import tune_translator
from camber.report.curves import write_curves
from camber.tune.loop import TuneSettings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # for the workers: theirs are the jobs, not the vectors

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from steps import METRIC, arguments, kept, multi30k, spread, write_tables  # noqa: E402

REPLICAS = 3
#: rounds of decoding and fitting; the paper has 30
ITERATIONS = 6
#: half of the decoders' defaults
POP_LIMITS = {"hiero": 100, "phrase": 200}
BITS = (4, 8, 12)
BETAS = (1e3, 1e5, 1e7)
#: bits with which beta is chosen first; bits are then chosen with that beta
FIRST_BITS = 8

#: condition → (bend, rule features: probabilities or counts); log C is not in the paper
CONDITIONS = {
    "P": ("raw", "P"),
    "log P": ("none", "P"),
    "Disc P": ("bins", "P"),
    "Over P": ("overlap", "P"),
    "LNR P": ("lnr", "P"),
    "MNR P": ("mnr", "P"),
    "log C": ("none", "C"),
    "MNR C": ("mnr", "C"),
}
#: phrase pairs have p(s|t), too, and so c(t) takes its place
FEATURES = {
    "hiero": {
        "P": "p_coherent,lex_t_given_s,lex_s_given_t",
        "C": "count_s,count_st,lex_t_given_s,lex_s_given_t",
    },
    "phrase": {
        "P": "p_s_given_t,lex_s_given_t,p_t_given_s,lex_t_given_s",
        "C": "count_s,count_t,count_st,lex_s_given_t,lex_t_given_s",
    },
}
#: the table of settings that has them
STAGES = {"hiero": "hiero", "phrase": "rules"}

#: Table 3 of the paper
PAPER = {
    "P": (20.8, 44.3, 36.5),
    "log P": (23.5, 47.9, 37.6),
    "Disc P": (23.4, 47.2, 36.8),
    "Over P": (20.7, 44.6, 36.6),
    "LNR P": (23.1, 48.0, 37.3),
    "MNR P": (23.8, 48.7, 37.6),
    "MNR C": (23.6, 48.7, 37.4),
}
#: Table 2 of the paper: bits → features, test BLEU (Czech to English)
PAPER_BITS = {4: (101, 36.4), 8: (1302, 36.6), 12: (12_910, 36.8)}


@dataclass(frozen=True)
class Job:
    """One tuning: what it is, and what it is measured on."""

    system: str
    pair: str
    condition: str
    bits: int
    beta: float
    replica: int
    final: bool  # on test; otherwise on HyperTune

    @property
    def place(self) -> str:
        """The name of its file."""
        features = FEATURES[self.system][CONDITIONS[self.condition][1]]
        text = json.dumps([asdict(self), ITERATIONS, POP_LIMITS[self.system], features], sort_keys=True)
        part = "test" if self.final else "hyper"
        name = self.condition.replace(" ", "-").lower()
        return f"{self.system}.{self.pair}.{name}.{part}.{hashlib.sha256(text.encode()).hexdigest()[:8]}.json"


def main() -> None:
    """Run what is missing and print the tables."""
    parser = arguments(__doc__, HERE)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--pairs", default="de,fr")
    parser.add_argument("--systems", default="hiero,phrase")
    options = parser.parse_args()
    text = multi30k(options)
    chosen = [(s, p) for s in options.systems.split(",") for p in options.pairs.split(",")]
    runs = Runs(text, options.work, options.jobs)
    tables = [table_3(runs, system, pair) for system, pair in chosen if system == "hiero"]
    bits = table_2(runs) if ("hiero", "de") in chosen else ""
    tables += [bits, *(table_3(runs, system, pair) for system, pair in chosen if system == "phrase"), runs.cost()]
    report = "\n\n".join(tables)
    print(report)
    if options.write:
        write_tables(HERE, report)
        if bits:
            figure_7(runs)


class Runs:
    """The results of jobs: read where they are there, made where they are not."""

    def __init__(self, text: Path, work: Path, jobs: int) -> None:
        self.text, self.work, self.jobs = text, work, jobs
        self.seconds: dict[str, float] = {}

    def __call__(self, jobs: Sequence[Job]) -> list[dict[str, Any]]:
        """Return the results of jobs, in their order."""
        missing = [job for job in jobs if not (self.work / job.place).exists()]
        if missing:
            for system, pair in dict.fromkeys((job.system, job.pair) for job in missing):
                train(system, pair, self.text, self.work)
            with ProcessPoolExecutor(self.jobs, get_context("spawn")) as pool:
                waiting = [pool.submit(keep, job, self.text, self.work) for job in missing]
                for job, task in zip(missing, waiting, strict=True):
                    task.result()
                    print(f"done: {job}", flush=True)
        runs = [json.loads((self.work / job.place).read_text()) for job in jobs]
        for job, result in zip(jobs, runs, strict=True):
            self.seconds[job.place] = result["cpu"]
        return runs

    def cost(self) -> str:
        """Say how long everything took."""
        total = sum(self.seconds.values())
        return f"{len(self.seconds)} tunings, {total / 60:.0f} CPU-minutes."


def train(system: str, pair: str, text: Path, work: Path) -> None:
    """Train the systems of a language pair, untuned; those that exist are taken."""
    for name, features in FEATURES[system].items():
        settings = {"text": {"tokenizer": "none"}, STAGES[system]: {"rule_features": features}}
        camber.train(
            text / f"train.{pair}",
            text / "train.en",
            work / f"model.{system}.{pair}.{name}",
            method=system,
            held_out=0,
            tuned=False,
            settings=TrainSettings.from_dict(settings),
        )


@cache
def opened(system: str, pair: str, features: str, work: Path) -> Translator:
    """Open a system; the rules of a sentence are extracted once in a process."""
    model = camber.load(work / f"model.{system}.{pair}.{features}")
    return model.shaped(model.decoder.remembering(), model.weights).searching({"pop_limit": POP_LIMITS[system]})


def keep(job: Job, text: Path, work: Path) -> None:
    """Run a job, unless its result is there."""
    kept(work / job.place, partial(run, job, text, work))


def run(job: Job, text: Path, work: Path) -> dict[str, Any]:
    """Tune and translate."""
    start = time.process_time()
    bend, features = CONDITIONS[job.condition]
    model = opened(job.system, job.pair, features, work)
    source, target = read_lines(text / f"dev.{job.pair}"), read_lines(text / "dev.en")
    half = len(source) // 2
    settings = TuneSettings(
        tuner="pro",
        iterations=ITERATIONS,
        patience=0,
        bend=bend,
        cautious=False,
        bits=job.bits,
        beta=job.beta,
    )
    seed = 1 + 1000 * job.replica
    outcome = tune_translator(model, source[:half], [target[:half]], settings, seed=seed, engine=Threads(1))
    source, target = source[half:], target[half:]
    if job.final:
        source, target = read_lines(text / f"test.{job.pair}"), read_lines(text / "test.en")
    statistics = METRIC.statistics(
        model.shaped(outcome.decoder, outcome.weights).translate(source, engine=Threads(1)), [target]
    )
    decoder = outcome.decoder
    rows = [curve.to_rows() for curve in decoder.bend.show(outcome.weights.values)]
    return {
        "job": asdict(job),
        "dev": float(outcome.scores[0]),
        "score": float(METRIC.score(statistics.sum(0))),
        "features": len(outcome.weights),
        "statistics": statistics.tolist(),
        "responses": rows,
        "cpu": time.process_time() - start,
    }


# --- choosing on HyperTune --------------------------------------------------------------------------------------------


def choose(runs: Runs, system: str, pair: str) -> dict[str, tuple[int, float]]:
    """Choose bits and beta of every condition by BLEU on HyperTune: beta first, then bits."""

    def job(condition: str, bits: int, beta: float) -> Job:
        return Job(system, pair, condition, bits, beta, 0, False)

    bent = [name for name in CONDITIONS if CONDITIONS[name][0] not in ("raw", "none")]
    tied = [name for name in bent if CONDITIONS[name][0] in ("lnr", "mnr")]
    first = [job(name, FIRST_BITS, beta) for name in tied for beta in BETAS]
    best: dict[str, tuple[int, float]] = dict.fromkeys(CONDITIONS, (FIRST_BITS, 0.0))
    best |= _highest(first, runs(first))
    second = [job(name, bits, best[name][1]) for name in bent for bits in BITS]
    return best | _highest(second, runs(second))


def _highest(jobs: Sequence[Job], results: Sequence[dict[str, Any]]) -> dict[str, tuple[int, float]]:
    """Return the bits and beta with the highest score of every condition, the first among equals."""
    best: dict[str, tuple[float, int, float]] = {}
    for job, result in zip(jobs, results, strict=True):
        if job.condition not in best or result["score"] > best[job.condition][0]:
            best[job.condition] = (result["score"], job.bits, job.beta)
    return {name: (bits, beta) for name, (_, bits, beta) in best.items()}


# --- tables -----------------------------------------------------------------------------------------------------------


def table_3(runs: Runs, system: str, pair: str) -> str:
    """Return the rows of one system and language pair."""
    chosen = choose(runs, system, pair)
    jobs = [Job(system, pair, name, *chosen[name], replica, True) for name in chosen for replica in range(REPLICAS)]
    results = runs(jobs)
    by_name: dict[str, list[dict[str, Any]]] = {}
    for job, result in zip(jobs, results, strict=True):
        by_name.setdefault(job.condition, []).append(result)
    tables = {name: [np.array(r["statistics"]) for r in group] for name, group in by_name.items()}
    lines = [
        f"**{'Hierarchical' if system == 'hiero' else 'Phrase-based'}, {pair}→en**",
        "",
        "| condition | bits | beta | features | WeightTune | test | − log P | p (log P) | p (P) | paper: Zh, Ar, Cz |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    base = np.mean([r["score"] for r in by_name["log P"]])
    for name, group in by_name.items():
        bits, beta = chosen[name]
        bend = CONDITIONS[name][0]
        scores = [r["score"] for r in group]
        p = [
            "" if name == other else f"{stratified_randomisation(METRIC, tables[other], tables[name]):.3f}"
            for other in ("log P", "P")
        ]
        lines.append(
            f"| {name} | {bits if bend not in ('raw', 'none') else ''} | {f'{beta:g}' if beta else ''} | "
            f"{group[0]['features']:,} | {np.mean([r['dev'] for r in group]):.2f} | {spread(scores)} | "
            f"{np.mean(scores) - base:+.2f} | {p[0]} | {p[1]} | {', '.join(map(str, PAPER.get(name, ())))} |"
        )
    return "\n".join(lines)


def bits_jobs(runs: Runs) -> list[Job]:
    """Return the tunings of Table 2: MNR P with every number of bits, beta as chosen."""
    beta = choose(runs, "hiero", "de")["MNR P"][1]
    return [Job("hiero", "de", "MNR P", bits, beta, replica, True) for bits in BITS for replica in range(REPLICAS)]


def table_2(runs: Runs) -> str:
    """Return test BLEU by the number of bits."""
    jobs = bits_jobs(runs)
    results = runs(jobs)
    lines = [
        "**MNR P by bits, hierarchical, de→en**",
        "",
        "| bits | features | test | paper: features | paper: test (Cz→En) |",
        "|---|---|---|---|---|",
    ]
    for bits in BITS:
        group = [result for job, result in zip(jobs, results, strict=True) if job.bits == bits]
        features, score = PAPER_BITS[bits]
        scores = spread([r["score"] for r in group])
        lines.append(f"| {bits} | {group[0]['features']:,} | {scores} | {features:,} | {score} |")
    return "\n".join(lines)


def figure_7(runs: Runs) -> None:
    """Draw the response to p_coherent (MNR P, 4 bits) and to the count of the source side (MNR C, 4 bits)."""
    beta = choose(runs, "hiero", "de")
    jobs = [
        Job("hiero", "de", "MNR P", 4, beta["MNR P"][1], 0, True),
        Job("hiero", "de", "MNR C", 4, beta["MNR C"][1], 0, True),
    ]
    curves = []
    for result, feature in zip(runs(jobs), ("p_coherent", "count_s"), strict=True):
        rows = [row for group in result["responses"] for row in group]
        curves += [response for response in Response.from_rows(rows) if response.feature == feature]
    write_curves(HERE / "figure7.svg", curves, "linear")


if __name__ == "__main__":
    main()
