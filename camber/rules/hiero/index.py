"""The indexed corpus: an aligned bitext in flat, memory-mapped arrays, with the suffix array of its source side.

Rules are looked up in it when a sentence arrives, so this is the whole model of a translator that extracts on demand,
and new pairs are added by merging their sorted suffixes with those that are there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from camber.align.pharaoh import Alignment
from camber.arrays.checks import Checks
from camber.arrays.files import Shapes, open_arrays, read_facts, save_arrays, save_facts
from camber.arrays.ragged import offsets_from
from camber.arrays.types import I4, I8, AnyArray
from camber.corpus.bitext import Bitext, Sentences
from camber.corpus.vocabulary import Vocabulary
from camber.errors import CamberError
from camber.rules.hiero.suffix_array import are_sorted, ends_of, find_phrase, merge_suffixes, sort_suffixes
from camber.rules.phrase.pairs import check_alignment

#: Version of the folder that :meth:`CorpusIndex.save` writes.
FORMAT = 1

#: Every array of the index with its type and its number of dimensions.
_ARRAYS: Shapes = {
    "source_ids": (np.int32, 1),
    "source_offsets": (np.int64, 1),
    "target_ids": (np.int32, 1),
    "target_offsets": (np.int64, 1),
    "links": (np.int32, 2),
    "link_offsets": (np.int64, 1),
    "suffixes": (np.int32, 1),
}


class Columns(NamedTuple):
    """What a kernel reads of the corpus.

    Extraction jumps from pair to pair, so all that it reads of a pair stands side by side in one *block*: where the
    source sentence starts in `words`, its length, the target length; per source word the span of target positions that
    it is linked to, per target word the span of source positions (first + 65,536 · (last + 1); -1: no link); the target
    words.
    """

    words: I4  # [source tokens]
    ends: I4  # [source tokens] where the sentence of a position ends
    blocks: I4
    block_of: I4  # [source tokens] where the block of a position's pair starts
    link_starts: I8  # [source tokens + 1] into link_targets
    link_targets: I4  # [links] target positions, by source position
    suffixes: I4  # [source tokens] sorted by what follows
    positions: I4  # [source tokens] sorted by word, then by position
    word_starts: I8  # [source words + 1] where a word begins, in suffixes and in positions


#: Numbers at the head of a block.
HEAD = 3

#: Longest sentence, on either side, that rules are extracted from: a block keeps positions in 15 bits.
LONGEST = (1 << 15) - 1


@dataclass(frozen=True)
class CorpusIndex:
    """An aligned bitext with the suffix array of its source side.

    >>> bitext = Bitext.encode([["la", "casa"], ["la"]], [["the", "house"], ["the"]])
    >>> index = CorpusIndex.build(bitext, Alignment.from_pairs([[(0, 0), (1, 1)], [(0, 0)]]))
    >>> index.count(["la"]), index.count(["la", "casa"])
    (2, 1)
    """

    source: Sentences
    target: Sentences
    alignment: Alignment
    suffixes: I4  # [source tokens]

    @classmethod
    def build(cls, bitext: Bitext, alignment: Alignment) -> CorpusIndex:
        """Index an aligned bitext."""
        _check(bitext, alignment)
        return cls(bitext.source, bitext.target, alignment, sort_suffixes(bitext.source))

    def __len__(self) -> int:
        """Return the number of sentence pairs."""
        return len(self.source)

    @property
    def bitext(self) -> Bitext:
        """The indexed pairs."""
        return Bitext(self.source, self.target)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays, those that are derived on opening included."""
        stored = (*(getattr(side, name) for side in (self.source, self.target) for name in ("ids", "offsets")),)
        arrays = {id(array): array.nbytes for array in (*stored, self.alignment.links, *self.columns)}
        return sum(arrays.values())

    def count(self, phrase: Sequence[str]) -> int:
        """Return how often a source phrase occurs."""
        ids = self.source.vocabulary.encode(phrase)
        low, high = find_phrase(self.columns.words, self.columns.ends, self.columns.suffixes, ids)
        return high - low

    @cached_property
    def columns(self) -> Columns:
        """The arrays that kernels read."""
        source, links = self.source, self.alignment.links
        source_at = source.offsets[self.alignment.owners] + links[:, 0]
        blocks, block_of = _blocks(self.source, self.target, self.alignment)
        return Columns(
            words=np.ascontiguousarray(source.ids, np.int32),
            ends=ends_of(source),
            blocks=blocks,
            block_of=block_of,
            link_starts=offsets_from(np.bincount(source_at, minlength=len(source.ids))),
            link_targets=np.ascontiguousarray(links[:, 1], np.int32),
            suffixes=np.ascontiguousarray(self.suffixes, np.int32),
            positions=np.argsort(source.ids, kind="stable").astype(np.int32),
            word_starts=offsets_from(np.bincount(source.ids, minlength=len(source.vocabulary))),
        )

    def extended(self, bitext: Bitext, alignment: Alignment) -> CorpusIndex:
        """Return an index with more pairs at its end; new words get new ids, old ids stay.

        Equal to the index built anew from all pairs, but only the new suffixes are sorted.
        """
        _check(bitext, alignment)
        source, target = _join(self.source, bitext.source), _join(self.target, bitext.target)
        links = np.concatenate((self.alignment.links, alignment.links))
        offsets = np.concatenate((self.alignment.offsets, self.alignment.offsets[-1] + alignment.offsets[1:]))
        tokens, pairs = len(self.source.ids), len(self.source)
        added = Sentences(source.ids[tokens:], source.offsets[pairs:] - tokens, source.vocabulary)
        new = sort_suffixes(added) + np.int32(tokens)
        old = np.ascontiguousarray(self.suffixes, np.int32)
        suffixes = merge_suffixes(source.ids, ends_of(source), old, new)
        return CorpusIndex(source, target, Alignment(links, offsets), suffixes)

    # --- files -------------------------------------------------------------------------------------------------

    def save(self, folder: str | Path) -> None:
        """Write one ``.npy`` file per array, the vocabularies as text, and a small ``index.json``, into `folder`."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        arrays: dict[str, AnyArray] = {
            "source_ids": self.source.ids,
            "source_offsets": self.source.offsets,
            "target_ids": self.target.ids,
            "target_offsets": self.target.offsets,
            "links": self.alignment.links,
            "link_offsets": self.alignment.offsets,
            "suffixes": self.suffixes,
        }
        save_arrays(folder, arrays, _ARRAYS)
        self.source.vocabulary.save(folder / "source.vocabulary.txt")
        self.target.vocabulary.save(folder / "target.vocabulary.txt")
        save_facts(folder / "index.json", FORMAT, {})

    @classmethod
    def load(cls, folder: str | Path) -> CorpusIndex:
        """Open what :meth:`save` wrote; the arrays are memory-mapped (copy-on-write)."""
        folder = Path(folder)
        read_facts(folder / "index.json", "an indexed corpus", FORMAT, {})
        arrays = open_arrays(folder, _ARRAYS)
        index = cls(
            Sentences(
                arrays["source_ids"], arrays["source_offsets"], Vocabulary.load(folder / "source.vocabulary.txt")
            ),
            Sentences(
                arrays["target_ids"], arrays["target_offsets"], Vocabulary.load(folder / "target.vocabulary.txt")
            ),
            Alignment(arrays["links"], arrays["link_offsets"]),
            arrays["suffixes"],
        )
        index._check_arrays(folder)
        return index

    def _check_arrays(self, folder: Path) -> None:
        """Refuse arrays that a kernel would read outside of."""
        checks, pairs, tokens = Checks(folder), len(self.source.offsets) - 1, len(self.source.ids)
        checks.offsets("source_offsets", self.source.offsets, pairs, tokens)
        checks.offsets("target_offsets", self.target.offsets, pairs, len(self.target.ids))
        checks.offsets("link_offsets", self.alignment.offsets, pairs, len(self.alignment.links))
        checks.shape("links", self.alignment.links, len(self.alignment.links), 2)
        checks.shape("suffixes", self.suffixes, tokens)
        checks.below("source_ids", self.source.ids, len(self.source.vocabulary))
        checks.below("target_ids", self.target.ids, len(self.target.vocabulary))
        checks.below("suffixes", self.suffixes, tokens)
        checks.that(are_sorted(self.source, self.suffixes), "suffixes", "suffixes that are not sorted")
        try:
            check_alignment(self.bitext, self.alignment)
        except CamberError as error:
            raise checks.fail("links", str(error)) from None


def _check(bitext: Bitext, alignment: Alignment) -> None:
    check_alignment(bitext, alignment)
    if min(bitext.source.ids.min(initial=0), bitext.target.ids.min(initial=0)) < 0:
        raise CamberError("the bitext has words outside its vocabularies; encode it with vocabularies of its own")


def _join(old: Sentences, new: Sentences) -> Sentences:
    """Put new sentences behind the old ones, with ids of the old vocabulary and new ids for new words."""
    vocabulary = old.vocabulary.extended(new.vocabulary.words)
    renumber = vocabulary.encode(new.vocabulary.words).astype(np.int32)
    ids = np.concatenate((old.ids, renumber[new.ids]))
    return Sentences(ids, np.concatenate((old.offsets, old.offsets[-1] + new.offsets[1:])), vocabulary)


def _blocks(source: Sentences, target: Sentences, alignment: Alignment) -> tuple[I4, I4]:
    """Lay out the blocks of all pairs, and say for every source position where its block starts."""
    starts = offsets_from(HEAD + source.lengths + 2 * target.lengths)
    blocks = np.full(int(starts[-1]), -1, np.int32)
    heads = starts[:-1]
    blocks[heads] = source.offsets[:-1]
    blocks[heads + 1] = source.lengths
    blocks[heads + 2] = target.lengths
    pair, (from_source, to_target) = alignment.owners, alignment.links.astype(np.int64).T
    short = np.maximum(source.lengths, target.lengths)[pair] <= LONGEST
    pair, from_source, to_target = pair[short], from_source[short], to_target[short]
    at_source = heads[pair] + HEAD
    at_target = at_source + source.lengths[pair]
    for at, values in ((at_source + from_source, to_target), (at_target + to_target, from_source)):
        low, high = np.full(len(blocks), LONGEST, np.int32), np.zeros(len(blocks), np.int32)
        np.minimum.at(low, at, values.astype(np.int32))
        np.maximum.at(high, at, values.astype(np.int32) + 1)
        blocks[at] = low[at] + (high[at] << 16)
    shift = heads + HEAD + source.lengths + target.lengths - target.offsets[:-1]
    blocks[np.arange(len(target.ids)) + np.repeat(shift, target.lengths)] = target.ids
    return blocks, np.repeat(heads, source.lengths).astype(np.int32)
