"""Segments with their translations: raw texts of both sides, the words of the source, an index of these, and links.

    segments = Segments.build(text, source_lines, target_lines)
    segments.nearest("Ein Haus.", threshold=0.7, best=3)

On disk everything is an array (texts are UTF-8 in one piece), memory-mapped when it is opened; what is
looked up by name is read at the first question. Segments from files may have inline codes (`codes.py`); they are looked
for by their text, and both sides with their codes are kept beside it.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from camber.align.pharaoh import Alignment
from camber.arrays.checks import Checks
from camber.arrays.files import Shapes, open_arrays, save_arrays
from camber.arrays.ragged import offsets_from, owners_of, take_ragged
from camber.arrays.types import I8, U1, Array
from camber.corpus import Vocabulary
from camber.corpus.bitext import Encoded, Encoder
from camber.corpus.digests import digests, numbers
from camber.engine import LOCAL, Engine, for_python
from camber.errors import ModelError
from camber.memory import nearest as search
from camber.memory.words import TAG, fold, match_words, weight
from camber.progress import each
from camber.text.pipeline import TextPipeline

_SHAPES: Shapes = {
    "source": (np.uint8, 1),
    "source_offsets": (np.int64, 1),
    "target": (np.uint8, 1),
    "target_offsets": (np.int64, 1),
    "times": (np.int32, 1),
    "vocabulary": (np.uint8, 1),  # one word per line
    "classes": (np.uint8, 1),
    "class_of": (np.int32, 1),
    "words": (np.int32, 1),
    "offsets": (np.int64, 1),
    "lengths": (np.int32, 1),
    "postings": (np.int32, 1),
    "posting_offsets": (np.int64, 1),
    "links": (np.uint16, 2),
    "link_offsets": (np.int64, 1),
}
#: both sides with their inline codes, where there are some, with a line end between them; memories may have none at all
_CODED: Shapes = {"coded": (np.uint8, 1), "coded_offsets": (np.int64, 1)}
#: lines that are split into words together
_CHUNK = 10_000
_REMEDY = "copy or train the model again"


class Found(NamedTuple):
    """A segment that is like what was asked for."""

    segment: int
    distance: int
    length: int

    @property
    def likeness(self) -> float:
        """From 0 to 1; 1 if all words are the same, tags included."""
        return 1.0 - self.distance / self.length


@dataclass(frozen=True)
class Segments:
    """Pairs of raw texts, each once, in the order in which they came last."""

    arrays: dict[str, Any]
    folder: Path = field(default=Path("memory"), compare=False)
    text: TextPipeline | None = field(default=None, compare=False)
    hidden: U1 | None = None  # [segments] 1: not to be found

    @classmethod
    def build(
        cls,
        text: TextPipeline,
        source: Sequence[str],
        target: Sequence[str],
        alignment: Alignment | None = None,
        rows: I8 | None = None,
        coded: Mapping[int, tuple[str, str]] | None = None,
        *,
        engine: Engine = LOCAL,
    ) -> Segments:
        """Make segments of raw lines; `rows` are those that `alignment` has links of, between the tokens of training.

        A pair without words on one of its sides is left out. `coded` has rows of which both sides have inline codes;
        of a pair that came with several, the last ones stay.
        """
        both = each(zip(source, target, strict=True), "compare pairs", len(source), "pairs")
        pairs = numbers(digests(f"{len(one)} {one}{other}" for one, other in both))
        times = np.bincount(pairs)
        last = np.zeros(len(times), np.int64)
        last[pairs] = np.arange(len(pairs))  # of equal pairs, the number of the last one stays
        candidates = np.sort(last)
        candidates = candidates[np.fromiter((bool(target[row].strip()) for row in candidates), bool, len(candidates))]
        lines = numbers(digests(source[row] for row in each(candidates, "compare lines", unit="lines")))
        encoder = Encoder()  # of different lines
        different = candidates[np.unique(lines, return_index=True)[1]]
        chunks = ([source[row] for row in different[at : at + _CHUNK]] for at in range(0, len(different), _CHUNK))
        split = for_python(engine).map(_split, text, chunks)
        for encoded in each(split, "split into words", len(different), "lines", lambda some: len(some.lengths)):
            encoder.take(encoded)
        has_words = encoder.lengths[lines] > 0
        chosen = candidates[has_words]
        sentences = encoder.sentences(lines[has_words].astype(np.int64))
        vocabulary, words, offsets = sentences.vocabulary, sentences.ids, sentences.offsets
        classes = Vocabulary.from_text([[fold(word) for word in vocabulary.words]])
        class_of = classes.encode(map(fold, vocabulary.words)).astype(np.int32)
        kinds, weights = class_of[words], _weights(classes)
        owners = owners_of(offsets)
        sums = np.zeros(len(chosen), np.int64)
        np.add.at(sums, owners, weights[kinds])
        order = np.argsort(kinds, kind="stable")
        links, link_offsets = _links_of(chosen, alignment, rows)
        arrays = {
            "times": times[pairs[chosen]].astype(np.int32),
            "vocabulary": _bytes("".join(word + "\n" for word in vocabulary.words)),
            "classes": _bytes("".join(word + "\n" for word in classes.words)),
            "class_of": class_of,
            "words": words,
            "offsets": offsets,
            "lengths": sums.astype(np.int32),
            "postings": owners[order].astype(np.int32),
            "posting_offsets": offsets_from(np.bincount(kinds, minlength=len(classes))),
            "links": links,
            "link_offsets": link_offsets,
        }
        for side, name in ((source, "source"), (target, "target")):
            texts = (side[row] for row in each(chosen, f"keep {name} texts", unit="lines"))
            arrays[name], arrays[f"{name}_offsets"] = _joined(texts)
        if coded:
            known = {(source[row], target[row]): both for row, both in sorted(coded.items())}
            texts = ("\n".join(known.get((source[row], target[row]), ())) for row in chosen)
            arrays["coded"], arrays["coded_offsets"] = _joined(texts)
        return cls(arrays, text=text)

    def save(self, folder: Path) -> None:
        """Write all arrays into a folder that exists."""
        save_arrays(folder, self.arrays, {**_SHAPES, **_CODED})

    @classmethod
    def open(cls, folder: Path, text: TextPipeline) -> Segments:
        """Open what :meth:`save` wrote; it is checked when something is looked for."""
        coded = {name: shape for name, shape in _CODED.items() if (folder / f"{name}.npy").exists()}
        return cls(open_arrays(folder, {**_SHAPES, **coded}), folder, text)

    def __len__(self) -> int:
        return len(self.arrays["offsets"]) - 1

    def pair(self, segment: int) -> tuple[str, str]:
        """Return the raw texts of a segment."""
        return self._text("source", segment), self._text("target", segment)

    def _text(self, side: str, segment: int) -> str:
        a, b = self.arrays[f"{side}_offsets"][segment : segment + 2]
        try:
            return bytes(self.arrays[side][a:b]).decode()
        except UnicodeDecodeError as error:
            raise ModelError(f"{self.folder / side}.npy: no text ({error}); {_REMEDY}") from None

    def coded(self, segment: int) -> tuple[str, str] | None:
        """Return both sides of a segment with their inline codes, None if it has none."""
        if "coded" not in self.arrays:
            return None
        source, mark, target = self._text("coded", segment).partition("\n")
        return (source, target) if mark else None

    def links(self, segment: int) -> list[tuple[int, int]] | None:
        """Return the links between the tokens that training made of a pair; None if it was not aligned."""
        a, b = self.arrays["link_offsets"][segment : segment + 2]
        return [(int(s), int(t)) for s, t in self.arrays["links"][a:b]] or None

    def hiding(self, pairs: Collection[tuple[str, str]]) -> Segments:
        """Return the same segments, of which some are not to be found."""
        hidden = np.zeros(len(self), np.uint8)
        for source, target in pairs:
            for segment in self.repeats(source):
                if self._text("target", segment) == target:
                    hidden[segment] = 1
        return replace(self, hidden=hidden)

    def check(self) -> None:
        """Look at all arrays and texts; what is damaged is an error."""
        self.index  # noqa: B018
        for segment in range(len(self)):
            self.pair(segment)
            self.coded(segment)

    # --- looking for something -----------------------------------------------------------------------------------

    def nearest(self, line: str, threshold: float = 0.7, best: int = 3) -> list[Found]:
        """Return the segments that are most like a raw line, at least so much, the most like ones first."""
        query = self.query(line)
        found = search.nearest(self.index, query, threshold, best)
        return [Found(*map(int, row)) for row in zip(*found, strict=True)]

    @cached_property
    def has_tags(self) -> bool:
        """Whether there are tags in the texts themselves."""
        return self._vocabularies[1].id(TAG) >= 0

    def repeats(self, line: str) -> list[int]:
        """Return the segments whose source is a raw line, letter by letter."""
        query = self.query(line)
        if not len(query.words) or (query.words < 0).any():
            return []
        kind = min(query.classes.tolist(), key=lambda kind: self._often[kind])
        a, b = self.index.posting_offsets[kind : kind + 2]
        near = np.unique(self.index.postings[a:b])
        near = near[self.index.lengths[near] == query.weights.sum()]
        return [int(segment) for segment in near if self._text("source", int(segment)) == line]

    @cached_property
    def _often(self) -> I8:
        return np.diff(self.index.posting_offsets)

    def query(self, line: str) -> search.Query:
        """Return a raw line as it is looked for."""
        if self.text is None:
            raise ValueError("segments without a text pipeline")
        words = match_words(self.text, line)
        kinds = [fold(word) for word in words]
        vocabulary, classes = self._vocabularies
        return search.Query(
            vocabulary.encode(words).astype(np.int32),
            classes.encode(kinds).astype(np.int32),
            np.array([weight(kind) for kind in kinds], np.int64),
        )

    @cached_property
    def _vocabularies(self) -> tuple[Vocabulary, Vocabulary]:
        return self._vocabulary("vocabulary"), self._vocabulary("classes")

    def _vocabulary(self, name: str) -> Vocabulary:
        path = self.folder / f"{name}.npy"
        try:
            lines = bytes(self.arrays[name]).decode().split("\n")
        except UnicodeDecodeError as error:
            raise ModelError(f"{path}: no text ({error}); {_REMEDY}") from None
        return Vocabulary.of_lines(lines[:-1], path)

    @cached_property
    def index(self) -> search.Index:
        """All that is looked at, checked."""
        a, checks = self.arrays, Checks(self.folder)
        count, classes = len(a["offsets"]) - 1, self._vocabularies[1]
        checks.offsets("offsets", a["offsets"], count, len(a["words"]))
        for side in ("source", "target"):
            checks.offsets(f"{side}_offsets", a[f"{side}_offsets"], count, len(a[side]))
        if any(name in a for name in _CODED):
            checks.that(all(name in a for name in _CODED), "coded", "not there with its offsets")
            checks.offsets("coded_offsets", a["coded_offsets"], count, len(a["coded"]))
        checks.offsets("link_offsets", a["link_offsets"], count, len(a["links"]))
        checks.that(a["links"].shape[1:] == (2,), "links", "not pairs of places")
        checks.shape("times", a["times"], count)
        checks.below("times", a["times"], 1 << 31, 1)
        checks.shape("class_of", a["class_of"], len(self._vocabularies[0]))
        checks.below("class_of", a["class_of"], len(classes))
        checks.below("words", a["words"], len(a["class_of"]))
        checks.offsets("posting_offsets", a["posting_offsets"], len(classes), len(a["postings"]))
        checks.below("postings", a["postings"], max(count, 1))
        checks.shape("postings", a["postings"], len(a["words"]))
        weights = _weights(classes)
        sums = np.zeros(count, np.int64)
        np.add.at(sums, owners_of(a["offsets"]), weights[a["class_of"][a["words"]]])
        checks.shape("lengths", a["lengths"], count)
        checks.that((sums == a["lengths"]).all(), "lengths", "not what the words weigh")
        return search.Index(
            a["words"],
            a["offsets"],
            a["class_of"],
            weights,
            a["lengths"],
            a["times"],
            a["postings"],
            a["posting_offsets"],
            np.zeros(count, np.uint8) if self.hidden is None else self.hidden,
        )


def _split(text: TextPipeline, lines: list[str]) -> Encoded:
    """Return raw lines as words that are compared."""
    return Encoded.of([match_words(text, line) for line in lines])


def _weights(classes: Vocabulary) -> I8:
    return np.array([weight(kind) for kind in classes.words], np.int64)


def _bytes(text: str) -> U1:
    return np.frombuffer(text.encode(), np.uint8)


def _joined(texts: Iterable[str]) -> tuple[U1, I8]:
    """Return texts as bytes behind each other, and where each begins."""
    every, ends = bytearray(), array("q", [0])
    for text in texts:
        every += text.encode()
        ends.append(len(every))
    return np.frombuffer(every, np.uint8), np.array(ends, np.int64)


def _links_of(chosen: I8, alignment: Alignment | None, rows: I8 | None) -> tuple[Array, I8]:
    """Return the links of the chosen rows uint16[links, 2], and their offsets; none for what was not aligned."""
    if alignment is None:
        return np.zeros((0, 2), np.uint16), np.zeros(len(chosen) + 1, np.int64)
    known = np.arange(len(alignment)) if rows is None else rows
    places = np.full(max(int(chosen.max(initial=-1)), int(known.max(initial=-1))) + 1, len(known))
    places[known] = np.arange(len(known))
    offsets = np.append(alignment.offsets, alignment.offsets[-1])  # a place without links behind the others
    links, link_offsets = take_ragged(alignment.links, offsets, places[chosen])
    return links.astype(np.uint16), link_offsets
