"""Consensus on several sets: minimum Bayes risk for a phrase model and a hierarchical one, both together, and more.

    python experiments/consensus/run.py [SET …] [--data ../shared] [--work FOLDER] [--write]

For every set, both models are trained, tuned by PRO on dev, and translate test with and without minimum Bayes risk;
then both translate together, untuned and with weights that `camber combine` fits on dev. On the sets of `MANY`, further
models are joined, which differ in their alignment, their features or their tuner: of several groups, the one that is
best on dev is asked for longer lists, too, and the better of the two translates test. Test is translated once. Finished
steps are kept in the work folder, so that an interrupted experiment goes on where it was. --write puts the tables into
README.md.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import camber
from camber.arrays.types import AnyArray
from camber.cli.display import show
from camber.engine import Engine
from camber.files import read_lines, write_lines
from camber.metrics.bleu import BLEU
from camber.metrics.significance import paired_bootstrap
from camber.model.combination import together
from camber.model.translator import load
from camber.pipeline.combine import combine_models
from camber.pipeline.settings import TrainSettings

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from engines import add_engine, engine_of  # noqa: E402
from steps import arguments, kept, write_tables  # noqa: E402


class Text(NamedTuple):
    """Where a set is, its source language, how it is tokenised, and how many lines of dev are used."""

    folder: str
    language: str
    tokenizer: str = "moses"
    dev: int = 1000


SETS = {
    "multi30k-de": Text("multi30k/tok", "de", "none", 1014),
    "multi30k-fr": Text("multi30k/tok", "fr", "none", 1014),
    "tatoeba-fi": Text("tatoeba-fi-en", "fi"),
    "callhome-es": Text("callhome-es-en", "es"),
    "europarl-fr": Text("europarl-fr-en-10k", "fr", "none"),
    "pythondocs-fr": Text("pythondocs-fr-en", "fr"),
    "tatoeba-tr": Text("tatoeba-tr-en", "tr"),
}


class Member(NamedTuple):
    """A model: its method, what of its training differs from the defaults, its tuner, and who has the same training."""

    method: str
    settings: dict[str, dict[str, Any]]
    tuner: str = "pro"
    like: str = ""


#: the two that every set has, then those that differ from them in their features, their alignment, or their tuner
BOTH = ("phrase", "hiero")
_OTHER = {"align": {"symmetrise": "grow-diag-final", "model": "quick"}}
MEMBERS = {
    "phrase": Member("phrase", {}),
    "hiero": Member("hiero", {}),
    "phrase, MIRA": Member("phrase", {}, "mira", "phrase"),
    "hiero, MIRA": Member("hiero", {}, "mira", "hiero"),
    "phrase, large": Member("phrase", {"rules": {"rule_features": "large"}}),
    "phrase, other links": Member("phrase", _OTHER),
    "hiero, other links": Member("hiero", _OTHER, "mira"),
}
#: what is joined on the sets of `MANY`: it takes minutes
GROUPS = {
    "both": BOTH,
    "both, by two tuners": ("phrase", "hiero", "phrase, MIRA", "hiero, MIRA"),
    "hierarchical": ("hiero", "hiero, MIRA", "hiero, other links"),
    "all": tuple(MEMBERS),
}
MANY = ("multi30k-de", "multi30k-fr")
#: hypotheses of each member, and of each of the group that is best with as many
SIZE, LONGER = 100, 200
TUNERS = {"pro": "brevity=smoothed", "mira": ""}
#: rounds of tuning; one of a hierarchical model takes four times as long
ROUNDS = {"phrase": 5, "hiero": 4}
SYSTEMS = ("phrase", "hiero", "phrase, MBR", "hiero, MBR", "together", "combined")


def main() -> None:
    """Run what is missing and print the table."""
    parser = arguments(__doc__, HERE)
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"of {', '.join(SETS)} (default: all)")
    add_engine(parser)
    options = parser.parse_args()
    if unknown := [name for name in options.sets if name not in SETS]:
        parser.error(f"unknown set {unknown[0]!r}; there are {', '.join(SETS)}")
    show()
    titles = [
        "set",
        *SYSTEMS,
        "together, combined − best alone",
        "CPU-ms per sentence: phrase, hiero, phrase MBR, combined",
    ]
    rows, more = [], []
    for name in options.sets or SETS:
        own = Runs(name, options)
        rows.append(row(own))
        if name in MANY:
            more.append(own)
    table = "\n".join([f"| {' | '.join(titles)} |", "|" + "---|" * len(titles), *rows])
    if more:
        titles = ["set", *(f"{name}, dev" for name in MEMBERS)]
        table += "\n\n" + "\n".join(
            [f"| {' | '.join(titles)} |", "|" + "---|" * len(titles), *map(row_of_members, more)]
        )
        longer = f"the best, {LONGER} hypotheses each"
        titles = [
            "set",
            *(f"{name}, dev" for name in (*GROUPS, longer)),
            "chosen",
            "test",
            "− best alone",
            "CPU-ms per sentence",
        ]
        table += "\n\n" + "\n".join([f"| {' | '.join(titles)} |", "|" + "---|" * len(titles), *map(row_of_many, more)])
    print(table)
    if options.write:
        write_tables(HERE, table)


class Runs:
    """What is run on a set: models are made, combined, and translate test, each once."""

    def __init__(self, name: str, options: argparse.Namespace) -> None:
        self.name, self.text, self.engine = name, SETS[name], engine_of(options)
        self.folder, self.work = options.data / "data" / self.text.folder, options.work / name
        if not self.folder.is_dir():
            raise SystemExit(f"{self.folder}: no such folder; name the data folder with --data")
        self.work.mkdir(parents=True, exist_ok=True)
        self.dev = self.work / "dev.source", self.work / "dev.target"
        for place, language in zip(self.dev, (self.text.language, "en"), strict=True):
            write_lines(place, read_lines(self.folder / f"dev.{language}")[: self.text.dev])
        self.source = read_lines(self.folder / f"test.{self.text.language}")
        self.metric = BLEU(tokenize="none" if self.text.tokenizer == "none" else "13a")
        self.target = read_lines(self.folder / "test.en")

    def model(self, member: str) -> tuple[Path, dict[str, Any]]:
        """Return the folder of a member, trained and tuned, and what came of it."""
        stem = member.replace(", ", "-").replace(" ", "-")
        made = kept(self.work / f"{stem}.json", partial(make, MEMBERS[member], stem, self))
        return self.work / stem, made

    def best(self, members: Sequence[str]) -> str:
        """Return the member that is best on dev."""
        return max(members, key=lambda member: float(self.model(member)[1]["dev"]))

    def combined(self, members: Sequence[str], name: str, size: int = SIZE) -> tuple[Path, dict[str, Any]]:
        """Return the folder of a combination that was fitted, and what came of it."""
        place = self.work / name.replace(", ", "-").replace(" ", "-")
        models = [self.model(member)[0] for member in members]
        done = kept(place.with_suffix(".json"), partial(fit, models, self.dev, place, size, self.engine))
        return place, done

    def chosen(self) -> tuple[str, dict[str, dict[str, Any]]]:
        """Return the name of the combination that is best on dev, and what came of all."""
        done = {"both": self.combined(BOTH, "combined")[1]}
        done |= {name: self.combined(GROUPS[name], f"many {name}")[1] for name in GROUPS if name not in done}
        best = max(done, key=lambda name: on_dev(done[name]))
        longer = f"{best}, {LONGER}"
        done[longer] = self.combined(GROUPS[best], f"many {longer}", LONGER)[1]
        return max(done, key=lambda name: on_dev(done[name])), done

    def fitted(self, name: str) -> str:
        """Say where weights were not kept."""
        return "" if kept(self.work / f"{name.replace(' ', '-')}.json", dict)["fitted"] else " (not fitted)"

    def test(self, system: str, opened: Callable[[], Any]) -> dict[str, Any]:
        """Return the translations of test by a system and what they took."""
        stem = system.replace(", ", "-").replace(" ", "-")
        return kept(self.work / f"test.{stem}.json", partial(translated, opened, self.source, self.engine))

    def statistics(self, done: dict[str, Any]) -> AnyArray:
        """Return the statistics of translations of test."""
        return self.metric.statistics(done["lines"], [self.target])

    def score(self, done: dict[str, Any]) -> float:
        """Return BLEU of translations of test."""
        return float(self.metric.score(self.statistics(done).sum(0)))

    def gain(self, best: dict[str, Any], done: dict[str, Any]) -> str:
        """Return what translations gain over others, and how likely that is by chance."""
        p = paired_bootstrap(self.metric, [self.statistics(best)], [self.statistics(done)]).p
        return f"{self.score(done) - self.score(best):+.2f} (p = {p:.3f})"

    def cost(self, done: dict[str, Any]) -> str:
        """Return CPU milliseconds for a sentence."""
        return f"{1000 * done['cpu'] / len(self.source):.0f}"


def row(runs: Runs) -> str:
    """Run what is missing for a set; return its row of the table."""
    models = [runs.model(member)[0] for member in BOTH]
    place = runs.combined(BOTH, "combined")[0]
    openers: dict[str, Callable[[], Any]] = {
        "phrase": lambda: load(models[0]),
        "hiero": lambda: load(models[1]),
        "phrase, MBR": lambda: together([load(models[0])]),
        "hiero, MBR": lambda: together([load(models[1])]),
        "together": lambda: together([load(model) for model in models]),
        "combined": lambda: load(place),
    }
    done = {system: runs.test(system, openers[system]) for system in SYSTEMS}
    best = done[runs.best(BOTH)]
    gains = ", ".join(runs.gain(best, done[system]) for system in ("together", "combined")) + runs.fitted("combined")
    costs = ", ".join(runs.cost(done[s]) for s in ("phrase", "hiero", "phrase, MBR", "combined"))
    cells = " | ".join(f"{runs.score(done[system]):.2f}" for system in SYSTEMS)
    return f"| {runs.name} | {cells} | {gains} | {costs} |"


def on_dev(done: dict[str, Any]) -> float:
    """Return BLEU of a combination on dev: of weights that were fitted, on the half that they were not fitted to."""
    return float(max(done["untuned"], done["held_out"]))


def row_of_members(runs: Runs) -> str:
    """Make all members; return the row of a set."""
    scores = [f"{runs.model(member)[1]['dev']:.2f}" for member in MEMBERS]
    return f"| {runs.name} | {' | '.join(scores)} |"


def row_of_many(runs: Runs) -> str:
    """Join members, choose on dev what translates test; return the row of a set."""
    name, done = runs.chosen()
    place = runs.work / ("combined" if name == "both" else f"many {name}").replace(", ", "-").replace(" ", "-")
    best = runs.best(list(MEMBERS))
    alone = runs.test(best, partial(load, runs.model(best)[0]))
    found = runs.test(f"chosen {name}", partial(load, place))
    cells = " | ".join(f"{one['untuned']:.2f} / {one['held_out']:.2f}" for one in done.values())
    kind = "fitted" if done[name]["fitted"] else "not fitted"
    gain = f"{runs.gain(alone, found)} against {best}, {runs.score(alone):.2f}"
    return f"| {runs.name} | {cells} | {name}, {kind} | {runs.score(found):.2f} | {gain} | {runs.cost(found)} |"


def make(member: Member, stem: str, runs: Runs) -> dict[str, float]:
    """Train and tune a model; return BLEU on dev and CPU seconds."""
    start = time.process_time()
    text = {"tokenizer": runs.text.tokenizer, "source_lang": runs.text.language, "target_lang": "en"}
    settings = TrainSettings.from_dict({"text": text, **member.settings})
    untuned = runs.work / f"{member.like or stem}.untuned"
    files = runs.folder / f"train.{runs.text.language}", runs.folder / "train.en", untuned
    if not (member.like and untuned.is_dir()):
        camber.train(*files, engine=runs.engine, method=member.method, held_out=0, tuned=False, settings=settings)
    tuning = {
        "tuner": member.tuner,
        "tuner_options": TUNERS[member.tuner],
        "iterations": ROUNDS[member.method],
    }
    outcome = camber.tune_model(untuned, *runs.dev, out=runs.work / stem, settings=tuning, engine=runs.engine)
    return {"dev": float(outcome.scores.max()), "cpu": time.process_time() - start}


def fit(models: Sequence[Path], dev: Sequence[Path], out: Path, size: int, engine: Engine) -> dict[str, Any]:
    """Combine the models by so many hypotheses of each."""
    start = time.process_time()
    combined = combine_models(models, *dev, out, settings={"mbr_size": size}, engine=engine)
    return {**combined.to_dict(), "cpu": time.process_time() - start}


def translated(opened: Callable[[], Any], source: Sequence[str], engine: Engine) -> dict[str, Any]:
    """Translate test; return the lines and the CPU seconds that it took, opening excluded."""
    translator = opened()
    translator.translate(source[:2], engine)  # kernels are compiled or fetched
    start = time.process_time()
    return {"lines": translator.translate(source, engine), "cpu": time.process_time() - start}


if __name__ == "__main__":
    main()
