"""TER beside sacreBLEU's: the same edits of every line, and how long they take.

    python benchmarks/ter.py [TEXT …] [--data ../shared] [--lines 500]

Outputs of two systems (eval-multeval, 2,489 lines, three runs each) against their references, the first translations of
cdec and Moses (Multi30k), Joshua (four references) and T5, and 100-best lists of Moses. sacreBLEU is asked about the
first lines of each (all of them with `--lines 0`, which takes ten minutes), and every line's edits and reference length
are compared. TEXT is a part of the names of the texts that are wanted. CPU time of one thread, tokenising included,
after a first call that compiles.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import sacrebleu.metrics
from figures import note

from camber.arrays.ragged import owners_of
from camber.files import read_lines
from camber.metrics.metric import statistics_of_sacrebleu
from camber.metrics.ter import TER
from camber.nbest.nbest import NBest


class Text(NamedTuple):
    """Hypotheses, references, and the sentence of every hypothesis."""

    lines: list[str]
    references: list[list[str]]
    owners: list[int]


def cases(data: Path) -> dict[str, Callable[[], Text]]:
    """Return how texts are read, by their names."""
    folder, lists, multi30k = data / "data/eval-multeval", data / "data/nbest", data / "data/multi30k/tok"
    places = {path.name: partial(output, path, [folder / "ref.en"]) for path in sorted(folder.glob("hyp.*"))}
    places["cdec, Multi30k test"] = partial(output, data / "anchors/cdec/test.1best", [multi30k / "test.en"])
    for part, name in (("test", "mert"), ("dev", "mert"), ("dev", "untuned")):
        nbest = data / f"anchors/moses/{part}.{name}.nbest100.gz"
        places[f"Moses, Multi30k {part}, {name}"] = partial(first_choices, nbest, [multi30k / f"{part}.en"])
    own = lists / "joshua-bn-en-hiero"
    places["Joshua, 4 references"] = partial(first_choices, own / "nbest.joshua", sorted(own.glob("ref.en.*")))
    own = lists / "t5-tatoeba-en-fr-pool"
    places["T5, Tatoeba"] = partial(first_choices, own / "nbest", [own / "ref.fr"])
    own = lists / "moses-europarl-100x100"
    places["100-best of Moses"] = partial(all_choices, own / "nbest.moses", [own / "ref.en"])
    return places


def output(path: Path, references: Sequence[Path]) -> Text:
    """Read a file of translations."""
    lines = read_lines(path)
    return Text(lines, [read_lines(place) for place in references], list(range(len(lines))))


def all_choices(path: Path, references: Sequence[Path]) -> Text:
    """Read an n-best list."""
    nbest = NBest.read(path)
    return Text(
        list(nbest.texts), [read_lines(place) for place in references], owners_of(nbest.sentence_offsets).tolist()
    )


def first_choices(path: Path, references: Sequence[Path]) -> Text:
    """Read the first translation of each sentence of an n-best list."""
    lines, others, owners = all_choices(path, references)
    firsts = {owner: line for line, owner in zip(reversed(lines), reversed(owners), strict=True)}
    return Text([firsts[owner] for owner in sorted(firsts)], others, sorted(firsts))


def main() -> None:
    """Measure, and print a row for each text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="*", metavar="TEXT", help="parts of the names of texts (default: all)")
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument(
        "--lines", type=int, default=500, help="lines of each text that sacreBLEU is asked about, 0: all"
    )
    options = parser.parse_args()
    if not (options.data / "data/eval-multeval").is_dir():
        raise SystemExit(f"{options.data}: no data/eval-multeval; name the data folder with --data")
    readers = cases(options.data)
    chosen = [name for name in readers if not options.texts or any(part in name for part in options.texts)]
    if not chosen:
        parser.error(f"no such text; there are {', '.join(readers)}")
    ours, theirs = TER(), sacrebleu.metrics.TER()
    ours.statistics(["a b"], [["b a"]])
    print(f"{'text':<32}{'lines':>8}{'ours, s':>10}{'compared':>10}{'sacreBLEU, s':>14}{'ratio':>8}{'other edits':>13}")
    wrong = 0
    for name in chosen:
        lines, references, owner = readers[name]()
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
        print(
            f"{name:<32}{len(lines):>8,}{whole:>10.2f}{len(rows):>10,}{end - middle:>14.2f}{ratio:>8.0f}{differ:>13}",
            flush=True,
        )
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
