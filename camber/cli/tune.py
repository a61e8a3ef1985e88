"""camber tune: fit a model's weights to a development set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from camber.cli.groups import Grouped, option
from camber.cli.options import (
    FILE,
    engine_option,
    given,
    json_option,
    naming_flags,
    refuse_idle,
    seed_option,
    settings_options,
)
from camber.tune.loop import TuneSettings

#: heading of the flags of a grid
GRID = "Grid of hyper-parameters"


@click.command(cls=Grouped, help=__doc__)
@click.argument("model", type=FILE)
@click.option("--dev-source", required=True, type=FILE, help="Source side of the development set.")
@click.option("--dev-target", required=True, type=FILE, multiple=True, help="Its reference; may be repeated.")
@option(
    "--grid",
    metavar="KEY=V,V…",
    help='Hyper-parameters to try, such as "bits=4,8 beta=1000,100000" or, of trees, "leaves=2,4 tree_keep=100,300"; '
    "every setting of bends, and l2.",
    group=GRID,
)
@option("--hyper-source", type=FILE, help="Source side of the set that chooses among them.", group=GRID)
@option("--hyper-target", type=FILE, multiple=True, help="Its reference; may be repeated.", group=GRID)
@click.option("--out", type=FILE, help="Write the tuned model here instead of changing MODEL.")
@click.option(
    "--report", type=FILE, metavar="FILE.html", help="Write a page, too: scores by round, weights, responses."
)
@settings_options(TuneSettings)
@seed_option
@engine_option
@json_option("Scores by round and weights for machines.")
def command(model: Path, as_json: bool, report: Path | None, **values: Any) -> None:
    import json

    hyper = values["hyper_source"] is not None and values["hyper_target"]
    if values["grid"] is not None and not hyper:
        raise click.UsageError("--grid needs a set to choose on: give --hyper-source and --hyper-target")
    if values["grid"] is None and (values["hyper_source"] is not None or values["hyper_target"]):
        raise click.UsageError('a hyper set chooses among the values of --grid: give some, such as "bits=4,8"')

    from camber.pipeline.tune import tune_model
    from camber.tune.grid import GridOutcome, parse_grid

    named = given(TuneSettings, values)
    with naming_flags({TuneSettings: ""}):
        settings = TuneSettings.from_dict(named)
    _refuse_idle(model, settings.bend)
    if values["grid"] is not None:
        refuse_idle([name for name in parse_grid(values["grid"]) if name in named], "beside a --grid that names it")
    if report:
        from camber.report.tuning import tune_and_report

        outcome = tune_and_report(report, model, settings=named, **values)
    else:
        outcome = tune_model(model, settings=named, **values)
    if as_json:
        rounds = [[(one.score, one.ratio) for one in replica.rounds] for replica in outcome.replicas]
        facts = {"dev": outcome.scores.tolist(), "rounds": rounds, "weights": outcome.weights.values}
        if isinstance(outcome, GridOutcome):
            facts["grid"] = [
                {**trial.values, "features": trial.features, "dev": trial.dev, "hyper": trial.hyper}
                if not trial.failure
                else {**trial.values, "features": trial.features, "failure": trial.failure}
                for trial in outcome.trials
            ]
        click.echo(json.dumps(facts))
    else:
        if isinstance(outcome, GridOutcome):
            click.echo("\n".join(outcome.lines()))
        click.echo(f"{settings.metric.upper()} on dev: {outcome}")


def _refuse_idle(model: Path, bend: str) -> None:
    """Refuse hyper-parameters of bins and trees where there are none, or where they are made already."""
    from camber.bend.bend import Bend
    from camber.bend.kinds import KEEP, NONE, idle_settings, settings_of
    from camber.model.bend import read_bend
    from camber.model.directory import ModelDirectory
    from camber.model.kinds import check_weighs
    from camber.tune.grid import MADE_WITH

    def kept_bend(directory: ModelDirectory) -> Bend | None:
        check_weighs(directory)
        return read_bend(directory) if bend == KEEP else None

    if bend in (KEEP, NONE):
        refuse_idle(["cautious"], f"to --bend {bend}, which bends nothing anew")
    kept = ModelDirectory.opened(model, kept_bend)
    if kept is None:
        refuse_idle(idle_settings(bend), f"to --bend {bend}")
        return
    told = f"to bins ({kept.kind})" if kept.width else "to a model without bins or trees"
    if "trees" in settings_of(kept.kind):
        told = f"to trees that are kept ({kept.kind})"
    refuse_idle([*MADE_WITH, *idle_settings(kept.kind)], f"{told}; name a bend with --bend")
