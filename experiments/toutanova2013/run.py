"""Boosted features (toutanova2013) on Finnish and German to English: its Table 2, and trees inside the decoder.

    python experiments/toutanova2013/run.py [--data ../shared] [--work FOLDER] [--texts fi,de] [--write]
                                            [--jobs 2 | --threads 2 | --cluster ADDRESS]
    python experiments/toutanova2013/run.py --no-test
    python experiments/toutanova2013/run.py --quick

Everything is learnt and chosen on Dev-Train and Dev-Select. Only when nothing is left to learn are the test sets
translated, once, by the models that were chosen; --no-test stops before that. Finished runs are kept in the work
folder, so that an interrupted experiment goes on where it was. --write puts the tables and the learnt trees into
README.md. --quick does all of it with a few sentences, in a folder of its own, and takes held-out training text for the
test set.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import camber
from camber.engine import Engine, Threads
from camber.pipeline.settings import TrainSettings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # for the workers: theirs are the jobs, not the vectors

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

from conditions import FULL, QUICK, Scale, choose, jobs_of, read  # noqa: E402
from engines import Processes, add_jobs, engine_of  # noqa: E402
from engines import jobs_of as where_of  # noqa: E402
from replica import Replica  # noqa: E402
from steps import arguments, write_tables  # noqa: E402
from tables import cost, report_of  # noqa: E402
from texts import TEXTS, cut  # noqa: E402


def main() -> None:
    """Run what is missing and print the tables."""
    parser = arguments(__doc__, HERE)
    add_jobs(parser)
    parser.add_argument("--texts", default=",".join(TEXTS))
    parser.add_argument("--quick", action="store_true", help="a few sentences, to see that everything runs")
    parser.add_argument("--no-test", action="store_true", help="learn, and leave the test set alone")
    parser.add_argument("--show", action="store_true", help="run nothing: only tell what is there")
    options = parser.parse_args()
    scale = QUICK if options.quick else FULL
    work = options.work / "quick" if options.quick else options.work
    if options.quick and options.write:
        parser.error("a quick run tells nothing: it is not written into README.md")
    names = options.texts.split(",")
    if unknown := [name for name in names if name not in TEXTS]:
        parser.error(f"--texts: no text {', '.join(unknown)}; there are {', '.join(TEXTS)}")
    if not options.show:
        for name in names:
            train(name, scale, options.data, work, options)
        where = where_of(options, jobs_each=1)
        learn(names, scale, work, where)
        if not options.no_test:
            test(names, scale, work, where)
    report = "\n\n".join([*(part for name in names for part in report_of(name, scale, work)), cost(work)])
    print(report)
    if options.write:
        write_tables(HERE, report)


def train(name: str, scale: Scale, data: Path, work: Path, options: argparse.Namespace) -> None:
    """Cut the text, and train the systems with both sets of features, untuned; those that exist are taken."""
    text = TEXTS[name]
    folder = cut(text, scale.sizes[name], data, work)
    for features in ("base", "large"):
        start = time.time()
        settings = {"text": text.settings, "rules": {"rule_features": features}}
        camber.train(
            folder / f"train.{text.source}",
            folder / "train.en",
            work / f"model.{name}.{features}",
            held_out=0,
            tuned=False,
            settings=TrainSettings.from_dict(settings),
            engine=engine_of(options) if options.cluster else Threads(options.threads or options.jobs),
        )
        print(f"trained: {name}, {features}, {time.time() - start:.0f} s", flush=True)


def learn(names: Sequence[str], scale: Scale, work: Path, where: Processes | Engine) -> None:
    """Learn what is missing; the first replica of a text also chooses for the others."""
    for replicas in ((0,), range(1, scale.replicas)):
        for _ in where.map(learn_replica, (scale, work), [(name, replica) for replica in replicas for name in names]):
            pass


def test(names: Sequence[str], scale: Scale, work: Path, where: Processes | Engine) -> None:
    """Translate the test sets with what was chosen; refused while anything is missing."""
    for name in names:
        jobs_of(name, scale, partial(read, scale=scale, work=work), whole=True)
    replicas = [(name, replica) for name in names for replica in range(scale.replicas)]
    for _ in where.map(test_replica, (scale, work), replicas):
        pass


def learn_replica(shared: tuple[Scale, Path], what: tuple[str, int]) -> None:
    """Run all jobs of a replica."""
    (scale, work), (name, replica) = shared, what
    place = Replica(name, replica, scale, work)
    if replica == 0:
        choose(name, scale, place.run)
    else:
        for job in choose(name, scale, partial(read, scale=scale, work=work)).values():
            place.run(replace(job, replica=replica))


def test_replica(shared: tuple[Scale, Path], what: tuple[str, int]) -> None:
    """Translate the test set with all models of a replica."""
    (scale, work), (name, replica) = shared, what
    place = Replica(name, replica, scale, work)
    for jobs in jobs_of(name, scale, partial(read, scale=scale, work=work), whole=True).values():
        place.test(jobs[replica])


if __name__ == "__main__":
    from run import main as start  # by the name that processes and workers know

    start()
