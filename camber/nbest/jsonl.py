"""N-best lists as JSON Lines: one object per hypothesis, and nothing is lost.

    {"sentence": 0, "rank": 0, "text": "a house", "score": -3.3, "features": {"lm": -4.1, "words": 2},
     "parts": [{"source": [0, 1], "target": [0, 1], "features": [-2.0, 1]}, …], "alignment": "0-0 1-1"}

The features of a part are in the order of the object's ``features``, which are their sums. Without ``parts`` a
hypothesis is one part. ``score``, ``segmentation``, ``alignment`` and ``extra`` (outside scores by name) are optional.
"""

from __future__ import annotations

import json
import math
from array import array
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from camber.corpus.reading import write_whole
from camber.errors import InputError
from camber.nbest.nbest import NBest
from camber.nbest.reading import SentenceBounds, numbered_lines

_KEYS = {"sentence", "rank", "text", "score", "features", "parts", "segmentation", "alignment", "extra"}


def write_jsonl(nbest: NBest, path: str | Path) -> None:
    """Write one JSON object per hypothesis."""
    sums = nbest.hypothesis_features()
    starts = nbest.sentence_offsets.tolist()
    owner = nbest.sentences().tolist()
    plain = nbest.source_spans is None and nbest.target_spans is None and nbest.parts == nbest.hypotheses
    plain = plain and bool((np.diff(nbest.part_offsets) == 1).all())
    dumps = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(", ", ": ")).encode
    with write_whole(path) as stream:
        for index, text in enumerate(nbest.texts):
            item: dict[str, Any] = {"sentence": owner[index], "rank": index - starts[owner[index]], "text": text}
            if nbest.scores is not None:
                item["score"] = _number(float(nbest.scores[index]))
            item["features"] = dict(zip(nbest.names, map(_number, sums[index].tolist()), strict=True))
            if not plain:
                item["parts"] = _parts(nbest, index)
            if nbest.segmentations is not None:
                item["segmentation"] = nbest.segmentations[index]
            if nbest.alignments is not None:
                item["alignment"] = nbest.alignments[index]
            if nbest.extra:
                item["extra"] = {name: _number(float(values[index])) for name, values in nbest.extra.items()}
            stream.write(dumps(item) + "\n")


def _number(value: float) -> float | int:
    """Write whole numbers without a point, except -0.0, which JSON's integers do not know."""
    if not value.is_integer() or abs(value) >= 2**53 or (value == 0 and math.copysign(1, value) < 0):
        return value
    return int(value)


def _parts(nbest: NBest, index: int) -> list[dict[str, Any]]:
    found = []
    for part in range(*nbest.part_offsets[index : index + 2].tolist()):
        item: dict[str, Any] = {}
        if nbest.source_spans is not None:
            item["source"] = nbest.source_spans[part].tolist()
        if nbest.target_spans is not None:
            item["target"] = nbest.target_spans[part].tolist()
        item["features"] = list(map(_number, nbest.features[part].tolist()))
        found.append(item)
    return found


def read_jsonl(path: str | Path, sentences: int | None = None) -> NBest:
    """Read a list in JSON Lines; an error names its line."""
    reader = _Reader(path)
    for number, line in numbered_lines(path):
        reader.add(line, number)
    return reader.finished(sentences)


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
        self.columns: dict[str, list[Any]] = {
            "score": [],
            "segmentation": [],
            "alignment": [],
            "source": [],
            "target": [],
        }
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
        if parts is None:
            parts = [{"features": sums}]
        if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
            self.fail("parts is not a list of objects")
        first = self.parts[-1]
        total = [0.0] * len(names)
        for part in parts:
            numbers = self._numbers(part.get("features"), len(names))
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
        for name, kinds in (("score", (int, float)), ("segmentation", (str,)), ("alignment", (str,))):
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

    def finished(self, sentences: int | None) -> NBest:
        names = list(dict.fromkeys(name for known in self.tables for name in known))
        place = {name: column for column, name in enumerate(names)}
        parts = self.parts[-1]
        features = np.zeros((parts, len(names)))
        for known, (rows, values) in self.tables.items():
            block = np.frombuffer(values, np.float64).reshape(len(rows), len(known))
            features[np.frombuffer(rows, np.int64)[:, None], [place[name] for name in known]] = block
        for side in ("source", "target"):
            if len(self.columns[side]) not in (0, parts):
                self.fail(f"{side} spans are given for some parts only", "give them for all or for none")
        spans = {
            side: np.array(found, np.int64) if (found := self.columns[side]) else None for side in ("source", "target")
        }
        return NBest(
            tuple(names),
            self.bounds.finished(sentences),
            np.array(self.parts, np.int64),
            features,
            self.texts,
            np.array(self.columns["score"], np.float64) if self.columns["score"] else None,
            spans["source"],
            spans["target"],
            self.columns["segmentation"] or None,
            self.columns["alignment"] or None,
            {name: np.array(values, np.float64) for name, values in self.extra.items()},
        )
