"""N-best lists as tables: tabs between columns, names in the first line, one hypothesis per line.

    sentence    text       score   lm      words   extra:comet
    0           a house    -3.3    -4.1    2       0.81
    0           house      -5.0    -3.9    1       0.62

``sentence`` (from 0, in rising order, best hypothesis first) and ``text`` must be there; ``score``, ``tokens``,
``segmentation`` and ``alignment`` may. ``extra:NAME`` is an outside score. Every other column is a feature
(``feature:NAME`` where its name is one of these); an empty cell is 0. Nothing is quoted or escaped.
"""

from __future__ import annotations

import math
from array import array
from pathlib import Path

import numpy as np

from camber.errors import CamberError, InputError
from camber.files import write_whole
from camber.nbest.moses import shortest
from camber.nbest.nbest import NBest
from camber.nbest.reading import SentenceBounds, check_table, number, numbered_lines

_TEXTS = ("text", "tokens", "segmentation", "alignment")
_PLAIN = ("sentence", "score", *_TEXTS)
_EXTRA, _FEATURE = "extra:", "feature:"


def _column_name(name: str) -> str:
    """Return the head of a feature's column.

    >>> _column_name("lm"), _column_name("score")
    ('lm', 'feature:score')
    """
    return _FEATURE + name if name in _PLAIN or name.startswith((_EXTRA, _FEATURE)) else name


def read_tsv(path: str | Path, sentences: int | None = None, at_least: int = 1) -> NBest:
    """Read a table; an error names its line."""
    lines = numbered_lines(path)
    head_line, head = next(lines)
    names = head.split("\t")
    for name in names:
        if names.count(name) > 1 or name.split() != [name]:
            raise InputError(f"column {name!r} occurs twice or has no single word as its name", path, head_line)
    for name in ("sentence", "text"):
        if name not in names:
            raise InputError(f"no column {name!r}", path, head_line, remedy="the first line names the columns")
    places = {name: column for column, name in enumerate(names)}
    texts: dict[str, list[str]] = {name: [] for name in _TEXTS if name in places}
    extra = [name for name in names if name.startswith(_EXTRA)]
    features = [name for name in names if name not in _PLAIN and name not in extra]
    must = [places[name] for name in (*extra, *(["score"] if "score" in places else []))]
    may = [places[name] for name in features]
    bounds, required, optional = SentenceBounds(path), array("d"), array("d")
    absent = np.zeros(len(features), np.int64)
    for line, row in lines:
        cells = row.split("\t")
        if len(cells) != len(names):
            raise InputError(
                f"{len(cells)} columns, expected {len(names)}", path, line, remedy="a text must not hold a tab"
            )
        sentence = cells[places["sentence"]]
        if not (sentence.isascii() and sentence.isdecimal()):
            raise InputError(f"{sentence!r} is not a sentence number", path, line)
        bounds.add(int(sentence), line)
        for name, column in texts.items():
            column.append(cells[places[name]])
        required.extend([number(cells[place], names[place], path, line) for place in must])
        given = [cells[place] for place in may]
        try:
            values = list(map(float, given))
        except ValueError:
            values = [number(c, names[p], path, line) if c else 0.0 for c, p in zip(given, may, strict=True)]
            absent += [not cell for cell in given]
        if not math.isfinite(sum(values)):
            for cell, place in zip(given, may, strict=True):
                number(cell or "0", names[place], path, line)
        optional.extend(values)
        check_table(bounds.count, len(features), path)
    count = bounds.count
    if not count:
        raise InputError("no hypothesis below the names of the columns", path, head_line)
    kept = np.flatnonzero((count - absent >= at_least) | (at_least <= 1))
    table = np.frombuffer(optional, np.float64).reshape(count, len(features))
    scored = np.frombuffer(required, np.float64).reshape(count, len(must))
    return NBest.of_hypotheses(
        [features[column].removeprefix(_FEATURE) for column in kept],
        bounds.finished(sentences),
        texts["text"],
        table if len(kept) == len(features) else table[:, kept],
        scored[:, -1] if "score" in places else None,
        segmentations=texts.get("segmentation"),
        alignments=texts.get("alignment"),
        extra={name.removeprefix(_EXTRA): scored[:, column] for column, name in enumerate(extra)},
        sparse=frozenset(features[column].removeprefix(_FEATURE) for column in kept if absent[column]),
        tokens=texts.get("tokens"),
    )


def write_tsv(nbest: NBest, path: str | Path) -> None:
    """Write a table of the hypotheses (not of their parts)."""
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
    sums, owner = nbest.hypothesis_features(), nbest.sentences().tolist()
    sparse = [name in nbest.sparse for name in nbest.names]
    with write_whole(path) as stream:
        stream.write("\t".join(["sentence", *texts, *exact, *map(_column_name, nbest.names)]) + "\n")
        for row in range(nbest.hypotheses):
            cells = [str(owner[row]), *(column[row] for column in texts.values())]
            cells += [column[row] for column in exact.values()]
            values = sums[row].tolist()
            if nbest.sparse:
                cells += ["" if rare and not v else shortest(v) for v, rare in zip(values, sparse, strict=True)]
            else:
                cells += map(shortest, values)
            line = "\t".join(cells)
            if "\n" in line or "\r" in line or line.count("\t") != len(cells) - 1:
                raise CamberError(
                    f"{nbest.texts[row]!r} cannot be written as TSV (it has a tab or a line end); use jsonl"
                )
            stream.write(line + "\n")
