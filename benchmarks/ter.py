"""TER beside sacreBLEU's: the same edits of every line, and how long they take.

    python benchmarks/ter.py [--data ../shared] [--lines 500]

Outputs of two systems (eval-multeval, 2,489 lines, three runs each) against their references, and 100-best lists of
Moses. sacreBLEU is asked about the first lines of each (all of them with `--lines 0`, which takes minutes), and every
line's edits are compared. CPU time of one thread, tokenising included, after a first call that compiles.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import sacrebleu.metrics
from figures import note

from camber.arrays.ragged import owners_of
from camber.files import read_lines
from camber.metrics.metric import statistics_of_sacrebleu
from camber.metrics.ter import TER
from camber.nbest.nbest import NBest


def cases(data: Path) -> dict[str, tuple[list[str], list[list[str]], list[int]]]:
    """Return hypotheses, references, and the sentence of every hypothesis."""
    folder = data / "data" / "eval-multeval"
    references = [read_lines(path) for path in sorted(folder.glob("*ref*"))]
    found = {
        path.name: (lines := read_lines(path), references, list(range(len(lines))))
        for path in sorted(folder.glob("*hyp*"))
    }
    lists = data / "data" / "nbest" / "moses-europarl-100x100"
    for path in sorted(lists.glob("*nbest*")):
        nbest = NBest.read(path)
        own = [read_lines(place) for place in sorted(lists.glob("*ref*"))]
        if own and len(nbest.texts):
            found[path.name] = (list(nbest.texts), own, owners_of(nbest.sentence_offsets).tolist())
    return found


def main() -> None:
    """Measure, and print a row for each text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--lines", type=int, default=500, help="lines of each text that sacreBLEU is asked about")
    options = parser.parse_args()
    texts = cases(options.data)
    if not texts:
        raise SystemExit(f"{options.data}: no data/eval-multeval; name the data folder with --data")
    ours, theirs = TER(), sacrebleu.metrics.TER()
    ours.statistics(["a b"], [["b a"]])
    print(f"{'text':<32}{'lines':>8}{'ours, s':>10}{'sacreBLEU, s':>14}{'ratio':>8}{'other edits':>13}")
    wrong = 0
    for name, (lines, references, owner) in texts.items():
        begin = time.process_time()
        ours.statistics(lines, references, owner)
        whole = time.process_time() - begin
        few = slice(0, options.lines or None)
        begin = time.process_time()
        mine = ours.statistics(lines[few], references, owner[few])
        middle = time.process_time()
        rows = statistics_of_sacrebleu(theirs, lines[few], references, owner[few])
        end = time.process_time()
        differ = int((mine != np.array(rows)).any(1).sum())
        wrong += differ
        ratio = (end - middle) / (middle - begin)
        note(f"{name}, times as fast as sacreBLEU", ratio)
        print(f"{name:<32}{len(lines):>8,}{whole:>10.2f}{end - middle:>14.2f}{ratio:>8.0f}{differ:>13}", flush=True)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
