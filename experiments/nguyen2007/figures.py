"""Figures 1 to 3 of the paper: where training ends from many starts, and the weights of bins before and after."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from systems import Trainer, score_of

from camber.arrays.ragged import offsets_from, places_of
from camber.engine import Threads
from camber.report.axes import round_edges
from camber.report.pictures import alone, bin_curves, histogram
from camber.rerank.binned import bent_data, in_bins, make_bend, without_lines
from camber.tune.data import TuningData
from camber.tune.expected import ExpectedBleu
from camber.tune.mert import Mert
from camber.tune.starts import fit_from_vertices

#: sentences of the training text that the figures are made from
SENTENCES = 3000
#: bits of the bins of Figure 3: 32 bins; the paper has 20 to 50
BITS = 5
#: the feature of Figures 2 and 3: the first language model
FEATURE = "lm"


def some(data: TuningData, sentences: int) -> TuningData:
    """Return the lists of some sentences, drawn at random."""
    chosen = np.sort(np.random.default_rng(1).permutation(len(data))[:sentences])
    sizes = np.diff(data.sentence_offsets)[chosen]
    return data.take(places_of(data.sentence_offsets[chosen], sizes), offsets_from(sizes))


def from_vertices(trainer: Trainer, most: int, sentences: int) -> dict[str, Any]:
    """Fit from the vertices of the hypercube, and keep what became of every start (Figures 1 and 2)."""
    place = trainer.work / f"{trainer.language}.vertices.{most}.json"
    if not place.exists():
        cpu = time.thread_time()
        data, dev = some(trainer.lists["train"], sentences), trainer.lists["dev"]
        held = np.where(data.fixed, trainer.baseline, 0.0)[data.fixed]
        fits = fit_from_vertices(data, ExpectedBleu(), most=most, fixed=held, seed=1, engine=Threads(1))
        kept = {
            "dev": fits.metrics_on(dev).tolist(),
            "weights": fits.weights[:, column(data)].tolist(),
            "feature": data.names[column(data)],
            "cpu": time.thread_time() - cpu,
        }
        place.write_text(json.dumps(kept))
        print(f"{trainer.language}: {len(fits)} starts, {kept['cpu']:.0f} CPU-s", flush=True)
    document: dict[str, Any] = json.loads(place.read_text())
    return document


def times(trainer: Trainer, sentences: int) -> dict[str, float]:
    """Measure RProp beside MERT on the same list: CPU seconds, and BLEU of the list."""
    place = trainer.work / f"{trainer.language}.times.json"
    if not place.exists():
        data, found = some(trainer.lists["train"], sentences), {}
        for name, tuner in (("rprop", ExpectedBleu()), ("mert", Mert())):
            cpu = time.thread_time()
            tuned = tuner.fit(data, trainer.baseline, seed=1, engine=Threads(1))
            found |= {f"{name}_cpu": time.thread_time() - cpu, f"{name}_bleu": tuned.metric}
        place.write_text(json.dumps(found))
    document: dict[str, float] = json.loads(place.read_text())
    return document


def bins(trainer: Trainer, sentences: int) -> dict[str, Any]:
    """Convert the linear model into bins, and train them again (Figure 3)."""
    place = trainer.work / f"{trainer.language}.bins.json"
    if not place.exists():
        cpu = time.thread_time()
        data = some(trainer.lists["train"], sentences)
        bend = make_bend(data, "bins", BITS)
        linear = np.concatenate([trainer.baseline, np.zeros(bend.width)])
        before = in_bins(bend, linear)
        ones = np.ones(data.features.shape[1])
        wide, dev = (bent_data(part, bend, ones) for part in (data, trainer.lists["dev"]))
        wide, dev = without_lines(wide, bend), without_lines(dev, bend)
        after = ExpectedBleu().fit(wide, before, seed=1, engine=Threads(1)).weights
        name = data.names[column(data)]
        chosen = [place for place, known in enumerate(bend.names) if known.startswith(f"{name}@")]
        found = {
            "feature": name,
            "before": before[chosen].tolist(),
            "after": after[chosen].tolist(),
            "bins": int(bend.width),
            **{
                f"{set_name}_{when}": score_of(part, weights)
                for set_name, part in (("train", wide), ("dev", dev))
                for when, weights in (("converted", before), ("trained", after))
            },
            "train_linear": score_of(data, trainer.baseline),
            "dev_linear": score_of(trainer.lists["dev"], trainer.baseline),
            "cpu": time.thread_time() - cpu,
        }
        place.write_text(json.dumps(found))
    document: dict[str, Any] = json.loads(place.read_text())
    return document


def column(data: TuningData) -> int:
    """Return the feature of Figures 2 and 3."""
    return next(place for place, name in enumerate(data.names) if name.startswith(FEATURE))


def draw(folder: Path, language: str, starts: dict[str, Any], binned: dict[str, Any]) -> None:
    """Write the three figures."""
    pictures = {
        1: histogram(starts["dev"], round_edges(starts["dev"]), "BLEU on dev by starts", "BLEU on dev after training"),
        2: histogram(
            starts["weights"], round_edges(starts["weights"]), "a weight by starts", f"weight of {starts['feature']}"
        ),
        3: bin_curves(binned["before"], binned["after"], ("converted weights", "trained weights"), "weights of bins"),
    }
    for number, picture in pictures.items():
        (folder / f"figure{number}.{language}.svg").write_text(alone(picture) + "\n", "utf-8")
