"""`camber select`: choose the training pairs that help most to translate a text."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import click

from camber.cli.groups import Grouped
from camber.cli.options import FILE, Registered, engine_option, json_option, pick, refuse_idle, settings_options
from camber.engine import Engine
from camber.regress.select.selectors import SELECTORS, USUAL, SelectSettings
from camber.text.settings import TextSettings


@click.command(cls=Grouped, short_help="Choose training pairs for a text.")
@click.option("--source", required=True, type=FILE, help="Source side of the corpus, one sentence per line (or .gz).")
@click.option("--target", required=True, type=FILE, help="Target side.")
@click.option("--test", required=True, type=FILE, help="The text that is to be translated.")
@click.option("--test-target", type=FILE, help="Its translation, to measure how much of it is covered (tcov).")
@click.option("--count", type=click.IntRange(1), help="Pairs to choose.")
@click.option("--per-sentence", type=click.IntRange(1), help="Choose among so many best ones for each line.")
@click.option(
    "--score", type=Registered(SELECTORS), default=USUAL, show_default=True, help="How pairs are compared with lines."
)
@click.option("--out", type=FILE, help="PREFIX of the files to write; packed if it ends in .gz.", metavar="PREFIX")
@click.option(
    "--order-by",
    type=click.Choice(["corpus", "best"]),
    default="corpus",
    show_default=True,
    help="Write pairs in the order of the corpus, or the best first.",
)
@settings_options(SelectSettings)
@settings_options(TextSettings)
@json_option("Write JSON.")
@engine_option
def command(
    source: Path,
    target: Path,
    test: Path,
    count: int | None,
    per_sentence: int | None,
    score: str,
    out: Path | None,
    as_json: bool,
    engine: Engine,
    **values: Any,
) -> None:
    """Choose the pairs of a corpus that help most to translate a text, as training set.

    PREFIX.source and PREFIX.target (or the languages, if both are named) get the lines as they are in the corpus,
    PREFIX.lines their numbers. Told is the share of the text's n-grams that the selection has (scov; tcov with
    --test-target), and that the corpus has. Without --out nothing is written.

    Lines take turns and add their best pairs until there are --count; with --score decay, pairs are chosen for the
    whole text at once.
    """
    from camber.pipeline.select import select

    if count is None and per_sentence is None:
        raise click.UsageError("give --count, --per-sentence or both")
    known = [item.name for item in dataclasses.fields(SelectSettings)]
    refuse_idle([name for name in known if name not in SELECTORS.load(score).uses], f"with --score {score}")
    if out is None:
        refuse_idle(["order_by"], "without --out")
    settings, text = pick(SelectSettings, values), pick(TextSettings, values)
    selection = select(
        source, target, test, count, per_sentence=per_sentence, score=score, out=out, settings=settings, text=text,
        engine=engine, **values,
    )  # fmt: skip
    click.echo(json.dumps(selection.to_dict(), indent=1) if as_json else str(selection))
