"""camber add: add sentence pairs to a model; the very next translation makes use of them.

Pairs come from files with both languages (TMX, XLIFF, PO, tables; what is confirmed in them), or from two parallel
files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from camber.cli.options import FILE, engine_option


@click.command(help=__doc__)
@click.argument("model", type=FILE)
@click.argument("files", type=FILE, nargs=-1)
@click.option("--source", type=FILE, help="Source side of the new pairs, one sentence per line.")
@click.option("--target", type=FILE, help="Target side, line by line its translation.")
@click.option("--alignment", type=FILE, help="Word alignment of the new pairs (Pharaoh format) instead of our own.")
@click.option("--author", default="", help="Who adds them, for the journal.")
@click.option("--time", default="", help='When, for the journal ("now": of this moment).')
@engine_option
def command(model: Path, files: tuple[Path, ...], source: Path | None, target: Path | None, **values: Any) -> None:
    from camber.pipeline.add import Adder
    from camber.pipeline.bilingual import pairs_of_files

    if files and (source is not None or target is not None):
        raise click.UsageError("give files with both languages, or --source and --target, not both")
    if not files and (source is None or target is None):
        raise click.UsageError("give files with both languages, or --source and --target")
    if files:
        pairs = pairs_of_files(model, files)
        Adder(model).add(pairs.source, pairs.target, coded=pairs.coded, **values)
    elif source is not None and target is not None:
        Adder(model).add(source, target, **values)
