"""Where an experiment computes: on threads of this machine, or on a Dask cluster.

Results are the same; CPU times that an experiment tells are those of its own process.
"""

from __future__ import annotations

import argparse
import atexit
import functools
from pathlib import Path

from camber.engine import Engine, Threads


def add_engine(parser: argparse.ArgumentParser, threads: int = 0) -> None:
    """Add the options that say where."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--threads", type=int, default=threads, help="0: one per core")
    where.add_argument("--cluster", metavar="ADDRESS", help="tcp://host:port of a Dask scheduler, or local:N")
    parser.add_argument("--cluster-folder", type=Path, help="a folder that all machines have under this name")


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
