"""Lexical translation tables: relative frequencies of the words that an alignment links.

An unaligned word counts as linked to NULL, as in Moses' ``lex.f2e`` and ``lex.e2f``: every link counts one, so a word
with two links counts twice, and p(t|s) = c(s, t) / Σ_t' c(s, t') where t' runs over NULL too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from camber.align.pharaoh import Alignment
from camber.arrays.types import F8, I4, I8
from camber.corpus.bitext import Bitext
from camber.corpus.vocabulary import Vocabulary
from camber.errors import ModelError
from camber.files import write_lines

#: The id of the empty word, on either side.
NULL = -1

#: Version of the file that :meth:`LexicalTable.save` writes.
FORMAT = 1


@dataclass(frozen=True)
class LexicalTable:
    """One row per pair of words seen linked, sorted by (source id, target id); NULL is the id -1 and comes first."""

    source: I4  # [rows]
    target: I4  # [rows]
    counts: I8  # [rows] c(s, t)
    target_given_source: F8  # [rows] p(t|s)
    source_given_target: F8  # [rows] p(s|t)
    source_words: int  # size of the source vocabulary
    target_words: int  # size of the target vocabulary

    @classmethod
    def from_counts(cls, keys: I8, counts: I8, words: tuple[int, int]) -> Self:
        """Make a table from rising :attr:`keys` and how often each was linked; `words`: sizes of the vocabularies."""
        source_words, target_words = words
        source = (keys // (target_words + 1) - 1).astype(np.int32)
        target = (keys % (target_words + 1) - 1).astype(np.int32)
        source_totals = np.bincount(source + 1, counts, source_words + 1)
        target_totals = np.bincount(target + 1, counts, target_words + 1)
        return cls(
            source,
            target,
            counts.astype(np.int64),
            counts / source_totals[source + 1],
            counts / target_totals[target + 1],
            source_words,
            target_words,
        )

    def plus(self, other: LexicalTable) -> LexicalTable:
        """Return the table of both texts together; the larger of two vocabularies begins with the smaller."""
        words = max(self.source_words, other.source_words), max(self.target_words, other.target_words)
        every = np.concatenate([_keys(table.source, table.target, words[1]) for table in (self, other)])
        keys, row = np.unique(every, return_inverse=True)
        counts = np.bincount(row, np.concatenate((self.counts, other.counts)), len(keys)).astype(np.int64)
        return LexicalTable.from_counts(keys, counts, words)

    def save(self, path: str | Path) -> None:
        """Write the counts as one array, int32[rows + 1, 3]: vocabulary sizes first, then source, target, count."""
        rows = np.column_stack((self.source, self.target, self.counts)).astype(np.int32)
        head = np.array([[self.source_words, self.target_words, FORMAT]], np.int32)
        np.save(path, np.concatenate((head, rows)), allow_pickle=False)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what :meth:`save` wrote."""
        try:
            array = np.load(path, allow_pickle=False).astype(np.int64)
            if array.ndim != 2 or array.shape[1] != 3 or len(array) < 1 or array[0, 2] != FORMAT:
                raise ValueError(f"format {FORMAT} expected")
            source_words, target_words = (int(size) for size in array[0, :2])
            keys = _keys(array[1:, 0], array[1:, 1], target_words)
            rows = array[1:]
            if (rows[:, :2] < NULL).any() or (rows[:, :2] >= array[0, :2]).any() or (rows[:, 2] < 1).any():
                raise ValueError("words or counts out of range")
            if (keys[1:] <= keys[:-1]).any():
                raise ValueError("rows that are not sorted")
        except Exception as error:  # a damaged header makes NumPy raise anything from SyntaxError to MemoryError
            raise ModelError(f"{path}: not a lexical table ({error}); train the model again") from None
        return cls.from_counts(keys, array[1:, 2], (source_words, target_words))

    def __len__(self) -> int:
        return len(self.source)

    @cached_property
    def keys(self) -> I8:
        """Rising int64[rows]: ``(source + 1) * (target_words + 1) + target + 1``."""
        return _keys(self.source, self.target, self.target_words)

    @cached_property
    def offsets(self) -> I8:
        """Rows of source word s are ``offsets[s + 1]:offsets[s + 2]``, those of NULL ``offsets[0]:offsets[1]``."""
        return np.searchsorted(self.source, np.arange(-1, self.source_words + 1)).astype(np.int64)

    def rows(self, source: npt.ArrayLike, target: npt.ArrayLike) -> I8:
        """Return the row of every (source id, target id), -1 where the pair was never seen linked."""
        wanted = _keys(np.asarray(source), np.asarray(target), self.target_words)
        at = np.searchsorted(self.keys, wanted)
        entries = np.full(wanted.shape, -1, np.int64)
        inside = at < len(self.keys)
        same = inside & (self.keys[np.where(inside, at, 0)] == wanted) if len(self.keys) else inside
        entries[same] = at[same]
        return entries

    def p_target_given_source(self, source: npt.ArrayLike, target: npt.ArrayLike, absent: float = 0.0) -> F8:
        """Return p(t|s) of many pairs (NULL = -1 on either side), `absent` for pairs never seen linked."""
        return _pick(self.target_given_source, self.rows(source, target), absent)

    def p_source_given_target(self, source: npt.ArrayLike, target: npt.ArrayLike, absent: float = 0.0) -> F8:
        """Return p(s|t) of many pairs (NULL = -1 on either side), `absent` for pairs never seen linked."""
        return _pick(self.source_given_target, self.rows(source, target), absent)

    def write_moses(self, prefix: str | Path, source: Vocabulary, target: Vocabulary) -> tuple[Path, Path]:
        """Write ``prefix.f2e`` (t s p(t|s)) and ``prefix.e2f`` (s t p(s|t)), and return their paths.

        Both have seven digits after the point, as Moses writes and reads them.
        """
        source_texts, target_texts = ("NULL", *source.words), ("NULL", *target.words)
        rows = [(source_texts[s + 1], target_texts[t + 1]) for s, t in zip(self.source, self.target, strict=True)]
        f2e, e2f = Path(f"{prefix}.f2e"), Path(f"{prefix}.e2f")
        forward, backward = self.target_given_source.tolist(), self.source_given_target.tolist()
        write_lines(f2e, (f"{t} {s} {p:.7f}" for (s, t), p in zip(rows, forward, strict=True)))
        write_lines(e2f, (f"{s} {t} {p:.7f}" for (s, t), p in zip(rows, backward, strict=True)))
        return f2e, e2f


