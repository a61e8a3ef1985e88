#!/usr/bin/env python3
"""All benchmarks in turn, and whether anything became slower since the last time.

    python benchmarks/all.py [--out benchmarks.json] [--against FILE] [--tolerance 0.1] [NAME ...]

Runs the scripts (those of `make bench`, or the ones that are named), and writes every ratio that they find out into one
JSON file, with the machine and the version. If there is such a file already, what became worse by more than the
tolerance is named at the end, and `--strict` makes that an error. Ratios to a peer in the same run hardly depend on the
machine; others (CPU-seconds, megabytes) are only compared with those of a machine of the same processor.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
#: what needs nothing but pip and the data
SCRIPTS = (
    *("start", "tokenise", "align", "lm", "extract", "add", "serve", "decode", "nbest", "tune", "rerank", "hiero"),
    *("bend", "descent", "boost", "mixture", "selection", "kernel", "lasso", "ter", "roundtrip"),
)
#: what has its own text
WITHOUT_DATA = ("start", "tokenise", "nbest", "boost", "mixture")


def measured(script: str, words: list[str]) -> tuple[dict[str, dict[str, Any]], bool]:
    """Run a script; return its figures by name, and whether it came to its end."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "figures"
        place.touch()
        variables = os.environ | {"CAMBER_FIGURES": str(place)}
        done = subprocess.run([sys.executable, str(HERE / f"{script}.py"), *words], env=variables, check=False)
        rows = [json.loads(line) for line in place.read_text("utf-8").splitlines()]
    return {row.pop("name"): row for row in rows}, done.returncode == 0


def processor() -> str:
    """Return the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def version() -> str:
    """Return the commit, or nothing outside a repository."""
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


def slower(before: dict[str, Any], now: dict[str, Any], tolerance: float) -> list[str]:
    """Return a line for each figure of a script that became worse by more than the tolerance.

    >>> row = {"value": 2.0, "more_is_better": True}
    >>> before = {"processor": "one", "figures": {"queries, times the peer": row}}
    >>> now = {"processor": "another", "figures": {"queries, times the peer": row | {"value": 1.5}}}
    >>> slower(before, now, 0.1)
    ['queries, times the peer: 2 → 1.5 (25 % worse)']
    """
    same, told = before["processor"] == now["processor"], []
    for name, row in now["figures"].items():
        old = before["figures"].get(name)
        if old is None or not (same or "times" in name):
            continue
        ours, theirs = (row["value"], old["value"]) if row["more_is_better"] else (old["value"], row["value"])
        if theirs > 0 and (worse := 1 - ours / theirs) > tolerance:
            told.append(f"{name}: {old['value']:.3g} → {row['value']:.3g} ({100 * worse:.0f} % worse)")
    return told


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scripts", nargs="*", metavar="NAME", help="which (default: all of `make bench`)")
    parser.add_argument("--data", type=Path, help="folder with data/ and anchors/, for all scripts")
    parser.add_argument("--out", type=Path, default=Path("benchmarks.json"))
    parser.add_argument("--against", type=Path, help="an earlier file (default: what is at --out)")
    parser.add_argument("--tolerance", type=float, default=0.1)
    parser.add_argument("--strict", action="store_true", help="exit with 1 if anything became slower")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.scripts if not (HERE / f"{name}.py").is_file()]:
        parser.error(f"there is no benchmarks/{unknown[0]}.py")
    against = arguments.against or arguments.out
    before = json.loads(against.read_text("utf-8")) if against.exists() else {}
    kept = json.loads(arguments.out.read_text("utf-8")) if arguments.out.exists() else {}
    told, failed = [], []
    for script in arguments.scripts or SCRIPTS:
        print(f"== {script}", flush=True)
        words = [] if arguments.data is None or script in WITHOUT_DATA else ["--data", str(arguments.data)]
        figures, whole = measured(script, words)
        if not whole:
            failed.append(script)
        now = {"version": version(), "processor": processor(), "figures": figures}
        if script in before:
            told += [f"{script}: {line}" for line in slower(before[script], now, arguments.tolerance)]
        kept[script] = now  # figures of scripts that do not run this time stay
        arguments.out.write_text(json.dumps(kept, indent=2) + "\n", "utf-8")
    print(f"\n{arguments.out}: {sum(len(one['figures']) for one in kept.values())} figures")
    for line in told:
        print(f"slower: {line}")
    if before and not told:
        print(f"nothing became slower by more than {100 * arguments.tolerance:.0f} %")
    if failed:
        print("failed:", *failed)
    return 1 if failed or (arguments.strict and told) else 0


if __name__ == "__main__":
    sys.exit(main())
