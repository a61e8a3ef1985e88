"""camber detokenize: tokens to raw text, for tokens of `camber tokenize`, of our models, or of Moses."""

from __future__ import annotations

from pathlib import Path

import click

from camber.cli.options import FILE
from camber.cli.streams import convert_lines
from camber.progress import log


@click.command(help=__doc__)
@click.option("--lang", default="", help="Language code of the text, for its rules.")
@click.option("--input", "source", type=FILE, help="File of tokens (default: standard input).")
@click.option("--output", type=FILE, help="File for the text (default: standard output).")
def command(lang: str, source: Path | None, output: Path | None) -> None:
    from camber.files import words
    from camber.text.spacing import joined_tokens
    from camber.text.tokenise import Tokenizer, assumed_rules

    if told := assumed_rules(lang):
        log.warning("%s", told)
    tokenizer = Tokenizer("moses", lang, segment=True)
    convert_lines(lambda line: joined_tokens(words(line), tokenizer), source, output)
