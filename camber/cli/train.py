"""camber train: from parallel text to a model."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from camber.cli.groups import RUNNING, Grouped, option
from camber.cli.options import FILE, Registered, engine_option, json_option, memory_option, refuse_idle, seed_option
from camber.cli.training import stage_flags, stage_options, train_settings
from camber.pipeline.methods import METHODS, weighs
from camber.pipeline.settings import STAGES
from camber.progress import log
from camber.regress.settings import MAXIMUM_MARGIN

#: headings that flags of settings stand under, too
CLEANING, TUNING = STAGES["clean"].group, STAGES["tune"].group


@click.command(cls=Grouped, help=__doc__)
@click.option("--source", type=FILE, help="Source side, one sentence per line (may be .gz).")
@click.option("--target", type=FILE, help="Target side.")
@click.option(
    "--corpus",
    multiple=True,
    metavar="FILE[:WEIGHT]",
    help="A file with both sides instead, as `camber import` reads it: TMX, XLIFF, PO, …; may be repeated.",
)
@option("--unconfirmed/--no-unconfirmed", help="Take what is fuzzy or waits for review, too.", group=CLEANING)
@option("--keep-going/--no-keep-going", help="Of a broken file, take the pairs before the break.", group=CLEANING)
@click.option("--model", required=True, type=FILE, help="Directory of the new model.")
@click.option(
    "--method",
    type=Registered(METHODS),
    default="phrase",
    show_default=True,
    help="Phrases, hierarchical rules extracted for every sentence, a regression of n-gram vectors, or what pairs that "
    "are selected for each sentence teach.",
)
@click.option("--dev-source", type=FILE, help="Source of a development set.")
@click.option("--dev-target", type=FILE, multiple=True, help="Its reference; may be repeated.")
@option(
    "--held-out", type=click.IntRange(0), default=None, help="Pairs to hold out when no dev set is given.", group=TUNING
)
@option(
    "--lm",
    type=FILE,
    multiple=True,
    help="ARPA file to use instead of estimating one; may be repeated.",
    group=STAGES["lm"].group,
)
@option(
    "--alignment",
    type=FILE,
    help="Word alignment (Pharaoh format) to use instead of our own.",
    group=STAGES["align"].group,
)
@click.option("--tune/--no-tune", "tuned", default=True, show_default=True, help="Tune the weights on the dev set.")
@click.option("--config", type=FILE, help="TOML file with settings; flags override it.")
@option("--keep-work/--no-keep-work", default=True, show_default=True, help="Keep what the stages made.", group=RUNNING)
@stage_options()
@json_option("Where the model is, of which kind, and how its weights came about, for machines.")
@seed_option
@engine_option
@memory_option
def command(config: Path | None, as_json: bool, **values: Any) -> None:
    import json

    from camber.bend.kinds import KEEP, NONE, idle_settings
    from camber.pipeline.train import train

    if not values["corpus"]:
        refuse_idle(["unconfirmed", "keep_going"], "without --corpus")
        if values["source"] is None or values["target"] is None:
            raise click.UsageError("give --source and --target, or --corpus")
    elif values["source"] is not None or values["target"] is not None:
        raise click.UsageError("give --source and --target, or --corpus, not both")
    has_dev = values["dev_source"] is not None or values["dev_target"]
    own = "with --alignment, all of whose pairs are used" if values["alignment"] else ""
    if has_dev or own:
        refuse_idle(["held_out"], "with a dev set" if has_dev else own)
    if values["lm"]:
        refuse_idle(stage_flags("lm"), "with --lm, which is not estimated")
    if own:
        refuse_idle(stage_flags("align"), "with --alignment")
    if not weighs(METHODS.load(values["method"])):
        reason = f"to --method {values['method']}, whose models have no weights"
        refuse_idle(["lm", *stage_flags("tune"), *stage_flags("lm")], reason)
    elif not values["tuned"]:
        refuse_idle(stage_flags("tune"), "with --no-tune")
    elif not has_dev and (own or values["held_out"] == 0):
        refuse_idle(stage_flags("tune"), "without a dev set or held-out pairs to tune on")
    settings, _ = train_settings(config, values)
    if values["corpus"] and not (settings.text.source_lang and settings.text.target_lang):
        raise click.UsageError("--corpus needs --source-lang and --target-lang, between which its pairs are")
    feature = settings.regression.of(settings.kernel)
    chosen, flag = (settings.kernel, "--kernel-regression") if feature is None else (feature, "--regression")
    margin = chosen.regression == MAXIMUM_MARGIN
    idle = ["kernel_ridge", "preimage_scale"] if margin else ["kernel_cost", "kernel_gap", "kernel_epochs"]
    refuse_idle(idle, f"to {flag} {chosen.regression}")
    if values["method"] == "sparse":
        tables, fields = settings.sparse.idle
        idle = [*(f"sparse_{name}" for name in fields), *(flag for table in tables for flag in stage_flags(table))]
        refuse_idle(idle, f"to --sparse-decoder {settings.sparse.decoder}")
    bend = settings.tune.bend
    bends = bend not in (KEEP, NONE)
    refuse_idle([*idle_settings(bend), *([] if bends else ["cautious"])], f"to --bend {bend}")
    translator = train(settings=settings, memory=values.pop("most_memory"), **values)
    if as_json:
        assert translator.directory is not None
        facts = {"model": str(values["model"]), "kind": translator.directory.kind}
        click.echo(json.dumps({**facts, "weights": translator.weights.signature}))
        return
    log.info("model: %s; translate with: camber translate %s", values["model"], shlex.quote(str(values["model"])))
