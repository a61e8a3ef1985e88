"""Change the source in one place at a time, and see whether the tests notice: ``python tests/mutation/mutate.py``.

`mutations` has the list: a file, what stands there once, what is put in its place, and the tests that should fail then.
All happens in copies of the project in a temporary folder, with compiled kernels of their own. Tests must pass on the
unchanged copy first, which also says how long they take: a mutation is killed if one of them fails, or if they take far
longer. Time that went into compiling what a mutation changed does not count. Results are kept in ``.mutants``: what
depends on nothing that changed since is not tried again, and who is interrupted goes on.

    python tests/mutation/mutate.py                  # all of them, on two processes
    python tests/mutation/mutate.py significance     # those whose file, text or tests have this word
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mutation.change import Mutation

HERE = Path(__file__).resolve().parent
#: The share of mutants that may survive.
MOST = 0.05


def main() -> int:
    sys.path.insert(0, str(HERE.parent))
    from mutation.attempt import attempt
    from mutation.change import PROJECT
    from mutation.mutations import MUTATIONS
    from mutation.record import Record

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("words", nargs="*", help="only mutations that have one of these words")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin with no others afterwards")
    parser.add_argument("--anew", action="store_true", help="try what was tried before, too")
    parser.add_argument("--list", action="store_true", help="check the list, try nothing")
    options = parser.parse_args()
    chosen = [m for m in MUTATIONS if not options.words or any(word in str(m) for word in options.words)]
    for mutation in chosen:
        mutation.mutated((PROJECT / "camber" / mutation.file).read_text(encoding="utf-8"))
    record = Record(PROJECT / ".mutants" / "verdicts.tsv")
    verdicts = {} if options.anew else {m: verdict for m in chosen if (verdict := record.verdict(m))}
    packages = {m.file.split("/")[0] for m in chosen}
    print(f"{len(chosen)} mutations in {len(packages)} packages, {len(verdicts)} tried before", flush=True)
    if options.list:
        return 0
    until = time.monotonic() + 60 * options.minutes
    for mutation, verdict in attempt([m for m in chosen if m not in verdicts], options.processes, until):
        if mutation is not None:
            record.add(mutation, verdict)
            verdicts[mutation] = verdict
    return report(chosen, verdicts)


def report(chosen: Sequence[Mutation], verdicts: Mapping[Mutation, str]) -> int:
    """Print what became of mutations; return 0 if all were tried and few enough survived."""
    from mutation.record import NOTICED, SURVIVED

    counts = Counter(verdicts.values())
    for mutation in chosen:
        if verdicts.get(mutation) == SURVIVED:
            print(f"survived: {mutation}")
    killed, survived = sum(counts[verdict] for verdict in NOTICED), counts[SURVIVED]
    print(f"{killed} killed ({counts['crashed']} crashed, {counts['endless']} endless), {survived} survived", end=" ")
    print(f"of {len(chosen)} ({100 * survived / max(1, len(chosen)):.1f} %)")
    if killed + survived < len(chosen):
        print(f"{len(chosen) - killed - survived} without a verdict")
        return 1
    return int(survived > MOST * len(chosen))


if __name__ == "__main__":
    sys.exit(main())
