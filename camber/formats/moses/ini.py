"""What a `moses.ini` says: features with their files, weights, and the other sections."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass
from pathlib import Path

from camber.errors import InputError
from camber.files import exists, read_lines
from camber.numbers import shown, whole_number

#: Characters of a line of [feature].
MOST_LETTERS = 10_000
LANGUAGE_MODELS = ("KENLM", "SRILM", "IRSTLM")
#: Moses scores an unknown word with -100; our feature counts such words.
UNKNOWN_SCORE = -100.0


@dataclass(frozen=True)
class Feature:
    """A line of the [feature] section: its kind, its name and its arguments."""

    kind: str
    name: str
    arguments: dict[str, str]
    line: int


@dataclass(frozen=True)
class MosesIni:
    """What a `moses.ini` says."""

    path: Path
    features: list[Feature]
    weights: dict[str, list[float]]
    values: dict[str, str]  # the first line of every other section
    sections: dict[str, list[str]]  # all its lines
    places: dict[str, list[int]]  # and their numbers

    @classmethod
    def read(cls, path: str | Path) -> MosesIni:
        """Parse the sections of a `moses.ini`."""
        features: list[Feature] = []
        weights: dict[str, list[float]] = {}
        sections: dict[str, list[str]] = {}
        places: dict[str, list[int]] = {}
        counts: dict[str, int] = {}
        section = ""
        for number, raw in enumerate(read_lines(path), 1):
            line = raw.split("#", 1)[0].strip()
            if not line:
                continue
            if line.startswith("[") and line.endswith("]"):
                section = line[1:-1]
                sections.setdefault(section, [])
            elif section == "feature":
                try:
                    kind, *rest = shlex.split(line if len(line) <= MOST_LETTERS else "")
                except ValueError as error:  # a quotation that is not closed
                    told = "it is too long" if len(line) > MOST_LETTERS else error
                    raise InputError(f"{shown(line)} is not a feature ({told})", path, number) from None
                arguments = dict(item.split("=", 1) for item in rest if "=" in item)
                name = arguments.get("name", f"{kind}{counts.get(kind, 0)}")
                counts[kind] = counts.get(kind, 0) + 1
                features.append(Feature(kind, name, arguments, number))
            elif section == "weight":
                name, equals, numbers = line.partition("=")
                try:
                    weights[name.strip()] = [float(item) for item in numbers.split()]
                except ValueError:
                    equals = ""
                if not equals or not all(map(math.isfinite, weights[name.strip()])):
                    raise InputError(f"{shown(line)} is not 'Name= number …'", path, number)
            else:
                sections.setdefault(section, []).append(line)
                places.setdefault(section, []).append(number)
        if not features:
            raise InputError("no [feature] section", path, remedy="Moses models older than version 2 are not read")
        values = {section: lines[0] for section, lines in sections.items() if lines}
        return cls(Path(path), features, weights, values, sections, places)

    def of_kind(self, *kinds: str) -> list[Feature]:
        """Return the features of some kinds."""
        return [feature for feature in self.features if feature.kind in kinds]

    def weight(self, feature: Feature, count: int) -> list[float]:
        """Return the weights of a feature, which must be `count`."""
        weights = self.weights.get(feature.name)
        if weights is None or len(weights) != count:
            told = "no weights" if weights is None else f"{len(weights)} weights"
            raise InputError(f"{told} for {feature.name}, expected {count}", self.path, feature.line)
        return weights

    def whole(self, section: str, default: int, at: int = 0) -> int:
        """Return the whole number in line `at` of a section, a negative one too; an error names its line."""
        lines = self.sections.get(section, [])
        if at >= len(lines):
            return default
        minus, digits = ("-", lines[at][1:]) if lines[at].startswith("-") else ("", lines[at])
        number = whole_number(digits, f"[{section}]", self.path, self.places[section][at])
        return -number if minus else number

    def whole_argument(self, feature: Feature, key: str, default: int) -> int:
        """Return the whole number that a feature has as an argument; an error names its line."""
        text = feature.arguments.get(key)
        return default if text is None else whole_number(text, f"{feature.name}: {key}", self.path, feature.line)

    def file(self, feature: Feature) -> Path:
        """Return the file that a feature names, relative to the folder of the `moses.ini`."""
        if "path" not in feature.arguments:
            raise InputError(f"{feature.name} has no path=", self.path, feature.line)
        path = self.path.parent / feature.arguments["path"]
        for candidate in (path, Path(f"{path}.gz")):
            if exists(candidate):
                return candidate
        raise InputError(
            f"{feature.name}: no file {shown(str(path))}", self.path, feature.line, remedy="check its path="
        )
