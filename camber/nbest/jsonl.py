"""N-best lists as JSON Lines: one object per hypothesis, and nothing is lost.

    {"sentence": 0, "rank": 0, "text": "a house", "score": -3.3, "features": {"lm": -4.1, "words": 2},
     "kinds": {"lm": {"scope": "context"}, "words": {"scope": "rule"}},
     "parts": [{"source": [0, 1], "target": [0, 1], "rule": 7, "features": [-2.0, 1]}, …], "alignment": "0-0 1-1"}

The ``features`` of an object are what a linear model takes of the hypothesis: sums over its parts, of logarithms where
a feature is a probability or a count. Those of a part are raw, in the same order. A feature is absent where it is null
or not named; the first object names all. It also has the ``kinds`` of features (kind, scope, least, plus: see
:class:`camber.features.feature.Feature`) that are anything else than a number of the whole hypothesis. A part without
``rule`` is none. Without ``parts`` a hypothesis is one part. ``features``, ``score``, ``segmentation``, ``alignment``,
``tokens``, ``confidence`` (from 0 to 1), ``word_confidences`` (of the tokens) and ``extra`` (outside scores by name)
are optional; so are ``source_text`` and ``target_text``, which stand with the first hypothesis of their sentence.
"""

from __future__ import annotations

import dataclasses
import json
import math
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from camber.errors import CamberError, InputError
from camber.features.feature import Feature
from camber.files import is_unicode, write_lines
from camber.nbest.collecting import PartsCollector
from camber.nbest.formats import Format
from camber.nbest.nbest import NO_RULE, NBest
from camber.nbest.reading import SentenceBounds, numbered_lines
from camber.nbest.writing import listed_features

_COLUMNS: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("score", (int, float)),
    ("segmentation", (str,)),
    ("alignment", (str,)),
    ("tokens", (str,)),
)
_SIDES = ("source_text", "target_text")
_SURE = ("confidence", "word_confidences")
_KEYS = {
    "sentence",
    "rank",
    "text",
    "features",
    "kinds",
    "parts",
    "extra",
    *_SURE,
    *(name for name, _ in _COLUMNS),
    *_SIDES,
}
#: What a feature may be besides its name, with the values that go without saying.
_USUAL = {own.name: own.default for own in dataclasses.fields(Feature) if own.name != "name"}
_LARGEST = 2**31 - 1  # of spans and numbers of rules
_BLOCK = 100  # hypotheses whose parts are written at a time


def write_jsonl(nbest: NBest, path: str | Path) -> None:
    """Write one JSON object per hypothesis."""
    write_lines(path, jsonl_lines(nbest))


def jsonl_lines(nbest: NBest, begins: bool = True) -> Iterator[str]:
    """Yield the lines of a list, or of a piece of one; only where it `begins` are the features told in full."""
    columns: dict[str, list[Any] | None] = {
        "score": None if nbest.scores is None else list(map(_number, nbest.scores.tolist())),
        "segmentation": nbest.segmentations,
        "alignment": nbest.alignments,
        "tokens": nbest.tokens,
        "confidence": None if nbest.confidences is None else list(map(_number, nbest.confidences.tolist())),
        "word_confidences": nbest.word_confidences and [list(map(_number, row)) for row in nbest.word_confidences],
    }
    given = [(key, column) for key, column in columns.items() if column is not None]
    sides = [(key, side) for key, side in zip(_SIDES, (nbest.sources, nbest.targets), strict=True) if side is not None]
    parts = _parts(nbest) if nbest.has_parts else None
    starts, owners = nbest.sentence_offsets.tolist(), nbest.sentences().tolist()
    dumps = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(", ", ": ")).encode
    for index, sums in enumerate(listed_features(nbest)):
        owner = owners[index]
        rank = index - starts[owner]
        item: dict[str, Any] = {"sentence": nbest.first + owner, "rank": rank, "text": nbest.texts[index]}
        item |= {key: column[index] for key, column in given}
        item["features"] = _features(nbest.names, sums, nulls=begins and index == 0)
        if begins and index == 0 and (kinds := _kinds(nbest.features)):
            item["kinds"] = kinds
        if parts is not None:
            item["parts"] = _listed_parts(next(parts), sums, nulls=begins and index == 0)
        if rank == 0:
            item |= {key: side[owner] for key, side in sides}
        if nbest.extra:
            item["extra"] = {name: _number(float(values[index])) for name, values in nbest.extra.items()}
        yield dumps(item)


