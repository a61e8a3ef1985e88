"""The n-best type: sentences → hypotheses → parts, all in flat columns.

A part is one rule used once, with its local features in context; the features of a hypothesis are the sum over its
parts. Lists of other engines have one part per hypothesis.

    nbest = NBest.read("dev.nbest.gz")                       # Moses/Marian, Joshua/cdec, fairseq, JSON Lines, TSV
    nbest.hypothesis_features()                              # [hypotheses, features]
    nbest.statistics(metric, [references])                   # [hypotheses, columns of the metric]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from camber.arrays.types import F8, I8, AnyArray
from camber.errors import CamberError, SettingsError
from camber.progress import log

if TYPE_CHECKING:
    from camber.metrics.metric import Metric, References

FORMATS = ("auto", "moses", "marian", "joshua", "cdec", "fairseq", "jsonl", "tsv")
#: How a file's name tells the format to write
ENDINGS = {".jsonl": "jsonl", ".json": "jsonl", ".tsv": "tsv", ".joshua": "joshua", ".cdec": "joshua"}


@dataclass(frozen=True)
class NBest:
    """Hypotheses of sentence `s` are ``sentence_offsets[s]`` … ``sentence_offsets[s + 1] - 1``, best first.

    Parts of hypothesis `h` are ``part_offsets[h]`` … ``part_offsets[h + 1] - 1``. A sentence may have no hypothesis, a
    hypothesis no part. Spans are half open (``[2, 4)`` covers the words 2 and 3).

    >>> nbest = NBest.of_hypotheses(("lm",), [0, 2], ["a b", "b a"], [[-1.0], [-2.0]], [-0.5, -1.0])
    >>> len(nbest), nbest.hypotheses, nbest.best().tolist()
    (1, 2, [0])
    """

    names: tuple[str, ...]  # of the features
    sentence_offsets: I8  # [sentences + 1]
    part_offsets: I8  # [hypotheses + 1]
    features: F8  # [parts, features]
    texts: list[str]  # [hypotheses]
    scores: F8 | None = None  # [hypotheses]: the model's; None if the list has none
    source_spans: I8 | None = None  # [parts, 2]
    target_spans: I8 | None = None  # [parts, 2]
    segmentations: list[str] | None = None  # [hypotheses]: as text (0-1=0-1 2=2), where parts have no spans
    alignments: list[str] | None = None  # [hypotheses]: words, 0-0 1-2
    extra: dict[str, F8] = field(default_factory=dict)  # name → [hypotheses]: outside scores
    sparse: frozenset[str] = frozenset()  # names that files leave out where the feature is 0
    tokens: list[str] | None = None  # [hypotheses]: as the engine cuts words, where `texts` are whole words again
    sources: list[str] | None = None  # [sentences]
    targets: list[str] | None = None  # [sentences]: references that came with the list

    def __post_init__(self) -> None:
        def put(name: str, kind: type) -> None:
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, np.ascontiguousarray(value, kind))

        for name in ("sentence_offsets", "part_offsets", "source_spans", "target_spans"):
            put(name, np.int64)
        for name in ("features", "scores"):
            put(name, np.float64)
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "sparse", frozenset(self.sparse) & set(self.names))
        object.__setattr__(self, "extra", {key: np.asarray(v, np.float64) for key, v in self.extra.items()})
        self._check_shapes()
        self._check_values()

    def _check_shapes(self) -> None:
        for offsets, total, what in (
            (self.sentence_offsets, len(self.texts), "sentence"),
            (self.part_offsets, len(self.features), "part"),
        ):
            if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != total or (np.diff(offsets) < 0).any():
                raise ValueError(f"{what} offsets must rise from 0 to {total}")
        hypotheses, parts = len(self.texts), len(self.features)
        for shape, expected, what in (
            (self.part_offsets.shape, (hypotheses + 1,), "part_offsets"),
            (self.features.shape, (parts, len(self.names)), "features"),
            (None if self.scores is None else self.scores.shape, (hypotheses,), "scores"),
            (None if self.source_spans is None else self.source_spans.shape, (parts, 2), "source_spans"),
            (None if self.target_spans is None else self.target_spans.shape, (parts, 2), "target_spans"),
            (None if self.segmentations is None else (len(self.segmentations),), (hypotheses,), "segmentations"),
            (None if self.alignments is None else (len(self.alignments),), (hypotheses,), "alignments"),
            (None if self.tokens is None else (len(self.tokens),), (hypotheses,), "tokens"),
            (None if self.sources is None else (len(self.sources),), (len(self),), "sources"),
            (None if self.targets is None else (len(self.targets),), (len(self),), "targets"),
            *((values.shape, (hypotheses,), f"extra {name}") for name, values in self.extra.items()),
        ):
            if shape is not None and shape != expected:
                raise ValueError(f"{what} has the shape {shape}, expected {expected}")

    def _check_values(self) -> None:
        seen: set[str] = set()
        for name in (*self.names, *self.extra):
            if name.split() != [name] or name in seen:
                raise CamberError(f"{name!r} cannot name a feature: names are single words, each used once")
            seen.add(name)
        for values, what in (
            (self.features, "feature"),
            (self.scores, "score"),
            *((v, k) for k, v in self.extra.items()),
        ):
            if values is not None and not np.isfinite(values).all():
                row = int(np.argwhere(~np.isfinite(values))[0][0])
                where = int(np.searchsorted(self.part_offsets, row, "right")) - 1 if what == "feature" else row
                raise CamberError(f"a {what} of hypothesis {where} ({self.texts[where]!r}) is not a finite number")

    @classmethod
    def of_hypotheses(
        cls,
        names: Sequence[str],
        sentence_offsets: npt.ArrayLike,
        texts: Sequence[str],
        features: npt.ArrayLike,
        scores: npt.ArrayLike | None = None,
        **more: Any,
    ) -> NBest:
        """Make a list whose hypotheses are one part each: features float64[hypotheses, features]."""
        table = np.asarray(features, np.float64).reshape(len(texts), len(names))
        return cls(
            tuple(names),
            np.asarray(sentence_offsets, np.int64),
            np.arange(len(texts) + 1),
            table,
            list(texts),
            None if scores is None else np.asarray(scores, np.float64),
            **more,
        )

    def __len__(self) -> int:
        """Return the number of sentences."""
        return len(self.sentence_offsets) - 1

    @property
    def hypotheses(self) -> int:
        """The number of hypotheses."""
        return len(self.texts)

    @property
    def parts(self) -> int:
        """The number of parts."""
        return len(self.features)

    def sentences(self) -> I8:
        """Return the sentence of every hypothesis, int64[hypotheses]."""
        return np.repeat(np.arange(len(self)), np.diff(self.sentence_offsets))

    def hypothesis_features(self) -> F8:
        """Return the sums over parts, float64[hypotheses, features]; a hypothesis without parts has zeros."""
        counts = np.diff(self.part_offsets)
        filled = counts > 0
        sums = np.zeros((self.hypotheses, len(self.names)))
        if filled.any():  # reduceat would give an empty segment the next one's value: leave those out
            sums[filled] = np.add.reduceat(self.features, self.part_offsets[:-1][filled], axis=0)
        return sums

    def best(self, scores: npt.ArrayLike | None = None) -> I8:
        """Return the best hypothesis of every sentence by `scores` (the model's by default), the first among equals.

        int64[sentences]; -1 for a sentence without hypotheses. Without any scores it is the first of each.
        """
        ranking = self.scores if scores is None else np.asarray(scores, np.float64)
        found = np.full(len(self), -1)
        for sentence, (start, end) in enumerate(
            zip(self.sentence_offsets[:-1].tolist(), self.sentence_offsets[1:].tolist(), strict=True)
        ):
            if end > start:
                found[sentence] = start if ranking is None else start + int(np.argmax(ranking[start:end]))
        return found

    def best_texts(self, scores: npt.ArrayLike | None = None) -> list[str]:
        """Return the text of the best hypothesis of every sentence, empty where there is none."""
        return [self.texts[index] if index >= 0 else "" for index in self.best(scores).tolist()]

    def statistics(self, metric: Metric, references: References) -> AnyArray:
        """Return a metric's statistics of every hypothesis, [hypotheses, columns]; an outside score's are `extra`."""
        from camber.metrics.outside import Outside

        if isinstance(metric, Outside) and metric.values is None:
            return metric.rows(self.extra_scores(metric.column))
        return metric.statistics(self.texts, references, self.sentences())

    def extra_scores(self, name: str) -> F8:
        """Return the outside scores `name`, float64[hypotheses]; a name that the list lacks is an error."""
        if name not in self.extra:
            known = ", ".join(self.extra) or "none"
            raise CamberError(f"the list has no outside scores named {name!r}; it has: {known}")
        return self.extra[name]

    def with_feature(self, name: str, values: npt.ArrayLike) -> NBest:
        """Return the same list with one more feature, given per part or per hypothesis.

        Values per hypothesis are credited to its first part, so that the sums are right.
        """
        column = np.asarray(values, np.float64)
        if column.shape == (self.hypotheses,) and self.hypotheses != self.parts:
            if (np.diff(self.part_offsets) == 0).any():
                raise CamberError(f"feature {name} cannot be added per hypothesis: one of them has no part to hold it")
            spread = np.zeros(self.parts)
            spread[self.part_offsets[:-1]] = column
            column = spread
        if column.shape != (self.parts,):
            raise CamberError(
                f"feature {name} has {column.size} values, expected {self.hypotheses} (one per hypothesis)"
                f" or {self.parts} (one per part)"
            )
        return replace(self, names=(*self.names, name), features=np.column_stack([self.features, column]))

    def with_extra(self, name: str, values: npt.ArrayLike) -> NBest:
        """Return the same list with outside scores (COMET, a person's) of every hypothesis, which no weight touches.

        >>> NBest.of_hypotheses((), [0, 1], ["a"], [[]]).with_extra("comet", [0.8]).extra["comet"].tolist()
        [0.8]
        """
        column = np.asarray(values, np.float64)
        if column.shape != (self.hypotheses,):
            raise CamberError(f"{column.size:,} outside scores {name} for {self.hypotheses:,} hypotheses")
        return replace(self, extra=self.extra | {name: column})

    def of_sentences(self, chosen: Sequence[int] | I8) -> NBest:
        """Return the list of some sentences only, in the given order."""
        return self.of_rows([np.arange(*self.sentence_offsets[s : s + 2]) for s in chosen], list(chosen))

    def of_rows(self, groups: Sequence[I8], sentences: Sequence[int] | None = None) -> NBest:
        """Return a list with the hypotheses `groups[s]` (row numbers, in order) as those of its sentence `s`.

        `sentences` are the sentences they belong to, by default all in order: it takes their sources and targets along.
        """
        rows = np.concatenate([np.asarray(group, np.int64) for group in groups] or [np.empty(0, np.int64)])
        owners = list(range(len(self))) if sentences is None else [int(sentence) for sentence in sentences]
        if len(owners) != len(groups):
            raise ValueError(f"{len(groups)} groups of rows for {len(owners)} sentences")
        counts = np.diff(self.part_offsets)[rows]
        offsets = np.concatenate([[0], np.cumsum(counts)])
        parts = np.repeat(self.part_offsets[:-1][rows] - offsets[:-1], counts) + np.arange(offsets[-1])

        def picked(column: list[str] | None, where: list[int]) -> list[str] | None:
            return None if column is None else [column[index] for index in where]

        listed = rows.tolist()
        return replace(
            self,
            sentence_offsets=np.concatenate([[0], np.cumsum([len(group) for group in groups], dtype=np.int64)]),
            part_offsets=offsets,
            features=self.features[parts],
            texts=[self.texts[row] for row in listed],
            scores=None if self.scores is None else self.scores[rows],
            source_spans=None if self.source_spans is None else self.source_spans[parts],
            target_spans=None if self.target_spans is None else self.target_spans[parts],
            segmentations=picked(self.segmentations, listed),
            alignments=picked(self.alignments, listed),
            extra={name: values[rows] for name, values in self.extra.items()},
            tokens=picked(self.tokens, listed),
            sources=picked(self.sources, owners),
            targets=picked(self.targets, owners),
        )

    def segmentation(self, hypothesis: int) -> str:
        """Return which source words became which target words, Moses style: ``0-1=0 2=1-2``."""
        if self.segmentations is not None:
            return self.segmentations[hypothesis]
        if self.source_spans is None or self.target_spans is None:
            return ""
        rows = slice(*self.part_offsets[hypothesis : hypothesis + 2].tolist())
        pairs = zip(self.source_spans[rows].tolist(), self.target_spans[rows].tolist(), strict=True)
        return " ".join(f"{_inclusive(*source)}={_inclusive(*target)}" for source, target in pairs)

    @classmethod
    def read(cls, path: str | Path, format: str = "auto", sentences: int | None = None, at_least: int = 1) -> NBest:
        """Read a list, plain or gzip; `auto` tells the formats apart by content.

        With `sentences` there are exactly so many (the references', say): missing ones at the end have no hypothesis.
        Features are held in a full table of at most 2 GB (250 million numbers; more is an error): `at_least` leaves
        out those that fewer hypotheses have.
        """
        from camber.nbest.fairseq import read_fairseq
        from camber.nbest.jsonl import read_jsonl
        from camber.nbest.moses import read_moses
        from camber.nbest.reading import detected_format
        from camber.nbest.tsv import read_tsv

        kind = _plain_format(format)
        if kind == "auto":
            kind = detected_format(path)
        if kind == "fairseq":
            return read_fairseq(path, sentences)
        readers = {"moses": read_moses, "joshua": read_moses, "jsonl": read_jsonl, "tsv": read_tsv}
        return readers[kind](path, sentences, at_least)

    def write(self, path: str | Path, format: str = "auto", groups: Mapping[str, Sequence[str]] | None = None) -> None:
        """Write the list (gzip if `path` ends in .gz); `auto`: by the name's ending, Moses' format without any.

        JSON Lines hold everything; the other formats what their own engines know (Moses' and Joshua's: the features of
        hypotheses rather than parts). `groups` is for Moses' format: label → names of the features that follow it.
        """
        from camber.nbest.fairseq import write_fairseq
        from camber.nbest.jsonl import write_jsonl
        from camber.nbest.moses import write_joshua, write_moses
        from camber.nbest.tsv import write_tsv

        kind = format_of(path, format)
        if self.extra and kind not in ("jsonl", "tsv"):
            log.warning("%s: outside scores (%s) have no place in this format; use jsonl", path, ", ".join(self.extra))
        if kind == "moses":
            write_moses(self, path, groups)
        else:
            {"joshua": write_joshua, "fairseq": write_fairseq, "jsonl": write_jsonl, "tsv": write_tsv}[kind](self, path)


def format_of(path: str | Path, format: str = "auto") -> str:
    """Return the format in which a list is written; `auto`: by the name's ending, Moses' format without any.

    >>> format_of("list.jsonl.gz"), format_of("list"), format_of("list", "cdec")
    ('jsonl', 'moses', 'joshua')
    """
    kind = _plain_format(format)
    return ENDINGS.get(Path(str(path).removesuffix(".gz")).suffix, "moses") if kind == "auto" else kind


def _inclusive(start: int, end: int) -> str:
    """Write the span [start, end) as Moses does.

    >>> _inclusive(0, 2), _inclusive(3, 4)
    ('0-1', '3')
    """
    return str(start) if end == start + 1 else f"{start}-{end - 1}"


def _plain_format(format: str) -> str:
    if format not in FORMATS:
        raise SettingsError(f"unknown n-best format {format!r}; known: {', '.join(FORMATS)}")
    return {"marian": "moses", "cdec": "joshua"}.get(format, format)
