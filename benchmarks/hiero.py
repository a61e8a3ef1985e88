"""Chart decoding: speed against search quality on cdec's own grammars, beside the figures of cdec.

    python benchmarks/hiero.py [--data ../shared] [--json]

The first 100 sentences of Multi30k's test set, de-en, with cdec's language model and weights, one thread; loading and
compiling are excluded from the curve, CPU time is the best of some repetitions. cdec cannot be installed with pip: its
speed comes from the anchors' README, its scores from its n-best list, and our speed is scaled to the machine of those
figures by a yardstick that runs here and now (pip kenlm's words per CPU-second).
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from camber.corpus.reading import read_lines
from camber.decode.chart import ChartDecoder
from camber.decode.chart_settings import ChartSettings
from camber.model.cdec_ini import convert_cdec, open_cdec_decoder
from camber.model.directory import ModelDirectory

ROOT = Path(__file__).resolve().parent.parent
POP_LIMITS = (50, 100, 200, 400)
#: cdec at pop limit 200: sentences per CPU-second without reading its text grammars, and peak memory in MB
PEER_RATE, PEER_MEMORY = 14.0, 117
#: words per CPU-second of pip kenlm where the anchors were measured
YARDSTICK = 8e6

#: a fresh process: load, decode, say how much memory that took
MEMORY_PROBE = """
import sys
from camber.model.cdec_ini import open_cdec_decoder
from camber.model.directory import ModelDirectory
decoder = open_cdec_decoder(ModelDirectory.open(sys.argv[1]))
with open(sys.argv[2], encoding="utf-8") as file:
    text = [line.split() for line in file]
list(decoder.decode(text, threads=1))
with open("/proc/self/status") as file:
    print(next(int(line.split()[1]) / 1e3 for line in file if line.startswith("VmHWM")))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared", help="folder with data/ and anchors/")
    parser.add_argument("--repeat", type=int, default=3, help="repetitions, of which the best counts")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    args = parser.parse_args()
    anchors, text = args.data / "anchors", args.data / "data/multi30k/tok"
    if not (anchors / "cdec/cdec.ini").exists() or not (text / "test.de").exists():
        parser.exit(
            1, f"no benchmark data in {args.data}: give --data a folder with data/multi30k/tok and anchors/cdec\n"
        )
    lines = list(islice(read_lines(text / "test.de"), 100))
    with tempfile.TemporaryDirectory() as folder:
        model, source = Path(folder) / "model", Path(folder) / "source.txt"
        convert_cdec(anchors / "cdec/cdec.ini", model)
        source.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        result = measure(model, [line.split() for line in lines], args.repeat)
        result["memory"] = probe_memory(model, source)
    result["yardstick"] = yardstick(anchors / "lm/multi30k.en.o5.arpa.gz", read_lines(text / "test.en"))
    for row in [*result["curve"], result["nbest"]]:
        row["scaled_rate"] = row["rate"] / result["yardstick"]
    result["cdec_score"] = peer_score(anchors / "cdec/test.first100.nbest100.gz")
    if args.json:
        print(json.dumps(result, indent=2))
    else:
        report(result)


def measure(model: Path, sentences: list[list[str]], repeat: int) -> dict[str, Any]:
    """Return the curve over pop limits, and a row for lists of 100."""
    directory = ModelDirectory.open(model)
    settings = open_cdec_decoder(directory).settings.to_dict()

    def decoder(pop_limit: int) -> ChartDecoder:
        return open_cdec_decoder(directory, ChartSettings.from_dict(settings | {"pop_limit": pop_limit}))

    list(decoder(10).decode(sentences[:2], threads=1))  # compile, and read the pages that matter
    curve = []
    for pop_limit in POP_LIMITS:
        one = decoder(pop_limit)
        found, cpu = best_time(one, sentences, repeat)
        curve.append(
            {
                "pop_limit": pop_limit,
                "rate": len(sentences) / cpu,
                "score": float(np.mean([item[0].score for item in found])),
                "work": dict(
                    zip(("items", "bundles", "lm_scores", "pops"), (one.work / len(sentences)).tolist(), strict=True)
                ),
            }
        )
    _, cpu = best_time(decoder(200), sentences, repeat, nbest=100)
    return {"sentences": len(sentences), "curve": curve, "nbest": {"rate": len(sentences) / cpu}}


def best_time(
    decoder: ChartDecoder, sentences: list[list[str]], repeat: int, nbest: int = 1
) -> tuple[list[Any], float]:
    """Decode `repeat` times; return the derivations and the least CPU-seconds."""
    cpu = []
    found: list[Any] = []
    for _ in range(repeat):
        start = time.process_time()
        found = list(decoder.decode(sentences, nbest=nbest, threads=1))
        cpu.append(time.process_time() - start)
    return found, min(cpu)


def probe_memory(model: Path, source: Path) -> float | None:
    """Load and decode in a process of its own; return its peak size in MB (None where there is no /proc)."""
    if not Path("/proc/self/status").exists():
        return None
    command = [sys.executable, "-c", MEMORY_PROBE, str(model), str(source)]
    # the first may have to compile, which takes more memory than to decode
    return min(float(subprocess.run(command, check=True, capture_output=True, text=True).stdout) for _ in range(2))


def peer_score(path: Path) -> float:
    """Return the mean of the first scores of cdec's n-best lists."""
    best: dict[str, float] = {}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            fields = line.split(" ||| ")
            best.setdefault(fields[0], float(fields[3]))
    return float(np.mean(list(best.values())))


def yardstick(arpa: Path, lines: list[str], passes: int = 20, repeat: int = 3) -> float:
    """Return the speed of this machine: 1.0 where the anchors were measured (the best of some repetitions)."""
    try:
        import kenlm
    except ImportError:
        sys.exit("the yardstick needs pip's kenlm: pip install 'camber[bench]'")
    model = kenlm.Model(str(arpa))
    words = sum(len(line.split()) + 1 for line in lines)
    seconds = []
    for _ in range(repeat):
        start = time.process_time()
        for _ in range(passes):
            for line in lines:
                model.score(line)
        seconds.append(time.process_time() - start)
    return passes * words / min(seconds) / YARDSTICK


def report(result: dict[str, Any]) -> None:
    """Print the table."""
    print(f"{result['sentences']} sentences, one thread; this machine: {result['yardstick']:.2f} of the anchors'\n")
    print("decoder   pop limit   sentences/CPU-s   scaled   times cdec   mean 1-best score   LM scores   pops")
    for row in result["curve"]:
        work = row["work"]
        print(
            f"camber {row['pop_limit']:12d} {row['rate']:17.0f} {row['scaled_rate']:8.0f} "
            f"{row['scaled_rate'] / PEER_RATE:12.1f} {row['score']:19.4f} {work['lm_scores']:11.0f} {work['pops']:6.0f}"
        )
    print(f"cdec   {200:12d} {PEER_RATE:17.0f} {PEER_RATE:8.0f} {1:12.1f} {result['cdec_score']:19.4f}\n")
    nbest = result["nbest"]
    print(f"100-best at pop limit 200: {nbest['rate']:.0f} sentences/CPU-s, scaled {nbest['scaled_rate']:.0f}")
    if result["memory"]:
        print(f"peak memory: camber {result['memory']:.0f} MB, cdec {PEER_MEMORY} MB")


if __name__ == "__main__":
    main()
