"""`camber extract`: Moses-format phrase and reordering tables, or hierarchical rules, from aligned text."""

from __future__ import annotations

from pathlib import Path

import click

from camber.cli.options import FILE, engine_option, memory_option
from camber.engine import Engine


@click.command("extract")
@click.option("--source", type=FILE, required=True, help="Tokenised source text, one sentence per line.")
@click.option("--target", type=FILE, required=True, help="Its translation, line by line.")
@click.option("--alignment", type=FILE, required=True, help="Word alignment in Pharaoh format (0-0 1-2).")
@click.option("--out", type=FILE, required=True, help="Folder to make for the tables.")
@click.option(
    "--max-phrase-length",
    type=click.IntRange(1, 15),
    default=7,
    show_default=True,
    help="Longest phrase in words, on either side.",
)
@click.option("--reordering/--no-reordering", default=True, show_default=True, help="Write a reordering table too.")
@click.option("--hiero", type=FILE, help="Hierarchical rules for the lines of this tokenised text instead.")
@click.option(
    "--format",
    type=click.Choice(["cdec", "moses"]),
    default="cdec",
    show_default=True,
    help="With --hiero: a cdec grammar for each line, or one Moses rule table.",
)
@click.option(
    "--hiero-edges",
    type=click.Choice(["tight", "loose"]),
    default="tight",
    show_default=True,
    help="With --hiero: whether target words without links may stand at the edges of rules (loose).",
)
@engine_option
@memory_option
def command(
    source: Path,
    target: Path,
    alignment: Path,
    out: Path,
    max_phrase_length: int,
    reordering: bool,
    hiero: Path | None,
    format: str,
    hiero_edges: str,
    engine: Engine,
    most_memory: int | None,
) -> None:
    """Extract all phrase pairs, unpruned, with Moses' scores, and write them as Moses tables.

    With --hiero, write the hierarchical rules that apply to a text.
    """
    from camber.pipeline.extract import extract_hiero, extract_tables
    from camber.rules.hiero.extraction import HieroSettings

    given = click.get_current_context().get_parameter_source
    for flag, only in (
        ("max-phrase-length", False), ("reordering", False), ("memory", False), ("format", True), ("hiero-edges", True),
    ):  # fmt: skip
        name = "most_memory" if flag == "memory" else flag.replace("-", "_")
        if given(name) is click.core.ParameterSource.COMMANDLINE and (hiero is not None) is not only:
            raise click.UsageError(f"--{flag} is used {'with' if only else 'without'} --hiero only")
    if hiero is not None:
        settings = HieroSettings(edges=hiero_edges)
        extract_hiero(source, target, alignment, out, hiero, format, settings, engine)
    else:
        extract_tables(
            source, target, alignment, out, max_phrase_length, reordering=reordering, engine=engine, memory=most_memory
        )
