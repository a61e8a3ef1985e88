"""Write a list of any length piece by piece: only a few sentences of it are held at a time.

write_pieces(pieces, "train.jsonl.gz")      # lists of sentences 0–99, 100–199, …; each counts its sentences from 0 on
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from camber.errors import CamberError
from camber.files import is_special, write_whole
from camber.nbest.formats import AUTO, FORMATS, Format, format_to_write
from camber.nbest.nbest import NBest


def format_in_pieces(path: str | Path, name: str = AUTO) -> Format:
    """Return the format in which a list is written there, if it can be written piece by piece."""
    chosen = format_to_write(path, name)
    if chosen.lines is None or not chosen.any_feature:
        able = [name for name, format in FORMATS.load_all().items() if format.lines is not None and format.any_feature]
        raise CamberError(f"{path}: a list in the format {chosen.name} cannot be written piece by piece; use one of "
                          f"{', '.join(able)}")  # fmt: skip
    return chosen


def write_pieces(pieces: Iterable[NBest], path: str | Path, format: str = AUTO) -> None:
    """Write lists of different sentences as one list, which appears when it is complete.

    Sentences keep their numbers: a piece that begins with sentence 100 has 100 sentences without hypotheses before it,
    or says that it begins there. All pieces have the same features.
    """
    with writing_pieces(path, format) as add:
        for piece in pieces:
            add(piece)


@contextmanager
def writing_pieces(path: str | Path, format: str = AUTO) -> Iterator[Callable[[NBest], None]]:
    """Yield a function that adds pieces of a list, as for :func:`write_pieces`; a pipe gets each at once."""
    lines = format_in_pieces(path, format).lines
    assert lines is not None
    begins, at_once = True, is_special(path)
    with write_whole(path) as stream:

        def add(piece: NBest) -> None:
            nonlocal begins
            if piece.hypotheses:
                stream.writelines(line + "\n" for line in lines(piece, begins))
                if at_once:
                    stream.flush()
                begins = False

        yield add
