"""camber serve: a server for translators' tools, with a page at /.

Give one or more models, each a directory, or fr-en=DIRECTORY where a model does not say which languages it translates.
It speaks the protocols of LibreTranslate, DeepL, Apertium, Moses and tmserver. Only this machine can reach it unless
--host says otherwise.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from camber.cli.groups import Grouped, option
from camber.cli.options import FILE, pick, settings_options, threads_option
from camber.engine import Threads
from camber.errors import CamberError
from camber.serve.settings import ServeSettings

#: heading of flags
KEYS = "Keys of clients"


@click.command(cls=Grouped, help=__doc__)
@click.argument("models", nargs=-1)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=5000, show_default=True, help="Port; 0: any free one.")
@option("--keys", type=FILE, help="File of keys: without one of them, requests are refused.", group=KEYS)
@option("--new-key", metavar="NAME", help="Make a key, add it to --keys, print it once, and end.", group=KEYS)
@option("--new-key-learns", is_flag=True, help="The new key may add translations, too.", group=KEYS)
@click.option("--glossary", type=FILE, help="Terms that all translations must use: CSV, TSV or TBX.")
@click.option("--glossaries", type=FILE, help="Folder for glossaries that clients make (default: lost at the end).")
@settings_options(ServeSettings)
@threads_option
def command(
    models: tuple[str, ...],
    host: str,
    port: int,
    keys: Path | None,
    new_key: str | None,
    new_key_learns: bool,
    glossary: Path | None,
    glossaries: Path | None,
    engine: Threads,
    **values: Any,
) -> None:
    if new_key is not None:
        from camber.serve.keys import make_key

        if keys is None or models:
            raise click.UsageError("--new-key needs --keys FILE, and no model")
        click.echo(make_key(keys, new_key, learn=new_key_learns))
        return
    if new_key_learns:
        raise click.UsageError("--new-key-learns makes no difference without --new-key")
    if not models:
        raise click.UsageError("give one or more models to serve")
    from camber.serve.server import serve

    if keys is not None and not keys.exists():
        raise CamberError(f"{keys}: no such file; make a key with: camber serve --keys {keys} --new-key NAME")
    settings = pick(ServeSettings, values)
    serve(
        models,
        host=host,
        port=port,
        settings=settings,
        keys=keys,
        glossary=glossary,
        glossaries=glossaries,
        threads=engine.count,
    )
