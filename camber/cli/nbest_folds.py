"""camber nbest-folds: n-best lists over a training corpus, each fold translated by a model of the others."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import click

from camber.cli.groups import RUNNING, Grouped, option
from camber.cli.options import FILE, Registered, engine_option, given, naming_flags, seed_option, settings_options
from camber.cli.training import stage_options, train_settings
from camber.nbest.formats import AUTO, FORMATS
from camber.pipeline.folds import FoldSettings
from camber.pipeline.methods import METHODS
from camber.progress import log


@click.command(cls=Grouped, short_help="N-best lists over a training corpus.")
@click.option("--source", required=True, type=FILE, help="Source side, one sentence per line (may be .gz).")
@click.option("--target", required=True, type=FILE, help="Target side.")
@click.option("--out", required=True, type=FILE, help="The merged list; OUT.ref and OUT.weights.tsv come beside it.")
@click.option("--nbest-format", type=click.Choice([AUTO, *FORMATS]), default=AUTO, show_default="by the ending of OUT")
@option("--work", type=FILE, help="Folder for what the stages make.", show_default="OUT.work", group=RUNNING)
@click.option(
    "--method",
    type=Registered(METHODS),
    default="phrase",
    show_default=True,
    help="Phrases, or hierarchical rules extracted for every sentence.",
)
@settings_options(FoldSettings)
@click.option("--config", type=FILE, help="TOML file with settings; flags override it.")
@option("--keep-work/--no-keep-work", default=True, show_default=True, help="Keep what the stages made.", group=RUNNING)
@stage_options(but=["tune"])
@seed_option
@engine_option
def command(config: Path | None, **values: Any) -> None:
    """Write n-best lists over a training corpus, each fold translated by a model of the others.

    Alignment, language model, rules and truecasers of a model know nothing of the fold that it translates. All folds
    are translated with the same weights; these are fitted to the lists of all, and everything is translated again. The
    merged list of all rounds is for `camber rerank fit --nbest OUT --ref OUT.ref`.
    """
    from camber.pipeline.folds import nbest_folds

    named = given(FoldSettings, values)
    settings, tables = train_settings(config, values, but=["tune"])
    tuning = tables.get("tune", {})
    known = {item.name for item in dataclasses.fields(FoldSettings)}
    if idle := [name for name in tuning if name not in known | {"bend"}]:
        log.warning("%s: not used for folds: %s", config, ", ".join(f"tune.{name}" for name in idle))
    chosen = {name: value for name, value in tuning.items() if name in known} | named
    with naming_flags({FoldSettings: ""}):
        folds = FoldSettings.from_dict(chosen)
    nbest_folds(settings=settings, folds=folds, **values)