def _number(value: float) -> float | int:
    """Write whole numbers without a point, except -0.0, which JSON's integers do not know."""
    if not value.is_integer() or abs(value) >= 2**53 or (value == 0 and math.copysign(1, value) < 0):
        return value
    return int(value)


def _features(names: tuple[str, ...], values: list[float], *, nulls: bool) -> dict[str, float | int | None]:
    """Return the features of an object; those that are absent are left out, or null.

    >>> _features(("lm", "rare"), [-1.5, math.nan], nulls=True)
    {'lm': -1.5, 'rare': None}
    """
    if nulls:
        return {name: _number(v) if v == v else None for name, v in zip(names, values, strict=True)}
    return {name: _number(v) for name, v in zip(names, values, strict=True) if v == v}


def _kinds(features: tuple[Feature, ...]) -> dict[str, dict[str, Any]]:
    """Return what features are apart from what goes without saying.

    >>> _kinds((Feature("lm"), Feature("p", "probability", "rule")))
    {'p': {'kind': 'probability', 'scope': 'rule'}}
    """
    kinds = {
        feature.name: {key: getattr(feature, key) for key, usual in _USUAL.items() if getattr(feature, key) != usual}
        for feature in features
    }
    return {name: unusual for name, unusual in kinds.items() if unusual}


def _parts(nbest: NBest) -> Iterator[list[dict[str, Any]]]:
    """Yield the parts of every hypothesis, with all their features as numbers."""
    for first in range(0, nbest.hypotheses, _BLOCK):
        bounds = nbest.part_offsets[first : first + _BLOCK + 1]
        block = slice(bounds[0], bounds[-1])
        here = nbest.parts.take(np.arange(bounds[0], bounds[-1]))
        columns: dict[str, list[Any]] = {}
        if nbest.source_spans is not None:
            columns["source"] = nbest.source_spans[block].tolist()
        if nbest.target_spans is not None:
            columns["target"] = nbest.target_spans[block].tolist()
        columns |= {"rule": here.rules.tolist(), "features": here.dense().tolist()}
        items = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
        for start, end in zip(bounds[:-1] - bounds[0], bounds[1:] - bounds[0], strict=True):
            yield items[start:end]


def _listed_parts(parts: list[dict[str, Any]], sums: list[float], *, nulls: bool) -> list[dict[str, Any]]:
    """Make parts ready to be written: null for absent features, those that the object names only."""
    for part in parts:
        part["features"] = [
            _number(value) if value == value else None
            for value, total in zip(part["features"], sums, strict=True)
            if nulls or total == total
        ]
        if part["rule"] == NO_RULE:
            del part["rule"]
    return parts


def read_jsonl(path: str | Path, sentences: int | None = None, at_least: int = 1) -> NBest:
    """Read a list in JSON Lines; an error names its line."""
    reader = _Reader(path)
    for number, line in numbered_lines(path):
        reader.add(line, number)
    return reader.finished(sentences, at_least)


