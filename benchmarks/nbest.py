"""Measure reading, writing and memory of n-best lists, a million hypotheses with 20 features by default.

    python benchmarks/nbest.py [--hypotheses 1000000] [--features 20]

The peer is the plain way: one Python dictionary of features per hypothesis, split at ' ||| ' and '='. Every measurement
runs in a process of its own, so that its highest memory is its own.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

FORMATS = ("moses", "joshua", "jsonl", "tsv")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hypotheses", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--step", help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.step:
        print(json.dumps(step(arguments)))
        return
    print(f"{arguments.hypotheses:,} hypotheses, {arguments.features} features")
    print(f"{'':24}{'CPU s':>8}{'peak MB':>10}{'file MB':>10}{'us/hyp':>9}{'peer':>8}")
    with tempfile.TemporaryDirectory() as folder:
        start = Path(folder) / "list.moses"
        synthetic(start, arguments.hypotheses, arguments.features)
        peer = run(arguments, "peer", start)
        line("plain Python, moses", peer, start, arguments, peer)
        for format in FORMATS:
            path = Path(folder) / f"list.{format}"
            if format != "moses":
                line(f"write {format}", run(arguments, f"write:{format}", start), path, arguments, None)
            line(f"read {format}", run(arguments, f"read:{format}", path), path, arguments, peer)
            if format != "moses":
                path.unlink()


def line(name: str, found: dict, path: Path, arguments: argparse.Namespace, peer: dict | None) -> None:
    ratio = f"{found['seconds'] / peer['seconds']:7.2f}x" if peer else ""
    each = found["seconds"] / arguments.hypotheses * 1e6
    size = path.stat().st_size / 1e6
    print(f"{name:24}{found['seconds']:8.1f}{found['peak']:10,.0f}{size:10,.0f}{each:9.1f}{ratio:>8}", flush=True)


def run(arguments: argparse.Namespace, step: str, path: Path) -> dict:
    command = [sys.executable, __file__, "--hypotheses", str(arguments.hypotheses), "--step", step, "--file", str(path)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def step(arguments: argparse.Namespace) -> dict:
    from camber.nbest import NBest

    what, _, format = arguments.step.partition(":")
    before = time.process_time()
    if what == "peer":
        found = plain(arguments.file)
        assert len(found) == arguments.hypotheses
    else:
        nbest = NBest.read(arguments.file)
        assert nbest.hypotheses == arguments.hypotheses
        if what == "write":
            before = time.process_time()
            nbest.write(arguments.file.with_suffix(f".{format}"), format)
    seconds = time.process_time() - before
    return {"seconds": seconds, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3}


def plain(path: Path) -> list:
    found = []
    with open(path, encoding="utf-8") as stream:
        for row in stream:
            sentence, text, features, score = row.rstrip("\n").split(" ||| ")
            values: dict[str, list[float]] = {}
            label = ""
            for token in features.split():
                if token.endswith("="):
                    label = token[:-1]
                    values[label] = []
                else:
                    values[label].append(float(token))
            found.append((int(sentence), text, values, float(score)))
    return found


def synthetic(path: Path, hypotheses: int, features: int) -> None:
    rng = np.random.default_rng(1)
    words = [f"word{index}" for index in range(5000)]
    with open(path, "w", encoding="utf-8") as stream:
        for start in range(0, hypotheses, 100):
            table = rng.normal(-5, 4, (100, features + 1)).round(4).tolist()
            picked = rng.integers(0, len(words), (100, 20)).tolist()
            for row, places in zip(table[: hypotheses - start], picked, strict=False):
                values = " ".join(f"f{index}= {value}" for index, value in enumerate(row[1:]))
                stream.write(f"{start // 100} ||| {' '.join(words[p] for p in places)} ||| {values} ||| {row[0]}\n")


if __name__ == "__main__":
    main()
