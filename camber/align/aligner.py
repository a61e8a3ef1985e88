"""What a training learnt about aligning words, kept for pairs that come later.

The expected counts of the last pass say everything: how often two words were linked, how often a word occurred and how
often it was linked at all. The lexical parameters follow from them, and counts of new pairs are simply added. A pair of
words that never met is worth the pseudo-counts of `agreement`: words that look alike find each other, and a new word is
equally likely to produce any word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from camber.align.agreement import Trainer
from camber.align.lesson import Lesson
from camber.arrays.checks import Checks
from camber.arrays.files import Shapes, open_arrays, read_facts, save_arrays, save_facts
from camber.arrays.ragged import owners_of
from camber.arrays.types import F4, F8, I4, I8
from camber.corpus.vocabulary import Vocabulary

#: Version of the folder that :meth:`Aligner.save` writes.
FORMAT = 1

#: Pairs of words that were linked less often than this are forgotten; they still count in the totals of their words.
LEAST = 0.01

_ARRAYS: Shapes = {
    "entry_offsets": (np.int64, 1),
    "entry_targets": (np.int32, 1),
    "counts": (np.float32, 1),
    "source_words": (np.float64, 2),
    "target_words": (np.float64, 2),
    "jumps": (np.float32, 2),
}


@dataclass(frozen=True)
class Aligner:
    """Expected counts of both directions, which share them, and the weights of jumps."""

    source: Vocabulary
    target: Vocabulary
    entry_offsets: I8  # [source words + 1]: entries of source word w are entry_offsets[w]:entry_offsets[w + 1]
    entry_targets: I4  # [entries] rising for every source word
    counts: F4  # [entries] how often the two words were linked, pseudo-counts of likeness included
    source_words: F8  # [source words, 2] times linked, and occurrences with pseudo-counts
    target_words: F8  # [target words, 2]
    jumps: F4  # [2 directions, width] weights, 0 in the middle
    symmetrise: str  # how both directions become one alignment

    @classmethod
    def of(cls, trainer: Trainer, symmetrise: str) -> Aligner:
        """Keep what a trainer knows after its passes."""
        index = trainer.index
        kept = np.flatnonzero(trainer.counts >= LEAST)  # few: words that meet are seldom linked
        owner = np.searchsorted(index.entry_offsets, kept, "right") - 1
        sorted_rows = np.lexsort((index.entry_targets[kept], owner))
        order, owner = kept[sorted_rows], owner[sorted_rows]
        return cls(
            trainer.bitext.source.vocabulary,
            trainer.bitext.target.vocabulary,
            np.searchsorted(owner, np.arange(len(index.entry_offsets))).astype(np.int64),
            index.entry_targets[order],
            trainer.counts[order],
            np.column_stack((trainer.source_totals, trainer.source_free)),
            np.column_stack((trainer.target_totals, trainer.target_free)),
            trainer.model.jumps[:, 0].copy(),
            symmetrise,
        )

    @property
    def _owners(self) -> I8:
        """The source word of every entry, int64[entries]."""
        return owners_of(self.entry_offsets)

    def teach(self, trainer: Trainer) -> None:
        """Give a trainer these counts to start from; its vocabularies begin with ours."""
        index, stride = trainer.index, max(len(trainer.bitext.target.vocabulary), 1)
        ours = self._owners * stride + self.entry_targets
        sources = owners_of(index.entry_offsets)
        wanted = sources * stride + index.entry_targets
        at = np.searchsorted(ours, wanted)
        met = at < len(ours)
        met[met] = ours[at[met]] == wanted[met]
        known = np.zeros(len(wanted), np.float32)
        known[met] = self.counts[at[met]]
        width, middle = trainer.model.jumps.shape[2] // 2, self.jumps.shape[1] // 2
        reach = np.clip(np.arange(-width, width + 1), -middle, middle) + middle  # far jumps share the farthest's weight
        trainer.go_on(known, met, self.source_words, self.target_words, self.jumps[:, reach])

    def lesson(self, trainer: Trainer) -> Lesson:
        """Return what a trainer that we taught counted; what it did not see stays as it is."""
        new = Aligner.of(trainer, self.symmetrise)
        words = [np.unique(side.ids) for side in (trainer.bitext.source, trainer.bitext.target)]
        owners = new._owners
        return Lesson(
            tuple(new.source.decode(words[0].tolist())),
            tuple(new.target.decode(words[1].tolist())),
            new.source_words[words[0]],
            new.target_words[words[1]],
            np.column_stack((np.searchsorted(words[0], owners), np.searchsorted(words[1], new.entry_targets))),
            new.counts,
        )

    def after(self, lessons: Sequence[Lesson]) -> Aligner:
        """Return the aligner that knows what later pairs taught, in their order."""
        if not lessons:
            return self
        source = self.source.extended(word for lesson in lessons for word in lesson.source)
        target = self.target.extended(word for lesson in lessons for word in lesson.target)
        words = np.zeros((max(len(source), 1), 2)), np.zeros((max(len(target), 1), 2))
        words[0][: len(self.source_words)], words[1][: len(self.target_words)] = self.source_words, self.target_words
        stride = max(len(target), 1)
        learnt = []
        for lesson in lessons:
            rows, columns = source.encode(lesson.source), target.encode(lesson.target)
            words[0][rows], words[1][columns] = lesson.source_words, lesson.target_words
            learnt.append(rows[lesson.links[:, 0]] * stride + columns[lesson.links[:, 1]])
        # of equal pairs, the last one counts
        pairs, last = np.unique(np.concatenate(learnt)[::-1], return_index=True)
        numbers = np.concatenate([lesson.counts for lesson in lessons])[::-1][last]
        keys, counts = self._owners * stride + self.entry_targets, self.counts.copy()
        at = np.searchsorted(keys, pairs)
        met = at < len(keys)
        met[met] = keys[at[met]] == pairs[met]
        counts[at[met]] = numbers[met]
        keys, counts = np.insert(keys, at[~met], pairs[~met]), np.insert(counts, at[~met], numbers[~met])
        offsets = np.searchsorted(keys, np.arange(len(source) + 1) * stride).astype(np.int64)
        targets = (keys % stride).astype(np.int32)
        return Aligner(source, target, offsets, targets, counts, *words, self.jumps, self.symmetrise)

    # --- files -------------------------------------------------------------------------------------------------

    def save(self, folder: str | Path) -> None:
        """Write one ``.npy`` file per array, the vocabularies as text, and ``aligner.json``, into `folder`."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        save_arrays(folder, {name: getattr(self, name) for name in _ARRAYS}, _ARRAYS)
        self.source.save(folder / "source.vocabulary.txt")
        self.target.save(folder / "target.vocabulary.txt")
        save_facts(folder / "aligner.json", FORMAT, {"symmetrise": self.symmetrise})

    @classmethod
    def load(cls, folder: str | Path) -> Aligner:
        """Read what :meth:`save` wrote."""
        folder = Path(folder)
        facts = read_facts(folder / "aligner.json", "an aligner", FORMAT, {"symmetrise": str})
        source, target = (Vocabulary.load(folder / f"{side}.vocabulary.txt") for side in ("source", "target"))
        aligner = cls(source=source, target=target, **facts, **open_arrays(folder, _ARRAYS))
        checks, entries = Checks(folder), len(aligner.entry_targets)
        checks.offsets("entry_offsets", aligner.entry_offsets, len(source), entries)
        checks.below("entry_targets", aligner.entry_targets, len(target))
        checks.shape("counts", aligner.counts, entries)
        checks.shape("source_words", aligner.source_words, max(len(source), 1), 2)
        checks.shape("target_words", aligner.target_words, max(len(target), 1), 2)
        checks.that(
            len(aligner.jumps) == 2 and aligner.jumps.shape[1] % 2 == 1, "jumps", f"shape {aligner.jumps.shape}"
        )
        for name in ("counts", "source_words", "target_words", "jumps"):
            checks.finite(name, getattr(aligner, name), least=0.0)
        return aligner
