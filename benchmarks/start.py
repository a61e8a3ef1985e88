#!/usr/bin/env python3
"""Starting: what a command takes before it does anything, and what the first run of all compiles.

    python benchmarks/start.py [--times 5] [--first]

A small model is trained on the built-in corpus. Then `camber --help`, one line through `camber translate`, and one
line through `camber lm` run as commands, kernels compiled (the least of several; CPU and wall seconds), with
`import numba` beside them. With `--first`, the same line, `camber demo` and `camber warmup` run with
nothing compiled, on all cores, and the kernels that took longest are listed.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

CAMBER = "from camber.cli import main; main()"
PROJECT = Path(__file__).resolve().parent.parent


class Run(NamedTuple):
    """What a command took, and what it said."""

    cpu: float
    wall: float
    megabytes: int
    said: str


def run(*words: object, code: str = CAMBER, cache: Path | None = None) -> Run:
    """Run Python with `code` and arguments, and with the compiled kernels of `cache` (none: the user's)."""
    variables = {**os.environ, "PYTHONPATH": str(PROJECT), "OPENBLAS_NUM_THREADS": "1"}
    if cache is not None:
        variables["CAMBER_CACHE"] = str(cache)
    command = [sys.executable, "-c", code, *map(str, words)]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(cpu, wall, after.ru_maxrss // 1024, done.stderr)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--first", action="store_true", help="also with nothing compiled: minutes of CPU time")
    parser.add_argument("--longest", type=int, default=25, help="how many kernels are listed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        demo = run("demo", "--dir", folder / "demo")
        line, model = folder / "line", folder / "demo" / "model"
        line.write_text("Quiero una habitación.\n", "utf-8")
        translate = ("translate", model, "--threads", "1", "--input", line, "--output", folder / "out")
        print(f"{'':<34}{'CPU-s':>8}{'wall':>8}")
        for what, words, code in (
            ("import numpy, alone", (), "import numpy"),
            ("import numba, alone", (), "import numba"),
            ("camber --help", ("--help",), CAMBER),
            ("camber translate, one line", translate, CAMBER),
            ("camber lm, one line", ("lm", "--text", line, "--arpa", folder / "arpa"), CAMBER),
        ):
            runs = [run(*words, code=code) for _ in range(options.times)]
            print(f"{what:<34}{min(r.cpu for r in runs):8.2f}{min(r.wall for r in runs):8.2f}", flush=True)
        print(f"{'camber demo':<34}{demo.cpu:8.1f}{demo.wall:8.1f}")
        if not options.first:
            return 0
        print("nothing compiled:")
        for what, words in (
            ("translate", translate),
            ("demo", ("demo", "--dir", folder / "again")),
            ("warmup", ("warmup",)),
        ):
            first = run(*words, cache=folder / f"cache-{what}")
            kept = sum(path.stat().st_size for path in (folder / f"cache-{what}").rglob("*") if path.is_file())
            print(
                f"{'camber ' + what:<34}{first.cpu:8.1f}{first.wall:8.1f}   {kept / 1e6:.1f} MB of kernels", flush=True
            )
        kernels = sorted(
            ((float(seconds), kernel) for kernel, seconds in re.findall(r"compiled (\S+) \(([\d.]+) s\)", first.said)),
            reverse=True,
        )
        print(f"\n{len(kernels)} kernels, {sum(seconds for seconds, _ in kernels):.0f} s in all; the longest:")
        for seconds, kernel in kernels[: options.longest]:
            print(f"{seconds:8.1f}  {kernel}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
