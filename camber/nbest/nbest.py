"""The n-best type: sentences → hypotheses → parts, all in flat columns.

A part is one rule used once, with its local features in context; the features of a hypothesis are the sum over its
parts. Lists of other engines have one part per hypothesis.

    nbest = NBest.read("dev.nbest.gz")                       # Moses, Marian, or JSON Lines
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

from camber.errors import CamberError, SettingsError

if TYPE_CHECKING:
    from camber.metrics.metric import Metric, References

FORMATS = ("auto", "moses", "jsonl")


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
    sentence_offsets: npt.NDArray[np.int64]  # [sentences + 1]
    part_offsets: npt.NDArray[np.int64]  # [hypotheses + 1]
    features: npt.NDArray[np.float64]  # [parts, features]
    texts: list[str]  # [hypotheses]
    scores: npt.NDArray[np.float64] | None = None  # [hypotheses]: the model's; None if the list has none
    source_spans: npt.NDArray[np.int64] | None = None  # [parts, 2]
    target_spans: npt.NDArray[np.int64] | None = None  # [parts, 2]
    segmentations: list[str] | None = None  # [hypotheses]: as text (0-1=0-1 2=2), where parts have no spans
    alignments: list[str] | None = None  # [hypotheses]: words, 0-0 1-2
    extra: dict[str, npt.NDArray[np.float64]] = field(default_factory=dict)  # name → [hypotheses]: outside scores

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

    def sentences(self) -> npt.NDArray[np.int64]:
        """Return the sentence of every hypothesis, int64[hypotheses]."""
        return np.repeat(np.arange(len(self)), np.diff(self.sentence_offsets))

    def hypothesis_features(self) -> npt.NDArray[np.float64]:
        """Return the sums over parts, float64[hypotheses, features]; a hypothesis without parts has zeros."""
        counts = np.diff(self.part_offsets)
        filled = counts > 0
        sums = np.zeros((self.hypotheses, len(self.names)))
        if filled.any():  # reduceat would give an empty segment the next one's value: leave those out
            sums[filled] = np.add.reduceat(self.features, self.part_offsets[:-1][filled], axis=0)
        return sums

    def best(self, scores: npt.ArrayLike | None = None) -> npt.NDArray[np.int64]:
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

    def statistics(self, metric: Metric, references: References) -> npt.NDArray[Any]:
        """Return a metric's statistics of every hypothesis, [hypotheses, columns]."""
        return metric.statistics(self.texts, references, self.sentences())

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
    def read(cls, path: str | Path, format: str = "auto", sentences: int | None = None) -> NBest:
        """Read a Moses/Marian or JSON Lines list, plain or gzip; `auto` tells them apart by the first character.

        With `sentences` there are exactly so many (the references', say): missing ones at the end have no hypothesis.
        """
        from camber.nbest.jsonl import read_jsonl
        from camber.nbest.moses import read_moses
        from camber.nbest.reading import first_character

        _check_format(format)
        if format == "auto":
            format = "jsonl" if first_character(path) == "{" else "moses"
        return (read_jsonl if format == "jsonl" else read_moses)(path, sentences)

    def write(self, path: str | Path, format: str = "auto", groups: Mapping[str, Sequence[str]] | None = None) -> None:
        """Write the list (gzip if `path` ends in .gz); `auto`: JSON Lines for ``.jsonl`` and ``.json``, else Moses.

        `groups` is for Moses' format: label → names of the features that follow it.
        """
        from camber.nbest.jsonl import write_jsonl
        from camber.nbest.moses import write_moses

        _check_format(format)
        if format == "auto":
            format = "jsonl" if Path(str(path).removesuffix(".gz")).suffix in (".jsonl", ".json") else "moses"
        if format == "jsonl":
            write_jsonl(self, path)
        else:
            write_moses(self, path, groups)


def _inclusive(start: int, end: int) -> str:
    """Write the span [start, end) as Moses does.

    >>> _inclusive(0, 2), _inclusive(3, 4)
    ('0-1', '3')
    """
    return str(start) if end == start + 1 else f"{start}-{end - 1}"


def _check_format(format: str) -> None:
    if format not in FORMATS:
        raise SettingsError(f"unknown n-best format {format!r}; known: {', '.join(FORMATS)}")
