"""camber match: what a model remembers that is like each line, and how much."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from camber.cli.display import hide
from camber.cli.options import FILE, json_option
from camber.cli.streams import count_lines, lines_of, output_of
from camber.progress import each
from camber.text.tags import FORMATS, TEXT

if TYPE_CHECKING:
    from camber.memory.match import Match


@click.command(help=__doc__)
@click.argument("model", type=FILE)
@click.option("--input", "source", type=FILE, help="File with a segment on each line (default: standard input).")
@click.option("--output", type=FILE, help="File for what is found (default: standard output).")
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.7,
    show_default=True,
    help="How like a segment must be: 1 less the edits per word.",
)
@click.option("--best", type=click.IntRange(1), default=3, show_default=True, help="Matches for each line.")
@click.option(
    "--format",
    type=click.Choice(list(FORMATS)),
    default=TEXT,
    show_default=True,
    help="What tags are; in mark-up, they are inline codes, which may be written otherwise in a match.",
)
@click.option("--tsv", "as_tsv", is_flag=True, help="Line, per cent, number, source and target, with tabs between.")
@json_option("A JSON object for each line.")
def command(
    model: Path,
    source: Path | None,
    output: Path | None,
    threshold: float,
    best: int,
    format: str,
    as_tsv: bool,
    as_json: bool,
) -> None:
    from camber.files import check_outputs
    from camber.model.translator import load

    if as_tsv and as_json:
        raise click.UsageError("--tsv and --json: choose one")
    check_outputs(output, inputs=[source])
    translator = load(model)
    lines = each(lines_of(source), "match", count_lines(source), "lines")
    if output is None and sys.stdout.isatty():
        hide()  # the matches themselves tell how far it is
    with ExitStack() as stack:
        out = output_of(output, stack, at_once=source is None and sys.stdin.isatty())
        for number, line in enumerate(lines, 1):
            matches = translator.matches(line, threshold, best, format)
            if as_json:
                told = {"line": number, "text": line, "matches": [match.to_json(line) for match in matches]}
                out.write(json.dumps(told, ensure_ascii=False) + "\n")
            elif as_tsv:
                for match in matches:
                    columns = (str(number), str(match.percent), str(match.number), match.source, match.target)
                    out.write("\t".join(column.replace("\t", " ") for column in columns) + "\n")
            else:
                out.write(f"{number}: {line}\n" + "".join(_shown(match, line) for match in matches))


def _shown(match: Match, line: str) -> str:
    """Return a match for people: what is other in the line is marked."""
    who = ", ".join(filter(None, (match.author, match.time)))
    facts = f"#{match.number}{', added' if match.added else ''}{f' ({who})' if who else ''}"
    rows = [f"  {match.percent:3d} %  {match.marked(line)}", match.target, *(match.coded or ()), facts]
    return "\n         ".join(rows) + "\n"
