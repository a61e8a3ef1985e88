"""The alignment error rate (Och & Ney 2003), and the two formats of gold alignments.

Gold links are sure (S) or possible (P, which includes S): precision = |A ∩ P| / |A|, recall = |A ∩ S| / |S|,
AER = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|).
"""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from camber.align.pharaoh import Alignment
from camber.arrays.ragged import owners_of
from camber.arrays.types import I8
from camber.errors import CamberError, InputError
from camber.files import read_lines
from camber.numbers import shown, whole_number

#: The last position, and the most sentence pairs: more are damaged lines, and three such numbers are one key.
MOST = 2**21 - 1
_LINK = re.compile(r"([0-9]+)([-p?])([0-9]+)")
_ROW = re.compile(r"\s*([0-9]+)\s+([0-9]+)\s+([0-9]+)(?:\s+([SP]))?(?:\s+[0-9.]+)?\s*")


@dataclass(frozen=True)
class Gold:
    """Alignments made by people; every sure link is also among the possible ones."""

    sure: Alignment
    possible: Alignment

    def __len__(self) -> int:
        return len(self.sure)


@dataclass(frozen=True)
class ErrorRate:
    """How far an alignment is from a gold one."""

    aer: float
    precision: float
    recall: float
    links: int
    pairs: int

    def __str__(self) -> str:
        return f"AER {self.aer:.4f}  precision {self.precision:.4f}  recall {self.recall:.4f}"


def error_rate(alignment: Alignment, gold: Gold) -> ErrorRate:
    """Compare the first ``len(gold)`` pairs of an alignment with a gold alignment.

    >>> gold = Gold(Alignment.from_pairs([[(0, 0)]]), Alignment.from_pairs([[(0, 0), (1, 1)]]))
    >>> print(error_rate(Alignment.from_pairs([[(0, 0), (0, 1)]]), gold))
    AER 0.3333  precision 0.5000  recall 1.0000
    """
    if len(alignment) < len(gold):
        raise ValueError(f"{len(gold)} gold alignments for {len(alignment)} sentence pairs")
    ours = _keys(alignment, len(gold))
    sure, possible = _keys(gold.sure, len(gold)), _keys(gold.possible, len(gold))
    hit_sure = len(np.intersect1d(ours, sure, assume_unique=True))
    hit_possible = len(np.intersect1d(ours, possible, assume_unique=True))
    # an empty alignment makes no mistake, and a gold alignment without sure links misses none
    precision = hit_possible / len(ours) if len(ours) else 1.0
    recall = hit_sure / len(sure) if len(sure) else 1.0
    both = len(ours) + len(sure)
    aer = 1 - (hit_sure + hit_possible) / both if both else 0.0
    return ErrorRate(aer, precision, recall, len(ours), len(gold))


def read_gold(path: str | Path) -> Gold:
    """Read a gold alignment in either format.

    One line per pair, positions from 0: ``0-0 1p2`` (sure with a dash, possible with a p). Or, as in the shared tasks
    of 2003 and 2005, one line per link, all from 1: ``1 1 2 S`` (pair, source, target; S unless P is said; 0 is NULL).
    """
    lines = read_lines(path)
    first = next((line for line in lines if line.strip()), "")
    rows, pairs = _read_rows(lines, path) if _ROW.fullmatch(first) else _read_links(lines, path)
    table = np.frombuffer(rows, np.int64).reshape(-1, 4)
    return Gold(_alignment(table[table[:, 3] > 0], pairs), _alignment(table, pairs))


def _alignment(rows: I8, pairs: int) -> Alignment:
    """Sort links int64[links, 4] (pair, source, target, any) and drop repeats."""
    links = np.unique(rows[:, :3], axis=0)
    offsets = np.searchsorted(links[:, 0], np.arange(pairs + 1))
    return Alignment(np.ascontiguousarray(links[:, 1:], np.int32), offsets.astype(np.int64))


def _read_links(lines: list[str], path: str | Path) -> tuple[array[int], int]:
    """Return rows of pair, source, target, and 1 if the link is sure; and how many pairs there are."""
    rows = array("q")
    for number, line in enumerate(lines):
        for item in line.split():
            match = _LINK.fullmatch(item)
            if not match:
                told = f"{shown(item)} is not a gold link"
                raise InputError(told, path, number + 1, remedy="links look like 0-0 or 1p2")
            source, target = (_place(match[k], "position", path, number + 1) for k in (1, 3))
            rows.extend((number, source, target, match[2] == "-"))
    return rows, len(lines)


def _read_rows(lines: list[str], path: str | Path) -> tuple[array[int], int]:
    """Return what :func:`_read_links` does."""
    rows = array("q")
    pairs = 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        match = _ROW.fullmatch(line)
        pair = _place(match[1], "sentence pair", path, number) if match else 0
        if not match or pair == 0:
            told = f"{shown(line)} is not a gold link"
            raise InputError(told, path, number, remedy="rows look like 1 1 2 S, from 1")
        source, target = (_place(match[k], "position", path, number) - 1 for k in (2, 3))
        pairs = max(pairs, pair)
        if source >= 0 and target >= 0:  # a link to NULL is no link
            rows.extend((pair - 1, source, target, match[4] != "P"))
    return rows, pairs


def _place(text: str, what: str, path: str | Path, line: int) -> int:
    return whole_number(text, what, path, line, most=MOST)


def _keys(alignment: Alignment, pairs: int) -> I8:
    """Number the links of the first pairs: no two links have the same key."""
    offsets = alignment.offsets[: pairs + 1]
    links = alignment.links[: offsets[-1]].astype(np.int64)
    if links.max(initial=0) > MOST or pairs > MOST:
        raise CamberError(f"links beyond position {MOST:,}, or of more pairs, are not compared")
    owner = owners_of(offsets)
    return (owner << 42) | (links[:, 0] << 21) | links[:, 1]
