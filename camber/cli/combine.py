"""camber combine: make one model of several, with weights for what they agree upon."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from camber.cli.options import FILE, engine_option, given, json_option, naming_flags, seed_option, settings_options
from camber.pipeline.combine import CombineSettings


@click.command(help=__doc__)
@click.argument("models", metavar="MODEL…", type=FILE, nargs=-1, required=True)
@click.option("--dev-source", required=True, type=FILE, help="Source side of the development set.")
@click.option("--dev-target", required=True, type=FILE, multiple=True, help="Its reference; may be repeated.")
@click.option("--out", required=True, type=FILE, help="Directory of the combination, which holds its models.")
@settings_options(CombineSettings)
@seed_option
@engine_option
@json_option("The result for machines.")
def command(models: tuple[Path, ...], as_json: bool, **values: Any) -> None:
    import json

    from camber.pipeline.combine import combine_models

    with naming_flags({CombineSettings: ""}):
        settings = CombineSettings.from_dict(given(CombineSettings, values))
    combined = combine_models(models, settings=settings, **values)
    if as_json:
        click.echo(json.dumps(combined.to_dict()))
    else:
        click.echo(str(combined))
