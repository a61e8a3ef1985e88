"""What is trained and measured: regressions and the phrase-based baseline, each in a process of its own.

outcome = Runner(texts, work).run(Condition("short", 4000, "lsr", order=3))
outcome["dev"], outcome["translations"]["test"]
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from steps import METRIC, kept
from texts import Texts

import camber
from camber.corpus.inputs import as_inputs
from camber.engine import Threads
from camber.pipeline.settings import TrainSettings

#: the baseline has the settings of Pharaoh that the paper names, and what Pharaoh had: no lexicalised reordering
PHARAOH = {
    "lm": {"order": 3},
    "rules": {"reordering": False},
    "decode": {"options": 10, "pop_limit": 100},
    "tune": {"tuner": "mert"},
}
ONE = Threads(1)


@dataclass(frozen=True)
class Condition:
    """One system on one corpus."""

    corpus: str
    size: int
    system: str  # lsr, mmr, phrase, or feature: phrases with LSR as one more feature
    order: int = 0  # of n-grams
    ridge: float = 0.1
    cost: float = 1.0
    scale: float = 0.0  # 0: chosen on dev
    seed: int = 1  # of MERT
    tested: bool = True  # False: only dev is translated, because something is chosen

    @property
    def name(self) -> str:
        """What its files are called."""
        what = {
            "lsr": f"n{self.order}.ridge{self.ridge:g}" + (f".scale{self.scale:g}" if self.scale else ""),
            "mmr": f"n{self.order}.cost{self.cost:g}",
            "feature": f"n{self.order}.ridge{self.ridge:g}.seed{self.seed}",
        }
        ending = "" if self.tested else ".dev"
        return f"{self.corpus}.{self.size}.{self.system}.{what.get(self.system, f'seed{self.seed}')}{ending}"

    @property
    def method(self) -> str:
        """How it is trained."""
        return "kernel" if self.system in ("lsr", "mmr") else "phrase"

    @property
    def settings(self) -> TrainSettings:
        """The settings of its training."""
        tables: dict[str, dict[str, Any]] = {"text": {"tokenizer": "none"}}
        if self.method == "phrase":
            tables |= PHARAOH
        if self.system != "phrase":
            regression = "lsr" if self.system == "feature" else self.system
            tables["kernel"] = {
                "regression": regression, "order": self.order, "ridge": self.ridge, "cost": self.cost,
            }  # fmt: skip
        if self.system == "feature":
            tables["regression"] = {"regression": "lsr"}
        if self.method == "kernel":
            tables["preimage"] = {"scale": self.scale}
            tables["rules"] = PHARAOH["rules"]
        return TrainSettings.from_dict(tables)


@dataclass(frozen=True)
class Runner:
    """Trains what is missing, and keeps what came out."""

    texts: Mapping[str, Texts]
    work: Path

    def run(self, condition: Condition) -> dict[str, Any]:
        """Return what came out of a condition; one that was run before is not run again."""
        return self._kept(condition.name, measure, condition)

    def searched(self, condition: Condition, beams: tuple[int, ...], wide: int, words: int) -> dict[str, Any]:
        """Return how often narrower beams miss what a wide one finds in short sentences of the test set."""
        return self._kept(f"{condition.name}.beams", search_errors, condition, beams, wide, words)

    def _kept(self, name: str, task: Any, condition: Condition, *more: Any) -> dict[str, Any]:
        place = self.work / f"{name}.json"
        known = place.exists()

        def make() -> Any:
            with ProcessPoolExecutor(1, get_context("spawn")) as pool:  # of its own: its memory is measured
                return pool.submit(task, condition, self.texts[condition.corpus], self.work, *more).result()

        outcome: dict[str, Any] = kept(place, make)
        if not known:
            print(f"{name}: {outcome.get('told', '')} ({outcome['cpu']:.0f} CPU-s)", flush=True)
        return outcome


def measure(condition: Condition, texts: Texts, work: Path) -> dict[str, Any]:
    """Train and translate; runs in a process of its own."""
    start = time.process_time()
    translator = _trained(condition, texts, work)
    trained = time.process_time()
    translations, seconds = {}, {}
    for name in ("dev", "test") if condition.tested else ("dev",):
        begin = time.process_time()
        translations[name] = translator.translate(texts.pairs(name)[0], ONE)
        seconds[name] = time.process_time() - begin
    search = getattr(translator.decoder, "settings", None)
    dev = bleu(translations["dev"], texts.pairs("dev")[1])
    _forget(condition, work)
    return {
        "dev": dev,
        "translations": translations,
        "scale": getattr(search, "scale", None),
        "training": trained - start,
        "sentence": seconds.get("test", seconds["dev"]) / len(translations["dev"]),
        "memory": _most_memory(),
        "cpu": time.process_time() - start,
        "told": f"dev {dev:.2f}",
    }


def search_errors(
    condition: Condition, texts: Texts, work: Path, beams: tuple[int, ...], wide: int, words: int
) -> dict[str, Any]:
    """Compare the scores that beams of several widths find with those of a wide one."""
    start = time.process_time()
    translator = _trained(condition, texts, work)
    inputs = [item for item in as_inputs(line.split() for line in texts.pairs("test")[0]) if len(item) <= words]
    scores = {}
    for beam in (*beams, wide):
        decoder = translator.decoder.searching({"beam": beam})
        scores[beam] = np.array([best[0].score for best in decoder.decode(inputs, engine=ONE)])
    best = np.max(list(scores.values()), axis=0)
    missed = {beam: float((found < best - 1e-6).mean()) for beam, found in scores.items()}
    _forget(condition, work)
    return {"sentences": len(inputs), "missed": missed, "cpu": time.process_time() - start}


def bleu(lines: list[str], references: list[str]) -> float:
    """Return BLEU of lines as they are."""
    return float(METRIC.score(METRIC.statistics(lines, [references]).sum(0)))


def _most_memory() -> float:
    """Return the megabytes that this process had at most; not those of the one that started it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def _place(condition: Condition, work: Path) -> Path:
    """Where models of a corpus, a size and a method are trained, one in place of the other: they share an alignment."""
    return work / "models" / f"{condition.corpus}.{condition.size}.{condition.method}"


def _trained(condition: Condition, texts: Texts, work: Path) -> Any:
    place = _place(condition, work)
    place.parent.mkdir(parents=True, exist_ok=True)
    return camber.train(
        *texts.training(condition.size), place,
        method=condition.method,
        dev_source=texts.file("dev", "fr"), dev_target=texts.file("dev", "en"),
        settings=condition.settings, seed=condition.seed, engine=ONE,
    )  # fmt: skip


def _forget(condition: Condition, work: Path) -> None:
    """Remove a model; what the stages made stays for the next."""
    shutil.rmtree(_place(condition, work), ignore_errors=True)
