"""Where an experiment computes: on threads of this machine, in processes of it, or on a Dask cluster.

Results are the same. CPU times that an experiment tells are those of its own process, or of the thread of a job.

An experiment that is made of jobs maps over these, with a function of its script. The workers of a cluster know the
script by the name of its file: they need its folder and this one in PYTHONPATH (those of `local:N` have them), and the
same --work and --data under these names. What one job leaves there, others read.
"""

from __future__ import annotations

import argparse
import atexit
import functools
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from camber.engine import Engine, Threads


@dataclass(frozen=True)
class Processes:
    """Processes of this machine, which do long jobs."""

    count: int
    jobs_each: int | None = None  # after which a process ends, and gives its memory back

    def map(self, task: Callable[[Any, Any], Any], shared: Any, pieces: Iterable[Any]) -> Iterator[Any]:
        """Yield ``task(shared, piece)`` for every piece, in their order."""
        with ProcessPoolExecutor(self.count, get_context("spawn"), max_tasks_per_child=self.jobs_each) as pool:
            for future in [pool.submit(task, shared, piece) for piece in pieces]:
                yield future.result()


def add_jobs(parser: argparse.ArgumentParser, jobs: int = 2) -> None:
    """Add the options that say where jobs run: by default, in so many processes."""
    add_engine(parser).add_argument(
        "--jobs", type=int, default=jobs, help=f"processes of this machine (default {jobs})"
    )


def jobs_of(options: argparse.Namespace, jobs_each: int | None = None) -> Processes | Engine:
    """Return where jobs run; processes end after so many of them."""
    if options.cluster or options.threads:
        return engine_of(options)
    return Processes(options.jobs, jobs_each)


def add_engine(parser: argparse.ArgumentParser, threads: int = 0) -> Any:
    """Add the options that say where, and return their group."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--threads", type=int, default=threads, help="0: one per core")
    where.add_argument("--cluster", metavar="ADDRESS", help="tcp://host:port of a Dask scheduler, or local:N")
    parser.add_argument("--cluster-folder", type=Path, help="a folder that all machines have under this name")
    return where


def engine_of(options: argparse.Namespace) -> Engine:
    """Return the engine that was asked for; a cluster is left when the process ends."""
    if not options.cluster:
        return Threads(options.threads)
    return _cluster(options.cluster, options.cluster_folder)


@functools.cache
def _cluster(where: str, folder: Path | None) -> Engine:
    from camber.engine.cluster import Cluster

    cluster = Cluster.open(where, folder)
    atexit.register(cluster.close)
    return cluster
