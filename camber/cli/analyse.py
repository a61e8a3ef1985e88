"""camber analyse: what a job is made of: words, repetitions, matches, unknown words, expected quality.

FILES may be TMX, XLIFF, PO, tables, or plain text with a segment on each line. What has a translation is counted apart.
"""

from __future__ import annotations

import json
from pathlib import Path

import click

from camber.cli.options import FILE, engine_option, json_option
from camber.engine import Engine


@click.command(help=__doc__)
@click.argument("model", type=FILE)
@click.argument("files", type=FILE, nargs=-1, required=True)
@json_option("The table for machines.")
@click.option("--out", type=FILE, help="Also write a page (HTML).")
@click.option("--all", "everything", is_flag=True, help="Count what has a translation as if it had none.")
@click.option(
    "--quality/--no-quality",
    default=True,
    show_default=True,
    help="Translate all segments, to say how sure the engine is of them.",
)
@engine_option
def command(
    model: Path,
    files: tuple[Path, ...],
    as_json: bool,
    out: Path | None,
    everything: bool,
    quality: bool,
    engine: Engine,
) -> None:
    from camber.files import check_outputs
    from camber.pipeline.analyse import analyse
    from camber.report.analysis import write_analysis

    check_outputs(out, inputs=files)
    analysis = analyse(model, files, quality=quality, everything=everything, engine=engine)
    click.echo(json.dumps(analysis.to_dict(), indent=1, ensure_ascii=False) if as_json else str(analysis))
    if out is not None:
        write_analysis(out, analysis, model.name)
