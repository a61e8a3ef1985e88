"""camber add: add sentence pairs to a model; the very next translation makes use of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from camber.cli.options import FILE, engine_option


@click.command(help=__doc__)
@click.argument("model", type=FILE)
@click.option("--source", required=True, type=FILE, help="Source side of the new pairs, one sentence per line.")
@click.option("--target", required=True, type=FILE, help="Target side, line by line its translation.")
@click.option("--alignment", type=FILE, help="Word alignment of the new pairs (Pharaoh format) instead of our own.")
@engine_option
def command(model: Path, **values: Any) -> None:
    from camber.pipeline.add import Adder

    Adder(model).add(**values)
