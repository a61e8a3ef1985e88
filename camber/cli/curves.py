"""camber curves: draw what the bent features and the trees of a model learnt."""

from __future__ import annotations

from pathlib import Path

import click

from camber.cli.options import FILE, refuse_idle


@click.command(help=__doc__)
@click.argument("model", type=FILE)
@click.option(
    "--out",
    type=FILE,
    default=Path("curves.html"),
    show_default=True,
    help="What to write: .html, .svg, .png or .json.",
)
@click.option(
    "--feature",
    "features",
    multiple=True,
    help="A feature to draw, with the trees that ask about it; may be repeated.  [default: all]",
)
@click.option(
    "--axis",
    type=click.Choice(["auto", "linear", "log"]),
    default="auto",
    show_default=True,
    help="Axis of the feature's values; auto chooses for each feature. The page has a switch.",
)
def command(model: Path, out: Path, features: tuple[str, ...], axis: str) -> None:
    from camber.report.curves import curves, lines

    if out.suffix.lower() == ".json":
        refuse_idle(["axis"], "to a .json file")
    for line in lines(curves(model, out, features, axis)):
        click.echo(line)
    click.echo(f"written: {out}")
