#!/usr/bin/env python3
"""Reading a long translation memory: how fast, and in how much memory.

    python benchmarks/importing.py [--megabytes 100] [--codes 0.1] [--folder F]

A TMX of that size is generated (two to four languages, attributes, codes in a share of the texts), and one of a tenth.
Megabytes per CPU-second of one thread, for the reader alone and for `camber import`, which also writes the pairs;
memory is what the process grew by, at its peak. lxml's own iterparse, which only walks over the file, runs beside it.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from camber.formats.bilingual.files import files_in
from camber.formats.bilingual.languages import Languages
from camber.formats.bilingual.unit import Tally, pair_of
from camber.pipeline.importing import import_files

WORDS = ["the", "file", "is", "not", "open", "save", "your", "changes", "before", "you", "close", "this", "window"]
WANTED = Languages("en", "fr")


def generate(path: Path, megabytes: float, codes_in: float) -> None:
    """Write a memory of such a size."""
    draw, written, number = random.Random(1), 0, 0
    with open(path, "w", encoding="utf-8") as out:
        out.write('<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4"><header srclang="en"/><body>\n')
        while written < megabytes * 1e6:
            number += 1
            text = " ".join(draw.choices(WORDS, k=draw.randint(3, 30)))
            if draw.random() < codes_in:
                text = (
                    f'Press <bpt i="1" x="1">&lt;b&gt;</bpt>{text}<ept i="1">&lt;/b&gt;</ept> &amp; {number}<ph x="2"/>'
                )
            codes = ["en-US", "fr-FR", *(["de-DE"] if draw.random() < 0.3 else [])]
            who = 'creationdate="20200101T120000Z" creationid="ANNA" changedate="20210101T120000Z" changeid="BEN"'
            texts = "".join(f'<tuv xml:lang="{code}" {who}><seg>{text} é</seg></tuv>\n' for code in codes)
            unit = f'<tu tuid="{number}"><prop type="x-project">manual</prop>\n{texts}</tu>\n'
            written += len(unit.encode())
            out.write(unit)
        out.write("</body></tmx>\n")


def walk(path: Path) -> int:
    """Go over the file with lxml alone."""
    from lxml import etree

    count = 0
    for _, element in etree.iterparse(str(path), tag="tu", remove_comments=True):
        count += 1
        element.clear()
        while element.getprevious() is not None:
            del element.getparent()[0]
    return count


def read(path: Path) -> int:
    """Read the pairs and forget them."""
    tally = Tally()
    return sum(not pair_of(unit)[0] for file in files_in(path) for unit in file.units(WANTED, tally))


def imported(path: Path) -> int:
    """Do what the command does."""
    return import_files([path], *WANTED, path.with_suffix("")).pairs


def measure(work: Callable[[Path], int], path: Path) -> tuple[int, float, float]:
    """Return the pairs, CPU-seconds and megabytes of memory of one call, in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measured, (work, path))


def _measured(work: Callable[[Path], int], path: Path) -> tuple[int, float, float]:
    import lxml.etree
    import numpy  # noqa: F401

    del lxml
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    count = work(path)
    used = time.process_time() - start
    return count, used, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def main() -> None:
    """Generate, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--codes", type=float, default=0.1, help="share of the texts with inline codes")
    parser.add_argument("--folder", type=Path, help="where the files go (default: a temporary folder)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for size in (options.megabytes / 10, options.megabytes):
            path = Path(folder) / f"memory-{size:g}.tmx"
            generate(path, size, options.codes)
            megabytes = path.stat().st_size / 1e6
            print(f"{megabytes:.0f} MB")
            for name, work in (("lxml alone", walk), ("units read", read), ("camber import", imported)):
                count, used, grown = measure(work, path)
                print(f"  {name:<16}{count:>9,} pairs  {megabytes / used:6.1f} MB/CPU-s  {grown:6.1f} MB of memory")


if __name__ == "__main__":
    main()
