"""Vocabularies: words ↔ integer ids.

A vocabulary holds only words of the text. There are no special entries: `<s>`, `</s>` and `<unk>` are ordinary words
here if the text contains them, and an unknown word is the id -1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from copy import copy
from pathlib import Path

import numpy as np

from camber.arrays.types import I8
from camber.errors import ModelError
from camber.files import decode_lines, read_bytes, write_lines

UNKNOWN = -1


class Vocabulary:
    """Words by id, most frequent first when it was made from text.

    >>> v = Vocabulary.from_text([["b", "a", "b"]])
    >>> v.words, v.id("a"), v.id("zebra")
    (('b', 'a'), 1, -1)
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)
        self._ids = {word: index for index, word in enumerate(self.words)}
        if len(self._ids) != len(self.words):
            raise ValueError("a word occurs twice in a vocabulary")

    @classmethod
    def from_text(cls, sentences: Iterable[Sequence[str]]) -> Vocabulary:
        """Collect the words of tokenised sentences, by falling frequency, then in code point order."""
        counts: Counter[str] = Counter()
        for sentence in sentences:
            counts.update(sentence)
        return cls(sorted(counts, key=lambda word: (-counts[word], word)))

    def __len__(self) -> int:
        return len(self.words)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.words == other.words

    def __hash__(self) -> int:
        return hash(self.words)

    def id(self, word: str) -> int:
        """Return the id of a word, -1 if it is unknown."""
        return self._ids.get(word, UNKNOWN)

    def missing(self, words: Iterable[str]) -> list[int]:
        """Return the positions of unknown words.

        >>> Vocabulary(["a", "b"]).missing(["a", "c", "b", "d"])
        [1, 3]
        """
        ids = self._ids
        return [position for position, word in enumerate(words) if word not in ids]

    def encode(self, sentence: Iterable[str]) -> I8:
        """Return the ids of a tokenised sentence."""
        get = self._ids.get
        return np.array([get(word, UNKNOWN) for word in sentence], np.int64)

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Return the words of known ids."""
        return [self.words[index] for index in ids]

    def extended(self, words: Iterable[str]) -> Vocabulary:
        """Return a vocabulary with the new ones among `words` appended; old ids stay."""
        new = dict.fromkeys(word for word in words if word not in self._ids)
        if not new:
            return self
        longer = copy(self)
        longer.words = (*self.words, *new)
        longer._ids = {**self._ids, **dict(zip(new, range(len(self), len(longer.words)), strict=True))}
        return longer

    def save(self, path: str | Path) -> None:
        """Write one word per line; line n is id n."""
        write_lines(path, self.words)

    @classmethod
    def load(cls, path: str | Path) -> Vocabulary:
        """Read what :meth:`save` wrote."""
        return cls.of_lines(decode_lines(read_bytes(path), path, exact=True), Path(path))

    @classmethod
    def of_lines(cls, words: Sequence[str], path: Path) -> Vocabulary:
        """Make the vocabulary of a file's lines, which must all be different."""
        try:
            return cls(words)
        except ValueError as error:
            raise ModelError(f"{path}: {error}; copy or train the model again") from None
