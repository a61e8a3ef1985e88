"""N-best lists as JSON Lines: one object per hypothesis, and nothing is lost.

    {"sentence": 0, "rank": 0, "text": "a house", "score": -3.3, "features": {"lm": -4.1, "words": 2},
     "parts": [{"source": [0, 1], "target": [0, 1], "features": [-2.0, 1]}, …], "alignment": "0-0 1-1"}

The features of a part are in the order of the object's ``features``, which are their sums; null is a feature that the
part lacks. Without ``parts`` a hypothesis is one part. ``score``, ``segmentation``, ``alignment``, ``tokens`` and
``extra`` (outside scores by name) are optional; so are ``source_text`` and ``target_text``, which stand with the first
hypothesis of their sentence. A feature that some objects or parts lack is 0 there (sparse); the first object names them
all.
"""

from __future__ import annotations

import json
import math
from array import array
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from camber.arrays.types import I8, Bools
from camber.errors import InputError
from camber.files import write_whole
from camber.nbest.nbest import NBest
from camber.nbest.reading import SentenceBounds, check_table, numbered_lines

_COLUMNS: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("score", (int, float)),
    ("segmentation", (str,)),
    ("alignment", (str,)),
    ("tokens", (str,)),
)
_SIDES = ("source_text", "target_text")
_KEYS = {"sentence", "rank", "text", "features", "parts", "extra", *(name for name, _ in _COLUMNS), *_SIDES}


def write_jsonl(nbest: NBest, path: str | Path) -> None:
    """Write one JSON object per hypothesis."""
    sums = nbest.hypothesis_features()
    starts = nbest.sentence_offsets.tolist()
    owner = nbest.sentences().tolist()
    plain = nbest.source_spans is None and nbest.target_spans is None and nbest.parts == nbest.hypotheses
    plain = plain and bool((np.diff(nbest.part_offsets) == 1).all())
    every, dense = np.arange(len(nbest.names)), np.array([name not in nbest.sparse for name in nbest.names], bool)
    dumps = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(", ", ": ")).encode
    with write_whole(path) as stream:
        for index, text in enumerate(nbest.texts):
            item: dict[str, Any] = {"sentence": owner[index], "rank": index - starts[owner[index]], "text": text}
            if nbest.scores is not None:
                item["score"] = _number(float(nbest.scores[index]))
            listed, whole = every, True  # whole: the sums say all about a single part
            if nbest.sparse:
                there = dense | nbest.features[slice(*nbest.part_offsets[index : index + 2].tolist())].any(0)
                if index:  # all but sparse features that are 0 in all parts
                    listed = np.flatnonzero(there)
                whole = bool(there[listed].all())
            values = map(_number, sums[index, listed].tolist())
            item["features"] = dict(zip((nbest.names[column] for column in listed.tolist()), values, strict=True))
            if not (plain and whole):
                item["parts"] = _parts(nbest, index, listed, dense[listed])
            if nbest.segmentations is not None:
                item["segmentation"] = nbest.segmentations[index]
            if nbest.alignments is not None:
                item["alignment"] = nbest.alignments[index]
            if nbest.tokens is not None:
                item["tokens"] = nbest.tokens[index]
            if item["rank"] == 0:
                for key, side in zip(_SIDES, (nbest.sources, nbest.targets), strict=True):
                    if side is not None:
                        item[key] = side[owner[index]]
            if nbest.extra:
                item["extra"] = {name: _number(float(values[index])) for name, values in nbest.extra.items()}
            stream.write(dumps(item) + "\n")


def _number(value: float) -> float | int:
    """Write whole numbers without a point, except -0.0, which JSON's integers do not know."""
    if not value.is_integer() or abs(value) >= 2**53 or (value == 0 and math.copysign(1, value) < 0):
        return value
    return int(value)


def _parts(nbest: NBest, index: int, listed: I8, dense: Bools) -> list[dict[str, Any]]:
    """Return the parts of a hypothesis with the `listed` features; those that are not `dense` are absent where 0."""
    found = []
    for part in range(*nbest.part_offsets[index : index + 2].tolist()):
        item: dict[str, Any] = {}
        if nbest.source_spans is not None:
            item["source"] = nbest.source_spans[part].tolist()
        if nbest.target_spans is not None:
            item["target"] = nbest.target_spans[part].tolist()
        values = nbest.features[part, listed]
        there = (dense | (values != 0.0)).tolist()
        item["features"] = [_number(v) if known else None for v, known in zip(values.tolist(), there, strict=True)]
        found.append(item)
    return found


