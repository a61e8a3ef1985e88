#!/usr/bin/env python3
"""From a translation memory to a running, tuned server: how long until it answers.

    python benchmarks/quickstart.py [--data ../shared] [--threads 2]

The memory is the training part of pythondocs-fr-en as TMX (18,817 pairs). Training aligns, extracts, and tunes on pairs
that it holds out; then the server is started and asked. Wall and CPU seconds of each step; with two threads, the goal
is five minutes of wall time on two cores, which is 600 CPU seconds at most.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape

from camber.files import read_lines, write_lines

COMMAND = [sys.executable, "-c", "from camber.cli import main; main()"]


def write_tmx(path: Path, source: list[str], target: list[str]) -> None:
    """Write pairs as a translation memory."""
    unit = '<tu><tuv xml:lang="fr"><seg>{}</seg></tuv><tuv xml:lang="en"><seg>{}</seg></tuv></tu>'
    facts = 'creationtool="none" creationtoolversion="0" segtype="sentence" o-tmf="none" adminlang="en" srclang="fr"'
    head = f'<header {facts} datatype="plaintext"/>'
    units = [unit.format(escape(one), escape(two)) for one, two in zip(source, target, strict=True)]
    write_lines(
        path, ['<?xml version="1.0" encoding="UTF-8"?>', '<tmx version="1.4">', head, "<body>", *units, "</body></tmx>"]
    )


def clock(name: str, work: Callable[[], object]) -> tuple[float, float]:
    """Do a step and print its wall and CPU seconds, which include those of processes that ended."""
    wall, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = time.perf_counter() - wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{name:24}{took[0]:8.1f} wall {took[1]:8.1f} CPU", flush=True)
    return took


def serve_and_ask(model: Path, threads: int, text: str) -> None:
    """Start a server, ask it once, and stop it."""
    process = subprocess.Popen(
        [*COMMAND, "serve", str(model), "--port", "0", "--threads", str(threads)], stderr=subprocess.PIPE, text=True
    )
    stop = threading.Timer(120, process.kill)
    stop.start()
    assert process.stderr is not None
    try:
        told = []
        for line in process.stderr:
            told.append(line)
            if match := re.search(r"serving on (http://[\d.]+:\d+)", line):
                url = match[1]
                break
        else:
            raise SystemExit("the server did not start:\n" + "".join(told))
        body = json.dumps({"q": text, "source": "fr", "target": "en"}).encode()
        request = urllib.request.Request(url + "/translate", body, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            print(f"  {text}\n  {json.load(answer)['translatedText']}")
    finally:
        process.terminate()
        process.wait(60)
        stop.cancel()


def main() -> None:
    """Do all steps."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    data = options.data / "data" / "pythondocs-fr-en"
    if not data.is_dir():
        sys.exit(f"no {data}; give the folder of the data with --data")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_tmx(folder / "memory.tmx", read_lines(data / "train.fr"), read_lines(data / "train.en"))
        model = folder / "model"
        command = [*COMMAND, "--quiet", "train", "--corpus", str(folder / "memory.tmx"), "--source-lang", "fr"]
        command += ["--target-lang", "en", "--model", str(model), "--threads", str(options.threads)]
        steps = [
            clock("train and tune", lambda: subprocess.run(command, check=True)),
            clock(
                "serve, first answer", lambda: serve_and_ask(model, options.threads, read_lines(data / "test.fr")[5])
            ),
        ]
        wall, cpu = map(sum, zip(*steps, strict=True))
        print(f"{'together':24}{wall:8.1f} wall {cpu:8.1f} CPU (goal: 300 wall with 2 free cores)")


if __name__ == "__main__":
    main()
