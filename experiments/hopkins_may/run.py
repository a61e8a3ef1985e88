"""The synthetic experiment of Hopkins and May (2011, section 4): which tuner survives many dimensions?

    python experiments/hopkins_may/run.py [--dimensions 5,10,50,100,200,400] [--seeds 3] [--threads 1]

500 sentences have 100 candidates each, whose features are random numbers. The quality of a candidate is a known linear
function of its features, so every tuner could find the gold weights; how near it comes is the cosine to them. In the
second condition the tuner sees features with noise. The table goes into README.md beside this file.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from camber.engine import Engine
from camber.metrics.metric import Metric, References
from camber.tune import Likelihood, Mert, Mira, Pro, TuningData

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from engines import add_engine, engine_of

README = Path(__file__).resolve().parent / "README.md"
START, END = "<!-- table: written by run.py -->", "<!-- end of table -->"
TUNERS = (Mert(), Pro(), Mira(), Likelihood())


class Mean(Metric):
    """The mean of a score per sentence: statistics are (score, 1)."""

    name = "mean quality"

    def statistics(
        self, hypotheses: Sequence[str], references: References, sentences: npt.ArrayLike | None = None
    ) -> npt.NDArray[Any]:
        raise NotImplementedError("the quality of a synthetic candidate is not in its text")

    def score(self, statistics: npt.ArrayLike) -> Any:
        sums = np.asarray(statistics, np.float64)
        return 100.0 * sums[..., 0] / np.maximum(sums[..., 1], 1.0)

    def signature(self, references: int) -> str:
        return "mean"


def synthetic(
    rng: np.random.Generator, sentences: int, candidates: int, gold: npt.NDArray[np.float64], noise: float
) -> TuningData:
    """Draw candidates with features from 0 to 500 and the quality that the gold weights give (scaled to 0 … 1)."""
    features = rng.uniform(0.0, 500.0, (sentences * candidates, len(gold)))
    quality = features @ gold
    quality = (quality - quality.min()) / (quality.max() - quality.min())
    if noise:
        features += rng.normal(0.0, noise, features.shape)
    return TuningData(
        tuple(f"f{i}" for i in range(len(gold))),
        features,
        np.arange(0, sentences * candidates + 1, candidates),
        np.column_stack([quality, np.ones(len(quality))]),
        Mean(),
    )


def cosine(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> float:
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def condition(dimensions: list[int], seeds: int, sentences: int, candidates: int, noise: float, engine: Engine) -> str:
    """Return a table: rows are dimensions, columns the tuners' mean cosine and CPU-seconds."""
    heads = [type(tuner).__name__ for tuner in TUNERS]
    lines = ["| dimensions | start | " + " | ".join(heads) + " |", "|---|---|" + "---|" * len(heads)]
    for dimension in dimensions:
        cosines = np.zeros((seeds, len(TUNERS) + 1))
        seconds = np.zeros(len(TUNERS))
        for seed in range(seeds):
            rng = np.random.default_rng([dimension, seed])
            gold = rng.uniform(-1.0, 1.0, dimension)
            data = synthetic(rng, sentences, candidates, gold, noise)
            start = rng.uniform(-1.0, 1.0, dimension)
            cosines[seed, 0] = cosine(start, gold)
            for number, tuner in enumerate(TUNERS):
                before = time.process_time()
                tuned = tuner.fit(data, start, seed=seed, engine=engine)
                seconds[number] += (time.process_time() - before) / seeds
                cosines[seed, number + 1] = cosine(tuned.weights, gold)
        mean = cosines.mean(0)
        cells = [f"{value:.3f} ({used:.1f} s)" for value, used in zip(mean[1:], seconds, strict=True)]
        lines.append(f"| {dimension} | {mean[0]:.3f} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def write(text: str) -> None:
    """Put the tables between the marks in README.md."""
    readme = README.read_text("utf-8")
    before, _, rest = readme.partition(START)
    _, _, after = rest.partition(END)
    README.write_text(f"{before}{START}\n{text}\n{END}{after}", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dimensions", default="5,10,50,100,200,400", help="numbers of features, with commas")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sentences", type=int, default=500)
    parser.add_argument("--candidates", type=int, default=100)
    parser.add_argument("--noise", type=float, default=500.0, help="standard deviation in the second condition")
    add_engine(parser, threads=1)
    parser.add_argument("--dry-run", action="store_true", help="print the tables only")
    args = parser.parse_args()
    dimensions = [int(part) for part in args.dimensions.split(",")]
    parts = []
    for noise, title in ((0.0, "Without noise"), (args.noise, f"With noise (standard deviation {args.noise:g})")):
        print(f"\n{title}\n", flush=True)
        found = condition(dimensions, args.seeds, args.sentences, args.candidates, noise, engine_of(args))
        parts.append(f"\n**{title}**: cosine to the gold weights (CPU-seconds), mean of {args.seeds} draws\n\n{found}")
    text = f"{args.sentences} sentences, {args.candidates} candidates each.\n" + "\n".join(parts) + "\n"
    if not args.dry_run:
        write(text)


if __name__ == "__main__":
    main()
