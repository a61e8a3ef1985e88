"""What an inventory says about rules: the numbers of their indicators, and lexical weights by pieces of words.

Phrase pairs and hierarchical rules are measured alike; a gap is no word, and has its place in a signature only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from camber.arrays.ragged import offsets_from
from camber.arrays.types import F4, I2, I4, I8, Array
from camber.corpus.vocabulary import Vocabulary
from camber.errors import ModelError
from camber.kernel import kernel
from camber.rules.features import GROUPS, LEARNT_NAMES, SUBWORD_NAMES
from camber.rules.inventory import BETWEEN, GAP, Inventory
from camber.rules.lexicon import Lexicon, hashed_lexicon, lexicon_slot
from camber.rules.numbering import look_up, number_phrases
from camber.rules.sides import RuleSides
from camber.rules.words import SideWords

#: The least probability of a piece of a word: what explains it may stand outside of the rule.
LEAST = 1e-7

#: The least score: products of small numbers may leave the range of single precision.
TINY = float(np.finfo(np.float32).tiny)


class Measured(NamedTuple):
    """What an inventory says about rules; rule r has the indicators ``numbers[offsets[r]:offsets[r + 1]]``."""

    numbers: I2  # [indicators of all rules]
    offsets: I8  # [rules + 1]
    subword_scores: F4  # [rules, 2] columns SUBWORD_NAMES

    @property
    def nbytes(self) -> int:
        """Bytes of all columns."""
        return self.numbers.nbytes + self.offsets.nbytes + self.subword_scores.nbytes


class _Words(NamedTuple):
    """The words of one side of rules."""

    clusters: Array  # int32[words], -1: none
    marks: Array  # int16[2, words] as in `Inventory`
    pieces: Array  # int32[pieces of all words], -1: an unknown character
    piece_offsets: Array  # int64[words + 1]

    @classmethod
    def of(cls, side: SideWords, marks: I2, vocabulary: Vocabulary) -> _Words:
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


@dataclass(frozen=True)
class Measurer:
    """Tells the large features of rules whose words it was prepared for. Threads may share it."""

    source: _Words
    target: _Words
    signatures: _Signatures
    lexicon: Lexicon

    @classmethod
    def of(cls, inventory: Inventory, source: Vocabulary, target: Vocabulary) -> Measurer:
        """Prepare for rules with these vocabularies, which begin with those of the training.

        Words that came later are in no cluster, but have pieces.
        """
        ids, offsets = inventory.signature_ids, inventory.signature_offsets
        _, rows, slots = number_phrases(ids, offsets)
        return cls(
            _Words.of(inventory.words.source, inventory.source_marks, source),
            _Words.of(inventory.words.target, inventory.target_marks, target),
            _Signatures(slots, ids, offsets, rows, len(inventory.names) - inventory.sizes[-1]),
            hashed_lexicon(inventory.words.lexicon),
        )

    def measure(self, rules: RuleSides, names: Sequence[str] = LEARNT_NAMES) -> Measured:
        """Return what is known about rules; what none of the names asks for is left out: 0 indicators, scores of 1."""
        indicators: tuple[I2, I8] = np.zeros(0, np.int16), np.zeros(len(rules.owners) + 1, np.int64)
        if any(name in GROUPS for name in names):
            indicators = self.indicators(rules)
        if any(name in SUBWORD_NAMES for name in names):
            return Measured(*indicators, self.subword_scores(rules))
        return Measured(*indicators, np.ones((len(rules.owners), len(SUBWORD_NAMES)), np.float32))

    def indicators(self, rules: RuleSides) -> tuple[I2, I8]:
        """Return the numbers of the indicators, rule after rule, and their offsets int64[rules + 1]."""
        ids, places = cluster_sequences(rules, self.source.clusters, self.target.clusters)
        known, size = self.signatures, len(rules.owners)
        signatures = np.empty(size, np.int64)
        look_up(
            ids, places, np.arange(size), known.slots, known.ids, known.offsets, known.rows, 0, False, signatures
        )  # fmt: skip
        signatures[signatures >= 0] += known.first
        # every word has two indicators at most, and a rule one signature
        symbols = int(np.diff(rules.source_offsets)[rules.owners].sum()) + len(rules.target)
        numbers, offsets = np.empty(2 * symbols + size, np.int16), np.zeros(size + 1, np.int64)
        _mark(rules, self.source.marks, self.target.marks, signatures, numbers, offsets)
        return numbers[: offsets[-1]].copy(), offsets

    def subword_scores(self, rules: RuleSides) -> F4:
        """Return the lexical weights by pieces of words, float32[rules, 2]: columns SUBWORD_NAMES."""
        scores = np.empty((len(rules.owners), 2), np.float32)
        longest = int(np.diff(rules.source_offsets).max(initial=0) * np.diff(self.source.piece_offsets).max(initial=0))
        _weigh_pieces(rules, self.source, self.target, self.lexicon, np.empty(longest), scores)
        return scores


def cluster_sequences(rules: RuleSides, source: I4, target: I4) -> tuple[I4, I8]:
    """Return the signature of every rule, and offsets: clusters of the source side, BETWEEN, those of the target side.

    source, target: the clusters of words, -1 for none.
    """
    sizes = np.diff(rules.source_offsets)[rules.owners] + np.diff(rules.target_offsets)
    offsets = offsets_from(sizes + 1)
    sequences = np.full(int(offsets[-1]), BETWEEN, np.int32)
    _lay_out(rules, source, target, offsets, sequences)
    return sequences, offsets


def _extended(columns: npt.NDArray[Any], words: int) -> npt.NDArray[Any]:
    """Return columns of words, [..., words], with -1 for new ones."""
    new = words - columns.shape[-1]
    if new < 0:
        raise ModelError("the rules belong to other features than these; train the model again")
    return np.concatenate((columns, np.full((*columns.shape[:-1], new), -1, columns.dtype)), axis=-1)


@kernel
def _lay_out(rules, source, target, offsets, sequences):
    for rule in range(len(rules.owners)):
        at = offsets[rule]
        owner = rules.owners[rule]
        for s in range(rules.source_offsets[owner], rules.source_offsets[owner + 1]):
            symbol = rules.source[s]
            sequences[at] = source[symbol] if symbol >= 0 else symbol + GAP
            at += 1
        at += 1
        for t in range(rules.target_offsets[rule], rules.target_offsets[rule + 1]):
            symbol = rules.target[t]
            sequences[at] = target[symbol] if symbol >= 0 else symbol + GAP
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
    for rule in range(len(rules.owners)):
        first = count
        a, b = rules.source_offsets[rules.owners[rule]], rules.source_offsets[rules.owners[rule] + 1]
        c, d = rules.target_offsets[rule], rules.target_offsets[rule + 1]
        links = rules.links[rules.link_offsets[rule] : rules.link_offsets[rule + 1]]
        for t in range(c, d):
            if rules.target[t] >= 0 and not _linked(links, 1, t - c):
                for row in range(2):
                    count = _note(target_marks[row, rules.target[t]], first, count, numbers)
        for s in range(a, b):
            if rules.source[s] >= 0 and not _linked(links, 0, s - a):
                for row in range(2):
                    count = _note(source_marks[row, rules.source[s]], first, count, numbers)
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

    best: float64 scratch for the pieces of a source side; scores float32[rules, 2] is filled.
    """
    null = np.int64(-1)
    for rule in range(len(rules.owners)):
        a, b = rules.source_offsets[rules.owners[rule]], rules.source_offsets[rules.owners[rule] + 1]
        size = 0
        for s in range(a, b):
            word = rules.source[s]
            if word < 0:
                continue
            for v in range(source.piece_offsets[word], source.piece_offsets[word + 1]):
                best[size] = LEAST
                slot = lexicon_slot(lexicon, source.pieces[v], null)
                if source.pieces[v] >= 0 and slot >= 0:
                    best[size] = max(best[size], lexicon.values[slot, 0])
                size += 1
        forward = 1.0
        for t in range(rules.target_offsets[rule], rules.target_offsets[rule + 1]):
            word = rules.target[t]
            if word < 0:
                continue
            for u in range(target.piece_offsets[word], target.piece_offsets[word + 1]):
                piece = np.int64(target.pieces[u])
                forward *= _explained(piece, rules.source[a:b], source, lexicon, best)
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
        if word < 0:
            continue
        for v in range(source.piece_offsets[word], source.piece_offsets[word + 1]):
            if source.pieces[v] >= 0:
                slot = lexicon_slot(lexicon, np.int64(source.pieces[v]), piece)
                if slot >= 0:
                    most = max(most, lexicon.values[slot, 1])
                    best[k] = max(best[k], lexicon.values[slot, 0])
            k += 1
    return most
