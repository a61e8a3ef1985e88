"""The alignment error rate (Och & Ney 2003), and the two formats of gold alignments.

Gold links are sure (S) or possible (P, which includes S): precision = |A ∩ P| / |A|, recall = |A ∩ S| / |S|,
AER = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from camber.align.pharaoh import Alignment
from camber.arrays.ragged import owners_of
from camber.arrays.types import I8
from camber.errors import InputError
from camber.files import read_lines

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
    sure, possible = _read_rows(lines, path) if _ROW.fullmatch(first) else _read_links(lines, path)
    return Gold(Alignment.from_pairs(sure), Alignment.from_pairs(possible))


Links = list[list[tuple[int, int]]]


def _read_links(lines: list[str], path: str | Path) -> tuple[Links, Links]:
    sure: Links = [[] for _ in lines]
    possible: Links = [[] for _ in lines]
    for number, line in enumerate(lines):
        for item in line.split():
            match = _LINK.fullmatch(item)
            if not match:
                raise InputError(f"{item!r} is not a gold link", path, number + 1, remedy="links look like 0-0 or 1p2")
            link = int(match[1]), int(match[3])
            possible[number].append(link)
            if match[2] == "-":
                sure[number].append(link)
    return sure, possible


def _read_rows(lines: list[str], path: str | Path) -> tuple[Links, Links]:
    sure: Links = []
    possible: Links = []
    for number, line in enumerate(lines, 1):
        match = _ROW.fullmatch(line)
        if not match or int(match[1]) == 0:
            if not line.strip():
                continue
            raise InputError(f"{line!r} is not a gold link", path, number, remedy="rows look like 1 1 2 S, from 1")
        pair, source, target = (int(match[k]) - 1 for k in (1, 2, 3))
        while len(sure) <= pair:
            sure.append([])
            possible.append([])
        if source < 0 or target < 0:  # a link to NULL is no link
            continue
        possible[pair].append((source, target))
        if match[4] != "P":
            sure[pair].append((source, target))
    return sure, possible


def _keys(alignment: Alignment, pairs: int) -> I8:
    """Number the links of the first pairs: no two links have the same key."""
    offsets = alignment.offsets[: pairs + 1]
    links = alignment.links[: offsets[-1]].astype(np.int64)
    owner = owners_of(offsets)
    return (owner << 42) | (links[:, 0] << 21) | links[:, 1]
