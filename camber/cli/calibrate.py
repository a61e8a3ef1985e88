"""camber calibrate: find out on a development set how sure a model's translations may be taken to be.

Training and tuning do this, too. A model that was converted, made by an older version, or not tuned has no calibration;
its confidences are then posteriors over a list of candidates, which only tell translations of one model apart.
"""

from __future__ import annotations

from pathlib import Path

import click

from camber.cli.options import FILE, engine_option
from camber.engine import Engine


@click.command(help=__doc__)
@click.argument("model", type=FILE)
@click.option("--dev-source", required=True, type=FILE, help="Source side of the development set.")
@click.option("--dev-target", required=True, type=FILE, multiple=True, help="Its reference; may be repeated.")
@click.option("--out", type=FILE, help="Write the calibrated model here instead of changing MODEL.")
@engine_option
def command(model: Path, dev_source: Path, dev_target: tuple[Path, ...], out: Path | None, engine: Engine) -> None:
    from camber.pipeline.calibrate import calibrate_model

    calibrate_model(model, dev_source, dev_target, out=out, engine=engine)
