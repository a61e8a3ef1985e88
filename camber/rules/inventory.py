"""The large set of features of rules (toutanova2013, Section 2.2): which indicators there are, and their names.

An :class:`Inventory` is made once, when a model is trained; a :class:`~camber.rules.measuring.Measurer` made from it
tells the features of any rules, so that those of added pairs have the same. A rule has few indicators, which are kept
as their numbers.

==============================  ======================================================================================
``inserts:the``                 a target word *the* without a link
``deletes:der``                 a source word *der* without a link
``inserts_like:dog``            a target word without a link, of the cluster whose most frequent word is *dog*
``deletes_like:hund``           the same of the source side
``signature:ein+hund>a+dog``    the words of both sides belong to these clusters, one after the other
``signature:ein+[1]>a+[1]``     the same of a rule with gaps
``lex_t_given_s_subwords``      the product, over the pieces of the target words, of their probability given the piece
                                of the source words (or NULL) that explains it best
``lex_s_given_t_subwords``      the reverse
==============================  ======================================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Self
from urllib.parse import quote

import numpy as np
import numpy.typing as npt

from camber.arrays.checks import Checks
from camber.arrays.files import Shapes, open_arrays, read_facts, save_arrays, save_facts
from camber.arrays.ragged import offsets_from, take_ragged
from camber.arrays.types import I2, I4, I8
from camber.corpus.vocabulary import Vocabulary
from camber.errors import ModelError
from camber.features.feature import INDICATOR, RULE, Feature
from camber.rules.features import GROUPS
from camber.rules.numbering import number_phrases
from camber.rules.settings import WordSettings
from camber.rules.words import SideWords, WordKnowledge

#: Separates the clusters of both sides in a signature.
BETWEEN = -2

#: The gaps in a signature are the symbols of rules, -1 and -2, moved by this: -1 is a word without a cluster.
GAP = -2

#: Version of the file that :meth:`Inventory.save` writes.
FORMAT = 1

#: What names of weights, lists and bins must not hold in a word.
_SPECIAL = "=|@%+>#"

#: How names write gaps.
_GAPS = ("[1]", "[2]")

_ARRAYS: Shapes = {
    "source_marks": (np.int16, 2),
    "target_marks": (np.int16, 2),
    "signature_ids": (np.int32, 1),
    "signature_offsets": (np.int64, 1),
}


@dataclass(frozen=True)
class Inventory:
    """Which indicators there are, and what must be known to tell those of a rule."""

    names: tuple[str, ...]  # of all indicators
    sizes: tuple[int, ...]  # indicators of every group, in the order of GROUPS
    source_marks: I2  # [2, words] the indicators of a word without a link: of the word itself, of its cluster; or -1
    target_marks: I2  # [2, words]
    signature_ids: I4  # clusters of the source side, BETWEEN, clusters of the target side; below it: gaps
    signature_offsets: I8  # [signatures + 1]
    words: WordKnowledge

    @classmethod
    def make(
        cls,
        words: WordKnowledge,
        vocabularies: tuple[Vocabulary, Vocabulary],
        signatures: tuple[I4, I8],
        settings: WordSettings,
    ) -> Self:
        """Choose the most frequent words and all clusters; `signatures` were chosen (:func:`frequent_sequences`)."""
        source, target = words.source, words.target
        inserted, deleted = (_most_frequent(side.counts, settings.frequent_words) for side in (target, source))
        inserted_like, deleted_like = (np.unique(side.clusters) for side in (target, source))
        sizes = len(inserted), len(deleted), len(inserted_like), len(deleted_like), len(signatures[1]) - 1
        first = offsets_from(sizes)
        source_words, target_words = map(_representatives, (source, target), vocabularies)
        names = [f"inserts:{_plain(vocabularies[1].words[word])}" for word in inserted.tolist()]
        names += [f"deletes:{_plain(vocabularies[0].words[word])}" for word in deleted.tolist()]
        names += [f"inserts_like:{target_words[cluster]}" for cluster in inserted_like.tolist()]
        names += [f"deletes_like:{source_words[cluster]}" for cluster in deleted_like.tolist()]
        for a, b in pairwise(signatures[1].tolist()):
            clusters = signatures[0][a:b].tolist()
            middle = clusters.index(BETWEEN)
            left, right = clusters[:middle], clusters[middle + 1 :]
            names.append(f"signature:{_joined(source_words, left)}>{_joined(target_words, right)}")
        return cls(
            tuple(names),
            sizes,
            _marks(source, deleted, int(first[1]), deleted_like, int(first[3])),
            _marks(target, inserted, int(first[0]), inserted_like, int(first[2])),
            *signatures,
            words,
        )

    def columns(self, names: Sequence[str]) -> I8:
        """Return the column of every indicator when some groups are chosen, -1 for the others: int64[indicators]."""
        columns = np.full(len(self.names), -1, np.int64)
        first = offsets_from(self.sizes)
        width = 0
        for number, group in enumerate(GROUPS):
            if group in names:
                columns[first[number] : first[number + 1]] = np.arange(self.sizes[number]) + width
                width += self.sizes[number]
        return columns

    def features(self, names: Sequence[str]) -> tuple[Feature, ...]:
        """Return the indicators of the groups among `names`."""
        columns = self.columns(names)
        return tuple(Feature(self.names[k], INDICATOR, RULE) for k in np.flatnonzero(columns >= 0).tolist())

    def save(self, folder: Path) -> None:
        """Write everything into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        save_arrays(folder, {name: getattr(self, name) for name in _ARRAYS}, _ARRAYS)
        self.words.save(folder / "words")
        save_facts(folder / "indicators.json", FORMAT, {"names": self.names, "sizes": self.sizes})

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Open what :meth:`save` wrote."""
        facts = read_facts(
            folder / "indicators.json", "an inventory of features", FORMAT, {"names": tuple, "sizes": tuple}
        )
        words = WordKnowledge.load(folder / "words")
        inventory = cls(**facts, **open_arrays(folder, _ARRAYS), words=words)
        checks, count = Checks(folder), len(inventory.names)
        sizes = inventory.sizes
        fits = len(sizes) == len(GROUPS) and all(isinstance(size, int) and size >= 0 for size in sizes)
        if not (fits and sum(sizes) == count and all(isinstance(name, str) for name in inventory.names)):
            raise ModelError(f"{folder / 'indicators.json'}: its lists do not fit together; {checks.remedy}")
        checks.offsets("signature_offsets", inventory.signature_offsets, sizes[-1], len(inventory.signature_ids))
        for name, marks, side in (
            ("source_marks", inventory.source_marks, words.source),
            ("target_marks", inventory.target_marks, words.target),
        ):
            checks.shape(name, marks, 2, len(side.clusters))
            checks.below(name, marks, count, least=-1)
        return inventory


def frequent_sequences(ids: I4, offsets: I8, often: npt.ArrayLike, number: int) -> tuple[I4, I8]:
    """Return so many of the distinct sequences ``ids[offsets[k]:offsets[k + 1]]``, by falling sums of often[k].

    Of equals, the one that comes first is taken first.

    >>> ids, offsets = np.array([7, 8, 9, 7, 8], np.int32), np.array([0, 2, 3, 5])
    >>> [column.tolist() for column in frequent_sequences(ids, offsets, [1, 1, 1], 1)]
    [[7, 8], [0, 2]]
    """
    numbers, rows, _ = number_phrases(ids, offsets)
    best = _most_frequent(np.bincount(numbers, np.asarray(often, np.float64), len(rows)), number)
    return take_ragged(ids, offsets, rows[best])


def _most_frequent(counts: npt.NDArray[np.number], number: int) -> I8:
    """Return what was seen most often, the first of equals first."""
    return np.argsort(-counts, kind="stable")[:number].astype(np.int64)


def _plain(word: str) -> str:
    """Return a word as a name of a weight may hold it.

    >>> _plain("="), _plain("l'été"), _plain("[1]")
    ('%3D', "l'été", '%5B1]')
    """
    if word in _GAPS:
        return quote(word[0], "") + word[1:]
    return "".join(c if c.isprintable() and not c.isspace() and c not in _SPECIAL else quote(c, "") for c in word)


def _joined(words: Sequence[str], clusters: Sequence[int]) -> str:
    return "+".join(words[cluster] if cluster >= 0 else _GAPS[GAP - 1 - cluster] for cluster in clusters)


def _representatives(side: SideWords, vocabulary: Vocabulary) -> list[str]:
    """Return the most frequent word of every cluster, as names may hold it; empty for a cluster without words."""
    texts = [""] * (int(side.clusters.max(initial=-1)) + 1)
    for word in _most_frequent(side.counts, len(side.counts))[::-1].tolist():
        texts[side.clusters[word]] = vocabulary.words[word]
    return list(map(_plain, texts))


def _marks(side: SideWords, frequent: I8, first: int, clusters: I4, first_cluster: int) -> I2:
    """Return the indicators of words that are inserted or deleted: int16[2, words]."""
    marks = np.full((2, len(side.clusters)), -1, np.int16)
    marks[0, frequent] = first + np.arange(len(frequent))
    marks[1] = first_cluster + np.searchsorted(clusters, side.clusters)
    return marks
