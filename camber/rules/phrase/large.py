"""The large set of features of phrase pairs (toutanova2013, Section 2.2): indicators, and weights by pieces of words.

An :class:`Inventory` says which indicators there are; :meth:`Inventory.measure` gives those of the rules of any store,
so that phrases of added pairs have the same features. A rule has few indicators, which are kept as their numbers.

========================  ==========================================================================================
``inserts:the``           a target word *the* without a link
``deletes:der``           a source word *der* without a link
``inserts_like:dog``      a target word without a link, of the cluster whose most frequent word is *dog*
``deletes_like:hund``     the same of the source side
``signature:ein+hund>a+dog``  the words of both sides belong to these clusters, one after the other
``lex_t_given_s_subwords``  the product, over the pieces of the target words, of their probability given the piece of
                          the source words (or NULL) that explains it best; ``lex_s_given_t_subwords``: the reverse
========================  ==========================================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Self
from urllib.parse import quote

import numpy as np
import numpy.typing as npt

from camber.arrays.files import Shapes, open_arrays, read_facts, save_arrays, save_facts
from camber.arrays.ragged import offsets_from, take_ragged
from camber.arrays.types import F4, I2, I4, I8, Array
from camber.corpus.vocabulary import Vocabulary
from camber.errors import ModelError
from camber.features.feature import INDICATOR, RULE, Feature
from camber.kernel import kernel
from camber.rules.phrase.features import GROUPS, SUBWORD_NAMES
from camber.rules.phrase.numbering import look_up, number_phrases
from camber.rules.phrase.scoring import Lexicon, hashed_lexicon, lexicon_slot
from camber.rules.phrase.settings import RuleSettings
from camber.rules.phrase.store import RuleStore
from camber.rules.phrase.words import SideWords, WordKnowledge

#: The least probability of a piece of a word: what explains it may stand outside of the phrase pair.
LEAST = 1e-7

#: Separates the clusters of both sides in a signature.
_BETWEEN = -2

#: The least score: products of small numbers may leave the range of single precision.
TINY = float(np.finfo(np.float32).tiny)

#: Version of the folder that :meth:`LargeFeatures.save` writes.
FORMAT = 1

#: What names of weights, lists and bins must not hold in a word.
_SPECIAL = "=|@%+>#"

_INVENTORY: Shapes = {
    "source_marks": (np.int16, 2),
    "target_marks": (np.int16, 2),
    "signature_ids": (np.int32, 1),
    "signature_offsets": (np.int64, 1),
}
_MEASURED: Shapes = {"numbers": (np.int16, 1), "offsets": (np.int64, 1), "subword_scores": (np.float32, 2)}


@dataclass(frozen=True)
class Measured:
    """What an inventory says about the rules of a store; rule r has the indicators ``numbers[offsets[r]:][...]``."""

    numbers: I2  # [indicators of all rules]
    offsets: I8  # [rules + 1]
    subword_scores: F4  # [rules, 2] columns SUBWORD_NAMES


@dataclass(frozen=True)
class Inventory:
    """Which indicators there are, and what must be known to tell those of a rule."""

    names: tuple[str, ...]  # of all indicators
    sizes: tuple[int, ...]  # indicators of every group, in the order of GROUPS
    source_marks: I2  # [2, words] the indicators of a word without a link: of the word itself, of its cluster; or -1
    target_marks: I2  # [2, words]
    signature_ids: I4  # clusters of the source words, _BETWEEN, clusters of the target words
    signature_offsets: I8  # [signatures + 1]
    words: WordKnowledge

    @classmethod
    def make(cls, words: WordKnowledge, store: RuleStore, settings: RuleSettings) -> Self:
        """Choose the most frequent words, clusters and signatures; a signature counts as often as its phrase pairs."""
        source, target = words.source, words.target
        inserted, deleted = (_most_frequent(side.counts, settings.frequent_words) for side in (target, source))
        inserted_like, deleted_like = (np.unique(side.clusters) for side in (target, source))
        ids, offsets = _cluster_sequences(store, source.clusters, target.clusters)
        number, rows, _ = number_phrases(ids, offsets)
        often = np.bincount(number, store.counts[:, 1], len(rows)).astype(np.int64)
        best = _most_frequent(often, settings.signatures)
        signature_ids, signature_offsets = take_ragged(ids, offsets, rows[best])
        sizes = len(inserted), len(deleted), len(inserted_like), len(deleted_like), len(best)
        first = offsets_from(sizes)
        source_words, target_words = (
            _representatives(side, vocabulary)
            for side, vocabulary in ((source, store.source_vocabulary), (target, store.target_vocabulary))
        )
        names = [f"inserts:{_plain(store.target_vocabulary.words[word])}" for word in inserted.tolist()]
        names += [f"deletes:{_plain(store.source_vocabulary.words[word])}" for word in deleted.tolist()]
        names += [f"inserts_like:{target_words[cluster]}" for cluster in inserted_like.tolist()]
        names += [f"deletes_like:{source_words[cluster]}" for cluster in deleted_like.tolist()]
        for a, b in pairwise(signature_offsets.tolist()):
            clusters = signature_ids[a:b].tolist()
            middle = clusters.index(_BETWEEN)
            left, right = clusters[:middle], clusters[middle + 1 :]
            names.append(f"signature:{_joined(source_words, left)}>{_joined(target_words, right)}")
        return cls(
            tuple(names),
            sizes,
            _marks(source, deleted, int(first[1]), deleted_like, int(first[3])),
            _marks(target, inserted, int(first[0]), inserted_like, int(first[2])),
            signature_ids,
            signature_offsets,
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

    def measurer(self, source: Vocabulary, target: Vocabulary) -> Measurer:
        """Return what measures the rules of stores with these vocabularies, which begin with those of the training.

        Words that came later are in no cluster, but have pieces.
        """
        _, known, slots = number_phrases(self.signature_ids, self.signature_offsets)
        signatures = _Signatures(
            slots, self.signature_ids, self.signature_offsets, known, len(self.names) - self.sizes[-1]
        )
        return Measurer(
            self,
            _Side.of(self.words.source, self.source_marks, source),
            _Side.of(self.words.target, self.target_marks, target),
            signatures,
            hashed_lexicon(self.words.lexicon),
        )


class _Side(NamedTuple):
    """The words of one side of rules."""

    clusters: Array  # int32[words], -1: none
    marks: Array  # int16[2, words] as in `Inventory`
    pieces: Array  # int32[pieces of all words], -1: an unknown character
    piece_offsets: Array  # int64[words + 1]

    @classmethod
    def of(cls, side: SideWords, marks: I2, vocabulary: Vocabulary) -> _Side:
        """Lay out what is known about the words of a vocabulary."""
        size = len(vocabulary)
        return cls(_extended(side.clusters, size), _extended(marks, size), *side.subwords.segment(vocabulary.words))


class _Signatures(NamedTuple):
    """The known signatures, and the number of the first one among the indicators."""

    slots: I8
    ids: I4
    offsets: I8
    rows: I8
    first: int


class _Rules(NamedTuple):
    """Columns of a rule store."""

    source_ids: Array
    source_offsets: Array
    rule_offsets: Array
    target_ids: Array
    target_offsets: Array
    links: Array
    link_offsets: Array


@dataclass(frozen=True)
class Measurer:
    """Tells the large features of rules whose words it was prepared for."""

    inventory: Inventory
    source: _Side
    target: _Side
    signatures: _Signatures
    lexicon: Lexicon

    def measure(self, store: RuleStore) -> LargeFeatures:
        """Return the indicators and the weights by pieces of all rules of a store."""
        rules = _Rules(*(getattr(store, name) for name in _Rules._fields))
        numbers, offsets = self._indicators(store, rules)
        scores = np.empty((len(store), 2), np.float32)
        longest = int(np.diff(store.source_offsets).max(initial=0) * np.diff(self.source.piece_offsets).max(initial=0))
        _weigh_pieces(rules, self.source, self.target, self.lexicon, np.empty(longest), scores)
        return LargeFeatures(self.inventory, Measured(numbers, offsets, scores))

    def _indicators(self, store: RuleStore, rules: _Rules) -> tuple[I2, I8]:
        ids, places = _cluster_sequences(store, self.source.clusters, self.target.clusters)
        known = self.signatures
        signatures = np.empty(len(store), np.int64)
        every = np.arange(len(store))
        look_up(ids, places, every, known.slots, known.ids, known.offsets, known.rows, 0, False, signatures)
        signatures[signatures >= 0] += known.first
        # every word has two indicators at most, and a rule one signature
        words = int(np.diff(store.source_offsets) @ np.diff(store.rule_offsets)) + len(store.target_ids)
        numbers, offsets = np.empty(2 * words + len(store), np.int16), np.zeros(len(store) + 1, np.int64)
        _mark(rules, self.source.marks, self.target.marks, signatures, numbers, offsets)
        return numbers[: offsets[-1]].copy(), offsets


@dataclass(frozen=True)
class LargeFeatures:
    """An inventory, and what it says about the rules of a store."""

    inventory: Inventory
    measured: Measured

    @staticmethod
    def of(words: WordKnowledge, store: RuleStore, settings: RuleSettings) -> LargeFeatures:
        """Choose indicators for the rules of a store, and measure them."""
        inventory = Inventory.make(words, store, settings)
        return inventory.measurer(store.source_vocabulary, store.target_vocabulary).measure(store)

    def save(self, folder: Path) -> None:
        """Write everything into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        save_arrays(folder, {name: getattr(self.inventory, name) for name in _INVENTORY}, _INVENTORY)
        save_arrays(folder, {name: getattr(self.measured, name) for name in _MEASURED}, _MEASURED)
        self.inventory.words.save(folder / "words")
        save_facts(folder / "indicators.json", FORMAT, {"names": self.inventory.names, "sizes": self.inventory.sizes})

    @classmethod
    def load(cls, folder: Path, store: RuleStore) -> Self:
        """Open what :meth:`save` wrote for this store."""
        facts = read_facts(
            folder / "indicators.json", "an inventory of features", FORMAT, {"names": tuple, "sizes": tuple}
        )
        words = WordKnowledge.load(folder / "words")
        inventory = Inventory(**facts, **open_arrays(folder, _INVENTORY), words=words)
        measured = Measured(**open_arrays(folder, _MEASURED))
        fits = (
            len(measured.offsets) == len(measured.subword_scores) + 1 == len(store) + 1
            and measured.offsets[-1] == len(measured.numbers)
            and measured.subword_scores.shape[1] == len(SUBWORD_NAMES)
            and sum(inventory.sizes) == len(inventory.names)
            and inventory.source_marks.shape == (2, len(words.source.clusters))
            and inventory.target_marks.shape == (2, len(words.target.clusters))
        )
        if not fits:
            raise ModelError(f"{folder}: the features do not fit the rules; train the model again")
        return cls(inventory, measured)


