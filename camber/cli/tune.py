"""camber tune: fit a model's weights to a development set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from camber.cli.options import FILE, pick, seed_option, settings_options, threads_option
from camber.tune.loop import TuneSettings


@click.command(help=__doc__)
@click.argument("model", type=FILE)
@click.option("--dev-source", required=True, type=FILE, help="Source side of the development set.")
@click.option("--dev-target", required=True, type=FILE, multiple=True, help="Its reference; may be repeated.")
@click.option("--out", type=FILE, help="Write the tuned model here instead of changing MODEL.")
@settings_options(TuneSettings)
@seed_option
@threads_option
@click.option("--json", "as_json", is_flag=True, help="For machines.")
def command(model: Path, as_json: bool, **values: Any) -> None:
    import json

    from camber.pipeline.tune import tune_model

    settings = pick(TuneSettings, values)
    outcome = tune_model(model, settings=settings, **values)
    if as_json:
        rounds = [[(found.score, found.ratio) for found in replica.rounds] for replica in outcome.replicas]
        click.echo(json.dumps({"dev": outcome.scores.tolist(), "rounds": rounds, "weights": outcome.weights.values}))
    else:
        click.echo(f"{settings.metric.upper()} on dev: {outcome}")
