"""Weights: names → numbers, in a text file that says what it is.

    # camber weights 1
    # signature kind:phrase|settings:1a2b3c4d|version:0.2.0
    name	weight
    lm	0.5
    p_t_given_s	0.2

A file without its first line is an error, because any table of two columns would otherwise pass for weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from camber.arrays.types import F8
from camber.errors import CamberError, InputError
from camber.files import decode_lines, read_bytes, write_lines

HEADER = "# camber weights "
VERSION = 1


@dataclass(frozen=True)
class Weights:
    """Numbers by name, in order.

    >>> w = Weights({"lm": 0.5, "words": -1.0})
    >>> w["lm"], w.vector(["words", "lm"]).tolist()
    (0.5, [-1.0, 0.5])
    """

    values: Mapping[str, float]
    signature: str = ""

    def __post_init__(self) -> None:
        for name, value in self.values.items():
            _check_name(name)
            if not math.isfinite(value):
                raise CamberError(f"the weight of {name} is {value}; expected a finite number")
        if "\n" in self.signature or "\r" in self.signature:
            raise CamberError("a signature is one line")
        object.__setattr__(self, "values", {name: float(value) for name, value in self.values.items()})

    @classmethod
    def from_vector(cls, names: Sequence[str], numbers: npt.ArrayLike, signature: str = "") -> Weights:
        """Make weights from parallel names and numbers; a repeated name is an error."""
        numbers = np.asarray(numbers, np.float64)
        if numbers.shape != (len(names),):
            raise CamberError(f"{numbers.size} weights for {len(names)} names")
        if repeated := _repeated(names):
            raise CamberError(f"the name {repeated} occurs twice among the weights")
        return cls(dict(zip(names, numbers.tolist(), strict=True)), signature)

    @property
    def names(self) -> tuple[str, ...]:
        """The names in order."""
        return tuple(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    def __getitem__(self, name: str) -> float:
        return self.values[name]

    def vector(self, names: Sequence[str]) -> F8:
        """Return the weights as float64[names], in the order of `names`, which must be exactly the known ones."""
        self._check_against(names, "these weights", {})
        return np.array([self.values[name] for name in names], np.float64)

    def write(self, path: str | Path) -> None:
        """Write `weights.tsv`; numbers are written so that they come back exactly."""
        lines = [f"{HEADER}{VERSION}"]
        if self.signature:
            lines.append(f"# signature {self.signature}")
        lines.append("name\tweight")
        lines += [f"{name}\t{value!r}" for name, value in self.values.items()]
        write_lines(path, lines)

    @classmethod
    def read(cls, path: str | Path, names: Sequence[str] | None = None) -> Weights:
        """Read `weights.tsv`; with `names`, unknown and missing ones are errors."""
        lines = decode_lines(read_bytes(path), path)
        _check_header(lines, path)
        values: dict[str, float] = {}
        places: dict[str, int] = {}
        signature, columns = "", False
        for number, line in enumerate(lines[1:], 2):
            if line.startswith("#"):
                if line.startswith("# signature ") and not signature:
                    signature = line.removeprefix("# signature ").strip()
            elif not columns and line.split("\t") == ["name", "weight"]:
                columns = True
            elif line.strip():
                name, value = _fields(line, path, number)
                if name in values:
                    raise InputError(f"weight {name} repeats line {places[name]}", path, number, remedy="keep one")
                values[name], places[name] = value, number
        weights = cls(values, signature)
        if names is not None:
            weights._check_against(names, path, places)
        return weights

    def _check_against(self, names: Sequence[str], path: str | Path, places: Mapping[str, int]) -> None:
        """Refuse names that are unknown, missing or repeated."""
        if repeated := _repeated(names):
            raise CamberError(f"the name {repeated} occurs twice among the features")
        known = set(names)
        for name in self.values:
            if name not in known:
                raise InputError(
                    f"unknown weight {name}", path, places.get(name), remedy=f"known: {', '.join(sorted(known))}"
                )
        if missing := [name for name in names if name not in self.values]:
            raise InputError(f"no weight for {', '.join(missing)}", path, remedy="add it, 0 switches a feature off")


def _is_plain(text: str) -> bool:
    return bool(text) and text.split() == [text] and text.isprintable()


def _check_name(name: str) -> None:
    if not _is_plain(name) or name.startswith("#"):
        raise CamberError(f"{name!r} cannot name a weight; use a word without white space that does not start with #")


def _repeated(names: Sequence[str]) -> str:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return ""


def _check_header(lines: list[str], path: str | Path) -> None:
    if not lines or not lines[0].startswith(HEADER):
        raise InputError(f"not a weights file: it does not begin with {HEADER + str(VERSION)!r}", path, 1)
    if lines[0].removeprefix(HEADER).strip() != str(VERSION):
        version = lines[0].removeprefix(HEADER).strip()
        raise InputError(f"weights format {version}, expected {VERSION}", path, 1, remedy="tune the model again")


def _fields(line: str, path: str | Path, number: int) -> tuple[str, float]:
    fields = line.split("\t")
    if len(fields) != 2:
        raise InputError(
            f"{len(fields)} column{'s' * (len(fields) != 1)}, expected name and weight",
            path,
            number,
            remedy="columns are separated by tabs",
        )
    name, text = fields
    if not _is_plain(name):
        raise InputError(f"{name!r} cannot name a weight", path, number, remedy="use a word without white space")
    try:
        value = float(text)
    except ValueError:
        raise InputError(f"weight {text!r} of {name} is not a number", path, number) from None
    if not math.isfinite(value):
        raise InputError(f"the weight of {name} is {value}; expected a finite number", path, number)
    return name, value
