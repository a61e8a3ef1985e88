"""The n-best format of Moses, which Marian, Joshua and cdec write with small differences.

Moses and Marian write labels and values apart, Joshua and cdec write ``name=value``; both are read here.

    0 ||| a house ||| LM0= -4.1 TranslationModel0= -1.2 -0.5 ||| -3.3 ||| 0=0-1 ||| 0-0 0-1

Sentence, text, features, score, segmentation, word alignment; the last two are optional, and so is the score. A label
with several values names the features ``TranslationModel0.0``, ``TranslationModel0.1``; one with a single value is the
name itself (so is ``name=value``, Joshua's way). A feature that a line leaves out is absent there, which is not 0, and
is left out when it is written. Names come in the order of their first appearance.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from camber.arrays.types import F8, Bools
from camber.errors import CamberError, InputError
from camber.files import write_lines
from camber.nbest.formats import Format
from camber.nbest.nbest import NBest
from camber.nbest.reading import SentenceBounds, check_table, numbered_lines, sentence_number
from camber.nbest.writing import shortest
from camber.numbers import number as number_of

_BARS = re.compile(r"(?:^|\s)\|\|\|(?=\s|$)")
_ALIGNMENT = re.compile(r"[0-9.,\s-]*")  # hard (0-0 1-2) or soft (0.9,0.1 0.2,0.8)
_BAR_ADVICE = "fields are separated by ' ||| '; does the text itself contain '|||'?"


class _Layout:
    """Where the labels and the values stand in the feature fields of lines that look alike."""

    def __init__(self, tokens: list[str], names: tuple[str, ...], labels: list[int]) -> None:
        known = set(labels)
        values = [index for index in range(len(tokens)) if index not in known]
        self.names = names
        self.kept = False
        self.length = len(tokens)
        self.labels: Callable[[list[str]], Any] = itemgetter(*labels) if labels else lambda tokens: None
        self.values: Callable[[list[str]], Any] = (
            itemgetter(*values) if len(values) > 1 else lambda tokens: [tokens[index] for index in values]
        )
        self.expected = self.labels(tokens)
        self.rows = array("q")
        self.numbers = array("d")

    def fits(self, tokens: list[str]) -> bool:
        return len(tokens) == self.length and self.labels(tokens) == self.expected


_MOST_LAYOUTS = 256  # more are lines with sparse features, each of which has its own


class _Features:
    """Collect the feature fields of all lines; lines of the same layout go the quick way, sparse ones as triplets."""

    def __init__(self, path: str | Path) -> None:
        self.path = path
        self.layouts: dict[tuple[Any, ...], _Layout] = {}
        self.last: _Layout | None = None
        self.groups: dict[str, tuple[int, int]] = {}  # label → number of values, first line
        self.names: dict[str, int] = {}  # name → column
        self.sparse_rows, self.sparse_columns, self.sparse_values = array("q"), array("q"), array("d")

    def add(self, field: str, row: int, number: int) -> None:
        tokens = field.split()
        layout = self.last
        if layout is None or not layout.fits(tokens):
            if any("=" in token[:-1] for token in tokens):  # name=value
                tokens = [piece for token in tokens for piece in _apart(token)]
            if layout is None or not layout.fits(tokens):
                layout = self._layout(tokens, number)
                if len(self.layouts) < _MOST_LAYOUTS:
                    self.last = layout
        try:
            numbers = list(map(float, layout.values(tokens)))
        except ValueError:
            bad = next(token for token in layout.values(tokens) if not _is_number(token))
            raise InputError(f"feature value {bad!r} is not a number", self.path, number, remedy=_BAR_ADVICE) from None
        if not math.isfinite(sum(numbers)):
            for name, value in zip(layout.names, numbers, strict=True):
                if not math.isfinite(value):
                    raise InputError(f"feature {name} is {value}; expected a finite number", self.path, number)
        if layout.kept:
            layout.rows.append(row)
            layout.numbers.extend(numbers)
        else:
            self.sparse_rows.extend([row] * len(numbers))
            self.sparse_columns.extend([self.names[name] for name in layout.names])
            self.sparse_values.extend(numbers)

    def _layout(self, tokens: list[str], number: int) -> _Layout:
        labels = [index for index, token in enumerate(tokens) if token.endswith("=")]
        key = (len(tokens), *((index, tokens[index]) for index in labels))
        layout = self.layouts.get(key)
        if layout is None:
            layout = _Layout(tokens, self._names(tokens, labels, number), labels)
            if len(self.layouts) < _MOST_LAYOUTS:
                self.layouts[key] = layout
                layout.kept = True
        return layout

    def _names(self, tokens: list[str], labels: list[int], number: int) -> tuple[str, ...]:
        if tokens and (not labels or labels[0] != 0):
            raise InputError(f"value {tokens[0]!r} without a name", self.path, number, remedy=_BAR_ADVICE)
        names: list[str] = []
        seen: set[str] = set()
        for start, end in pairwise([*labels, len(tokens)]):
            label, size = tokens[start][:-1], end - start - 1
            if not label or label in seen:
                raise InputError(f"feature {label!r} occurs twice or has no name", self.path, number)
            seen.add(label)
            if size == 0:
                raise InputError(f"feature {label} has no value", self.path, number)
            before, line = self.groups.setdefault(label, (size, number))
            if before != size:
                raise InputError(f"{size} values for {label}, but {before} in line {line}", self.path, number)
            names += [label] if size == 1 else [f"{label}.{index}" for index in range(size)]
        if len(set(names)) < len(names):
            raise InputError("two features of the same name", self.path, number)
        for name in names:
            self.names.setdefault(name, len(self.names))
        return tuple(names)

    def table(self, rows: int, at_least: int) -> tuple[list[str], F8]:
        """Return the names that at least so many lines have, and float64[rows, names] with NaN for what is absent."""
        columns = np.frombuffer(self.sparse_columns, np.int64)
        there = np.bincount(columns, minlength=len(self.names))
        layouts = [
            (layout, np.array([self.names[name] for name in layout.names], np.int64))
            for layout in self.layouts.values()
        ]
        for layout, where in layouts:
            there[where] += len(layout.rows)
        place = np.where(there >= at_least, np.cumsum(there >= at_least) - 1, -1)
        names = [name for name, column in self.names.items() if place[column] >= 0]
        check_table(rows, len(names), self.path)
        table = np.full((rows, len(names)), np.nan)
        for layout, where in layouts:
            numbers = np.frombuffer(layout.numbers, np.float64).reshape(len(layout.rows), len(layout.names))
            kept = place[where] >= 0
            numbers = numbers if kept.all() else numbers[:, kept]
            table[np.frombuffer(layout.rows, np.int64)[:, None], place[where][kept]] = numbers
        kept = place[columns] >= 0
        triplets = np.frombuffer(self.sparse_rows, np.int64)[kept], place[columns[kept]]
        table[triplets] = np.frombuffer(self.sparse_values, np.float64)[kept]
        return names, table


def _apart(token: str) -> list[str]:
    label, _, value = token.rpartition("=")
    return [label + "=", value] if label and value else [token]


def _is_number(token: str) -> bool:
    try:
        float(token)
    except ValueError:
        return False
    return True


def read_moses(path: str | Path, sentences: int | None = None, at_least: int = 1) -> NBest:
    """Read a list in Moses' or Joshua's format, one part per hypothesis; an error names its line."""
    bounds, features = SentenceBounds(path), _Features(path)
    texts: list[str] = []
    scores, scored_line, plain_line = array("d"), 0, 0
    segmentations: dict[int, str] = {}
    alignments: dict[int, str] = {}
    for number, line in numbered_lines(path):
        fields = line.split(" ||| ")
        if line.count("|||") != len(fields) - 1:
            fields = _BARS.split(line)
        if not 3 <= len(fields) <= 6:
            raise InputError(f"{len(fields)} fields, expected 3 to 6", path, number, remedy=_BAR_ADVICE)
        if len(fields) > 3 and "=" not in fields[2] and "=" in fields[3] and _ALIGNMENT.fullmatch(fields[2]):
            fields.append(fields.pop(2))  # Marian has the alignment before the features
        bounds.add(sentence_number(fields[0], path, number, "lines begin with '0 ||| '"), number)
        row = len(texts)
        texts.append(fields[1].strip(" \t"))
        features.add(fields[2], row, number)
        if len(fields) > 3:
            scores.append(number_of(fields[3], "score", path, number, _BAR_ADVICE))
            scored_line = scored_line or number
        else:
            plain_line = plain_line or number
        if scored_line and plain_line:
            raise InputError(f"line {scored_line} has a score, line {plain_line} has none", path, number)
        if len(fields) == 6 or (len(fields) == 5 and "=" in fields[4]):
            segmentations[row] = fields[4].strip()
        if len(fields) == 6 or (len(fields) == 5 and "=" not in fields[4]):
            alignments[row] = fields[-1].strip()
    names, table = features.table(len(texts), at_least)
    return NBest.of_hypotheses(
        names,
        bounds.finished(sentences),
        texts,
        table,
        np.frombuffer(scores, np.float64) if scored_line else None,
        segmentations=[segmentations.get(row, "") for row in range(len(texts))] if segmentations else None,
        alignments=[alignments.get(row, "") for row in range(len(texts))] if alignments else None,
    )


def natural_groups(names: Sequence[str]) -> dict[str, list[str]]:
    """Undo the naming of the reader: ``lm.0, lm.1`` next to each other become the label ``lm``.

    >>> natural_groups(["w", "lm.0", "lm.1"])
    {'w': ['w'], 'lm': ['lm.0', 'lm.1']}
    """
    groups: dict[str, list[str]] = {}
    open_label = ""
    for name, after in zip(names, [*names[1:], ""], strict=False):
        stem, _, index = name.rpartition(".")
        if open_label and stem == open_label and index == str(len(groups[stem])):
            groups[stem].append(name)
        elif stem and index == "0" and after == f"{stem}.1" and stem not in names:
            groups[stem] = [name]
            open_label = stem
        else:
            groups[name] = [name]
            open_label = ""
    return groups


def write_moses(nbest: NBest, path: str | Path, groups: Mapping[str, Sequence[str]] | None = None) -> None:
    """Write a list in Moses' format; `groups` says which features follow which label.

    A label has all its values or is left out: by default, features of which a hypothesis lacks some get labels of their
    own.
    """
    write_lines(path, _grouped_lines(nbest, groups))


def moses_lines(nbest: NBest, begins: bool = True) -> Iterator[str]:
    """Yield the lines of a list, or of a piece of one."""
    return _grouped_lines(nbest, None)


def _grouped_lines(nbest: NBest, groups: Mapping[str, Sequence[str]] | None) -> Iterator[str]:
    torn = _torn(natural_groups(nbest.names) if groups is None else groups, nbest)
    if groups is None:
        groups = {}
        for label, group in natural_groups(nbest.names).items():
            groups |= {name: [name] for name in group} if label in torn else {label: group}
        torn = []
    _check_groups(groups, nbest.names)
    if torn:
        raise CamberError(f"some hypotheses lack a part of the values of {', '.join(torn)}; give these labels apart")
    return _lines(nbest, [(f"{label}=" + " %s" * len(group), group) for label, group in groups.items() if group])


def write_joshua(nbest: NBest, path: str | Path) -> None:
    """Write a list as Joshua and cdec do: ``name=value``."""
    write_lines(path, joshua_lines(nbest))


def joshua_lines(nbest: NBest, begins: bool = True) -> Iterator[str]:
    """Yield the lines of a list, or of a piece of one."""
    _check_groups({name: [name] for name in nbest.names}, nbest.names)
    return _lines(nbest, [(f"{name}=%s", [name]) for name in nbest.names])


def _torn(groups: Mapping[str, Sequence[str]], nbest: NBest) -> list[str]:
    """Return the labels of which some hypothesis has a part of the values only."""
    whole = {
        label: [nbest.names.index(name) for name in group]
        for label, group in groups.items()
        if len(group) > 1 and set(group) <= set(nbest.names)
    }
    torn = []
    for sums in nbest.hypothesis_blocks() if whole else ():
        absent = np.isnan(sums)
        for label, places in list(whole.items()):
            if (absent[:, places].any(1) != absent[:, places].all(1)).any():
                torn.append(label)
                del whole[label]
    return [label for label in groups if label in torn]


def _lines(nbest: NBest, pieces: list[tuple[str, Sequence[str]]]) -> Iterator[str]:
    """Yield the lines; `pieces` are templates such as ``TM0= %s %s`` with the features that fill them."""
    segmented = nbest.segmentations is not None or (nbest.source_spans is not None and nbest.target_spans is not None)
    tail = segmented or nbest.alignments is not None
    if tail and nbest.scores is None:
        raise CamberError("a list with alignments but without scores cannot be written in Moses' format; use jsonl")
    scores = None if nbest.scores is None else nbest.scores.tolist()
    owner = (nbest.sentences() + nbest.first).tolist()
    for index, (text, features) in enumerate(zip(nbest.texts, _feature_fields(nbest, pieces), strict=True)):
        if "|||" in text or "\n" in text or "\r" in text:
            raise CamberError(f"{text!r} cannot be written in Moses' format (it has '|||' or a line end); use jsonl")
        line = f"{owner[index]} ||| {text} ||| {features}"
        if scores is not None:
            line += f" ||| {shortest(scores[index])}"
        if tail:
            alignment = nbest.alignments[index] if nbest.alignments is not None else ""
            line += f" ||| {nbest.segmentation(index)} ||| {alignment}"
        yield line


def _feature_fields(nbest: NBest, pieces: list[tuple[str, Sequence[str]]]) -> Iterator[str]:
    """Yield the features of every hypothesis by templates (see :func:`_write`), without those that are absent."""
    templates = [template.replace("%", "%%").replace("%%s", "%s") for template, _ in pieces]
    every = " ".join(templates)
    label_of = [label for label, (_, group) in enumerate(pieces) for _ in group]
    columns = [nbest.names.index(name) for _, group in pieces for name in group]
    whole = columns == list(range(len(nbest.names)))
    for sums in nbest.hypothesis_blocks():
        table = sums if whole else sums[:, columns]
        complete: Bools = ~np.logical_or.reduce(np.isnan(table), axis=1)
        for row, full in zip(table.tolist(), complete.tolist(), strict=True):
            if full:
                yield every % tuple(map(shortest, row))
            else:
                there = [column for column, value in enumerate(row) if value == value]
                labels = dict.fromkeys(label_of[column] for column in there)
                template = " ".join(templates[label] for label in labels)
                yield template % tuple(shortest(row[column]) for column in there)


def _check_groups(groups: Mapping[str, Sequence[str]], names: Sequence[str]) -> None:
    listed = [name for group in groups.values() for name in group]
    if sorted(listed) != sorted(names):
        wrong = sorted(set(listed) ^ set(names)) or sorted({name for name in listed if listed.count(name) > 1})
        raise CamberError(f"the groups must name every feature once; look at {', '.join(wrong)}")
    for label in groups:
        if label.split() != [label] or label == "|||":
            raise CamberError(f"{label!r} cannot be a label in Moses' format; use jsonl")


def _looks_like(line: str, number: int) -> bool:
    return "|||" in line and not line.lstrip().startswith("{")


def _is_told_by_name(line: str, number: int) -> bool:
    """Both are read alike, so a list that is not named is taken for one of Moses."""
    return False


MOSES = Format("moses", (".moses",), _looks_like, read_moses, write_moses, separator="|||", lines=moses_lines)
JOSHUA = Format(
    "joshua", (".joshua", ".cdec"), _is_told_by_name, read_moses, write_joshua, separator="|||", lines=joshua_lines
)
