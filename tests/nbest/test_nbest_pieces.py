"""A list that is written piece by piece is the list that is written at once."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from camber.errors import CamberError
from camber.nbest import NBest
from camber.nbest.pieces import write_pieces

COUNTS = [2, 0, 3, 1, 0, 0, 2]  # of seven sentences


def whole() -> NBest:
    texts = [f"text {row}" for row in range(sum(COUNTS))]
    features = np.arange(16.0).reshape(8, 2) / 3
    return NBest.of_hypotheses(
        ("lm", "words"), np.cumsum([0, *COUNTS]), texts, features, features.sum(1),
        sources=[f"s{number}" for number in range(7)], targets=[f"t{number}" for number in range(7)],
    )  # fmt: skip


def pieces(bounds: list[int]) -> Iterator[NBest]:
    """Cut the list; a piece begins with sentences without hypotheses."""
    nbest = whole()
    for first, last in pairwise(bounds):
        groups = [np.arange(*nbest.sentence_offsets[s : s + 2]) if s >= first else np.arange(0) for s in range(last)]
        yield nbest.of_rows(groups, range(last))


@pytest.mark.parametrize("name", ["list.jsonl", "list.tsv", "list.moses", "list.joshua", "list.jsonl.gz", "list"])
@pytest.mark.parametrize("bounds", [[0, 7], [0, 1, 2, 4, 7], [0, 3, 4, 5, 6, 7]])
def test_pieces_make_the_bytes_of_the_whole(name: str, bounds: list[int], tmp_path: Path) -> None:
    whole().write(tmp_path / name)
    expected = (tmp_path / name).read_bytes()
    (tmp_path / name).unlink()
    write_pieces(pieces(bounds), tmp_path / name)
    assert (tmp_path / name).read_bytes() == expected
    assert NBest.read(tmp_path / name, sentences=7).texts == whole().texts


def test_nothing_is_there_if_a_piece_fails(tmp_path: Path) -> None:
    def failing() -> Iterator[NBest]:
        yield from pieces([0, 3])
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError):
        write_pieces(failing(), tmp_path / "list.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_a_format_that_cannot_be_cut_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(CamberError, match=r"fairseq cannot be written piece by piece; use one of moses, .*jsonl, tsv"):
        write_pieces(pieces([0, 7]), tmp_path / "list", "fairseq")
    assert list(tmp_path.iterdir()) == []
