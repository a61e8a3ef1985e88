"""Reading Moses' phrase and reordering tables into a rule store.

Phrase table:      source ||| target ||| p(s|t) lex(s|t) p(t|s) lex(t|s) ||| 0-0 1-1 ||| c(t) c(s) c(s,t) ||| |||
Reordering table:  source ||| target ||| monotone swap discontinuous (backward) monotone swap discontinuous (forward)

Alignments and counts may be missing; further fields are passed over.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt

from camber.corpus.reading import decode_lines, read_bytes, words
from camber.corpus.vocabulary import Vocabulary
from camber.errors import InputError
from camber.rules.store import REORDERING_NAMES, SCORE_NAMES, RuleStore, offsets_from, take_ragged

_SEPARATOR = " ||| "
_SCORES = " ".join(SCORE_NAMES)


def read_moses(phrase_table: str | Path, reordering_table: str | Path | None = None) -> RuleStore:
    """Read a phrase table, and the reordering table that belongs to it, into a rule store.

    Both may be plain or gzip. The vocabularies are those of the table's words, the most frequent first.
    """
    rows = _read_rows(phrase_table, len(SCORE_NAMES), _SCORES)
    if not rows:
        raise InputError("the phrase table is empty", phrase_table, remedy="give the table that Moses trained")
    source_rows, sources = _intern([row[0] for row in rows])
    target_rows, targets = _intern([row[1] for row in rows])
    source_vocabulary, source_flat, source_bounds, source_rank = _encode(sources, source_rows)
    target_vocabulary, target_flat, target_bounds, target_rank = _encode(targets, target_rows)
    scores = _numbers([row[2] for row in rows], len(SCORE_NAMES), _SCORES, phrase_table).astype(np.float32)
    _check_probabilities(scores, phrase_table)
    links, link_offsets = _read_links(rows, source_bounds, source_rows, target_bounds, target_rows, phrase_table)
    counts = _read_counts(rows, phrase_table)

    pair = source_rows * len(targets) + target_rows
    order = np.lexsort((target_rank[target_rows], -scores[:, 2], source_rank[source_rows]))
    _check_unique(pair, phrase_table)
    by_rank = np.argsort(source_rank)
    source_ids, source_offsets = take_ragged(source_flat, source_bounds, by_rank)
    target_ids, target_offsets = take_ragged(target_flat, target_bounds, target_rows[order])
    links, link_offsets = take_ragged(links, link_offsets, order)
    rule_offsets = offsets_from(np.bincount(source_rows, minlength=len(sources))[by_rank])
    reordering = np.zeros((len(rows), 0), np.float32)
    if reordering_table is not None:
        reordering = _read_reordering(reordering_table, sources, targets, pair, phrase_table)[order]
    return RuleStore(
        source_ids=source_ids,
        source_offsets=source_offsets,
        rule_offsets=rule_offsets,
        source_counts=counts[order][rule_offsets[:-1], 1].astype(np.int64),
        target_ids=target_ids,
        target_offsets=target_offsets,
        scores=scores[order],
        counts=np.ascontiguousarray(counts[order][:, [0, 2]]),
        reordering=reordering,
        links=links,
        link_offsets=link_offsets,
        source_vocabulary=source_vocabulary,
        target_vocabulary=target_vocabulary,
        max_phrase_length=int(np.diff(source_offsets).max(initial=0)),
    )


def _read_rows(path: str | Path, columns: int, names: str) -> list[list[str]]:
    """Split every line into its fields; empty fields at its end are dropped."""
    lines = decode_lines(read_bytes(path), path)
    rows = [line.rstrip(" |").replace("||| |||", "|||  |||").split(_SEPARATOR) for line in lines]
    for number, row in enumerate(rows, 1):
        if len(row) < 3 or not row[0].strip() or not row[1].strip():
            raise InputError(
                f"{_SEPARATOR.join(row)!r} is not a rule",
                path,
                number,
                remedy=f"expected: source ||| target ||| {columns} numbers ({names}) ||| …",
            )
    return rows


def _intern(texts: Sequence[str]) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Number the distinct texts in the order of their first occurrence."""
    numbers: dict[str, int] = {}
    rows = np.fromiter((numbers.setdefault(text, len(numbers)) for text in texts), np.int64, len(texts))
    return rows, list(numbers)


