"""camber align: word-align two parallel files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from camber.align.words import AlignSettings
from camber.cli.options import FILE, engine_option, pick, settings_options
from camber.engine import Engine


@click.command("align")
@click.option("--source", required=True, type=FILE, help="Tokenised text, one sentence per line (may be .gz).")
@click.option("--target", required=True, type=FILE, help="Its translation, line by line.")
@click.option("--out", required=True, type=FILE, help="Alignments in Pharaoh format (0-0 1-2: source-target).")
@click.option("--gold", type=FILE, help="Gold alignment of the first pairs: print the alignment error rate.")
@settings_options(AlignSettings)
@engine_option
def command(source: Path, target: Path, out: Path, gold: Path | None, engine: Engine, **values: Any) -> None:
    """Word-align two parallel files."""
    from camber.align.error_rate import error_rate, read_gold
    from camber.align.pharaoh import write_pharaoh
    from camber.align.words import align_corpus
    from camber.corpus.bitext import Bitext
    from camber.errors import InputError
    from camber.files import check_outputs, read_parallel, words
    from camber.progress import stage

    check_outputs(out, inputs=(source, target, gold))
    wanted = read_gold(gold) if gold else None
    with stage("read"):
        sides = [[words(line) for line in lines] for lines in read_parallel(source, target)]
        if gold and wanted and len(wanted) > len(sides[0]):
            raise InputError(f"{len(wanted):,} gold alignments for {len(sides[0]):,} sentence pairs", gold)
        bitext = Bitext.encode(*sides)
    with stage("align"):
        alignment = align_corpus(bitext, pick(AlignSettings, values), engine)
    write_pharaoh(out, alignment)
    if wanted:
        click.echo(f"{error_rate(alignment, wanted)}  ({len(wanted):,} of {len(bitext):,} pairs)")
