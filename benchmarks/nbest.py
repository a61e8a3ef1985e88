"""Measure reading, writing and memory of n-best lists, a million hypotheses with 20 features by default.

    python benchmarks/nbest.py [--hypotheses 1000000] [--features 20] [--parts]

The peer is the plain way: one Python dictionary of features per hypothesis, split at ' ||| ' and '='. Every measurement
runs in a process of its own, so that its highest memory is its own. With --parts, another list is made in memory:
12,000 sentences with 500 hypotheses of 10 parts each, which have 190 features, 8 of them of context, and share 50,000
rules.
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
from figures import note

FORMATS = ("moses", "joshua", "jsonl", "tsv")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hypotheses", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--parts", action="store_true", help="measure a list with 60 million parts instead; 6 GB")
    parser.add_argument("--step", help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.step:
        print(json.dumps(parts() if arguments.step == "parts" else step(arguments)))
        return
    if arguments.parts:
        for name, size in run(arguments, "parts", Path()).items():
            print(f"{name:30}{size / 1e9:8.2f} GB")
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


def parts(sentences: int = 12_000, size: int = 500, each: int = 10, rules: int = 50_000) -> dict:
    """Return the bytes of a long list with parts: of its arrays, as a plain matrix, and the most that was needed."""
    from camber.features.feature import CONTEXT, NUMBER, PROBABILITY, RULE, Feature
    from camber.features.parts import Parts
    from camber.nbest import NBest

    rng = np.random.default_rng(1)
    features = [Feature(f"rule{k}", PROBABILITY, RULE) for k in range(182)]
    features += [Feature(f"context{k}", NUMBER, CONTEXT) for k in range(8)]
    hypotheses = sentences * size
    total = hypotheses * each
    used = rng.integers(0, rules, total, dtype=np.int32)
    spans = [np.full((total, 2), k, np.int32) for k in range(2)]
    nbest = NBest(
        np.arange(sentences + 1) * size,
        np.arange(hypotheses + 1) * each,
        Parts(tuple(features), rng.random((rules, 182)), used, rng.random((total, 8)), used.copy()),
        [f"text {k}" for k in range(size)] * sentences,
        np.zeros(hypotheses),
        *spans,
    )
    arrays = (nbest.sentence_offsets, nbest.part_offsets, nbest.scores, nbest.source_spans, nbest.target_spans)
    return {
        "parts": nbest.parts.nbytes,
        "all arrays of the list": nbest.parts.nbytes + sum(array.nbytes for array in arrays if array is not None),
        "peak memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1e3,
        "features as a plain matrix": total * len(features) * 8,
    }


def line(name: str, measured: dict, path: Path, arguments: argparse.Namespace, peer: dict | None) -> None:
    ratio = f"{measured['seconds'] / peer['seconds']:7.2f}x" if peer else ""
    each = measured["seconds"] / arguments.hypotheses * 1e6
    note(f"{name}, microseconds a hypothesis", each, more_is_better=False)
    note(f"{name}, peak MB", measured["peak"], more_is_better=False)
    size = path.stat().st_size / 1e6
    print(f"{name:24}{measured['seconds']:8.1f}{measured['peak']:10,.0f}{size:10,.0f}{each:9.1f}{ratio:>8}", flush=True)


def run(arguments: argparse.Namespace, step: str, path: Path) -> dict:
    command = [sys.executable, __file__, "--hypotheses", str(arguments.hypotheses), "--step", step, "--file", str(path)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def step(arguments: argparse.Namespace) -> dict:
    from camber.nbest import NBest

    what, _, format = arguments.step.partition(":")
    before = time.process_time()
    if what == "peer":
        assert len(plain(arguments.file)) == arguments.hypotheses
    else:
        nbest = NBest.read(arguments.file)
        assert nbest.hypotheses == arguments.hypotheses
        if what == "write":
            before = time.process_time()
            nbest.write(arguments.file.with_suffix(f".{format}"), format)
    seconds = time.process_time() - before
    return {"seconds": seconds, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3}


def plain(path: Path) -> list:
    hypotheses = []
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
            hypotheses.append((int(sentence), text, values, float(score)))
    return hypotheses


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
