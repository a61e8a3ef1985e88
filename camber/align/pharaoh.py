"""Alignments of many sentence pairs in two arrays, and the Pharaoh format (``0-0 1-2``: source-target, from 0)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from camber.arrays.ragged import offsets_from, owners_of
from camber.arrays.types import I4, I8
from camber.errors import InputError
from camber.files import decode_lines, read_bytes, write_whole
from camber.kernel import kernel


@dataclass(frozen=True)
class Alignment:
    """Links of pair `s` are ``links[offsets[s]:offsets[s + 1]]``: (source, target) positions, sorted, no repeats."""

    links: I4  # [links, 2]
    offsets: I8  # [pairs + 1]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> I4:
        return self.links[self.offsets[index] : self.offsets[index + 1]]

    def __iter__(self) -> Iterator[I4]:
        return (self[index] for index in range(len(self)))

    @classmethod
    def from_pairs(cls, pairs: Sequence[Sequence[tuple[int, int]]]) -> Alignment:
        """Make an alignment from lists of (source, target) positions.

        >>> Alignment.from_pairs([[(1, 0), (0, 0)], []]).links.tolist()
        [[0, 0], [1, 0]]
        """
        unique = [sorted(set(links)) for links in pairs]
        flat = [link for links in unique for link in links]
        return cls(np.array(flat, np.int32).reshape(-1, 2), offsets_from(map(len, unique)))

    @property
    def owners(self) -> I8:
        """Return the pair that every link belongs to, int64[links]."""
        return owners_of(self.offsets)

    def swapped(self) -> Alignment:
        """Return the same links seen from the other side."""
        order = np.lexsort((self.links[:, 0], self.links[:, 1], self.owners))
        return Alignment(np.ascontiguousarray(self.links[order][:, ::-1]), self.offsets)


def read_pharaoh(path: str | Path, lengths: Sequence[tuple[int, int]] | None = None) -> Alignment:
    """Read an alignment; with `lengths` (source, target) per pair, check that every link lies inside."""
    data = read_bytes(path).removeprefix(b"\xef\xbb\xbf")
    if data and not data.endswith(b"\n"):
        data += b"\n"
    links = np.empty((data.count(b"-"), 2), np.int32)
    offsets = np.zeros(data.count(b"\n") + 1, np.int64)
    bad = _parse(np.frombuffer(data, np.uint8), links, offsets)
    if bad >= 0:
        _explain(data, path)
    pairs = len(offsets) - 1
    if lengths is not None:
        if pairs != len(lengths):
            raise InputError(f"{pairs:,} alignments for {len(lengths):,} sentence pairs", path)
        _check_inside(Alignment(links, offsets), np.asarray(lengths, np.int64).reshape(-1, 2), path)
    return _in_order(Alignment(links, offsets))


def read_kept_pharaoh(path: str | Path, kept: I8, lengths: I8) -> Alignment:
    """Read an alignment of raw lines and keep the rising lines `kept`, whose pairs have int64[kept, 2] words."""
    every = read_pharaoh(path)
    if len(kept) and int(kept[-1]) >= len(every):
        raise InputError(f"{len(every):,} lines, but there are more sentence pairs", path)
    alignment = Alignment.from_pairs([[(s, t) for s, t in every[i].tolist()] for i in kept])
    outside = np.flatnonzero((alignment.links >= lengths[alignment.owners]).any(axis=1))
    if len(outside):
        row = int(alignment.owners[outside[0]])
        source, target = lengths[row].tolist()
        raise InputError(
            f"a link lies outside a pair of {source} and {target} words",
            path,
            int(kept[row]) + 1,
            remedy="positions count from 0, and words are those of our tokenisation (--tokenizer none?)",
        )
    return alignment


def write_pharaoh(path: str | Path, alignment: Alignment) -> None:
    """Write one line per pair."""
    links = np.ascontiguousarray(alignment.links, np.int32)
    digits = len(str(int(links.max(initial=0))))
    text = np.empty(len(links) * 2 * (digits + 1) + len(alignment), np.uint8)
    size = _format(links, alignment.offsets, text)
    with write_whole(path) as stream:
        stream.write(text[:size].tobytes().decode("ascii"))


@kernel
def _parse(data, links, offsets):
    """Fill `links` and `offsets`; return where something stands that is no link, or -1."""
    at = line = count = 0
    while at < len(data):
        byte = data[at]
        if byte == 10:
            line += 1
            offsets[line] = count
            at += 1
        elif byte == 32 or byte == 9 or byte == 13:
            at += 1
        else:
            begin = at
            for side in range(2):
                value, first = 0, at
                while at < len(data) and 48 <= data[at] <= 57 and at - first < 9:
                    value = 10 * value + data[at] - 48
                    at += 1
                if at == first or (side == 0 and data[at] != 45):
                    return begin
                if side == 0:
                    at += 1
                links[count, side] = value
            if not (data[at] == 10 or data[at] == 32 or data[at] == 9 or data[at] == 13):
                return begin
            count += 1
    return -1


@kernel
def _format(links, offsets, text):
    """Write the links as text; return its length."""
    size = 0
    for s in range(len(offsets) - 1):
        for k in range(offsets[s], offsets[s + 1]):
            if k > offsets[s]:
                text[size] = 32
                size += 1
            for side in range(2):
                if side == 1:
                    text[size] = 45
                    size += 1
                value, digits = links[k, side], 1
                power = 10
                while value >= power:
                    power *= 10
                    digits += 1
                for d in range(digits):
                    text[size + digits - 1 - d] = 48 + value % 10
                    value //= 10
                size += digits
        text[size] = 10
        size += 1
    return size


def _explain(data: bytes, path: str | Path) -> None:
    """Say which line holds something that is no link."""
    for number, line in enumerate(decode_lines(data, path), 1):
        for item in line.replace("\t", " ").split(" "):
            left, _, right = item.strip("\r").partition("-")
            if item.strip("\r") and not all(
                side.isascii() and side.isdecimal() and len(side) < 10 for side in (left, right)
            ):
                raise InputError(f"{item!r} is not a link", path, number, remedy="links look like 0-0 1-2")
    raise InputError("this is not an alignment", path, remedy="links look like 0-0 1-2")


def _check_inside(alignment: Alignment, lengths: I8, path: str | Path) -> None:
    """Refuse the first link that lies outside its pair."""
    pair = alignment.owners
    outside = np.flatnonzero((alignment.links >= lengths[pair]).any(axis=1))
    if len(outside):
        number = pair[outside[0]]
        (source, target), (sources, targets) = alignment.links[outside[0]], lengths[number]
        one_based = source == sources or target == targets
        raise InputError(
            f"link {source}-{target} lies outside a pair of {sources} and {targets} words",
            path,
            int(number) + 1,
            remedy="positions count from 0; these seem to count from 1" if one_based else "is it source-target?",
        )


def _in_order(alignment: Alignment) -> Alignment:
    """Sort the links of every pair and drop repeats, where there is need."""
    pair, links = alignment.owners, alignment.links
    keys = (links[:, 0].astype(np.int64) << 32) | links[:, 1]
    if not ((np.diff(keys) <= 0) & (np.diff(pair) == 0)).any():
        return alignment
    order = np.lexsort((keys, pair))
    keys, pair, links = keys[order], pair[order], links[order]
    new = np.append(True, (np.diff(keys) != 0) | (np.diff(pair) != 0))
    offsets = np.searchsorted(pair[new], np.arange(len(alignment) + 1))
    return Alignment(np.ascontiguousarray(links[new]), offsets.astype(np.int64))
