"""camber warmup: compile the kernels ahead of time."""

from __future__ import annotations

import click


@click.command(help=__doc__)
def command() -> None:
    from camber.pipeline.warmup import warm_up

    warm_up()
