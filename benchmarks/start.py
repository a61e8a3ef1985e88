#!/usr/bin/env python3
"""Starting: what a command takes before it does anything, and what the first run of all compiles.

    python benchmarks/start.py [--times 5] [--first]

A small model is trained on the built-in corpus. Then `camber --help`, one line through `camber translate`, and one
line through `camber lm` run as commands, kernels and sources compiled (the least of several; CPU and wall seconds, and
megabytes at the peak), with `import numba`, which kernels that are compiled do not need, beside them. With `--first`,
the same line, `camber demo` and `camber warmup` run with nothing compiled, on all cores, and the kernels that took
longest are listed.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from figures import note
from peers import Run, environment, run

CAMBER = "from camber.cli import main; main()"


def started(words: Sequence[object], folder: Path, code: str = CAMBER, cache: Path | None = None) -> Run:
    """Run Python with `code` and arguments, and with the compiled kernels of `cache` (none: the user's)."""
    variables = environment(folder)
    if cache is not None:
        variables["CAMBER_CACHE"] = str(cache)
    return run([sys.executable, "-c", code, *words], folder, variables)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--first", action="store_true", help="also with nothing compiled: minutes of CPU time")
    parser.add_argument("--longest", type=int, default=25, help="how many kernels are listed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        started(("--help",), folder)  # sources are compiled then
        demo = started(("demo", "--dir", folder / "demo"), folder)
        line, model = folder / "line", folder / "demo" / "model"
        line.write_text("Quiero una habitación.\n", "utf-8")
        translate = ("translate", model, "--threads", "1", "--input", line, "--output", folder / "out")
        print(f"{'':<34}{'CPU-s':>8}{'wall':>8}{'MB':>8}")
        for what, words, code in (
            ("import numpy, alone", (), "import numpy"),
            ("import numba, alone", (), "import numba"),
            ("camber --help", ("--help",), CAMBER),
            ("camber translate, one line", translate, CAMBER),
            ("camber lm, one line", ("lm", "--text", line, "--arpa", folder / "arpa"), CAMBER),
        ):
            runs = [started(words, folder, code) for _ in range(options.times + 1)][1:]
            cpu, wall = min(one.cpu for one in runs), min(one.wall for one in runs)
            megabytes = min(one.megabytes for one in runs)
            print(f"{what:<34}{cpu:8.2f}{wall:8.2f}{megabytes:8.0f}", flush=True)
            if code == CAMBER:
                note(f"{what}, CPU-s", cpu, more_is_better=False)
                note(f"{what}, MB", megabytes, more_is_better=False)
        print(f"{'camber demo':<34}{demo.cpu:8.1f}{demo.wall:8.1f}")
        if not options.first:
            return 0
        print("nothing compiled:")
        for what, words in (
            ("translate", translate),
            ("demo", ("demo", "--dir", folder / "again")),
            ("warmup", ("warmup",)),
        ):
            first = started(words, folder, cache=folder / f"cache-{what}")
            note(f"camber {what}, nothing compiled, CPU-s", first.cpu, more_is_better=False)
            kept = sum(path.stat().st_size for path in (folder / f"cache-{what}").rglob("*") if path.is_file())
            print(
                f"{'camber ' + what:<34}{first.cpu:8.1f}{first.wall:8.1f}   {kept / 1e6:.1f} MB of kernels", flush=True
            )
        kernels = sorted(
            (
                (float(seconds), kernel)
                for kernel, seconds in re.findall(r"compiled (\S+) \(([\d.]+) s\)", first.complained)
            ),
            reverse=True,
        )
        print(f"\n{len(kernels)} kernels, {sum(seconds for seconds, _ in kernels):.0f} s in all; the longest:")
        for seconds, kernel in kernels[: options.longest]:
            print(f"{seconds:8.1f}  {kernel}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
