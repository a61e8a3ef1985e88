"""camber tokenize: raw text to tokens, as our models have them.

Tokens follow Moses' conventions; text of scripts without spaces is split into characters. Where detokenising would put
other white space than there was, a token of its own says so (￭: nothing, ␣: a space, ␣a0: another one), so that `camber
detokenize` gives every line back.
"""

from __future__ import annotations

from pathlib import Path

import click

from camber.cli.options import FILE
from camber.cli.streams import convert_lines
from camber.progress import log


@click.command(help=__doc__)
@click.option("--lang", default="", help="Language code of the text, for its rules.")
@click.option("--input", "source", type=FILE, help="File to tokenise (default: standard input).")
@click.option("--output", type=FILE, help="File for the tokens (default: standard output).")
@click.option("--marks/--no-marks", default=True, show_default=True, help="Tell unusual spaces by tokens of their own.")
def command(lang: str, source: Path | None, output: Path | None, marks: bool) -> None:
    from camber.text.spacing import marked_tokens
    from camber.text.tokenise import Tokenizer, assumed_rules

    if told := assumed_rules(lang):
        log.warning("%s", told)
    tokenizer = Tokenizer("moses", lang, segment=True)
    split = (lambda line: marked_tokens(line, tokenizer)) if marks else tokenizer.tokenise
    convert_lines(lambda line: " ".join(split(line)), source, output)
