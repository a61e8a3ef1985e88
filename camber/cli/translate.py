"""camber translate: text in, translations out, line by line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import click

from camber.cli.options import FILE, given, settings_options, threads_option
from camber.decode.settings import DecodeSettings


@click.command(help=__doc__)
@click.argument("model", type=FILE)
@click.option("--input", "source", type=FILE, help="File to translate (default: standard input).")
@click.option("--output", type=FILE, help="File for the translations (default: standard output).")
@click.option("--nbest", type=click.IntRange(1), default=1, show_default=True, help="Candidates for every line.")
@click.option("--nbest-file", type=FILE, help="Where they go.")
@click.option("--nbest-format", type=click.Choice(["moses", "jsonl"]), default="moses", show_default=True)
@click.option("--distinct/--no-distinct", default=True, show_default=True, help="List every text once.")
@click.option("--alignment-file", type=FILE, help="Write the word alignment of every translation (Pharaoh format).")
@settings_options(DecodeSettings)
@threads_option
def command(
    model: Path,
    source: Path | None,
    output: Path | None,
    nbest: int,
    nbest_file: Path | None,
    nbest_format: str,
    distinct: bool,
    alignment_file: Path | None,
    threads: int,
    **values: Any,
) -> None:
    from camber.corpus.reading import read_lines, write_whole
    from camber.decode.lists import to_nbest
    from camber.model.translator import CHUNK, load

    if nbest > 1 and nbest_file is None:
        raise click.UsageError("--nbest needs --nbest-file, where the list goes")
    translator = load(model)
    if changed := given(DecodeSettings, values):
        translator = translator.searching(changed)
    lines = iter(read_lines(source)) if source else _standard_input()
    interactive = source is None and sys.stdin.isatty()
    with ExitStack() as stack:
        out: IO[str] = stack.enter_context(write_whole(output)) if output else sys.stdout
        links = stack.enter_context(write_whole(alignment_file)) if alignment_file else None
        candidates = []
        for best in translator.translations(lines, nbest, distinct, threads, 1 if interactive else CHUNK):
            out.write(best[0].text + "\n")
            if interactive:
                out.flush()
            if links:
                # nothing is known about the links of a text that was recalled
                pairs = [] if best[0].recalled else translator.decoder.word_alignment(best[0].derivation)
                links.write(" ".join(f"{s}-{t}" for s, t in pairs) + "\n")
            if nbest_file:
                # a list has features, which a recalled text has none of
                candidates.append([item.derivation for item in best if not item.recalled] or [best[0].derivation])
        if nbest_file:
            to_nbest(translator.decoder, candidates).write(nbest_file, nbest_format)
        out.flush()


def _standard_input() -> Iterator[str]:
    """Yield the lines of standard input as they come; bad UTF-8 is an error that names the line."""
    from camber.corpus.reading import decode_lines

    for number, data in enumerate(sys.stdin.buffer, 1):
        yield (decode_lines(data, f"standard input:{number}") or [""])[0]
