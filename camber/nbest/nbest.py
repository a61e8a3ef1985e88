"""The n-best type: sentences → hypotheses → parts, all in flat columns.

A part is one rule used once, with its features in context, raw (:mod:`camber.features.parts`); the features of a
hypothesis are the sums over its parts of what a linear model takes of them. Lists of other engines have one part per
hypothesis. A feature that a part lacks is NaN, and so is one that all parts of a hypothesis lack.

    nbest = NBest.read("dev.nbest.gz")                       # Moses/Marian, Joshua/cdec, fairseq, JSON Lines, TSV
    nbest = NBest.read("dev.txt", "flat", candidates=5)      # plain text, 5 lines per sentence
    nbest.hypothesis_features()                              # [hypotheses, features]
    nbest.statistics(metric, [references])                   # [hypotheses, columns of the metric]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from camber.arrays.ragged import offsets_from, owners_of, places_of
from camber.arrays.types import F8, I4, I8, AnyArray, Bools
from camber.errors import CamberError, SettingsError
from camber.features.feature import Feature
from camber.features.parts import HypothesisParts, Parts
from camber.progress import log

if TYPE_CHECKING:
    from camber.metrics.metric import Metric, References

#: The number of a part that is no rule.
NO_RULE = -1
#: Rows whose values are checked at a time: a mask of all of them would take an eighth of their room.
_BLOCK = 1 << 20


@dataclass(frozen=True, eq=False)
class NBest:
    """Hypotheses of sentence `s` are ``sentence_offsets[s]`` … ``sentence_offsets[s + 1] - 1``, best first.

    Parts of hypothesis `h` are ``part_offsets[h]`` … ``part_offsets[h + 1] - 1``. A sentence may have no hypothesis, a
    hypothesis no part. Spans are half open (``[2, 4)`` covers the words 2 and 3).

    >>> nbest = NBest.of_hypotheses(("lm",), [0, 2], ["a b", "b a"], [[-1.0], [-2.0]], [-0.5, -1.0])
    >>> len(nbest), nbest.hypotheses, nbest.best().tolist()
    (1, 2, [0])
    """

    sentence_offsets: I8  # [sentences + 1]
    part_offsets: I8  # [hypotheses + 1]
    parts: Parts
    texts: list[str]  # [hypotheses]
    scores: F8 | None = None  # [hypotheses]: the model's; None if the list has none
    source_spans: I4 | None = None  # [parts, 2]
    target_spans: I4 | None = None  # [parts, 2]
    segmentations: list[str] | None = None  # [hypotheses]: as text (0-1=0-1 2=2), where parts have no spans
    alignments: list[str] | None = None  # [hypotheses]: words, 0-0 1-2
    extra: dict[str, F8] = field(default_factory=dict)  # name → [hypotheses]: outside scores
    tokens: list[str] | None = None  # [hypotheses]: as the engine cuts words, where `texts` are whole words again
    sources: list[str] | None = None  # [sentences]
    targets: list[str] | None = None  # [sentences]: references that came with the list
    confidences: F8 | None = None  # [hypotheses]: how sure the engine is, from 0 to 1
    word_confidences: list[list[float]] | None = None  # [hypotheses][tokens]
    places: I8 | None = None  # [hypotheses]: where they stand in their file, if that has them in another order
    first: int = 0  # the number of the first sentence in files: a list may be that of a part of a text

    def __post_init__(self) -> None:
        for name, kind in (
            ("sentence_offsets", np.int64),
            ("part_offsets", np.int64),
            ("scores", np.float64),
            ("confidences", np.float64),
            ("source_spans", np.int32),
            ("target_spans", np.int32),
        ):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, np.ascontiguousarray(value, kind))
        object.__setattr__(self, "extra", {key: np.asarray(v, np.float64) for key, v in self.extra.items()})
        self._check_shapes()
        self._check_values()

    def _check_shapes(self) -> None:
        hypotheses, parts = len(self.texts), len(self.parts)
        for offsets, total, what in (
            (self.sentence_offsets, hypotheses, "sentence"),
            (self.part_offsets, parts, "part"),
        ):
            if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != total or (np.diff(offsets) < 0).any():
                raise ValueError(f"{what} offsets must rise from 0 to {total}")
        for column, expected, what in (
            (self.part_offsets, (hypotheses + 1,), "part_offsets"),
            (self.scores, (hypotheses,), "scores"),
            (self.source_spans, (parts, 2), "source_spans"),
            (self.target_spans, (parts, 2), "target_spans"),
            (self.segmentations, (hypotheses,), "segmentations"),
            (self.alignments, (hypotheses,), "alignments"),
            (self.tokens, (hypotheses,), "tokens"),
            (self.confidences, (hypotheses,), "confidences"),
            (self.word_confidences, (hypotheses,), "word_confidences"),
            (self.places, (hypotheses,), "places"),
            (self.sources, (len(self),), "sources"),
            (self.targets, (len(self),), "targets"),
            *((values, (hypotheses,), f"extra {name}") for name, values in self.extra.items()),
        ):
            shape = (len(column),) if isinstance(column, list) else getattr(column, "shape", expected)
            if shape != expected:
                raise ValueError(f"{what} has the shape {shape}, expected {expected}")

    def _check_values(self) -> None:
        seen: set[str] = set()
        for name in (*self.names, *self.extra):
            if name.split() != [name] or name in seen:
                raise CamberError(f"{name!r} cannot name a feature: names are single words, each used once")
            seen.add(name)
        for values, what in (
            (self.scores, "score"),
            (self.confidences, "confidence"),
            *((values, name) for name, values in self.extra.items()),
        ):
            if values is not None and not np.isfinite(values).all():
                self._refuse(what, int(np.argmin(np.isfinite(values))))
        infinite: Bools = np.logical_or.reduce(np.isinf(self.parts.table), axis=1)
        for first in range(0, len(self.parts), _BLOCK):
            wrong: Bools = np.logical_or.reduce(np.isinf(self.parts.context[first : first + _BLOCK]), axis=1)
            if infinite.any():
                wrong |= infinite[self.parts.rows[first : first + _BLOCK]]
            if wrong.any():
                part = first + int(np.argmax(wrong))
                self._refuse("feature", int(np.searchsorted(self.part_offsets, part, "right")) - 1)

    def _refuse(self, what: str, hypothesis: int) -> None:
        raise CamberError(f"a {what} of hypothesis {hypothesis} ({self.texts[hypothesis]!r}) is not a finite number")

    @classmethod
    def of_hypotheses(
        cls,
        features: Sequence[str | Feature],
        sentence_offsets: npt.ArrayLike,
        texts: Sequence[str],
        values: npt.ArrayLike,
        scores: npt.ArrayLike | None = None,
        **more: Any,
    ) -> NBest:
        """Make a list whose hypotheses are one part each, which is no rule: values float64[hypotheses, features].

        Features that are given by their names are numbers of the scope "hypothesis".
        """
        table = np.asarray(values, np.float64).reshape(len(texts), len(features))
        named = [Feature(feature) if isinstance(feature, str) else feature for feature in features]
        return cls(
            np.asarray(sentence_offsets, np.int64),
            np.arange(len(texts) + 1),
            Parts.of_dense(named, table, np.full(len(texts), NO_RULE, np.int32)),
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
    def features(self) -> tuple[Feature, ...]:
        """The features of parts."""
        return self.parts.features

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        return self.parts.names

    def sentences(self) -> I8:
        """Return the sentence of every hypothesis, int64[hypotheses]."""
        return owners_of(self.sentence_offsets)

    def hypothesis_features(self) -> F8:
        """Return what a linear model takes of every hypothesis, summed over its parts, float64[hypotheses, features].

        NaN where all parts lack a feature; a hypothesis without parts has zeros.
        """
        return self.parts.linear_sums(self.part_offsets)

    @property
    def has_parts(self) -> bool:
        """Whether parts tell more than the features of hypotheses; in lists of other engines they do not."""
        return (
            self.source_spans is not None
            or self.target_spans is not None
            or bool((np.diff(self.part_offsets) != 1).any())
            or bool((self.parts.rules != NO_RULE).any())
            or any(feature.logarithmic for feature in self.features)
        )

    def hypothesis_parts(self) -> HypothesisParts | None:
        """Return the parts of every hypothesis; None where they tell no more than its features."""
        return HypothesisParts.of(self.parts, self.part_offsets) if self.has_parts else None

    def hypothesis_blocks(self) -> Iterator[F8]:
        """Yield the rows of :meth:`hypothesis_features`, some at a time: all of them may be larger than the list."""
        return self.parts.linear_blocks(self.part_offsets)

    def best(self, scores: npt.ArrayLike | None = None) -> I8:
        """Return the best hypothesis of every sentence by `scores` (the model's by default), the first among equals.

        int64[sentences]; -1 for a sentence without hypotheses. Without any scores it is the first of each.
        """
        ranking = self.scores if scores is None else np.asarray(scores, np.float64)
        chosen = np.full(len(self), -1)
        for sentence, (start, end) in enumerate(
            zip(self.sentence_offsets[:-1].tolist(), self.sentence_offsets[1:].tolist(), strict=True)
        ):
            if end > start:
                chosen[sentence] = start if ranking is None else start + int(np.argmax(ranking[start:end]))
        return chosen

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

    def with_feature(self, feature: str | Feature, values: npt.ArrayLike) -> NBest:
        """Return the same list with one more feature, given per part or per hypothesis.

        Values per hypothesis are credited to its first part and the others lack it, so that the sums are right. A
        feature that is given by its name is a number of the scope "hypothesis".
        """
        new = Feature(feature) if isinstance(feature, str) else feature
        column, parts = np.asarray(values, np.float64), len(self.parts)
        if column.shape == (self.hypotheses,) and self.hypotheses != parts:
            if (np.diff(self.part_offsets) == 0).any():
                raise CamberError(
                    f"feature {new.name} cannot be added per hypothesis: one of them has no part to hold it"
                )
            spread = np.full(parts, np.nan)
            spread[self.part_offsets[:-1]] = column
            column = spread
        if column.shape != (parts,):
            raise CamberError(
                f"feature {new.name} has {column.size} values, expected {self.hypotheses} (one per hypothesis)"
                f" or {parts} (one per part)"
            )
        return replace(self, parts=self.parts.with_feature(new, column))

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
        """Return the list of some sentences only, in the given order, numbered anew."""
        return self.of_rows([np.arange(*self.sentence_offsets[s : s + 2]) for s in chosen], list(chosen))

    def of_rows(self, groups: Sequence[I8], sentences: Sequence[int] | None = None) -> NBest:
        """Return a list with the hypotheses `groups[s]` (row numbers, in order) as those of its sentence `s`.

        `sentences` are the sentences they belong to, by default all in order: it takes their sources and targets along.
        """
        rows = np.concatenate([np.asarray(group, np.int64) for group in groups] or [np.empty(0, np.int64)])
        owners = list(range(len(self))) if sentences is None else [int(sentence) for sentence in sentences]
        if len(owners) != len(groups):
            raise ValueError(f"{len(groups)} groups of rows for {len(owners)} sentences")
        starts = self.part_offsets[rows]
        sizes = self.part_offsets[rows + 1] - starts
        parts = places_of(starts, sizes)

        def picked(column: list[Any] | None, where: list[int]) -> list[Any] | None:
            return None if column is None else [column[index] for index in where]

        listed = rows.tolist()
        return replace(
            self,
            sentence_offsets=offsets_from(map(len, groups)),
            part_offsets=offsets_from(sizes),
            parts=self.parts.take(parts),
            texts=[self.texts[row] for row in listed],
            scores=None if self.scores is None else self.scores[rows],
            source_spans=None if self.source_spans is None else self.source_spans[parts],
            target_spans=None if self.target_spans is None else self.target_spans[parts],
            segmentations=picked(self.segmentations, listed),
            alignments=picked(self.alignments, listed),
            extra={name: values[rows] for name, values in self.extra.items()},
            tokens=picked(self.tokens, listed),
            confidences=None if self.confidences is None else self.confidences[rows],
            word_confidences=picked(self.word_confidences, listed),
            places=None if self.places is None else self.places[rows],
            sources=picked(self.sources, owners),
            targets=picked(self.targets, owners),
            first=self.first if sentences is None else 0,
        )

    def covered(self) -> NBest:
        """Return the list from the first to the last sentence that it has anything of; they keep their numbers.

        >>> part = NBest.of_hypotheses((), [0, 0, 0, 1, 1], ["a"], [[]]).covered()
        >>> part.first, len(part)
        (2, 1)
        """
        there = np.diff(self.sentence_offsets) > 0
        for side in (self.sources, self.targets):
            if side is not None:
                there |= np.array(list(map(bool, side)), bool)
        if there.all():
            return self
        chosen = np.flatnonzero(there)
        start, end = (int(chosen[0]), int(chosen[-1]) + 1) if len(chosen) else (0, 0)
        return replace(self.of_sentences(range(start, end)), first=self.first + start)

    def in_text(self, sentences: int) -> NBest:
        """Return the list as that of a whole text of so many sentences: those around it have no hypothesis.

        >>> part = NBest.of_hypotheses((), [0, 1], ["a"], [[]], first=2)
        >>> part.in_text(4).sentence_offsets.tolist()
        [0, 0, 0, 1, 1]
        """
        after = sentences - self.first - len(self)
        if after < 0:
            raise CamberError(f"sentences {self.span} do not fit into a text of {sentences:,}")

        def filled(side: list[str] | None) -> list[str] | None:
            return None if side is None else [""] * self.first + side + [""] * after

        offsets = np.pad(self.sentence_offsets, (self.first, after), "edge")
        return replace(
            self, sentence_offsets=offsets, sources=filled(self.sources), targets=filled(self.targets), first=0
        )

    @property
    def span(self) -> str:
        """The numbers of the first and the last sentence, for messages."""
        return f"{self.first:,} to {self.first + len(self) - 1:,}"

    def segmentation(self, hypothesis: int) -> str:
        """Return which source words became which target words, Moses style: ``0-1=0 2=1-2``.

        Parts without target words are left out.
        """
        if self.segmentations is not None:
            return self.segmentations[hypothesis]
        if self.source_spans is None or self.target_spans is None:
            return ""
        rows = slice(*self.part_offsets[hypothesis : hypothesis + 2].tolist())
        pairs = zip(self.source_spans[rows].tolist(), self.target_spans[rows].tolist(), strict=True)
        return " ".join(
            f"{_inclusive(*source)}={_inclusive(*target)}" for source, target in pairs if target[0] < target[1]
        )

    @classmethod
    def read(
        cls,
        path: str | Path,
        format: str = "auto",
        sentences: int | None = None,
        at_least: int = 1,
        candidates: int | None = None,
    ) -> NBest:
        """Read a list, plain or gzip; `auto` tells the formats apart by content (:mod:`camber.nbest.formats`).

        With `sentences` there are exactly so many (the references', say): missing ones at the end have no hypothesis.
        Features are held in a full table of at most 2 GB (250 million numbers; more is an error): `at_least` leaves
        out those that fewer hypotheses have. In JSON Lines the numbers that the file gives do not count, only the room
        of those that are absent. `candidates` says how many hypotheses each sentence has, in a format that does not.
        """
        from camber.nbest.formats import format_of_file, formats

        chosen = format_of_file(path, format)
        if chosen.counted:
            if candidates is None:
                raise SettingsError(
                    f"a {chosen.name} list does not tell where a sentence ends: give candidates=N (--candidates N), "
                    "its lines for every sentence"
                )
            return chosen.read(path, sentences, at_least, candidates)
        if candidates is not None:
            names = ", ".join(format.name for format in formats() if format.counted)
            raise SettingsError(
                f"a {chosen.name} list tells how many candidates a sentence has: leave candidates (--candidates) out, "
                f"or name the format: {names}"
            )
        return chosen.read(path, sentences, at_least)

    def write(self, path: str | Path, format: str = "auto") -> None:
        """Write the list (gzip if `path` ends in .gz); `auto`: by the name's ending, Moses' format without any.

        JSON Lines hold everything; the other formats what their own engines know (Moses', Joshua's and tables: the
        features of hypotheses, as a linear model takes them, rather than those of parts).
        """
        from camber.nbest.formats import format_to_write

        chosen = format_to_write(path, format)
        if self.extra and not chosen.holds_extra:
            log.warning("%s: outside scores (%s) have no place in this format; use jsonl", path, ", ".join(self.extra))
        chosen.write(self, path)


def _inclusive(start: int, end: int) -> str:
    """Write the span [start, end) as Moses does.

    >>> _inclusive(0, 2), _inclusive(3, 4)
    ('0-1', '3')
    """
    return str(start) if end == start + 1 else f"{start}-{end - 1}"
