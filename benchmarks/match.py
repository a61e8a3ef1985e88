#!/usr/bin/env python3
"""Exact and fuzzy matches against a memory of 158,000 pairs: making it, opening it, milliseconds for each sentence.

    python benchmarks/match.py [--data ../shared] [--sets tatoeba-fr-en pythondocs-fr-en] [--brute 20]

CPU time, one thread: of finding segments; of all that `camber match` does for a line, the difference marked included;
and of the same with inline codes, which are in every third pair and line. The peer compares with every segment
(`difflib`, whose measure is another one).
"""

from __future__ import annotations

import argparse
import difflib
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

import numpy as np

from camber.files import read_lines
from camber.memory.match import Match
from camber.memory.segments import Segments
from camber.model.memory import Memory
from camber.text.pipeline import TextPipeline
from camber.text.settings import TextSettings
from camber.text.tags import TEXT, XLIFF

THRESHOLDS = 0.9, 0.7, 0.5


def clock() -> float:
    """Return the CPU seconds of this process."""
    return time.process_time()


def with_codes(line: str) -> str:
    """Put a pair of codes around the second half of a line, and one without a partner before it."""
    words = escape(line, quote=False).split(" ")
    half = len(words) // 2
    return " ".join([*words[:half], '<x id="1"/><g id="2">' + " ".join(words[half:]) + "</g>"])


def show(name: str, threshold: float, lines: Sequence[str], work: Callable[[str], object]) -> None:
    """Print how long it takes to find something for each line, and for how many there is something."""
    times, found = [], 0
    for line in lines:
        start = clock()
        found += bool(work(line))
        times.append(1000 * (clock() - start))
    share, tail = 100 * found / len(lines), np.percentile(times, 99)
    print(f"  {name:<24} {threshold:9.1f} {share:6.1f} % {np.mean(times):8.2f} {tail:7.2f} {max(times):8.2f}")


def told(memory: Memory, line: str, threshold: float, format: str) -> list[tuple[Match, str]]:
    """Do what the command does for a line."""
    return [(match, match.marked(line)) for match in memory.matches(line, threshold, 3, format)]


def measure(folder: Path, brute: int) -> None:
    """Print what one set takes."""
    source, target = (read_lines(folder / f"train.{side}") for side in ("fr", "en"))
    lines = read_lines(folder / "test.fr")
    text = TextPipeline(TextSettings(source_lang="fr", target_lang="en"))
    warm = Segments.build(text, source[:9], target[:9])
    Memory([], [], [], trained=warm, text=text).matches(source[0])  # compiles
    coded = {row: (with_codes(source[row]), with_codes(target[row])) for row in range(0, len(source), 3)}
    start = clock()
    segments = Segments.build(text, source, target, coded=coded)
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
        print(f"  {'':<24} threshold   found   mean ms   99 %   at most")
        memory = Memory([], [], [], trained=segments, text=text)
        marked = [with_codes(line) if row % 3 == 0 else escape(line, quote=False) for row, line in enumerate(lines)]
        for threshold in THRESHOLDS:
            show("segments", threshold, lines, lambda line: segments.nearest(line, threshold, 3))  # noqa: B023
            show("as the command", threshold, lines, lambda line: told(memory, line, threshold, TEXT))  # noqa: B023
            show("… with inline codes", threshold, marked, lambda line: told(memory, line, threshold, XLIFF))  # noqa: B023
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
