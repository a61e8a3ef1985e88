"""camber convert: bring a model of another system along."""

from __future__ import annotations

from pathlib import Path

import click

from camber.cli.options import FILE


@click.group(help=__doc__)
def command() -> None:
    pass


@command.command(
    "moses",
    help="A phrase-based or hierarchical Moses model: moses.ini with tables in text form and ARPA language models.",
)
@click.argument("ini", type=FILE)
@click.argument("model", type=FILE)
def moses(ini: Path, model: Path) -> None:
    from camber.pipeline.convert_moses import convert_moses

    convert_moses(ini, model)


@command.command(
    "cdec", help="A hierarchical cdec model: cdec.ini with per-sentence grammars, weights and an ARPA model."
)
@click.argument("ini", type=FILE)
@click.argument("model", type=FILE)
@click.option("--grammars", type=FILE, help="Folder of the grammars (default: beside the ini).")
@click.option("--weights", type=FILE, help="Weights (default: those beside the ini).")
def cdec(ini: Path, model: Path, grammars: Path | None, weights: Path | None) -> None:
    from camber.pipeline.convert_cdec import convert_cdec

    convert_cdec(ini, model, grammars, weights)