def _most_frequent(counts: I8, number: int) -> I8:
    """Return what was seen most often, the first of equals first."""
    return np.argsort(-counts, kind="stable")[:number].astype(np.int64)


def _plain(word: str) -> str:
    """Return a word as a name of a weight may hold it.

    >>> _plain("="), _plain("l'été")
    ('%3D', "l'été")
    """
    return "".join(c if c.isprintable() and not c.isspace() and c not in _SPECIAL else quote(c, "") for c in word)


def _joined(words: Sequence[str], clusters: Sequence[int]) -> str:
    return "+".join(words[cluster] for cluster in clusters)


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


def _extended(columns: npt.NDArray[Any], words: int) -> npt.NDArray[Any]:
    """Return columns of words, [..., words], with -1 for new ones."""
    new = words - columns.shape[-1]
    if new < 0:
        raise ModelError("the rules belong to other features than these; train the model again")
    return np.concatenate((columns, np.full((*columns.shape[:-1], new), -1, columns.dtype)), axis=-1)


def _cluster_sequences(store: RuleStore, source: I4, target: I4) -> tuple[I4, I8]:
    """Return the clusters of the source words, _BETWEEN, and those of the target words of every rule."""
    owners = np.repeat(np.arange(store.phrases), np.diff(store.rule_offsets))
    sizes = np.diff(store.source_offsets)[owners]
    lengths = np.diff(store.target_offsets)
    offsets = offsets_from(sizes + lengths + 1)
    sequences = np.full(int(offsets[-1]), _BETWEEN, np.int32)
    _lay_out(
        store.source_ids,
        store.source_offsets,
        owners,
        store.target_ids,
        store.target_offsets,
        source,
        target,
        offsets,
        sequences,
    )
    return sequences, offsets


