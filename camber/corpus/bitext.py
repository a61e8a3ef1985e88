"""Token ids of many sentences in one array, and of both sides of a parallel corpus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np

from camber.arrays.ragged import offsets_from, take_ragged
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


class Encoder:
    """Encode sentences as they come: of a long text, only ids and different words are kept.

    >>> encoder = Encoder()
    >>> encoder.add([["a", "b"], ["c"]])
    >>> encoder.add([["b"]])
    >>> text = encoder.sentences(np.array([0, 2]))
    >>> text.ids.tolist(), text.vocabulary.words
    ([1, 0, 0], ('b', 'a'))
    """

    def __init__(self) -> None:
        self._numbers = _Numbers()  # words in the order in which they came
        self._ids: list[I4] = [np.zeros(0, np.int32)]
        self._lengths: list[I8] = [np.zeros(0, np.int64)]

    def add(self, sentences: Sequence[Sequence[str]]) -> None:
        """Encode some more sentences."""
        self._append(*_encoded(sentences, self._numbers))

    def take(self, encoded: Encoded) -> None:
        """Append sentences that were encoded elsewhere."""
        numbers = np.fromiter(map(self._numbers.__getitem__, encoded.words), np.int32, len(encoded.words))
        self._append(numbers[encoded.ids], encoded.lengths)

    def _append(self, ids: I4, lengths: I8) -> None:
        self._ids.append(ids)
        self._lengths.append(lengths)

    @property
    def lengths(self) -> I8:
        """Tokens of every sentence so far."""
        return np.concatenate(self._lengths)

    def sentences(self, rows: I8) -> Sentences:
        """Return some of the sentences, with a vocabulary of their words: what `Sentences.encode` makes of them."""
        ids, offsets = take_ragged(np.concatenate(self._ids), offsets_from(self.lengths), rows)
        counts = np.bincount(ids, minlength=len(self._numbers)).tolist()
        used = [(-count, word, number) for (word, number), count in zip(self._numbers.items(), counts, strict=True)]
        order = [(word, number) for count, word, number in sorted(used) if count]
        new = np.full(len(self._numbers), -1, np.int32)
        new[[number for _, number in order]] = np.arange(len(order))
        return Sentences(new[ids], offsets, Vocabulary([word for word, _ in order]))


class Encoded(NamedTuple):
    """Sentences with numbers of their own for words, in the order in which these come.

    >>> Encoded.of([["b", "a"], ["b"]])
    Encoded(words=('b', 'a'), ids=array([0, 1, 0], dtype=int32), lengths=array([2, 1]))
    """

    words: tuple[str, ...]
    ids: I4  # [tokens]
    lengths: I8  # [sentences]

    @classmethod
    def of(cls, sentences: Sequence[Sequence[str]]) -> Encoded:
        """Encode tokenised sentences; an :class:`Encoder` takes them, block by block."""
        numbers = _Numbers()
        ids, lengths = _encoded(sentences, numbers)
        return cls(tuple(numbers), ids, lengths)


def _encoded(sentences: Sequence[Sequence[str]], numbers: _Numbers) -> tuple[I4, I8]:
    """Return the numbers of all words, int32[tokens], and how many each sentence has, int64[sentences]."""
    lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
    tokens = chain.from_iterable(sentences)
    return np.fromiter(map(numbers.__getitem__, tokens), np.int32, int(lengths.sum())), lengths


class _Numbers(dict[str, int]):
    """Numbers of words, which new ones get when they are asked for."""

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        return number


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
