"""Alignments of many sentence pairs in two arrays, and the Pharaoh format (``0-0 1-2``: source-target, from 0)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from camber.corpus.reading import decode_lines, read_bytes, write_lines
from camber.errors import InputError


@dataclass(frozen=True)
class Alignment:
    """Links of pair `s` are ``links[offsets[s]:offsets[s + 1]]``: (source, target) positions, sorted, no repeats."""

    links: npt.NDArray[np.int32]  # [links, 2]
    offsets: npt.NDArray[np.int64]  # [pairs + 1]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> npt.NDArray[np.int32]:
        return self.links[self.offsets[index] : self.offsets[index + 1]]

    def __iter__(self) -> Iterator[npt.NDArray[np.int32]]:
        return (self[index] for index in range(len(self)))

    @classmethod
    def from_pairs(cls, pairs: Sequence[Sequence[tuple[int, int]]]) -> Alignment:
        """Make an alignment from lists of (source, target) positions.

        >>> Alignment.from_pairs([[(1, 0), (0, 0)], []]).links.tolist()
        [[0, 0], [1, 0]]
        """
        unique = [sorted(set(links)) for links in pairs]
        offsets = np.zeros(len(unique) + 1, np.int64)
        np.cumsum([len(links) for links in unique], out=offsets[1:])
        flat = [link for links in unique for link in links]
        return cls(np.array(flat, np.int32).reshape(-1, 2), offsets)

    def swapped(self) -> Alignment:
        """Return the same links seen from the other side."""
        owner = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        order = np.lexsort((self.links[:, 0], self.links[:, 1], owner))
        return Alignment(np.ascontiguousarray(self.links[order][:, ::-1]), self.offsets)


def read_pharaoh(path: str | Path, lengths: Sequence[tuple[int, int]] | None = None) -> Alignment:
    """Read an alignment; with `lengths` (source, target) per pair, check that every link lies inside."""
    lines = decode_lines(read_bytes(path), path)
    if lengths is not None and len(lines) != len(lengths):
        raise InputError(f"{len(lines):,} alignments for {len(lengths):,} sentence pairs", path)
    pairs = []
    for number, line in enumerate(lines, 1):
        links = []
        for item in line.split():
            left, dash, right = item.partition("-")
            if not (dash and left.isdecimal() and right.isdecimal()):
                raise InputError(f"{item!r} is not a link", path, number, remedy="links look like 0-0 1-2")
            links.append((int(left), int(right)))
        if lengths is not None:
            _check_inside(links, lengths[number - 1], path, number)
        pairs.append(links)
    return Alignment.from_pairs(pairs)


def _check_inside(links: list[tuple[int, int]], lengths: tuple[int, int], path: str | Path, number: int) -> None:
    for source, target in links:
        if source >= lengths[0] or target >= lengths[1]:
            one_based = source == lengths[0] or target == lengths[1]
            raise InputError(
                f"link {source}-{target} lies outside a pair of {lengths[0]} and {lengths[1]} words",
                path,
                number,
                remedy="positions count from 0; these seem to count from 1" if one_based else "is it source-target?",
            )


def write_pharaoh(path: str | Path, alignment: Alignment) -> None:
    """Write one line per pair."""
    texts = [f"{s}-{t}" for s, t in alignment.links.tolist()]
    bounds = alignment.offsets.tolist()
    write_lines(path, (" ".join(texts[a:b]) for a, b in pairwise(bounds)))