class _Reader:
    """Collect objects into columns."""

    def __init__(self, path: str | Path) -> None:
        self.path, self.number = path, 0
        self.bounds = SentenceBounds(path)
        self.texts: list[str] = []
        self.parts = array("q", [0])  # their bounds
        self.features = PartsCollector(path)
        self.rules = array("i")
        self.spans = {"source": array("i"), "target": array("i")}
        self.columns: dict[str, list[Any]] = {name: [] for name, _ in _COLUMNS}
        self.sure: dict[str, list[list[float]]] = {name: [] for name in _SURE}
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
        except ValueError:  # of `int`, which does not take any number of digits
            self.fail("a whole number has too many digits")
        except RecursionError:
            self.fail("lists or objects in each other, too many to be read", "one plain object per line")
        if not isinstance(item, dict):
            self.fail(f"a {type(item).__name__}, expected an object")
        if unknown := sorted(item.keys() - _KEYS):
            self.fail(f"unknown key {unknown[0]!r}", f"known: {', '.join(sorted(_KEYS))}")
        sentence, text, features = item.get("sentence"), item.get("text"), item.get("features", {})
        if not isinstance(sentence, int) or isinstance(sentence, bool) or sentence < 0:
            self.fail(f"sentence is {sentence!r:.80}, expected a number from 0 on")
        if not isinstance(text, str) or not is_unicode(text):
            self.fail(f"text is {text!r:.80}, expected a string of Unicode characters")
        if not isinstance(features, dict):
            self.fail(f"features is {features!r:.80}, expected an object of names and numbers")
        self.bounds.add(sentence, number)
        if item.get("rank", self._rank()) != self._rank():
            self.fail(f"rank {item['rank']!r:.80}, expected {self._rank()}", "hypotheses are listed best first, from 0")
        self.texts.append(text)
        if "kinds" in item:
            self._add_kinds(item["kinds"])
        self._add_parts(item.get("parts"), features)
        self._add_columns(item)

    def _rank(self) -> int:
        return self.bounds.count - 1 - self.bounds.offsets[-1]

    def _add_kinds(self, kinds: Any) -> None:
        if len(self.texts) > 1:
            self.fail("kinds of features after the first object")
        if not isinstance(kinds, dict):
            self.fail(f"kinds is {kinds!r:.80}, expected an object of names and what they are")
        features = []
        for name, unusual in kinds.items():
            if not isinstance(unusual, dict) or any(
                key not in _USUAL or isinstance(value, str) != isinstance(_USUAL[key], str)
                for key, value in unusual.items()
            ):
                self.fail(f"the kind of {name} is {unusual!r:.80}, expected an object with some of {', '.join(_USUAL)}")
            numbers = {key: value for key, value in unusual.items() if not isinstance(value, str)}
            exact = dict(zip(numbers, self._numbers(list(numbers.values()), len(numbers)), strict=True))
            try:
                features.append(Feature(name, **(unusual | exact)))
            except CamberError as error:
                self.fail(str(error))
        self.features.know(features)

    def _add_parts(self, parts: Any, features: dict[str, Any]) -> None:
        names = tuple(features)
        sums = self._numbers(list(features.values()), len(names), nulls=True)
        absent = [name for name, value in features.items() if value is None] if None in features.values() else ()
        if parts is None:
            self.features.add_whole(names, sums, absent)
            self.rules.append(NO_RULE)
            self.parts.append(self.parts[-1] + 1)
            return
        if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
            self.fail("parts is not a list of objects")
        values = array("d")
        for part in parts:
            values.extend(self._numbers(part.get("features"), len(names), nulls=True))
            self.rules.append(self._rule(part.get("rule", NO_RULE)))
            for side, spans in self.spans.items():
                if side in part:
                    spans.extend(self._span(part[side], side))
        self.features.add_parts(names, len(parts), values, sums, self.number, absent)
        self.parts.append(self.parts[-1] + len(parts))

    def _numbers(self, values: Any, count: int, what: str = "feature value", *, nulls: bool = False) -> array[float]:
        """Check a list of numbers; with `nulls` it may have some, which become NaN."""
        if not isinstance(values, list) or len(values) != count:
            self.fail(f"features of a part: expected a list of {count} numbers")
        try:
            if set(map(type, values)) <= {int, float}:
                numbers = array("d", values)
                if math.isfinite(sum(numbers)):
                    return numbers
            for value in values:
                if not (nulls and value is None) and (type(value) not in (int, float) or not math.isfinite(value)):
                    self.fail(f"{what} {value!r:.80} is not a finite number")
            return array("d", [math.nan if value is None else value for value in values])
        except OverflowError:
            self.fail(f"a {what} is too large for a number with a point")

    def _rule(self, number: Any) -> int:
        if type(number) is not int or abs(number) > _LARGEST:
            self.fail(f"rule {number!r:.80}, expected its number")
        return number

    def _span(self, span: Any, side: str) -> list[int]:
        if not (
            isinstance(span, list)
            and [type(place) for place in span] == [int, int]
            and 0 <= span[0] <= span[1]
            and span[1] <= _LARGEST
        ):
            self.fail(f"{side} span {span!r:.80}, expected [start, end)")
        return span

    def _add_columns(self, item: dict[str, Any]) -> None:
        for name in _SIDES:
            if name in item:
                if not isinstance(item[name], str) or not is_unicode(item[name]):
                    self.fail(f"{name} is {item[name]!r:.80}, expected a string of Unicode characters")
                self.sides[name][item["sentence"]] = item[name]
        for name, kinds in _COLUMNS:
            if name in item:
                if type(item[name]) not in kinds or (str in kinds and not is_unicode(item[name])):
                    self.fail(f"{name} is {item[name]!r:.80}, expected a {kinds[-1].__name__}")
                column = self.columns[name]
                column.append(item[name] if str in kinds else self._numbers([item[name]], 1, name)[0])
            if len(self.columns[name]) not in (0, len(self.texts)):
                self.fail(f"{name} is given for some hypotheses only", "give it for all or for none")
        self._add_confidence(item)
        extra = item.get("extra", {})
        if not isinstance(extra, dict) or (len(self.texts) > 1 and extra.keys() != self.extra.keys()):
            self.fail("extra must have the same names for every hypothesis")
        for name, value in zip(extra, self._numbers(list(extra.values()), len(extra)), strict=True):
            self.extra.setdefault(name, []).append(value)

    def _add_confidence(self, item: dict[str, Any]) -> None:
        for name in _SURE:
            if name in item:
                values = [item[name]] if name == "confidence" else item[name]
                if not isinstance(values, list):
                    self.fail(f"{name} is {values!r:.80}, expected a list of numbers")
                self.sure[name].append(self._numbers(values, len(values), name).tolist())
            if len(self.sure[name]) not in (0, len(self.texts)):
                self.fail(f"{name} is given for some hypotheses only", "give it for all or for none")

    def finished(self, sentences: int | None, at_least: int) -> NBest:
        parts = self.features.finished(np.frombuffer(self.rules, np.int32), at_least)
        for side, spans in self.spans.items():
            if len(spans) not in (0, 2 * len(parts)):
                self.fail(f"{side} spans are given for some parts only", "give them for all or for none")
        source_spans, target_spans = (
            np.frombuffer(spans, np.int32).reshape(-1, 2) if spans else None for spans in self.spans.values()
        )
        offsets = self.bounds.finished(sentences)
        sources, targets = (
            [lines.get(sentence, "") for sentence in range(len(offsets) - 1)] if lines else None
            for lines in self.sides.values()
        )
        return NBest(
            offsets,
            np.frombuffer(self.parts, np.int64),
            parts,
            self.texts,
            np.array(self.columns["score"], np.float64) if self.columns["score"] else None,
            source_spans,
            target_spans,
            self.columns["segmentation"] or None,
            self.columns["alignment"] or None,
            {name: np.array(values, np.float64) for name, values in self.extra.items()},
            self.columns["tokens"] or None,
            sources,
            targets,
            np.array(self.sure["confidence"], np.float64)[:, 0] if self.sure["confidence"] else None,
            self.sure["word_confidences"] or None,
        )


def _looks_like(line: str, number: int) -> bool:
    return line.lstrip().startswith("{")


JSONL = Format(
    "jsonl",
    (".jsonl", ".json"),
    _looks_like,
    read_jsonl,
    write_jsonl,
    holds_extra=True,
    holds_parts=True,
    lines=jsonl_lines,
)
