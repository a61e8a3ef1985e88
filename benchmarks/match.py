#!/usr/bin/env python3
"""Exact and fuzzy matches against a memory of 158,000 pairs: making it, opening it, milliseconds for each sentence.

    python benchmarks/match.py [--data ../shared] [--sets tatoeba-fr-en pythondocs-fr-en] [--brute 20]

CPU time, one thread. The peer compares with every segment (`difflib`, whose measure is another one).
"""

from __future__ import annotations

import argparse
import difflib
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from camber.files import read_lines
from camber.memory.segments import Segments
from camber.text.pipeline import TextPipeline, TextSettings

THRESHOLDS = 0.9, 0.7, 0.5


def clock() -> float:
    """Return the CPU seconds of this process."""
    return time.process_time()


def measure(folder: Path, brute: int) -> None:
    """Print what one set takes."""
    source, target = (read_lines(folder / f"train.{side}") for side in ("fr", "en"))
    lines = read_lines(folder / "test.fr")
    text = TextPipeline(TextSettings(source_lang="fr", target_lang="en"))
    Segments.build(text, source[:9], target[:9]).nearest(source[0])  # compiles
    start = clock()
    segments = Segments.build(text, source, target)
    made = clock() - start
    with tempfile.TemporaryDirectory() as place:
        segments.save(Path(place))
        size = sum(path.stat().st_size for path in Path(place).iterdir())
        start = clock()
        segments = Segments.open(Path(place), text)
        segments.nearest(lines[0])
        opened = clock() - start
        print(f"{folder.name}: {len(segments):,} pairs, {size / 1e6:.1f} MB, made in {made:.1f} s")
        print(f"  opened, with the first match, in {opened:.2f} s")
        print("  threshold   found   mean ms   99 %   at most")
        for threshold in THRESHOLDS:
            times, found = [], 0
            for line in lines:
                start = clock()
                found += bool(segments.nearest(line, threshold, 3))
                times.append(1000 * (clock() - start))
            share = 100 * found / len(lines)
            tail = np.percentile(times, 99)
            print(f"  {threshold:9.1f} {share:6.1f} % {np.mean(times):8.2f} {tail:7.2f} {max(times):8.2f}")
    start = clock()
    words = [line.split() for line in source]
    for line in lines[:brute]:
        matcher = difflib.SequenceMatcher(b=line.split(), autojunk=False)
        for row in words:
            matcher.set_seq1(row)
            if matcher.real_quick_ratio() >= 0.7 and matcher.quick_ratio() >= 0.7:
                matcher.ratio()
    print(f"  difflib, every segment: {1000 * (clock() - start) / brute:,.0f} ms a sentence ({brute} sentences)")


def main() -> None:
    """Measure every set."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--sets", nargs="*", default=["tatoeba-fr-en", "pythondocs-fr-en"])
    parser.add_argument("--brute", type=int, default=5, help="sentences that difflib compares")
    options = parser.parse_args()
    for name in options.sets:
        folder = options.data / "data" / name
        if not folder.is_dir():
            sys.exit(f"no {folder}; give the folder of the data with --data")
        measure(folder, options.brute)


if __name__ == "__main__":
    main()