def lexical_table(bitext: Bitext, alignment: Alignment) -> LexicalTable:
    """Count the linked words of an aligned bitext.

    >>> table = lexical_table(Bitext.encode([["la", "casa"]], [["house"]]), Alignment.from_pairs([[(1, 0)]]))
    >>> [(int(s), int(t), float(p)) for s, t, p in zip(table.source, table.target, table.target_given_source)]
    [(0, 0, 1.0), (1, -1, 1.0)]
    """
    if len(bitext) != len(alignment):
        raise ValueError(f"{len(alignment)} alignments for {len(bitext)} sentence pairs")
    source_ids, target_ids = bitext.source.ids, bitext.target.ids
    if min(source_ids.min(initial=0), target_ids.min(initial=0)) < 0:
        raise ValueError("the bitext has words outside its vocabularies; encode it with vocabularies of its own")
    pair = alignment.owners
    source_at = bitext.source.offsets[pair] + alignment.links[:, 0]
    target_at = bitext.target.offsets[pair] + alignment.links[:, 1]
    lone_source, lone_target = np.ones(len(source_ids), bool), np.ones(len(target_ids), bool)
    lone_source[source_at] = False
    lone_target[target_at] = False
    source_lone, target_lone = source_ids[lone_source], target_ids[lone_target]

    source_words, target_words = len(bitext.source.vocabulary), len(bitext.target.vocabulary)
    sources = np.concatenate((source_ids[source_at], source_lone, np.full(len(target_lone), NULL)))
    targets = np.concatenate((target_ids[target_at], np.full(len(source_lone), NULL), target_lone))
    keys, counts = np.unique(_keys(sources, targets, target_words), return_counts=True)
    return LexicalTable.from_counts(keys, counts, (source_words, target_words))


def _keys(source: npt.NDArray[np.integer], target: npt.NDArray[np.integer], target_words: int) -> I8:
    return (source.astype(np.int64) + 1) * (target_words + 1) + target + 1


def _pick(values: F8, rows: I8, absent: float) -> F8:
    picked = np.full(rows.shape, absent, np.float64)
    picked[rows >= 0] = values[rows[rows >= 0]]
    return picked
