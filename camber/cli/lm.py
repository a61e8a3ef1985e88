"""`camber lm`: estimate an n-gram language model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from camber.cli.options import FILE, pick, settings_options
from camber.files import check_outputs
from camber.lm.kneser_ney import LmSettings, estimate_arpa
from camber.progress import log, stage


@click.command()
@click.option("--text", type=FILE, required=True, help="Tokenised text, one sentence per line; plain or .gz.")
@click.option("--arpa", type=FILE, required=True, help="Where to write the model, in ARPA format; plain or .gz.")
@settings_options(LmSettings)
def command(text: Path, arpa: Path, **values: Any) -> None:
    """Estimate an n-gram language model (modified Kneser-Ney)."""
    check_outputs(arpa)
    settings = pick(LmSettings, values)
    with stage("lm"):
        trie = estimate_arpa(text, arpa, settings)
    log.info("%s: %s n-grams of order up to %d, %s words", arpa, f"{len(trie):,}", trie.order, f"{len(trie.words):,}")
