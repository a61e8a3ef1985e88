"""From three text files to a folder of Moses tables."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from camber.align.pharaoh import read_pharaoh
from camber.corpus.bitext import Bitext
from camber.corpus.reading import read_parallel, words
from camber.errors import InputError
from camber.progress import log, stage
from camber.rules.extraction import RuleSettings, extract
from camber.rules.moses_writing import write_moses
from camber.rules.store import RuleStore


def extract_tables(
    source: str | Path,
    target: str | Path,
    alignment: str | Path,
    out: str | Path,
    max_phrase_length: int = 7,
    reordering: bool = True,
    threads: int = 0,
) -> RuleStore:
    """Extract all phrase pairs of tokenised parallel files and write Moses tables into the new folder `out`.

    The folder appears only when it is complete. Nothing is pruned.
    """
    out = Path(out)
    settings = RuleSettings(max_phrase_length, reordering, options_per_phrase=0)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError("exists already", out, remedy="name a new folder, or remove this one")
    sides = [[words(line) for line in lines] for lines in read_parallel(source, target)]
    bitext = Bitext.encode(*sides)
    lengths = list(zip(bitext.source.lengths.tolist(), bitext.target.lengths.tolist(), strict=True))
    links = read_pharaoh(alignment, lengths)
    with stage("extract"):
        store = extract(bitext, links, settings, threads)
    log.info("%s phrase pairs, %s source phrases", f"{len(store):,}", f"{store.phrases:,}")
    with stage("write"):
        _write_whole(store, out)
    return store


def _write_whole(store: RuleStore, out: Path) -> None:
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    except OSError as error:
        raise InputError(f"cannot be made ({error.strerror})", out, remedy="check the folder above it") from None
    try:
        write_moses(store, folder)
        mask = os.umask(0)
        os.umask(mask)
        folder.chmod(0o777 & ~mask)
        if out.exists():
            out.rmdir()  # empty: seen above
        folder.rename(out)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
