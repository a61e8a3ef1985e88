"""Bins with structured regularisation (clark2014) on Multi30k: every condition of its Table 3, Table 2 and Figure 7.

    python experiments/clark2014/run.py [--data ../shared] [--work FOLDER] [--pairs de,fr]
                                        [--systems hiero,phrase] [--conditions "log P,MNR P,anchored P"] [--bits 4,8]
                                        [--jobs 2 | --threads 2 | --cluster ADDRESS] [--write]

3,000 pairs are held out of the training text. Weights are tuned by PRO on half of them (WeightTune); bits, and beta for
each number of bits, are chosen by BLEU on the other half (HyperTune), which three replicas translate; these then
translate test with the chosen ones only. Finished runs are kept in the work folder, so that an interrupted experiment
goes on where it was. --write puts the tables into README.md and draws Figure 7.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import camber
from camber.bend.response import Response
from camber.corpus.splitting import hold_out
from camber.decode.searcher import LogLinear
from camber.engine import Engine, Threads
from camber.files import read_lines, write_lines
from camber.metrics.significance import stratified_randomisation
from camber.model.translator import Translator
from camber.pipeline.settings import TrainSettings
from camber.pipeline.tune import dev_set
from camber.report.curves import write_curves
from camber.tune.course import made_decoder
from camber.tune.dev_set import DevSet
from camber.tune.loop import TuneSettings, tune_bent

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # for the workers: theirs are the jobs, not the vectors

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from engines import Processes, add_jobs, jobs_of  # noqa: E402
from sets import Lines  # noqa: E402
from steps import METRIC, arguments, kept, multi30k, spread, write_tables  # noqa: E402

ENGINE = Threads(1)  # of a job

REPLICAS = 3
#: pairs of the training text for WeightTune, and as many for HyperTune
HELD, SEED = 1500, 1
#: rounds of decoding and fitting; the paper has 30
ITERATIONS = 6
#: half of the decoders' defaults
POP_LIMITS = {"hiero": 100, "phrase": 200}
BITS = (4, 8, 12)
#: bend → bits → what is tried for beta; what ties neighbours shrinks with the bins, so that more bits want more
TIES = {4: (1e1, 1e4, 1e7), 8: (1e4, 1e7, 1e10), 12: (1e7, 1e10, 1e13)}
BETAS = {"lnr": TIES, "mnr": TIES, "anchored": dict.fromkeys(BITS, (3.0, 30.0, 300.0))}

#: condition → (bend, rule features: probabilities or counts); log C and anchored P are not in the paper
CONDITIONS = {
    "P": ("raw", "P"),
    "log P": ("none", "P"),
    "Disc P": ("bins", "P"),
    "Over P": ("overlap", "P"),
    "LNR P": ("lnr", "P"),
    "MNR P": ("mnr", "P"),
    "anchored P": ("anchored", "P"),
    "log C": ("none", "C"),
    "MNR C": ("mnr", "C"),
}
#: conditions without bins
STRAIGHT = ("raw", "none")
#: what the others are compared with
BASES = ("log P", "P")
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
TITLES = {"hiero": "Hierarchical", "phrase": "Phrase-based"}

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
    """One tuning."""

    system: str
    pair: str
    condition: str
    bits: int
    beta: float
    replica: int

    @property
    def bend(self) -> str:
        """The kind of its bend."""
        return CONDITIONS[self.condition][0]

    @property
    def seed(self) -> int:
        """What is drawn at random in it begins with this."""
        return 1 + 1000 * self.replica

    @property
    def settings(self) -> TuneSettings:
        """How it tunes: without the caution of the package, as the paper does."""
        return TuneSettings(
            tuner="pro",
            iterations=ITERATIONS,
            patience=0,
            bend=self.bend,
            cautious=False,
            bits=self.bits,
            beta=self.beta,
        )

    def place(self, work: Path, part: str) -> Path:
        """Return its file: of the tuning and HyperTune ("hyper"), or of test."""
        features = FEATURES[self.system][CONDITIONS[self.condition][1]]
        text = json.dumps([asdict(self), HELD, ITERATIONS, POP_LIMITS[self.system], features], sort_keys=True)
        name = self.condition.replace(" ", "-").lower()
        stem = f"{self.system}.{self.pair}.{name}.{part}.{self.bits}.{self.beta:g}.{self.replica}"
        return work / f"{stem}.{hashlib.sha256(text.encode()).hexdigest()[:8]}.json"


def main() -> None:
    """Run what is missing and print the tables."""
    parser = arguments(__doc__, HERE)
    add_jobs(parser)
    parser.add_argument("--pairs", default="de,fr")
    parser.add_argument("--systems", default="hiero,phrase")
    parser.add_argument("--conditions", default=",".join(CONDITIONS), help="log P is among them in any case")
    parser.add_argument("--bits", default=",".join(map(str, BITS)), help="of those that are tried")
    options = parser.parse_args()
    conditions = [name for name in CONDITIONS if name in {BASES[0], *options.conditions.split(",")}]
    text = multi30k(options)
    chosen = [(s, p) for s in options.systems.split(",") for p in options.pairs.split(",")]
    runs = Runs(text, options.work, jobs_of(options), [int(bits) for bits in options.bits.split(",")])
    tables = []
    for system, pair in chosen:
        tables.append(table_3(runs, system, pair, conditions))
        tables += [table_2(runs, system, pair, name) for name in ("MNR P", "anchored P") if name in conditions]
    tables.append(runs.cost())
    report = "\n\n".join(tables)
    print(report)
    if options.write:
        write_tables(HERE, report)
        if ("hiero", "de") in chosen and {"MNR P", "MNR C"} <= set(conditions) and BITS[0] in runs.bits:
            figure_7(runs)


class Runs:
    """The results of jobs: read where they are there, made where they are not."""

    def __init__(self, text: Path, work: Path, where: Processes | Engine, bits: Sequence[int] = BITS) -> None:
        self.text, self.work, self.where, self.bits = text, work, where, bits
        self.seconds: dict[Path, float] = {}

    def __call__(self, jobs: Sequence[Job], part: str = "hyper") -> list[dict[str, Any]]:
        """Return the results of jobs on a part, "hyper" or "test", in their order."""
        places = [job.place(self.work, part) for job in jobs]
        missing = [job for job, place in zip(jobs, places, strict=True) if not place.exists()]
        if missing:
            models = dict.fromkeys((job.system, job.pair, CONDITIONS[job.condition][1]) for job in missing)
            for system, pair, features in models:
                train(system, pair, features, self.text, self.work)
            done = self.where.map(keep, (part, self.text, self.work), missing)
            for job, _ in zip(missing, done, strict=True):
                print(f"done ({part}): {job}", flush=True)
        results = [json.loads(place.read_text()) for place in places]
        for place, result in zip(places, results, strict=True):
            self.seconds[place] = result["cpu"]
        return results

    def cost(self) -> str:
        """Say how long everything took."""
        tunings = sum(".hyper." in place.name for place in self.seconds)
        return f"{tunings} tunings, {sum(self.seconds.values()) / 60:.0f} CPU-minutes."


class Texts(NamedTuple):
    """Text to train on, to tune on, to choose by, and of test."""

    train: Lines
    weight: Lines
    hyper: Lines
    test: Lines


@cache
def texts(text: Path, pair: str) -> Texts:
    """Hold WeightTune and HyperTune out of the training text: neither side of their pairs occurs in what is left."""
    whole, test = (
        Lines(read_lines(text / f"{part}.{pair}"), read_lines(text / f"{part}.en")) for part in ("train", "test")
    )
    split = hold_out(whole.source, whole.target, 2 * HELD, SEED)
    held = split.held.tolist()
    return Texts(whole.of(split.train.tolist()), whole.of(held[::2]), whole.of(held[1::2]), test)


def train(system: str, pair: str, features: str, text: Path, work: Path) -> None:
    """Train a system of a language pair, untuned; what exists is taken, the alignment of others, too."""
    folder = work / f"model.{pair}"
    folder.mkdir(exist_ok=True)
    sides = {pair: texts(text, pair).train.source, "en": texts(text, pair).train.target}
    for ending, lines in sides.items():
        if not (folder / f"train.{ending}").exists():
            write_lines(folder / f"train.{ending}", lines)
    settings = {"text": {"tokenizer": "none"}, STAGES[system]: {"rule_features": FEATURES[system][features]}}
    camber.train(
        folder / f"train.{pair}",
        folder / "train.en",
        folder / f"{system}.{features}",
        method=system,
        held_out=0,
        tuned=False,
        settings=TrainSettings.from_dict(settings),
    )


@cache
def opened(system: str, pair: str, features: str, work: Path) -> Translator:
    """Open a system; the rules of a sentence are extracted once in a process."""
    model = camber.load(work / f"model.{pair}" / f"{system}.{features}")
    return model.shaped(model.decoder.remembering(), model.weights).searching({"pop_limit": POP_LIMITS[system]})


def keep(shared: tuple[str, Path, Path], job: Job) -> None:
    """Run a job, unless its result is there."""
    part, text, work = shared
    kept(job.place(work, part), partial({"hyper": tuned, "test": tested}[part], job, text, work))


def tuned(job: Job, text: Path, work: Path) -> dict[str, Any]:
    """Tune on WeightTune and translate HyperTune."""
    start = time.thread_time()
    model, weight, hyper = seen(job, text, work, "hyper")
    decoder = made_decoder(model.decoder, weight, job.settings, job.seed, ENGINE)
    outcome = tune_bent(decoder, weight, job.settings, job.seed, ENGINE)
    weights = outcome.weights.values
    return {
        "job": asdict(job),
        "dev": float(outcome.scores[0]),
        "features": len(weights),
        "weights": weights,
        "responses": [curve.to_rows() for curve in decoder.bend.show(weights)],
        **judged(outcome.decoder, hyper),
        "cpu": time.thread_time() - start,
    }


def tested(job: Job, text: Path, work: Path) -> dict[str, Any]:
    """Translate test with what was tuned: the same bins are made of WeightTune again."""
    start = time.thread_time()
    model, weight, test = seen(job, text, work, "test")
    decoder = made_decoder(model.decoder, weight, job.settings, job.seed, ENGINE)
    weights = json.loads(job.place(work, "hyper").read_text())["weights"]
    return {**judged(decoder.reweighted(weights), test), "cpu": time.thread_time() - start}


def seen(job: Job, text: Path, work: Path, part: str) -> tuple[Translator, DevSet, DevSet]:
    """Return the model of a job, WeightTune, and what is translated."""
    model, own = opened(job.system, job.pair, CONDITIONS[job.condition][1], work), texts(text, job.pair)
    weight, judging = (dev_set(model, lines.source, [lines.target]) for lines in (own.weight, getattr(own, part)))
    return model, weight, judging


def judged(decoder: LogLinear, text: DevSet) -> dict[str, Any]:
    """Translate a text; return its BLEU and the statistics of its sentences."""
    statistics = text.statistics(decoder.decode_columns(text.inputs, text.vocabulary, 1, ENGINE))
    return {"score": float(METRIC.score(statistics.sum(0))), "statistics": statistics.tolist()}


# --- choosing on HyperTune --------------------------------------------------------------------------------------------


def settings_of(condition: str, tried: Sequence[int]) -> list[tuple[int, float]]:
    """Return what is tried for a condition: bits and beta."""
    bend = CONDITIONS[condition][0]
    if bend in STRAIGHT:
        return [(BITS[0], 0.0)]
    return [(bits, beta) for bits in tried for beta in BETAS.get(bend, {}).get(bits, (0.0,))]


def replicas(system: str, pair: str, condition: str, setting: tuple[int, float]) -> list[Job]:
    """Return all tunings of a condition with some setting."""
    return [Job(system, pair, condition, *setting, replica) for replica in range(REPLICAS)]


def by_bits(runs: Runs, system: str, pair: str, condition: str) -> dict[int, tuple[float, int, float]]:
    """Return for every number of bits the best mean of HyperTune, and its bits and beta; the first among equals."""
    best: dict[int, tuple[float, int, float]] = {}
    settings = settings_of(condition, runs.bits)
    results = iter(runs([job for setting in settings for job in replicas(system, pair, condition, setting)]))
    for bits, beta in settings:
        score = float(np.mean([next(results)["score"] for _ in range(REPLICAS)]))
        if bits not in best or score > best[bits][0]:
            best[bits] = (score, bits, beta)
    return best


def choose(runs: Runs, system: str, pair: str, condition: str) -> tuple[int, float]:
    """Return the bits and beta of a condition with the best mean of HyperTune."""
    _, bits, beta = max(by_bits(runs, system, pair, condition).values(), key=lambda found: found[0])
    return bits, beta


# --- tables -----------------------------------------------------------------------------------------------------------


def table_3(runs: Runs, system: str, pair: str, conditions: Sequence[str]) -> str:
    """Return the rows of one system and language pair."""
    chosen = {name: choose(runs, system, pair, name) for name in conditions}
    jobs = {name: replicas(system, pair, name, setting) for name, setting in chosen.items()}
    runs([job for own in jobs.values() for job in own], "test")
    tests = {name: runs(own, "test") for name, own in jobs.items()}
    tables = {name: [np.array(result["statistics"]) for result in own] for name, own in tests.items()}
    lines = [
        f"**{TITLES[system]}, {pair}→en**",
        "",
        "| condition | bits | beta | features | WeightTune | HyperTune | test | − log P | p (log P) | p (P) "
        "| paper: Zh, Ar, Cz |",
        "|---" * 11 + "|",
    ]
    base = np.mean([result["score"] for result in tests[BASES[0]]])
    for name, (bits, beta) in chosen.items():
        hyper, scores = runs(jobs[name]), [result["score"] for result in tests[name]]
        p = [
            f"{stratified_randomisation(METRIC, tables[other], tables[name]):.3f}"
            if other in tables and other != name
            else ""
            for other in BASES
        ]
        lines.append(
            f"| {name} | {'' if CONDITIONS[name][0] in STRAIGHT else bits} | {f'{beta:g}' if beta else ''} | "
            f"{hyper[0]['features']:,} | {np.mean([result['dev'] for result in hyper]):.2f} | "
            f"{np.mean([result['score'] for result in hyper]):.2f} | {spread(scores)} | "
            f"{np.mean(scores) - base:+.2f} | {p[0]} | {p[1]} | {', '.join(map(str, PAPER.get(name, ())))} |"
        )
    return "\n".join(lines)


def table_2(runs: Runs, system: str, pair: str, condition: str) -> str:
    """Return test BLEU by the number of bits, each with the beta that HyperTune chose for it."""
    lines = [
        f"**{condition} by bits, {TITLES[system].lower()}, {pair}→en**",
        "",
        "| bits | beta | features | HyperTune | test | paper (MNR): features | paper (MNR): test (Cz→En) |",
        "|---" * 7 + "|",
    ]
    for bits, (score, _, beta) in by_bits(runs, system, pair, condition).items():
        jobs = replicas(system, pair, condition, (bits, beta))
        features, peer = PAPER_BITS[bits]
        test = spread([result["score"] for result in runs(jobs, "test")])
        lines.append(
            f"| {bits} | {beta:g} | {runs(jobs)[0]['features']:,} | {score:.2f} | {test} | {features:,} | {peer} |"
        )
    return "\n".join(lines)


def figure_7(runs: Runs) -> None:
    """Draw the response to p_coherent (MNR P, 4 bits) and to the count of the source side (MNR C, 4 bits)."""
    curves = []
    for condition, feature in (("MNR P", "p_coherent"), ("MNR C", "count_s")):
        _, bits, beta = by_bits(runs, "hiero", "de", condition)[BITS[0]]
        (result,) = runs([Job("hiero", "de", condition, bits, beta, 0)])
        rows = [row for group in result["responses"] for row in group]
        curves += [response for response in Response.from_rows(rows) if response.feature == feature]
    write_curves(HERE / "figure7.svg", curves, "linear")


if __name__ == "__main__":
    from run import main as start  # by the name that processes and workers know

    start()
