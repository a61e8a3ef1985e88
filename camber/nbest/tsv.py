"""N-best lists as tables: tabs between columns, names in the first line, one hypothesis per line.

    sentence    text       score   lm      words   extra:comet
    0           a house    -3.3    -4.1    2       0.81
    0           house      -5.0    -3.9    1       0.62

``sentence`` (from 0, in rising order, best hypothesis first) and ``text`` must be there; ``score``, ``tokens``,
``segmentation`` and ``alignment`` may. ``extra:NAME`` is an outside score. Every other column is a feature
(``feature:NAME`` where its name is one of these); in an empty cell, it is absent. Nothing is quoted or escaped.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import numpy as np

from camber.errors import CamberError, InputError
from camber.files import write_lines
from camber.nbest.formats import Format
from camber.nbest.nbest import NBest
from camber.nbest.reading import SentenceBounds, check_table, numbered_lines, sentence_number
from camber.nbest.writing import listed_features, shortest
from camber.numbers import number

_TEXTS = ("text", "tokens", "segmentation", "alignment")
_PLAIN = ("sentence", "score", *_TEXTS)
_EXTRA, _FEATURE = "extra:", "feature:"


def _column_name(name: str) -> str:
    """Return the head of a feature's column.

    >>> _column_name("lm"), _column_name("score")
    ('lm', 'feature:score')
    """
    return _FEATURE + name if name in _PLAIN or name.startswith((_EXTRA, _FEATURE)) else name


class _Reader:
    """Collect rows into columns; an error names its line."""

    def __init__(self, path: str | Path, head: str, line: int) -> None:
        self.path, self.line = path, line
        self.names = names = head.split("\t")
        seen: set[str] = set()
        for name in names:
            if name in seen or name.split() != [name]:
                self.fail(f"column {name!r} occurs twice or has no single word as its name")
            seen.add(name)
        for name in ("sentence", "text"):
            if name not in names:
                self.fail(f"no column {name!r}", "the first line names the columns")
        places = {name: column for column, name in enumerate(names)}
        self.sentence = places["sentence"]
        self.texts: dict[str, list[str]] = {name: [] for name in _TEXTS if name in places}
        self.text_places = [(places[name], column) for name, column in self.texts.items()]
        self.extra = [name for name in names if name.startswith(_EXTRA)]
        self.features = [name for name in names if name not in _PLAIN and name not in self.extra]
        self.scored = "score" in places
        self.must = [places[name] for name in (*self.extra, *(["score"] if self.scored else []))]
        self.may = [places[name] for name in self.features]
        self.bounds, self.required, self.optional = SentenceBounds(path), array("d"), array("d")

    def fail(self, problem: str, remedy: str = "") -> NoReturn:
        raise InputError(problem, self.path, self.line, remedy=remedy)

    def add(self, row: str, line: int) -> None:
        self.line = line
        cells = row.split("\t")
        if len(cells) != len(self.names):
            self.fail(f"{len(cells)} columns, expected {len(self.names)}", "a text must not hold a tab")
        self.bounds.add(sentence_number(cells[self.sentence], self.path, line), line)
        for place, column in self.text_places:
            column.append(cells[place])
        self.required.extend([number(cells[place], self.names[place], self.path, line) for place in self.must])
        given = [cells[place] for place in self.may]
        try:
            values = list(map(float, given))
            plain = math.isfinite(sum(values))
        except ValueError:
            plain = False
        if not plain:  # some are absent, or wrong
            values = [
                number(cell, self.names[place], self.path, line) if cell else math.nan
                for cell, place in zip(given, self.may, strict=True)
            ]
        self.optional.extend(values)
        check_table(self.bounds.count, len(self.features), self.path)

    def finished(self, sentences: int | None, at_least: int) -> NBest:
        count = self.bounds.count
        if not count:
            self.fail("no hypothesis below the names of the columns")
        table = np.frombuffer(self.optional, np.float64).reshape(count, len(self.features))
        scored = np.frombuffer(self.required, np.float64).reshape(count, len(self.must))
        kept = np.arange(len(self.features))
        if at_least > 1:
            kept = np.flatnonzero((~np.isnan(table)).sum(0) >= at_least)
        return NBest.of_hypotheses(
            [self.features[column].removeprefix(_FEATURE) for column in kept],
            self.bounds.finished(sentences),
            self.texts["text"],
            table if len(kept) == len(self.features) else table[:, kept],
            scored[:, -1] if self.scored else None,
            segmentations=self.texts.get("segmentation"),
            alignments=self.texts.get("alignment"),
            extra={name.removeprefix(_EXTRA): scored[:, column] for column, name in enumerate(self.extra)},
            tokens=self.texts.get("tokens"),
        )


def read_tsv(path: str | Path, sentences: int | None = None, at_least: int = 1) -> NBest:
    """Read a table; an error names its line."""
    lines = numbered_lines(path)
    line, head = next(lines)
    reader = _Reader(path, head, line)
    for line, row in lines:
        reader.add(row, line)
    return reader.finished(sentences, at_least)


def write_tsv(nbest: NBest, path: str | Path) -> None:
    """Write a table of the hypotheses (not of their parts)."""
    write_lines(path, tsv_lines(nbest))


def tsv_lines(nbest: NBest, begins: bool = True) -> Iterator[str]:
    """Yield the lines of a list, or of a piece of one; names of columns stand where it `begins`."""
    texts: dict[str, list[str]] = {"text": nbest.texts}
    if nbest.tokens is not None:
        texts["tokens"] = nbest.tokens
    if nbest.segmentations is not None or (nbest.source_spans is not None and nbest.target_spans is not None):
        texts["segmentation"] = [nbest.segmentation(row) for row in range(nbest.hypotheses)]
    if nbest.alignments is not None:
        texts["alignment"] = nbest.alignments
    numbers = {} if nbest.scores is None else {"score": nbest.scores}
    numbers |= {_EXTRA + name: values for name, values in nbest.extra.items()}
    exact = {name: list(map(shortest, values.tolist())) for name, values in numbers.items()}
    owner = (nbest.sentences() + nbest.first).tolist()
    if begins:
        yield "\t".join(["sentence", *texts, *exact, *map(_column_name, nbest.names)])
    for row, values in enumerate(listed_features(nbest)):
        cells = [str(owner[row]), *(column[row] for column in texts.values())]
        cells += [column[row] for column in exact.values()]
        cells += [shortest(value) if value == value else "" for value in values]  # NaN is absent
        line = "\t".join(cells)
        if "\n" in line or "\r" in line or line.count("\t") != len(cells) - 1:
            raise CamberError(f"{nbest.texts[row]!r} cannot be written as TSV (it has a tab or a line end); use jsonl")
        yield line


def _looks_like(line: str, number: int) -> bool:
    return number == 1 and {"sentence", "text"} <= set(line.split("\t"))


TSV = Format("tsv", (".tsv",), _looks_like, read_tsv, write_tsv, holds_extra=True, lines=tsv_lines, names_first=True)