@kernel
def _lay_out(source_ids, source_offsets, owners, target_ids, target_offsets, source, target, offsets, sequences):
    for rule in range(len(owners)):
        at = offsets[rule]
        for s in range(source_offsets[owners[rule]], source_offsets[owners[rule] + 1]):
            sequences[at] = source[source_ids[s]]
            at += 1
        at += 1
        for t in range(target_offsets[rule], target_offsets[rule + 1]):
            sequences[at] = target[target_ids[t]]
            at += 1


@kernel
def _note(number, first, count, numbers):
    """Put an indicator behind those of a rule, unless it is none (-1) or there; return how many there are in all."""
    if number < 0:
        return count
    for k in range(first, count):
        if numbers[k] == number:
            return count
    numbers[count] = number
    return count + 1


@kernel
def _mark(rules, source_marks, target_marks, signatures, numbers, offsets):
    """Fill the numbers of all indicators, rule after rule, and offsets int64[rules + 1]."""
    count = 0
    for phrase in range(len(rules.source_offsets) - 1):
        a, b = rules.source_offsets[phrase], rules.source_offsets[phrase + 1]
        for rule in range(rules.rule_offsets[phrase], rules.rule_offsets[phrase + 1]):
            first = count
            c, d = rules.target_offsets[rule], rules.target_offsets[rule + 1]
            links = rules.links[rules.link_offsets[rule] : rules.link_offsets[rule + 1]]
            for t in range(c, d):
                if not _linked(links, 1, t - c):
                    for row in range(2):
                        count = _note(target_marks[row, rules.target_ids[t]], first, count, numbers)
            for s in range(a, b):
                if not _linked(links, 0, s - a):
                    for row in range(2):
                        count = _note(source_marks[row, rules.source_ids[s]], first, count, numbers)
            count = _note(signatures[rule], first, count, numbers)
            offsets[rule + 1] = count


