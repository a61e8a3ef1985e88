"""Read cdec's files: grammars (one rule a line), weights, and `cdec.ini`; write grammars.

[X] ||| [X,1] ein [X,2] ||| a [X,1] [X,2] ||| EgivenFCoherent=0.88 CountEF=1.6 ||| 1-0
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.types import I8, U1
from camber.corpus import Vocabulary
from camber.errors import CamberError, InputError
from camber.features.feature import PROBABILITY, Feature, linear_table
from camber.files import decode_lines, exists, read_bytes, read_lines
from camber.numbers import is_whole, shown
from camber.rules.hiero.grammar import Grammar
from camber.rules.hiero.grammar_set import GrammarSet

#: The last word of a side that a link can name: links are kept in bytes.
MOST_PLACE = 255
#: Cells of the table of features that no rule fills: so many in any case (160 MB), so many for each byte of the
#: grammars, and never more than 2 GB.
FREE_CELLS, CELLS_PER_BYTE, MOST_CELLS = 20_000_000, 1.5, 250_000_000
#: words that stand for something else in a grammar
_RESERVED = re.compile(r"\|\|\||\[(X,)?\d+\]")


class _Columns:
    """Rules of many files with common vocabularies, as they are read."""

    def __init__(self) -> None:
        self.source: list[int] = []
        self.source_sizes: list[int] = []
        self.target: list[int] = []
        self.target_sizes: list[int] = []
        self.links: list[tuple[int, int]] = []
        self.link_sizes: list[int] = []
        self.features: list[dict[str, float]] = []
        self.source_words: dict[str, int] = {}
        self.target_words: dict[str, int] = {}
        self.bytes = 0

    def read(self, path: Path) -> None:
        """Read a file, which may be empty: a sentence of unknown words has no rules."""
        data = read_bytes(path)
        self.bytes += len(data)
        for number, line in enumerate(decode_lines(data, path), 1):
            if line.strip():
                self.add(line, path, number)

    def add(self, line: str, path: Path, number: int) -> None:
        """Read one rule."""
        fields = [field.strip() for field in f" {line} ".split(" ||| ")]
        if len(fields) not in (4, 5):
            raise InputError(
                f"{len(fields)} fields, expected 4 or 5: [X] ||| source ||| target ||| features ||| alignment",
                path,
                number,
            )
        if fields[0] != "[X]":
            raise InputError(f"a rule for {fields[0]}, expected [X]", path, number)
        source = [_symbol(token, self.source_words) for token in fields[1].split()]
        gaps = [symbol for symbol in source if symbol < 0]
        if gaps not in ([], [-1], [-1, -2]) or not source or source == [-1]:
            raise InputError(
                f"source side {fields[1]!r}; expected words, with at most [X,1] and then [X,2]", path, number
            )
        target = [_symbol(token, self.target_words, len(gaps), True) for token in fields[2].split()]
        if sorted(symbol for symbol in target if symbol < 0) != sorted(gaps):
            raise InputError(f"target side {fields[2]!r} does not have the non-terminals of the source", path, number)
        links = _links(fields[4], len(source), len(target), path, number) if len(fields) == 5 else []
        self.source += source
        self.source_sizes.append(len(source))
        self.target += target
        self.target_sizes.append(len(target))
        self.links += links
        self.link_sizes.append(len(links))
        self.features.append(_features(fields[3], path, number))

    def grammar(self) -> Grammar:
        """Return all rules; features that a rule does not name are NaN: absent, which is not the value 0."""
        place: dict[str, int] = {}
        for own in self.features:
            for name in own:
                place.setdefault(name, len(place))
        names = tuple(place)
        given = sum(map(len, self.features))
        if len(names) * len(self.features) - given > min(MOST_CELLS, FREE_CELLS + CELLS_PER_BYTE * self.bytes):
            raise CamberError(
                f"{len(names):,} features of {len(self.features):,} rules would take "
                f"{len(names) * len(self.features) * 8 / 1e9:,.1f} GB, and hardly any rule has them; "
                "leave rare features out of the grammars"
            )
        cells = (row * len(names) + place[name] for row, own in enumerate(self.features) for name in own)
        features = np.full(len(self.features) * len(names), math.nan)
        features[np.fromiter(cells, np.int64, given)] = [value for own in self.features for value in own.values()]
        return Grammar(
            names,
            np.array(self.source, np.int64),
            offsets_from(self.source_sizes),
            np.array(self.target, np.int64),
            offsets_from(self.target_sizes),
            features.reshape(len(self.features), len(names)),
            np.array(self.links, np.uint8).reshape(len(self.links), 2),
            offsets_from(self.link_sizes),
            Vocabulary(list(self.source_words)),
            Vocabulary(list(self.target_words)),
        )


def _symbol(token: str, words: dict[str, int], gaps: int = 2, target: bool = False) -> int:
    """Return the number of a word, or -1, -2 for a non-terminal: [X,1], and on the target side also [1]."""
    if token in ("[X,1]", "[X,2]"):
        return -int(token[3])
    if target and token in ("[1]", "[2]") and int(token[1]) <= gaps:
        return -int(token[1])
    return words.setdefault(token, len(words))


def _features(text: str, path: Path, number: int) -> dict[str, float]:
    features: dict[str, float] = {}
    for item in text.split():
        name, _, value = item.rpartition("=")
        try:
            features[name] = float(value)
        except ValueError:
            features[name] = math.nan
        if not name or not math.isfinite(features[name]):
            raise InputError(f"feature {item!r}; expected name=number", path, number)
    return features


def _links(text: str, source: int, target: int, path: Path, number: int) -> list[tuple[int, int]]:
    links = []
    for item in text.split():
        left, _, right = item.partition("-")
        if not (is_whole(left) and is_whole(right) and int(left) < source and int(right) < target):
            told = f"link {shown(item)} does not lie inside the rule"
            raise InputError(told, path, number, remedy="links are 0-0 1-2 …")
        if max(int(left), int(right)) > MOST_PLACE:
            told = f"link {item} of words beyond the first {MOST_PLACE + 1} of a side"
            raise InputError(told, path, number, remedy="leave it out, or the rule")
        links.append((int(left), int(right)))
    return links


def read_cdec_grammar(path: str | Path) -> Grammar:
    """Read one grammar file (plain or .gz)."""
    columns = _Columns()
    columns.read(Path(path))
    return columns.grammar()


def read_cdec_grammars(paths: Sequence[str | Path], sentences: Iterable[Sequence[str]] | None = None) -> GrammarSet:
    """Read grammars of many sentences, in the order of the sentences, which may be told."""
    columns = _Columns()
    counts: list[int] = []
    for path in paths:
        columns.read(Path(path))
        counts.append(len(columns.source_sizes) - sum(counts))
    return GrammarSet.of(columns.grammar(), offsets_from(counts), sentences)


def cdec_values(features: Sequence[Feature], grammar: Grammar) -> Grammar:
    """Return a grammar of ours with the values that cdec takes: costs -log10 p, and log10(1 + c) for counts.

    A count is taken with what its logarithm takes it with (`Feature.plus`).
    """
    values = linear_table(features, grammar.features)
    for column, feature in enumerate(features):
        if feature.logarithmic:
            values[:, column] /= -math.log(10.0) if feature.kind == PROBABILITY else math.log(10.0)
    return replace(grammar, features=values + 0.0)  # + 0.0: never -0


def cdec_lines(grammar: Grammar, names: Mapping[str, str] | None = None) -> list[str]:
    """Spell a grammar, one rule a line, with its features under the `names` given.

    A word that cdec would take for something else, such as [1] or |||, has no spelling in this format: rules with such
    words are left out.
    """
    called = [(names or {}).get(name, name) for name in grammar.names]
    for name in called:
        if not name or any(blank in name for blank in " \t="):
            raise CamberError(f"the feature name {name!r} cannot be written to a cdec grammar")
    kept = np.ones(len(grammar), bool)
    for flat, offsets, vocabulary in (
        (grammar.source, grammar.source_offsets, grammar.source_words),
        (grammar.target, grammar.target_offsets, grammar.target_words),
    ):
        used = np.unique(flat[flat >= 0]).tolist()
        bad = np.isin(flat, [word for word in used if _RESERVED.fullmatch(vocabulary.words[word])])
        kept[np.searchsorted(offsets, np.flatnonzero(bad), "right") - 1] = False
    rows = zip(
        _spelled(grammar.source, grammar.source_offsets, grammar.source_words),
        _spelled(grammar.target, grammar.target_offsets, grammar.target_words),
        grammar.features.tolist(),
        _linked(grammar.links, grammar.link_offsets),
        kept.tolist(),
        strict=True,
    )
    lines = []
    for source, target, values, links, good in rows:
        if good:
            pairs = zip(called, values, strict=True)
            features = " ".join([f"{name}={value!r}" for name, value in pairs if value == value])
            lines.append(f"[X] ||| {source} ||| {target} ||| {features} ||| {links}")
    return lines


def _spelled(symbols: I8, offsets: I8, words: Vocabulary) -> Iterator[str]:
    """Yield the sides of rules as text."""
    texts = [words.words[symbol] if symbol >= 0 else f"[X,{-symbol}]" for symbol in symbols.tolist()]
    for a, b in pairwise(offsets.tolist()):
        yield " ".join(texts[a:b])


def _linked(links: U1, offsets: I8) -> Iterator[str]:
    texts = [f"{s}-{t}" for s, t in links.tolist()]
    for a, b in pairwise(offsets.tolist()):
        yield " ".join(texts[a:b])


def read_cdec_weights(path: str | Path) -> dict[str, float]:
    """Read a weights file: a name and a number on every line; # begins a comment."""
    weights: dict[str, float] = {}
    for number, raw in enumerate(read_lines(path), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        fields = line.split()
        try:
            value = float(fields[1]) if len(fields) == 2 else math.nan
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise InputError(f"{line!r} is not a name and a number", path, number)
        if fields[0] in weights:
            raise InputError(f"a second weight for {fields[0]}", path, number, remedy="keep one")
        weights[fields[0]] = value
    return weights


@dataclass(frozen=True)
class CdecIni:
    """What a `cdec.ini` says: every key with its values, in order."""

    path: Path
    values: dict[str, list[tuple[str, int]]]  # key → (value, line)

    @classmethod
    def read(cls, path: str | Path) -> CdecIni:
        """Parse ``key = value`` lines."""
        values: dict[str, list[tuple[str, int]]] = {}
        for number, raw in enumerate(read_lines(path), 1):
            line = raw.split("#", 1)[0].strip()
            if not line:
                continue
            key, equals, value = line.partition("=")
            if not equals:
                raise InputError(f"{line!r} is not key=value", path, number)
            values.setdefault(key.strip(), []).append((value.strip(), number))
        return cls(Path(path), values)

    def one(self, key: str, default: str = "") -> str:
        """Return the last value of a key."""
        return self.values[key][-1][0] if key in self.values else default

    def line(self, key: str) -> int | None:
        """Return the line of the last value of a key, None if there is none."""
        return self.values[key][-1][1] if key in self.values else None

    def file(self, name: str, line: int | None = None) -> Path:
        """Return a file that the ini names, relative to its own folder."""
        path = self.path.parent / name
        if not exists(path):
            raise InputError(f"no file {shown(str(path))}", self.path, line, remedy="check the path")
        return path
