"""Sparse regression for machine translation (bicici): Tables 1 to 4 and Figures 2 to 4.

    python experiments/bicici/run.py [--data ../shared] [--work FOLDER] [--corpora multi30k,tatoeba,eutrans] [--write]
                                     [--jobs 1 | --threads 2 | --cluster ADDRESS]
    python experiments/bicici/run.py --quick

Sets are drawn as in the paper; regressors, thresholds and weights are chosen on dev, and dev2 and test are looked at by
what was chosen. Every finished condition is a file in the work folder, so that an interrupted experiment goes on where
it was, and conditions can be added. --write puts the tables and figures into README.md; --quick does all of it with a
few sentences, in a folder of its own.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import features  # noqa: E402
import figures  # noqa: E402
import tables  # noqa: E402
from decoding import GRAPHS, TABLES, systems  # noqa: E402
from engines import add_jobs, jobs_of  # noqa: E402
from steps import arguments, kept, write_tables  # noqa: E402
from texts import CORPORA, Text  # noqa: E402

from camber.regress.sparse.regressor import REGRESSORS  # noqa: E402

#: regressors that translate
TRANSLATING = ("ridge", "lasso")


def main() -> None:
    """Run what is missing and print the tables."""
    parser = arguments(__doc__, HERE)
    parser.add_argument("--corpora", default=",".join(CORPORA))
    add_jobs(parser, jobs=1)  # a corpus each
    parser.add_argument("--quick", action="store_true", help="a few sentences, to see that everything runs")
    parser.add_argument("--only-tables", action="store_true", help="run nothing, and tell what there is")
    options = parser.parse_args()
    if options.quick and options.write:
        parser.error("a quick run tells nothing: it is not written into README.md")
    names = options.corpora.split(",")
    if unknown := [name for name in names if name not in CORPORA]:
        parser.error(f"--corpora: no {', '.join(unknown)}; there are {', '.join(CORPORA)}")
    work = options.work / "quick" if options.quick else options.work
    work.mkdir(parents=True, exist_ok=True)
    if not options.only_tables:
        for _ in jobs_of(options, jobs_each=1).map(run, (options.data, work, options.quick), names):
            pass
    report = tables.report(work, names)
    print(report)
    if options.write:
        write_tables(HERE, report)
        figures.draw(HERE, work)


def run(shared: tuple[Path, Path, bool], name: str) -> None:
    """Do all of one corpus."""
    text = Text(CORPORA[name], *shared)
    work = text.work

    def keep(condition: str, make: Any) -> Any:
        place = work / f"{condition.replace(', ', '.').replace(' ', '-')}.json"
        new = not place.exists()
        found = kept(place, make)
        if new:
            print(f"{name}: {condition}", flush=True)
        return found

    def regression(regressor: str, span: str, instances: int, measured: str) -> Any:
        return keep(
            f"features, {regressor}, {span}, {instances}, {measured}",
            lambda: features.tuned(text, regressor, span, instances, measured),
        )

    if text.corpus.grouped:
        for selector in ("dice", "round-robin"):
            for instances, measured in ((100, "dev2"), (250, "test")):
                keep(
                    f"coverage, {selector}, {instances}",
                    lambda selector=selector, instances=instances, measured=measured: features.covered(
                        text, selector, instances, measured
                    ),
                )
    quick, slow = [], []
    if text.corpus.grouped:
        for condition in features.conditions(list(REGRESSORS)):
            (slow if condition[0] in features.SLOW else quick).append(condition)
    for condition in quick:
        regression(*condition)
    if name in GRAPHS:
        chosen = {
            span: {
                regressor: regression(regressor, span, 250, "test")["settings"]
                for regressor in TRANSLATING
                if regressor in REGRESSORS
            }
            for span in dict.fromkeys((GRAPHS[name], TABLES))
        }
        for system in systems(name, chosen):
            keep(system.name, lambda system=system: system.run(text))
    for condition in slow:
        regression(*condition)


if __name__ == "__main__":
    from run import main as start  # by the name that processes and workers know

    start()
