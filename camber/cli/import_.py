"""camber import: parallel text from translation memories and translated files.

FILE is TMX, XLIFF, PO, MO, TSV or CSV, plain, packed by gzip or in a zip archive; which it is is told by its content.
PREFIX.de and PREFIX.en get a line for every pair. A broken file gives nothing, and the others are read all the same.
"""

from __future__ import annotations

import json
from pathlib import Path

import click

from camber.cli.options import FILE, json_option


@click.command(help=__doc__)
@click.argument("files", type=FILE, nargs=-1, required=True, metavar="FILE…")
@click.option("--source-lang", required=True, help="Language of the source, such as de or de-AT.")
@click.option("--target-lang", required=True, help="Language of the target.")
@click.option("--out", type=FILE, metavar="PREFIX", help="Where the pairs go; packed if it ends in .gz.")
@click.option("--report", type=FILE, help="Write how many pairs came from where, and why others did not (JSON: .json).")
@json_option("Write that as JSON to standard output.")
@click.option("--unconfirmed/--no-unconfirmed", help="Take what is fuzzy or waits for review, too.")
@click.option("--keep-going/--no-keep-going", help="Of a broken file, take the pairs before the break.")
def command(
    files: tuple[Path, ...],
    source_lang: str,
    target_lang: str,
    out: Path | None,
    report: Path | None,
    as_json: bool,
    unconfirmed: bool,
    keep_going: bool,
) -> None:
    from camber.errors import CamberError
    from camber.files import check_outputs
    from camber.pipeline.importing import import_files
    from camber.progress import log

    check_outputs(report)
    imported = import_files(files, source_lang, target_lang, out, unconfirmed=unconfirmed, keep_going=keep_going)
    if report:
        imported.write(report)
    if as_json:
        click.echo(json.dumps(imported.to_dict(), indent=1, ensure_ascii=False))
    else:
        log.info("%s", imported)
    if imported.broken:
        rest = "what came before the breaks was taken" if keep_going else "the pairs of the others were taken"
        raise CamberError(f"{len(imported.broken)} of {len(imported.files)} files could not be read whole; {rest}")
