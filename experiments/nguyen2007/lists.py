"""The lists of the experiment: of all training text, fold by fold, and of dev and test by the system of all of it.

Every list is kept as columns in one file: features that have weights, and statistics of BLEU. (With one reference, the
shortest is the closest.)
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import camber
from camber.arrays.ragged import offsets_from
from camber.engine import Threads
from camber.features.weights import Weights
from camber.files import read_lines, write_lines
from camber.metrics.bleu import BLEU
from camber.pipeline.folds import FoldSettings, fold_lists
from camber.pipeline.settings import TrainSettings
from camber.pipeline.tune import dev_set
from camber.tune.data import TuningData
from camber.tune.loop import FIXED

METRIC = BLEU(tokenize="none")
SETTINGS = TrainSettings.from_dict({"text": {"tokenizer": "none"}})


@dataclass(frozen=True)
class Sizes:
    """How much of everything there is; 0: all of a file."""

    train: int = 0
    dev: int = 0
    test: int = 0  # of training text behind `train`, in place of the test set
    folds: int = 10
    rounds: int = 2
    nbest: int = 30  # of training text, per round: about a million hypotheses in all
    wide: int = 100  # of dev and test


def make_lists(text: Path, language: str, sizes: Sizes, work: Path, jobs: int) -> dict[str, TuningData]:
    """Return the lists of train, dev and test; those that exist are taken."""
    folder = work / f"text.{language}"
    folder.mkdir(parents=True, exist_ok=True)
    for side in (language, "en"):
        for name, origin, first, most in (
            ("train", "train", 0, sizes.train),
            ("dev", "dev", 0, sizes.dev),
            ("test", "train" if sizes.test else "test", sizes.train if sizes.test else 0, sizes.test),
        ):
            lines = read_lines(text / f"{origin}.{side}")
            write_lines(folder / f"{name}.{side}", lines[first : first + most] if most else lines)
    weights = work / f"{language}.weights.tsv"

    def train() -> TuningData:
        lists = fold_lists(
            folder / f"train.{language}",
            folder / "train.en",
            work / f"folds.{language}",
            settings=SETTINGS,
            folds=FoldSettings(folds=sizes.folds, rounds=sizes.rounds, nbest=sizes.nbest),
            engine=Threads(jobs),
        )
        lists.weights.write(weights)
        return lists.data()

    def translated(name: str) -> TuningData:
        model = camber.train(
            folder / f"train.{language}",
            folder / "train.en",
            work / f"model.{language}",
            held_out=0,
            tuned=False,
            settings=SETTINGS,
            engine=Threads(jobs),
        )
        decoder = model.decoder.reweighted(Weights.read(weights, model.decoder.names).values)
        source, target = (read_lines(folder / f"{name}.{side}") for side in (language, "en"))
        dev = dev_set(model, source, [target], "bleu", name)
        columns = decoder.decode_columns(dev.inputs, dev.vocabulary, sizes.wide, Threads(jobs))
        fixed = np.array([name in FIXED for name in decoder.names])
        statistics = dev.statistics(columns)
        return TuningData(decoder.names, columns.features, offsets_from(columns.counts), statistics, METRIC, fixed)

    return {
        "train": _kept(work / f"{language}.train.npz", train),
        **{
            name: _kept(work / f"{language}.{name}.npz", lambda name=name: translated(name)) for name in ("dev", "test")
        },
    }


def _kept(place: Path, make: Callable[[], TuningData]) -> TuningData:
    """Return the list of a file, or make and keep it; an interrupted run leaves nothing."""
    if not place.exists():
        start, cpu = time.time(), time.thread_time()
        data = make()
        spent = np.array([time.time() - start, time.thread_time() - cpu])
        part = place.with_suffix(".part.npz")
        np.savez(
            part,
            names=np.array(data.names),
            features=data.features,
            offsets=data.sentence_offsets,
            statistics=data.statistics,
            fixed=data.fixed,
            spent=spent,
        )
        part.rename(place)
        print(f"{place.name}: {len(data):,} sentences, {data.hypotheses:,} hypotheses, {spent[0]:.0f} s", flush=True)
    with np.load(place) as file:
        names = tuple(map(str, file["names"].tolist()))
        return TuningData(names, file["features"], file["offsets"], file["statistics"], METRIC, file["fixed"])


def cost(work: Path, language: str) -> float:
    """Return the CPU seconds that lists and kernels of a language pair took."""
    total = 0.0
    for place in work.glob(f"{language}.*.npz"):
        with np.load(place) as file:
            total += float(file["spent"][1]) if "spent" in file else 0.0
    return total
