"""Phrase extraction and scoring: CPU-seconds per stage, against Moses' figures and a plain-Python twin.

    python benchmarks/extract.py [--data ../shared] [--subset 300] [--threads 1]

Moses cannot be installed with pip. Its figures were measured on another machine, see README.md beside this file, on the
same text and alignment; they are printed as they are, without scaling. The twin (tests/naive/phrase_rules.py) runs here
and now on the first pairs, and gives the same rules.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from figures import note

from camber.engine import Threads

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from naive.phrase_rules import phrase_table  # noqa: E402

from camber.align.lexical import lexical_table  # noqa: E402
from camber.align.pharaoh import Alignment, read_pharaoh  # noqa: E402
from camber.corpus import Bitext  # noqa: E402
from camber.files import read_parallel, words  # noqa: E402
from camber.formats.moses.phrase_table import read_moses  # noqa: E402
from camber.formats.moses.phrase_table_writing import write_moses  # noqa: E402
from camber.rules.phrase.extraction import extract  # noqa: E402
from camber.rules.phrase.settings import RuleSettings  # noqa: E402

#: CPU-seconds of Moses for Multi30k de-en, 29,000 pairs (README.md beside this file).
MOSES = {"extract": 15.2, "score": 26.3, "reordering": 3.1}

#: The stages that Moses' three programs do.
STAGES = ("lexical table", "find, sort, score")

LONGEST = 7


@contextmanager
def timed(name: str, times: dict[str, float]) -> Iterator[None]:
    start = time.process_time()
    yield
    times[name] = time.process_time() - start


def peak() -> float:
    """Return the largest resident size of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared", help="folder with data/ and anchors/")
    parser.add_argument("--subset", type=int, default=300, help="pairs for the plain-Python twin")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    text, moses = args.data / "data/multi30k/tok", args.data / "anchors/moses"
    if not (text / "train.de").exists() or not moses.exists():
        parser.exit(
            1, f"no benchmark data in {args.data}: give --data a folder with data/multi30k/tok and anchors/moses\n"
        )

    times: dict[str, float] = {}
    with timed("read text and alignment", times):
        sides = [[words(line) for line in side] for side in read_parallel(text / "train.de", text / "train.en")]
        bitext = Bitext.encode(*sides)
        alignment = read_pharaoh(moses / "aligned.grow-diag-final-and.gz")
    few = [(s, t, [tuple(link) for link in links.tolist()]) for s, t, links in zip(*sides, alignment, strict=True)]
    few = few[: args.subset]
    small = Bitext.encode([s for s, _, _ in few], [t for _, t, _ in few]), Alignment.from_pairs([a for _, _, a in few])
    settings = RuleSettings(max_phrase_length=LONGEST, options_per_phrase=0)
    with tempfile.TemporaryDirectory() as folder:  # compile, outside the measurements
        read_moses(*write_moses(extract(*small, settings, Threads(args.threads)), folder))

    before = peak()
    with timed("lexical table", times):
        lexicon = lexical_table(bitext, alignment)
    with timed("find, sort, score", times):
        store = extract(bitext, alignment, settings, Threads(args.threads), lexicon)
    grown = peak() - before
    with tempfile.TemporaryDirectory() as folder:
        with timed("write Moses tables", times):
            paths = write_moses(store, folder)
        with timed("read Moses tables", times):
            read_moses(*paths)

    total = len(bitext)
    print(
        f"{total:,} pairs, {int(store.source_counts.sum()):,} occurrences, {len(store):,} phrase pairs, "
        f"{args.threads} thread(s)\n"
    )
    for name, seconds in times.items():
        print(f"  {name:34} {seconds:7.2f} CPU-s {total / max(seconds, 1e-9):12,.0f} pairs/CPU-s")
    ours, theirs = sum(times[name] for name in STAGES), sum(MOSES.values())
    print(
        f"\n  {'extraction in all':34} {ours:7.2f} CPU-s {total / ours:12,.0f} pairs/CPU-s, +{grown:.0f} MB at the peak"
    )
    print(f"  {'Moses (measured elsewhere)':34} {theirs:7.2f} CPU-s {total / theirs:12,.0f} pairs/CPU-s")
    print(f"  {'ratio Moses / ours':34} {theirs / ours:7.1f}")
    print(f"  {'ratio with Moses tables written':34} {theirs / (ours + times['write Moses tables']):7.1f}")

    start = time.process_time()
    table = phrase_table(few, LONGEST)
    twin = time.process_time() - start
    start = time.process_time()
    rules = extract(*small, settings, Threads(args.threads))
    quick = time.process_time() - start
    print(f"\n  first {len(few):,} pairs, with {len(rules):,} rules here and {len(table):,} from the twin")
    print(f"  {'plain-Python twin':34} {twin:7.2f} CPU-s {len(few) / twin:12,.0f} pairs/CPU-s")
    print(f"  {'ours':34} {quick:7.3f} CPU-s {len(few) / quick:12,.0f} pairs/CPU-s")
    print(f"  {'ratio twin / ours':34} {twin / quick:7.0f}")
    note("extraction in all, CPU-s", ours, more_is_better=False)
    note("peak of extraction, MB more", grown, more_is_better=False)
    note("times as fast as the twin in plain Python", twin / quick)


if __name__ == "__main__":
    main()
