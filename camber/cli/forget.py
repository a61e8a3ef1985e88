"""camber forget: take wrong pairs back.

Pairs that were added are gone from the next translation on, with all rules that came of them. Pairs of the training are
not remembered any more (`camber match`, `camber translate --fuzzy`), but the rules stay as they were trained. So do
those of a combination's members.
"""

from __future__ import annotations

from pathlib import Path

import click

from camber.cli.options import FILE


@click.command(help=__doc__)
@click.argument("model", type=FILE)
@click.option("--number", "numbers", type=int, multiple=True, help="Its number, as `camber match` and --list tell it.")
@click.option("--text", "texts", multiple=True, help="The source line: all pairs that have it.")
@click.option(
    "--file",
    "files",
    type=FILE,
    multiple=True,
    help="TMX, XLIFF, PO, or a table: all pairs of it that are known.",
)
@click.option("--list", "listed", is_flag=True, help="List the pairs that were added, with their numbers.")
@click.option("--author", default="", help="Who says so, for the journal.")
@click.option("--time", default="", help='When, for the journal ("now": of this moment).')
def command(
    model: Path,
    numbers: tuple[int, ...],
    texts: tuple[str, ...],
    files: tuple[Path, ...],
    listed: bool,
    author: str,
    time: str,
) -> None:
    from camber.errors import CamberError
    from camber.pipeline.bilingual import pairs_of_files
    from camber.pipeline.forget import forget, known_pairs

    if listed == bool(numbers or texts or files):
        raise click.UsageError("say what to take back (--number, --text, --file), or ask for a --list")
    if listed:
        _list(model)
        return
    pairs = []
    if files:
        found = pairs_of_files(model, files)
        pairs = known_pairs(model, found.source, found.target)
    if files and not (pairs or numbers or texts):
        raise CamberError(f"{model}: remembers no pair of these files; nothing was taken back")
    for source, target in forget(model, numbers=numbers, texts=texts, pairs=pairs, author=author, time=time):
        click.echo(f"{source}\t{target}")


def _list(model: Path) -> None:
    from camber.model.translator import load

    memory = load(model).memory
    for pair in memory.numbered() if memory is not None else ():
        click.echo("\t".join((str(pair.number), pair.author, pair.time, pair.source, pair.target)))
