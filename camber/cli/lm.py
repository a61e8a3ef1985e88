"""`camber lm`: estimate an n-gram language model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from camber.cli.options import FILE, engine_option, memory_option, pick, settings_options
from camber.engine import Engine
from camber.files import check_outputs
from camber.lm.kneser_ney import LmSettings, estimate_arpa
from camber.progress import log, stage


@click.command()
@click.option("--text", type=FILE, required=True, help="Text, one sentence per line; plain or .gz.")
@click.option("--arpa", type=FILE, required=True, help="Where to write the model, in ARPA format; plain or .gz.")
@click.option("--language", default="", help="Tokenise the text by the rules of this language (none: at spaces).")
@click.option("--lowercase", is_flag=True, help="Lower-case the text.")
@settings_options(LmSettings)
@engine_option
@memory_option
def command(
    text: Path,
    arpa: Path,
    language: str,
    lowercase: bool,
    engine: Engine,
    most_memory: int | None,
    **values: Any,
) -> None:
    """Estimate an n-gram language model (modified Kneser-Ney).

    For features of a re-ranker, --language and --lowercase are what `camber rerank fit` gets as --lm-language and
    --lm-lowercase.
    """
    check_outputs(arpa, inputs=[text])
    settings = pick(LmSettings, values)
    with stage("lm"):
        tokenise = _tokeniser(language, lowercase=lowercase) if language or lowercase else None
        trie = estimate_arpa(text, arpa, settings, tokenise, engine=engine, memory=most_memory)
    log.info("%s: %s n-grams of order up to %d, %s words", arpa, f"{len(trie):,}", trie.order, f"{len(trie.words):,}")


def _tokeniser(language: str, *, lowercase: bool) -> Callable[[str], list[str]]:
    from camber.text.tokenise import Tokenizer

    split = Tokenizer("moses" if language else "none", language).tokenise
    return lambda line: split(line.lower() if lowercase else line)
