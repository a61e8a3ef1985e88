"""The file of bins, `bins.tsv`: which features are bent and how, then a line for each bin with its values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from camber.bend.bins import Bins
from camber.errors import CamberError, InputError
from camber.features.feature import Feature, names_of
from camber.files import decode_lines, read_bytes, write_lines
from camber.numbers import is_whole, shown

HEADER = "# camber bins 1 "
SOFT = "soft"  # in the header, before the softness of edges
_REMEDY = "tune the model again with --bend"

B = TypeVar("B")


class BinsFile(NamedTuple):
    """What the file has."""

    kind: str
    inputs: tuple[Feature, ...]
    bins: Mapping[str, Bins]
    copied: tuple[str, ...] = ()
    softness: float = 0.0


def write_bins(path: str | Path, file: BinsFile) -> None:
    """Write the file; numbers are written so that they come back exactly."""
    lines = [
        f"{HEADER}{file.kind}" + (f" {SOFT} {file.softness!r}" if file.softness else ""),
        f"# inputs {' '.join(names_of(file.inputs))}",
        f"# copied {' '.join(file.copied)}".rstrip(),
        "feature\tbin\tlow\thigh\tpopulation",
    ]
    for name, bins in file.bins.items():
        rows = zip(bins.lows.tolist(), bins.highs.tolist(), bins.populations.tolist(), strict=True)
        lines += [f"{name}\t{number}\t{a!r}\t{b!r}\t{count}" for number, (a, b, count) in enumerate(rows)]
    write_lines(path, lines)


def read_bins(path: str | Path, inputs: Sequence[Feature] | None, make: Callable[[BinsFile], B]) -> B:
    """Read the file and `make` a bend of it; without `inputs`, those that it names are taken for numbers.

    What the bend refuses is an error of the file.
    """
    lines = decode_lines(read_bytes(path), path)
    if len(lines) < 4 or not lines[0].startswith(HEADER) or not lines[1].startswith("# inputs "):
        raise InputError("no bins of ours in this file", path, 1, remedy=_REMEDY)
    words, names = lines[0][len(HEADER) :].split(), tuple(lines[1].split()[2:])
    kind, soft = " ".join(words), 0.0
    if len(words) == 3 and words[1] == SOFT:
        try:
            kind, soft = words[0], float(words[2])
        except ValueError:
            raise InputError(f"edges of softness {words[2]!r}", path, 1, remedy="fit the model again") from None
    if inputs is None:
        inputs = [Feature(name) for name in names]
    elif names_of(inputs) != names:
        problem = f"bins for the features {', '.join(names)}, but these are {', '.join(names_of(inputs))}"
        raise InputError(problem, path, 2, remedy=_REMEDY)
    rows: dict[str, list[tuple[float, float, int]]] = {}
    starts: dict[str, int] = {}
    for number, line in enumerate(lines[4:], 5):
        try:
            name, place, low, high, population = line.split("\t")
            if not (is_whole(place) and is_whole(population.removeprefix("-"))):
                raise ValueError(f"bin {shown(place)} with a population of {shown(population)}")
            starts.setdefault(name, number)
            rows.setdefault(name, []).append((float(low), float(high), int(population)))
            if int(place) != len(rows[name]) - 1:
                raise ValueError(f"bin {place} of {name} comes out of order")
        except ValueError as error:
            raise InputError(f"not a bin: {error}", path, number, remedy="tune the model again") from None
    bins = {}
    first = None
    try:
        for name, intervals in rows.items():
            first = starts[name]
            lows, highs, populations = (np.array(column) for column in zip(*intervals, strict=True))
            bins[name] = Bins(lows, highs, populations)
        first = None
        return make(BinsFile(kind, tuple(inputs), bins, tuple(lines[2].split()[2:]), soft))
    except CamberError as error:
        raise InputError(str(error), path, first, remedy=_REMEDY) from None
