#!/usr/bin/env python3
"""Pairs that are added to a model: one, one of many, a thousand; and how long the model takes to open then.

    python benchmarks/add.py [--data ../shared] [--methods phrase hiero]

The model is trained on Multi30k (29,000 pairs), untuned; the pairs are those of its dev set. Wall and CPU seconds of
one thread, medians.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from figures import note

from camber.engine import Threads
from camber.files import read_lines
from camber.model.translator import load
from camber.pipeline.add import Adder, add
from camber.pipeline.train import train

ONE = Threads(1)


def clock(work: Callable[[], object]) -> tuple[float, float]:
    """Return the wall and CPU seconds of one call."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def show(method: str, what: str, times: list[tuple[float, float]]) -> None:
    """Print medians."""
    wall, cpu = (statistics.median(column) for column in zip(*times, strict=True))
    print(f"  {what:<52}{wall:7.3f} wall {cpu:7.3f} CPU")
    note(f"{method}, {what}, CPU-s", cpu, more_is_better=False)


def measure(method: str, data: Path, folder: Path, many: int) -> None:
    """Train a model, add pairs to it, and print what that takes."""
    model = folder / method
    train(data / "train.de", data / "train.en", model, method=method, tuned=False, keep_work=False)
    source, target = read_lines(data / "dev.de"), read_lines(data / "dev.en")
    load(model).translate(source[:1], ONE)  # compiles
    print(method)
    show(method, "open", [clock(lambda: load(model)) for _ in range(5)])

    def one(adder: Adder, number: int) -> tuple[float, float]:
        return clock(lambda: adder.add(source[number : number + 1], target[number : number + 1], engine=ONE))

    one(Adder(model), 0)
    show(method, "add one pair", [one(Adder(model), number) for number in range(1, 8)])
    show(
        method,
        "add one pair and open the model",
        [clock(lambda: add(model, source[8:9], target[8:9], engine=ONE)) for _ in range(5)],
    )
    adder = Adder(model)
    adder.add(source[:1], target[:1], engine=ONE)
    again = [one(adder, number % len(source)) for number in range(many)]
    print("  add one pair, again and again: milliseconds each, of every 1,000")
    for first in range(0, many, 1000):
        wall, cpu = (1000 * statistics.mean(column) for column in zip(*again[first : first + 1000], strict=True))
        print(f"  {f'{first + 1:,} to {first + 1000:,}':<52}{wall:7.2f} wall {cpu:7.2f} CPU")
    print(f"  {'the longest of these (segments are joined)':<52}{max(again)[0]:7.3f} wall")
    show(
        method, f"add one pair to a model with {many:,} added ones", [one(Adder(model), number) for number in range(5)]
    )
    show(method, f"open a model with {many:,} added pairs", [clock(lambda: load(model)) for _ in range(5)])
    lines = source[:1000], target[:1000]
    show(method, "add 1,000 pairs", [clock(lambda: Adder(model).add(*lines, engine=ONE)) for _ in range(3)])


def main() -> None:
    """Measure every method."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--many", type=int, default=10_000, help="pairs that are added one by one")
    parser.add_argument("--methods", nargs="*", default=["phrase", "hiero"])
    options = parser.parse_args()
    data = options.data / "data" / "multi30k" / "raw"
    if not data.is_dir():
        sys.exit(f"no {data}; give the folder of the data with --data")
    with tempfile.TemporaryDirectory() as folder:
        for method in options.methods:
            measure(method, data, Path(folder), options.many)


if __name__ == "__main__":
    main()