def read_jsonl(path: str | Path, sentences: int | None = None, at_least: int = 1) -> NBest:
    """Read a list in JSON Lines; an error names its line."""
    reader = _Reader(path)
    for number, line in numbered_lines(path):
        reader.add(line, number)
    return reader.finished(sentences, at_least)


def _is_unicode(text: str) -> bool:
    """Say whether a string can be written: JSON can escape half a surrogate pair, UTF-8 cannot hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class _Reader:
    """Collect objects into columns."""

    def __init__(self, path: str | Path) -> None:
        self.path, self.number = path, 0
        self.bounds = SentenceBounds(path)
        self.texts: list[str] = []
        self.parts = array("q", [0])
        # objects with the same features in the same order → the parts' numbers in the list, and their values
        self.tables: dict[tuple[str, ...], tuple[array[int], array[float]]] = {}
        self.hypotheses: dict[tuple[str, ...], int] = {}  # how many there are of each kind
        self.lacking: set[str] = set()  # features that some part lacks
        self.columns: dict[str, list[Any]] = {name: [] for name, _ in _COLUMNS} | {"source": [], "target": []}
        self.sides: dict[str, dict[int, str]] = {name: {} for name in _SIDES}
        self.extra: dict[str, list[float]] = {}
        self.decode = json.JSONDecoder(parse_constant=self._constant).decode

    def fail(self, problem: str, remedy: str = "") -> NoReturn:
        raise InputError(problem, self.path, self.number, remedy=remedy)

    def _constant(self, text: str) -> NoReturn:
        self.fail(f"{text} is not a finite number")

    def add(self, line: str, number: int) -> None:
        self.number = number
        try:
            item = self.decode(line)
        except json.JSONDecodeError as error:
            self.fail(f"not JSON ({error.msg}, column {error.colno})", "one object per line")
        if not isinstance(item, dict):
            self.fail(f"a {type(item).__name__}, expected an object")
        if unknown := sorted(item.keys() - _KEYS):
            self.fail(f"unknown key {unknown[0]!r}", f"known: {', '.join(sorted(_KEYS))}")
        sentence, text, features = item.get("sentence"), item.get("text"), item.get("features")
        if not isinstance(sentence, int) or isinstance(sentence, bool) or sentence < 0:
            self.fail(f"sentence is {sentence!r}, expected a number from 0 on")
        if not isinstance(text, str) or not _is_unicode(text):
            self.fail(f"text is {text!r}, expected a string of Unicode characters")
        if not isinstance(features, dict):
            self.fail(f"features is {features!r}, expected an object of names and numbers")
        self.bounds.add(sentence, number)
        if item.get("rank", self._rank()) != self._rank():
            self.fail(f"rank {item['rank']!r}, expected {self._rank()}", "hypotheses are listed best first, from 0")
        self.texts.append(text)
        self._add_parts(item.get("parts"), features)
        self._add_columns(item)

    def _rank(self) -> int:
        return self.bounds.count - 1 - self.bounds.offsets[-1]

    def _add_parts(self, parts: Any, features: dict[str, Any]) -> None:
        names = tuple(features)
        sums = self._numbers(list(features.values()), len(names))
        rows, values = self.tables.setdefault(names, (array("q"), array("d")))
        self.hypotheses[names] = self.hypotheses.get(names, 0) + 1
        if parts is None:
            parts = [{"features": sums}]
        if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
            self.fail("parts is not a list of objects")
        first = self.parts[-1]
        total = [0.0] * len(names)
        for part in parts:
            numbers = self._numbers(self._present(part.get("features"), names), len(names))
            total = [a + b for a, b in zip(total, numbers, strict=True)]
            rows.append(first)
            values.extend(numbers)
            first += 1
            for side in ("source", "target"):
                if side in part:
                    self.columns[side].append(self._span(part[side], side))
        for name, found, expected in zip(names, total, sums, strict=True):
            if not math.isclose(found, expected, rel_tol=1e-6, abs_tol=1e-6):
                self.fail(f"feature {name} is {expected}, but its parts sum to {found}")
        self.parts.append(first)

    def _present(self, values: Any, names: tuple[str, ...]) -> Any:
        """Return the features of a part with 0 for those that it lacks, and note which these are."""
        if not isinstance(values, list) or None not in values:
            return values
        self.lacking.update(name for name, value in zip(names, values, strict=False) if value is None)
        return [0.0 if value is None else value for value in values]

    def _numbers(self, values: Any, count: int) -> list[float]:
        if not isinstance(values, list) or len(values) != count:
            self.fail(f"features of a part: expected a list of {count} numbers")
        for value in values:
            if type(value) not in (int, float) or not abs(value) < math.inf:
                self.fail(f"feature value {value!r} is not a finite number")
        try:
            return list(map(float, values))
        except OverflowError:
            self.fail("a feature value is too large for a number with a point")

    def _span(self, span: Any, side: str) -> list[int]:
        if not (isinstance(span, list) and [type(place) for place in span] == [int, int] and 0 <= span[0] <= span[1]):
            self.fail(f"{side} span {span!r}, expected [start, end)")
        return span

    def _add_columns(self, item: dict[str, Any]) -> None:
        for name in _SIDES:
            if name in item:
                if not isinstance(item[name], str) or not _is_unicode(item[name]):
                    self.fail(f"{name} is {item[name]!r}, expected a string of Unicode characters")
                self.sides[name][item["sentence"]] = item[name]
        for name, kinds in _COLUMNS:
            if name in item:
                if type(item[name]) not in kinds or (name == "score" and not math.isfinite(item[name])):
                    self.fail(f"{name} is {item[name]!r}, expected a {kinds[-1].__name__}")
                self.columns[name].append(item[name])
            if len(self.columns[name]) not in (0, len(self.texts)):
                self.fail(f"{name} is given for some hypotheses only", "give it for all or for none")
        extra = item.get("extra", {})
        if not isinstance(extra, dict) or (len(self.texts) > 1 and extra.keys() != self.extra.keys()):
            self.fail("extra must have the same names for every hypothesis")
        for name, value in zip(extra, self._numbers(list(extra.values()), len(extra)), strict=True):
            self.extra.setdefault(name, []).append(value)

    def finished(self, sentences: int | None, at_least: int) -> NBest:
        there: dict[str, int] = {}
        for known, count in self.hypotheses.items():
            for name in known:
                there[name] = there.get(name, 0) + count
        names = [name for name, count in there.items() if count >= at_least]
        place = {name: column for column, name in enumerate(names)}
        parts = self.parts[-1]
        check_table(parts, len(names), self.path)
        features = np.zeros((parts, len(names)))
        for known, (rows, values) in self.tables.items():
            block = np.frombuffer(values, np.float64).reshape(len(rows), len(known))
            kept = [column for column, name in enumerate(known) if name in place]
            where = [place[known[column]] for column in kept]
            features[np.frombuffer(rows, np.int64)[:, None], where] = block[:, kept]
        for side in ("source", "target"):
            if len(self.columns[side]) not in (0, parts):
                self.fail(f"{side} spans are given for some parts only", "give them for all or for none")
        spans = {
            side: np.array(found, np.int64) if (found := self.columns[side]) else None for side in ("source", "target")
        }
        offsets = self.bounds.finished(sentences)
        sources, targets = (
            [found.get(sentence, "") for sentence in range(len(offsets) - 1)] if found else None
            for found in self.sides.values()
        )
        return NBest(
            tuple(names),
            offsets,
            np.array(self.parts, np.int64),
            features,
            self.texts,
            np.array(self.columns["score"], np.float64) if self.columns["score"] else None,
            spans["source"],
            spans["target"],
            self.columns["segmentation"] or None,
            self.columns["alignment"] or None,
            {name: np.array(values, np.float64) for name, values in self.extra.items()},
            frozenset(name for name in names if there[name] < len(self.texts) or name in self.lacking),
            self.columns["tokens"] or None,
            sources,
            targets,
        )
