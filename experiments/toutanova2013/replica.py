"""One replica: weights of MERT, the lists that they make, and all that is learnt from these lists."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from conditions import DECODER, MERT, ROWS, Job, Result, Row, Scale, read, test_place
from lists import SBP, Lists, make_lists, strict
from steps import METRIC, kept
from texts import TEXTS, Text

import camber
from camber.bend.trees.bend import TreesBend
from camber.bend.trees.description import weighed_trees
from camber.bend.trees.document import forest_from_json, forest_to_json
from camber.bend.trees.forest import Forest
from camber.bend.weighing import Weighing
from camber.engine import Threads
from camber.features.weights import Weights
from camber.files import read_lines
from camber.model.translator import Translator
from camber.pipeline.tune import dev_set, tune_translator
from camber.tune.boost import Boost, Boosted
from camber.tune.loop import TuneSettings


@cache
def opened(work: Path, name: str, features: str, pop_limit: int) -> Translator[Any]:
    """Open a system."""
    return camber.load(work / f"model.{name}.{features}").searching({"pop_limit": pop_limit})


class Replica:
    """What is learnt from the lists of one tuning by MERT; lists are made when they are needed."""

    def __init__(self, name: str, replica: int, scale: Scale, work: Path) -> None:
        self.name, self.replica, self.scale, self.work = name, replica, scale, work
        self.text: Text = TEXTS[name]
        self.seed = 1 + 1000 * replica
        self._lists: dict[str, Lists] = {}

    def run(self, job: Job) -> Result:
        """Return the result of a job; run it, unless it is there."""
        place = self.work / job.place(self.scale)
        result: Result = kept(place, partial(self._timed, self._fit, job))
        return result

    def test(self, job: Job) -> Result:
        """Translate the test set with the model of a job, unless that was done."""
        place = test_place(job, self.scale, self.work)
        result: Result = kept(place, partial(self._timed, self._test, job))
        return result

    def _timed(self, function: Callable[[Job], Result], job: Job) -> Result:
        if ROWS[job.row].way == DECODER:
            self._lists.clear()  # rows in the decoder come last, and want the room
        else:
            for part in ("train", "select") if function == self._fit else ("test",):
                self.lists(part)  # not on any row's account
        start, cpu = time.time(), time.thread_time()
        result = function(job)
        spent = {"seconds": time.time() - start, "cpu": time.thread_time() - cpu}
        print(f"done: {job}, {spent['seconds']:.0f} s", flush=True)
        return {"job": asdict(job), **result, **spent}

    def _fit(self, job: Job) -> Result:
        row = ROWS[job.row]
        if row.way == DECODER:
            return self._fit_decoder(job, row)
        boosted = self._mert_only() if row.way == MERT else self._boosted(job, row)
        told = [line for tree in weighed_trees(boosted.forest, boosted.tree_weights) for line in tree.lines()]
        return {
            **{part: self.lists(part).measure(boosted, row.features, whole=row.whole) for part in ("train", "select")},
            "linear": dict(zip(boosted.names, boosted.linear.tolist(), strict=True)),
            "tree_weights": boosted.tree_weights.tolist(),
            "forest": forest_to_json(boosted.forest),
            "told": told,
            "rounds": [asdict(state) for state in boosted.rounds],
        }

    # --- re-ranking ---------------------------------------------------------------------------------------------------

    def lines(self, part: str) -> tuple[list[str], list[str]]:
        """Return both sides of a set: train (Dev-Train), select (Dev-Select) or test."""
        folder = self.work / f"text.{self.name}"
        name = {"train": "dev-train", "select": "dev-select"}.get(part, part)
        return read_lines(folder / f"{name}.{self.text.source}"), read_lines(folder / f"{name}.en")

    def lists(self, part: str) -> Lists:
        """Make the lists of a set with the weights of MERT and all features, once."""
        if part not in self._lists:
            place = self.work / f"{self.name}.lists.{part}.{self.replica}.seconds"
            start, cpu = time.time(), time.thread_time()
            names = opened(self.work, self.name, "base", self.scale.pop_limit).decoder.names
            self._lists[part] = make_lists(self.large, *self.lines(part), self.scale.nbest, names)
            seconds = time.time() - start
            place.write_text(json.dumps({"seconds": seconds, "cpu": time.thread_time() - cpu}))
            print(f"{self.name}, {part}, replica {self.replica}: {self._lists[part]}, {seconds:.0f} s", flush=True)
        return self._lists[part]

    @cached_property
    def mert(self) -> dict[str, float]:
        """The weights of the base features by MERT on Dev-Train."""
        said = hashlib.sha256(json.dumps(self.scale.told(self.name), sort_keys=True).encode()).hexdigest()[:8]

        def tune() -> Result:
            start, cpu = time.time(), time.thread_time()
            model = opened(self.work, self.name, "base", self.scale.pop_limit)
            source, target = self.lines("train")
            settings = TuneSettings(
                tuner="mert", metric="sbp", iterations=self.scale.iterations, nbest=self.scale.tune_nbest, bend="none"
            )
            tuned = tune_translator(model, source, [target], settings, seed=self.seed, engine=Threads(1))
            print(f"{self.name}, replica {self.replica}: MERT {tuned}, {time.time() - start:.0f} s", flush=True)
            spent = {"seconds": time.time() - start, "cpu": time.thread_time() - cpu}
            return {"weights": dict(tuned.weights.values), **spent}

        weights: dict[str, float] = kept(self.work / f"{self.name}.mert.{self.replica}.{said}.json", tune)["weights"]
        return weights

    @cached_property
    def large(self) -> Translator[Any]:
        """The system with the large set, which for now weighs the base features alone."""
        model = opened(self.work, self.name, "large", self.scale.pop_limit)
        weights = [self.mert.get(name, 0.0) for name in model.decoder.names]
        return model.reweighted(Weights.from_vector(model.decoder.names, np.array(weights), signature="MERT, base"))

    def _mert_only(self) -> Boosted:
        data = self.lists("train").of("base").data
        none = Forest(self.lists("train").of("base").parts.features, ())
        return Boosted(none, data.names, np.array([self.mert[name] for name in data.names]), np.zeros(0))

    def _boosted(self, job: Job, row: Row) -> Boosted:
        shape = {"leaf": job.leaf, "leaves": job.leaves} if job.leaf else {}
        boost = Boost(
            **{
                "samples": self.scale.samples,
                "keep": job.keep,
                "alpha": job.alpha,
                "rounds": self.scale.rounds,
                "patience": self.scale.patience,
                **shape,
                **row.changes,
            }
        )
        learn, select = (self.lists(part).of(row.features, whole=row.whole) for part in ("train", "select"))
        start = [self.mert.get(name, 0.0) for name in learn.data.names]
        return boost.fit(learn, start, select=select, seed=self.seed, engine=Threads(1))

    # --- in the decoder -----------------------------------------------------------------------------------------------

    def _fit_decoder(self, job: Job, row: Row) -> Result:
        source, target = self.lines("train")
        settings = TuneSettings(
            tuner="pro",
            metric="sbp",
            iterations=self.scale.iterations,
            nbest=self.scale.tune_nbest,
            bend=row.bend,
            cautious=False,
            bits=self.scale.bits,
            beta=self.scale.beta,
            trees=self.scale.rounds,
            leaves=job.leaves,
            leaf=job.leaf,
        )
        tuned = tune_translator(self.large, source, [target], settings, seed=self.seed, engine=Threads(1))
        bend = tuned.decoder.bend
        forest = bend.forest if isinstance(bend, TreesBend) else None
        if forest is not None:
            place = self._bend_place(job)
            place.parent.mkdir(exist_ok=True)
            bend.write(place)
        model = self.large.shaped(tuned.decoder, tuned.weights)
        return {
            **{part: measure(self._statistics(model, part)) for part in ("train", "select")},
            "weights": dict(tuned.weights.values),
            "forest": None if forest is None else forest_to_json(forest),
            "told": [] if forest is None else bend.told(tuned.weights.values),
        }

    def _bend_place(self, job: Job) -> Path:
        return (self.work / job.place(self.scale)).with_suffix(".bend") / TreesBend.FILE

    def _statistics(self, model: Translator[Any], part: str) -> np.ndarray:
        """Return the statistics of BLEU of every sentence, as the model's tokens."""
        source, target = self.lines(part)
        dev = dev_set(model, source, [target], "bleu", part)
        return dev.statistics(model.decoder.decode_columns(dev.inputs, dev.vocabulary, 1, Threads(1)))

    # --- test ---------------------------------------------------------------------------------------------------------

    def _test(self, job: Job) -> Result:
        result, row = read(job, self.scale, self.work), ROWS[job.row]
        if result is None:
            raise SystemExit(f"{job}: not learnt yet")
        if row.way == DECODER:
            decoder = self.large.decoder
            bend = decoder.bend if result["forest"] is None else TreesBend.read(self._bend_place(job), decoder.inputs)
            weights = Weights(result["weights"])
            statistics = self._statistics(
                self.large.shaped(decoder.weighed(Weighing(bend, weights.values)), weights), "test"
            )
        else:
            linear, forest = result["linear"], forest_from_json(result["forest"])
            boosted = Boosted(
                forest, tuple(linear), np.array(list(linear.values())), np.array(result["tree_weights"], np.float64)
            )
            statistics = self.lists("test").statistics_of(boosted, row.features, whole=row.whole)
        return {**measure(statistics), "statistics": statistics.astype(int).tolist()}


def measure(statistics: np.ndarray) -> dict[str, float]:
    """Return both metrics of the statistics of BLEU, one row for each sentence."""
    return {"sbp": float(SBP.score(strict(statistics).sum(0))), "bleu": float(METRIC.score(statistics.sum(0)))}
