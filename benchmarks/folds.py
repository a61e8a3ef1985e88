#!/usr/bin/env python3
"""Lists over a training corpus: CPU seconds of every stage for a fold, and memory.

    python benchmarks/folds.py [--data ../shared] [--lines 29000] [--folds 10] [--rounds 2] [--nbest 100] [--method …]

Multi30k, German to English, one thread. With all lines and ten folds, a round takes about two CPU minutes.
"""

from __future__ import annotations

import argparse
import logging
import resource
import sys
import tempfile
import time
from pathlib import Path

from camber.engine import Threads
from camber.files import read_lines, write_lines
from camber.pipeline.folds import FoldSettings, fold_lists
from camber.pipeline.settings import TrainSettings
from camber.progress import log


class StageTimes(logging.Handler):
    """Take the CPU time between the lines that a stage logs at its beginning and at its end."""

    def __init__(self) -> None:
        super().__init__()
        self.began: dict[str, float] = {}
        self.seconds: dict[str, list[float]] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Note a time."""
        told = record.getMessage()
        if told.endswith(" …"):
            self.began[told[:-2]] = time.process_time()
        elif ": done in " in told:
            name = told.split(":")[0]
            kind = name.rpartition("-")[0] if name.startswith("lists") else name  # the rest is the fold
            self.seconds.setdefault(kind, []).append(time.process_time() - self.began[name])


def peak() -> float:
    """Return the most memory that was used so far, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def main() -> None:
    """Make the lists, and print what that took."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--method", default="phrase")
    for name, usual in (("lines", 29_000), ("folds", 10), ("rounds", 2), ("nbest", 100)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    options = parser.parse_args()
    data = options.data / "data" / "multi30k" / "raw"
    if not data.is_dir():
        sys.exit(f"no {data}; give the folder of the data with --data")
    times = StageTimes()
    log.addHandler(times)
    log.setLevel(logging.INFO)
    settings = TrainSettings.from_dict({"text": {"source_lang": "de", "target_lang": "en"}})
    how = FoldSettings(folds=options.folds, rounds=options.rounds, nbest=options.nbest)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for side in ("de", "en"):
            write_lines(folder / side, read_lines(data / f"train.{side}")[: options.lines])
        lists = fold_lists(
            folder / "de", folder / "en", folder / "work", method=options.method, settings=settings, folds=how,
            engine=Threads(1),
        )  # fmt: skip
        for kind, seconds in times.seconds.items():
            print(f"{kind:<10}{sum(seconds) / len(seconds):8.2f} CPU s on average, {len(seconds)} times")
        print(f"peak {peak():.2f} GB; {lists.hypotheses:,} hypotheses of {len(lists):,} sentences")
        start = time.process_time()
        lists.write(folder / "list.jsonl")
        size = (folder / "list.jsonl").stat().st_size / 1e9
        print(f"write     {time.process_time() - start:8.2f} CPU s, {size:.2f} GB; peak {peak():.2f} GB")


if __name__ == "__main__":
    main()