def _encode(
    phrases: list[str], rows: npt.NDArray[np.int64]
) -> tuple[Vocabulary, npt.NDArray[np.int32], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Make a vocabulary (words by falling number of rules) and encode the phrases.

    Returns the vocabulary, flat ids, their offsets, and the place of every phrase in the order of the id sequences.
    """
    split = [words(phrase) for phrase in phrases]
    frequency: dict[str, int] = {}
    for phrase, count in zip(split, np.bincount(rows, minlength=len(split)).tolist(), strict=True):
        for word in phrase:
            frequency[word] = frequency.get(word, 0) + count
    vocabulary = Vocabulary(sorted(frequency, key=lambda word: (-frequency[word], word)))
    number = {word: index for index, word in enumerate(vocabulary.words)}
    encoded = [[number[word] for word in phrase] for phrase in split]
    offsets = offsets_from(np.fromiter(map(len, encoded), np.int64, len(encoded)))
    flat = np.fromiter(chain.from_iterable(encoded), np.int32, int(offsets[-1]))
    rank = np.empty(len(encoded), np.int64)
    rank[sorted(range(len(encoded)), key=encoded.__getitem__)] = np.arange(len(encoded))
    return vocabulary, flat, offsets, rank


def _numbers(fields: list[str], columns: int, names: str, path: str | Path) -> npt.NDArray[np.float64]:
    """Parse fields of `columns` numbers each, all at once; on trouble, look for the line."""
    pieces = " ".join(fields).split()
    if len(pieces) == columns * len(fields):
        try:
            return np.array(list(map(float, pieces))).reshape(-1, columns)
        except ValueError:
            pass
    for number, field in enumerate(fields, 1):
        found = field.split()
        if len(found) != columns:
            raise InputError(f"{len(found)} numbers, expected {columns} ({names})", path, number)
        for piece in found:
            try:
                float(piece)
            except ValueError:
                raise InputError(f"{piece!r} is not a number", path, number) from None
    raise InputError("its numbers cannot be read", path)


def _check_probabilities(values: npt.NDArray[np.float32], path: str | Path) -> None:
    wrong = ~((values >= 0) & (values <= 1.0001))  # also true of NaN
    if wrong.any():
        row, column = map(int, np.argwhere(wrong)[0])
        raise InputError(
            f"{values[row, column]} is not a probability",
            path,
            row + 1,
            remedy="the table must hold raw probabilities, not logarithms",
        )


def _check_unique(pair: npt.NDArray[np.int64], path: str | Path) -> None:
    _, first = np.unique(pair, return_index=True)
    if len(first) < len(pair):
        again = np.ones(len(pair), bool)
        again[first] = False
        raise InputError("this phrase pair was there before", path, int(np.flatnonzero(again)[0]) + 1)


def _read_links(
    rows: list[list[str]],
    source_bounds: npt.NDArray[np.int64],
    source_rows: npt.NDArray[np.int64],
    target_bounds: npt.NDArray[np.int64],
    target_rows: npt.NDArray[np.int64],
    path: str | Path,
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    fields = [row[3] if len(row) > 3 else "" for row in rows]
    sizes = np.fromiter((field.count("-") for field in fields), np.int64, len(fields))
    pieces = " ".join(fields).replace("-", " ").split()
    try:
        links = np.array(list(map(int, pieces)), np.int64).reshape(-1, 2)
    except ValueError:
        links = np.zeros((0, 2), np.int64)
    if len(links) == sizes.sum():
        owner = np.repeat(np.arange(len(rows)), sizes)
        lengths = np.column_stack((np.diff(source_bounds)[source_rows], np.diff(target_bounds)[target_rows]))[owner]
        outside = ((links < 0) | (links >= np.minimum(lengths, 256))).any(axis=1)
        if not outside.any():
            return links.astype(np.uint8), offsets_from(sizes)
        bad = int(owner[np.flatnonzero(outside)[0]])
        raise InputError(f"a link of {fields[bad]!r} lies outside the phrase pair", path, bad + 1)
    for number, field in enumerate(fields, 1):
        for piece in field.split():
            left, dash, right = piece.partition("-")
            if not (dash and left.isdecimal() and right.isdecimal()):
                raise InputError(f"{piece!r} is not a link", path, number, remedy="links look like 0-0 1-2")
    raise InputError("its word alignments cannot be read", path, remedy="links look like 0-0 1-2")


def _read_counts(rows: list[list[str]], path: str | Path) -> npt.NDArray[np.int32]:
    """Return int32[R, 3]: c(t), c(s), c(s, t); all 0 in a table without counts."""
    fields = [row[4] if len(row) > 4 else "" for row in rows]
    if not any(field and not field.isspace() for field in fields):
        return np.zeros((len(rows), 3), np.int32)
    return np.rint(_numbers(fields, 3, "c(t) c(s) c(s,t)", path)).astype(np.int32)


def _read_reordering(
    path: str | Path, sources: list[str], targets: list[str], pair: npt.NDArray[np.int64], phrase_table: str | Path
) -> npt.NDArray[np.float32]:
    """Return float32[R, 6] in the order of the phrase table's lines."""
    columns, names = len(REORDERING_NAMES), " ".join(REORDERING_NAMES)
    rows = _read_rows(path, columns, names)
    source_number = {text: number for number, text in enumerate(sources)}
    target_number = {text: number for number, text in enumerate(targets)}
    keys = np.full(len(rows), -1, np.int64)
    for number, row in enumerate(rows):
        source, target = source_number.get(row[0]), target_number.get(row[1])
        if source is not None and target is not None:
            keys[number] = source * len(targets) + target
    values = _numbers([row[2] for row in rows], columns, names, path).astype(np.float32)
    _check_probabilities(values, path)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    at = np.minimum(np.searchsorted(keys, pair), max(len(keys) - 1, 0))
    missing = keys[at] != pair if len(keys) else np.ones(len(pair), bool)
    if missing.any():
        bad = int(np.flatnonzero(missing)[0])
        source, target = sources[pair[bad] // len(targets)], targets[pair[bad] % len(targets)]
        raise InputError(
            f"{source!r} ||| {target!r} has no line in {path}",
            phrase_table,
            bad + 1,
            remedy="give the reordering table that was made with this phrase table",
        )
    return values[order][at]
