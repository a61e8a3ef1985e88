"""Words that look alike across languages: names, numbers, punctuation, cognates.

A rare word is seen too seldom for its translation to be learnt from counts alone. A common beginning is weak evidence,
in any pair of languages that share a script, and is given as a pseudo-count that frequent words soon outweigh.
"""

from __future__ import annotations

import unicodedata

import numpy as np
import numpy.typing as npt

from camber.align.links import LinkIndex
from camber.arrays.ragged import offsets_from
from camber.arrays.types import F4, I4, I8
from camber.corpus.vocabulary import Vocabulary
from camber.kernel import kernel

#: Words that begin with fewer equal letters are not alike, unless they are the same word.
SHORTEST = 3


def likeness(index: LinkIndex, source: Vocabulary, target: Vocabulary) -> F4:
    """Return, for every entry of a link index, how alike its two words look: float32[entries], from 0 to 1.

    It is the length of the common beginning over the length of the longer word, without case and accents, or 0 where
    the beginning has fewer than three letters.

    >>> from camber.align.links import link_index
    >>> from camber.corpus import Bitext
    >>> bitext = Bitext.encode([["président", ","]], [["presidency"]])
    >>> likeness(link_index(bitext), bitext.source.vocabulary, bitext.target.vocabulary).tolist()
    [0.0, 0.800000011920929]
    """
    source_letters, source_offsets = _letters(source, np.flatnonzero(np.diff(index.entry_offsets)))
    target_letters, target_offsets = _letters(target, np.unique(index.entry_targets))
    alike = np.zeros(index.entry_count, np.float32)
    _likeness(
        index.entry_offsets,
        index.entry_targets,
        source_letters,
        source_offsets,
        target_letters,
        target_offsets,
        SHORTEST,
        alike,
    )
    return alike


def _letters(vocabulary: Vocabulary, used: npt.NDArray[np.integer]) -> tuple[I4, I8]:
    """Return the letters of words as code points, without case and accents, and where each word begins.

    Words that are not `used` have no letters: a few pairs use few words of a large vocabulary.
    """
    plain = [""] * len(vocabulary)
    for number in used.tolist():
        word = vocabulary.words[number].casefold()
        plain[number] = word if word.isascii() else _without_accents(word)
    text = "".join(plain).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(text, np.dtype("<i4")).astype(np.int32), offsets_from(map(len, plain))


def _without_accents(word: str) -> str:
    """Drop combining marks; a word of marks only stays as it is."""
    plain = "".join(letter for letter in unicodedata.normalize("NFKD", word) if not unicodedata.combining(letter))
    return plain or word


@kernel
def _likeness(
    entry_offsets, entry_targets, source_letters, source_offsets, target_letters, target_offsets, shortest, alike
):
    for word in range(len(entry_offsets) - 1):
        a, length = source_offsets[word], source_offsets[word + 1] - source_offsets[word]
        for entry in range(entry_offsets[word], entry_offsets[word + 1]):
            b = target_offsets[entry_targets[entry]]
            other = target_offsets[entry_targets[entry] + 1] - b
            shorter, longer = min(length, other), max(length, other)
            same = 0
            while same < shorter and source_letters[a + same] == target_letters[b + same]:
                same += 1
            if same >= shortest or (same == longer and same > 0):
                alike[entry] = same / longer
