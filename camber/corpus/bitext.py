"""Token ids of many sentences in one array, and of both sides of a parallel corpus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.types import I4, I8
from camber.corpus.vocabulary import Vocabulary


@dataclass(frozen=True)
class Sentences:
    """Sentence `s` is ``ids[offsets[s]:offsets[s + 1]]``; -1 is a word outside the vocabulary.

    >>> text = Sentences.encode([["a", "b"], ["b"]])
    >>> text.ids.tolist(), text.offsets.tolist()
    ([1, 0, 0], [0, 2, 3])
    """

    ids: I4  # [tokens]
    offsets: I8  # [sentences + 1]
    vocabulary: Vocabulary

    @classmethod
    def encode(cls, sentences: Sequence[Sequence[str]], vocabulary: Vocabulary | None = None) -> Sentences:
        """Encode tokenised sentences, with a vocabulary of their own unless one is given."""
        vocabulary = Vocabulary.from_text(sentences) if vocabulary is None else vocabulary
        offsets = offsets_from(map(len, sentences))
        get = vocabulary._ids.get
        ids = np.fromiter((get(word, -1) for sentence in sentences for word in sentence), np.int32, int(offsets[-1]))
        return cls(ids, offsets, vocabulary)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> I4:
        return self.ids[self.offsets[index] : self.offsets[index + 1]]

    def __iter__(self) -> Iterator[I4]:
        return (self[index] for index in range(len(self)))

    @property
    def lengths(self) -> I8:
        """Tokens per sentence, int64[sentences]."""
        return np.diff(self.offsets)

    @property
    def longest(self) -> int:
        """Tokens of the longest sentence (0 without sentences)."""
        return int(self.lengths.max(initial=0))


@dataclass(frozen=True)
class Bitext:
    """Two parallel sides: sentence `s` of one is the translation of sentence `s` of the other."""

    source: Sentences
    target: Sentences

    def __post_init__(self) -> None:
        if len(self.source) != len(self.target):
            raise ValueError(f"{len(self.source)} source but {len(self.target)} target sentences")

    def __len__(self) -> int:
        return len(self.source)

    @classmethod
    def encode(cls, source: Sequence[Sequence[str]], target: Sequence[Sequence[str]]) -> Bitext:
        """Encode two tokenised sides, each with its own vocabulary."""
        return cls(Sentences.encode(source), Sentences.encode(target))

    def swapped(self) -> Bitext:
        """Return the same pairs in the other direction."""
        return Bitext(self.target, self.source)
