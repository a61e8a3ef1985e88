"""camber warmup: compile the kernels ahead of time."""

from __future__ import annotations

import click


@click.command(help=__doc__)
@click.option("--processes", type=click.IntRange(1), help="How many compile at the same time.  [default: one a core]")
def command(processes: int | None) -> None:
    from camber.pipeline.warmup import warm_up

    warm_up(processes)
