"""Write a list of any length piece by piece: only a few sentences of it are held at a time.

write_pieces(pieces, "train.jsonl.gz")      # lists of sentences 0–99, 100–199, …; each counts its sentences from 0 on
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from camber.errors import CamberError
from camber.files import write_whole
from camber.nbest.formats import AUTO, FORMATS, Format, format_to_write
from camber.nbest.nbest import NBest


def format_in_pieces(path: str | Path, name: str = AUTO) -> Format:
    """Return the format in which a list is written there, if it can be written piece by piece."""
    chosen = format_to_write(path, name)
    if chosen.head is None or not chosen.any_feature:
        able = [name for name, format in FORMATS.load_all().items() if format.head is not None and format.any_feature]
        raise CamberError(f"{path}: a list in the format {chosen.name} cannot be written piece by piece; use one of "
                          f"{', '.join(able)}")  # fmt: skip
    return chosen


def write_pieces(pieces: Iterable[NBest], path: str | Path, format: str = AUTO) -> None:
    """Write lists of different sentences as one list, which appears when it is complete.

    Sentences keep their numbers: a piece that begins with sentence 100 has 100 sentences without hypotheses before it.
    All pieces have the same features.
    """
    chosen = format_in_pieces(path, format)
    with TemporaryDirectory() as folder, write_whole(path) as stream:
        place, head = Path(folder) / "piece", 0
        for piece in pieces:
            if piece.hypotheses:
                chosen.write(piece, place)
                with open(place, encoding="utf-8", newline="\n") as lines:
                    for _ in range(head):  # it stands there from the first piece
                        next(lines)
                    shutil.copyfileobj(lines, stream)
                head = chosen.head or 0
