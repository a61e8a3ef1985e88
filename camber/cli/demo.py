"""camber demo: train, translate and report on the built-in corpus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from camber.cli.options import FILE, engine_option, json_option, seed_option
from camber.engine import Engine

if TYPE_CHECKING:
    from camber.report.page import Shown


@click.command("demo")
@click.option("--dir", "folder", type=FILE, default="camber-demo", show_default=True, help="Folder for everything.")
@json_option("Scores, times and where everything is, for machines.")
@seed_option
@engine_option
def command(folder: Path, as_json: bool, seed: int, engine: Engine) -> None:
    """Train, translate and report on the built-in corpus: what is said at a hotel's front desk, Spanish to English."""
    from camber.report.demo import run_demo

    demo = run_demo(folder, seed=seed, engine=engine)
    if as_json:
        facts = {"folder": str(demo.folder), "report": str(demo.report), "seconds": round(demo.seconds, 1)}
        click.echo(json.dumps({**facts, "scores": [score.to_dict() for score in demo.scores]}))
        return
    click.echo()
    for item in demo.examples[:4]:
        _show(item)
    for item in demo.errors[:1]:
        click.echo(f"and one that went wrong (right: {item.reference})")
        _show(item)
    for score in demo.scores:
        click.echo(
            f"{score.metric} {score.score:.2f} (95 % interval {score.low:.2f} … {score.high:.2f})  {score.signature}"
        )
    click.echo(f"\neverything took {demo.seconds:.0f} s; the report, with pictures: {demo.report}")
    click.echo(f"to translate more: camber translate {demo.folder / 'model'}")


def _show(item: Shown) -> None:
    """Print a sentence and its translation, cut into phrases."""
    source, target = item.segmentation.lines()
    click.echo(f"  es {source}\n  en {target}\n")
