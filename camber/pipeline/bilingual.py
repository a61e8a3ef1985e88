"""Pairs for a model that exists, from files with both languages: TMX, XLIFF, PO, tables."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from camber.files import read_lines
from camber.pipeline.importing import SIDES, Corpus, import_corpora, read_coded
from camber.progress import log
from camber.text.pipeline import TextPipeline


@dataclass
class FilePairs:
    """Pairs of texts from files."""

    source: list[str]
    target: list[str]
    coded: dict[int, tuple[str, str]] = field(default_factory=dict)  # both with their inline codes, where there are any


def pairs_of_files(
    model: str | Path, files: Sequence[str | Path], source_lang: str = "", target_lang: str = ""
) -> FilePairs:
    """Return the confirmed pairs of some files, in the languages of a model unless others are named.

    A broken file is an error, and nothing is read of the others then.
    """
    settings = TextPipeline.load(Path(model) / "text").settings
    with tempfile.TemporaryDirectory() as folder:
        report = import_corpora(
            [Corpus(Path(file)) for file in files],
            source_lang or settings.source_lang,
            target_lang or settings.target_lang,
            Path(folder),
            remedy="mend these files, or leave them out",
        )
        log.info("%s", report)
        source, target = (read_lines(Path(folder) / name) for name in SIDES)
        return FilePairs(source, target, read_coded(Path(folder)))