@kernel
def _linked(links, side, place):
    """Say whether the word at a place of one side (0: source, 1: target) has a link."""
    linked = False
    for k in range(len(links)):
        linked = linked or links[k, side] == place
    return linked


@kernel
def _weigh_pieces(rules, source, target, lexicon, best, scores):
    """Multiply, over the pieces of one side, the probability given the piece of the other side that explains it best.

    best: float64 scratch for the pieces of a source phrase; scores float32[rules, 2] is filled.
    """
    null = np.int64(-1)
    for phrase in range(len(rules.source_offsets) - 1):
        a, b = rules.source_offsets[phrase], rules.source_offsets[phrase + 1]
        for rule in range(rules.rule_offsets[phrase], rules.rule_offsets[phrase + 1]):
            size = 0
            for s in range(a, b):
                word = rules.source_ids[s]
                for v in range(source.piece_offsets[word], source.piece_offsets[word + 1]):
                    best[size] = LEAST
                    slot = lexicon_slot(lexicon, source.pieces[v], null)
                    if source.pieces[v] >= 0 and slot >= 0:
                        best[size] = max(best[size], lexicon.values[slot, 0])
                    size += 1
            forward = 1.0
            for t in range(rules.target_offsets[rule], rules.target_offsets[rule + 1]):
                word = rules.target_ids[t]
                for u in range(target.piece_offsets[word], target.piece_offsets[word + 1]):
                    piece = np.int64(target.pieces[u])
                    forward *= _explained(piece, rules.source_ids[a:b], source, lexicon, best)
            backward = 1.0
            for k in range(size):
                backward *= best[k]
            scores[rule, 0] = max(backward, TINY)
            scores[rule, 1] = max(forward, TINY)


@kernel
def _explained(piece, words, source, lexicon, best):
    """Return the greatest probability of a target piece; raise those of the source pieces where it explains them."""
    if piece < 0:
        return LEAST
    slot = lexicon_slot(lexicon, np.int64(-1), piece)
    most = max(LEAST, lexicon.values[slot, 1]) if slot >= 0 else LEAST
    k = 0
    for word in words:
        for v in range(source.piece_offsets[word], source.piece_offsets[word + 1]):
            if source.pieces[v] >= 0:
                slot = lexicon_slot(lexicon, np.int64(source.pieces[v]), piece)
                if slot >= 0:
                    most = max(most, lexicon.values[slot, 1])
                    best[k] = max(best[k], lexicon.values[slot, 0])
            k += 1
    return most
