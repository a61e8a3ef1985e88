"""Scores of phrase pairs: counts, the usual inner alignment, lexical weights, orientation probabilities.

The values are those of Moses' ``score`` and ``lexical-reordering`` programs with their default settings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from camber.arrays.types import F4, F8, I8, U1, Array
from camber.kernel import kernel
from camber.rules.lexicon import Lexicon, lexicon_slot
from camber.rules.phrase.pairs import Occurrences, positions_per_word

#: Added to the count of every orientation.
SMOOTHING = 0.5


@dataclass(frozen=True)
class PhrasePairs:
    """R distinct phrase pairs, sorted by source n-gram, then target n-gram."""

    source: I8  # [R] names of the source n-grams
    target: I8  # [R] names of the target n-grams
    counts: I8  # [R] c(s, t)
    orientations: npt.NDArray[
        np.int32
    ]  # [R, 6] how often the pair was monotone, swapped, discontinuous: backward, then forward
    patterns: I8  # [W, R] the most frequent inner alignment
    inverse_patterns: I8  # [W, R] the same, but ties are broken from the source's side


def gather(occurrences: Occurrences, longest: int) -> PhrasePairs:
    """Bring equal phrase pairs together and count them; `occurrences` are sorted by their keys."""
    keys = occurrences.keys
    new = np.ones(len(keys), bool)
    new[1:] = keys[1:] != keys[:-1]
    starts = np.append(np.flatnonzero(new), len(keys)).astype(np.int64)
    patterns, orientations = _equal_patterns_together(occurrences, starts)
    size = len(starts) - 1
    counted = np.zeros((size, 6), np.int32)
    best, inverse = np.empty(size, np.int64), np.empty(size, np.int64)
    _summarise(starts, patterns, orientations, longest, positions_per_word(longest), counted, best, inverse)
    keys = keys[starts[:-1]]
    return PhrasePairs(
        source=keys // occurrences.target_codes,
        target=keys % occurrences.target_codes,
        counts=np.diff(starts),
        orientations=counted,
        patterns=patterns[:, best],
        inverse_patterns=patterns[:, inverse],
    )


def _equal_patterns_together(occurrences: Occurrences, starts: I8) -> tuple[I8, U1]:
    """Return patterns and orientations with equal patterns of a phrase pair side by side; most pairs have but one."""
    patterns, orientations = occurrences.patterns, occurrences.orientations
    group = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    differs = np.zeros(len(group), bool)
    for word in patterns:
        differs |= word != word[starts[group]]
    mixed = np.zeros(len(starts) - 1, bool)
    mixed[group[differs]] = True
    rows = np.flatnonzero(mixed[group])
    if not len(rows):
        return patterns, orientations
    sorted_rows = rows[np.lexsort((*patterns[::-1, rows], group[rows]))]
    patterns, orientations = patterns.copy(), orientations.copy()
    patterns[:, rows], orientations[rows] = patterns[:, sorted_rows], orientations[sorted_rows]
    return patterns, orientations


def orientation_probabilities(counted: npt.NDArray[np.integer], counts: npt.NDArray[np.integer]) -> F4:
    """Smooth int[R, 6] orientation counts of pairs that occurred int[R] times into float32[R, 6] probabilities.

    >>> orientation_probabilities(np.array([[1, 0, 0, 0, 0, 1]]), np.array([1])).round(3).tolist()[0][:2]
    [0.6000000238418579, 0.20000000298023224]
    """
    smoothed = counted.astype(np.float32)
    smoothed += SMOOTHING
    smoothed /= (counts + 3 * SMOOTHING).astype(np.float32)[:, None]
    return smoothed


class Phrases(NamedTuple):
    """One side of phrase pairs: the words of pair r are ``ids[starts[r]:][:lengths[r]]``."""

    ids: Array  # int32[tokens]
    starts: Array  # int64[R]
    lengths: Array  # int64[R]


def lexical_weights(pairs: PhrasePairs, source: Phrases, target: Phrases, lexicon: Lexicon, longest: int) -> F8:
    """Return float64[R, 2]: lex(s|t) and lex(t|s) of the phrase pairs (Koehn, Och & Marcu 2003, Section 3.3)."""
    out = np.empty((len(pairs.counts), 2))
    per_word = positions_per_word(longest)
    _lexical_weights(source, target, pairs.patterns, pairs.inverse_patterns, longest, per_word, lexicon, out)
    return out


def links_of(patterns: I8, longest: int) -> tuple[U1, I8]:
    """Unpack patterns into links (source, target), by target and then source place, and their number per pattern."""
    sizes = np.bitwise_count(patterns).sum(axis=0, dtype=np.int64)
    links = np.empty((int(sizes.sum()), 2), np.uint8)
    _unpack(np.ascontiguousarray(patterns), longest, positions_per_word(longest), links)
    return links, sizes


@kernel
def _sources(patterns, row, t, longest, per_word):
    """Return the source places that target place t is linked to, as bits."""
    return (patterns[t // per_word, row] >> ((t % per_word) * longest)) & ((1 << longest) - 1)


@kernel
def _targets(patterns, row, s, longest, per_word):
    """Return the target places that source place s is linked to, as bits."""
    targets = 0
    for t in range(longest):
        targets |= ((_sources(patterns, row, t, longest, per_word) >> s) & 1) << t
    return targets


@kernel
def _comes_later(patterns, a, b, inverse, longest, per_word):
    """Say whether alignment a sorts after b as Moses sorts them: place by place, each a list of linked places."""
    for place in range(longest):
        if inverse:
            left = _targets(patterns, a, place, longest, per_word)
            right = _targets(patterns, b, place, longest, per_word)
        else:
            left = _sources(patterns, a, place, longest, per_word)
            right = _sources(patterns, b, place, longest, per_word)
        differ = left ^ right
        if differ:
            lowest = differ & -differ
            # The list with the lowest place that the other lacks is the smaller, unless the other list ends there.
            if left & lowest:
                return right < lowest
            return left >= lowest
    return False


@kernel
def _summarise(starts, patterns, orientations, longest, per_word, counted, best, inverse):
    """For every group of equal pairs, count orientations and pick the most frequent pattern, ties as Moses does."""
    for pair in range(len(starts) - 1):
        most = 0
        row = starts[pair]
        while row < starts[pair + 1]:
            end = row
            same = True
            while same:  # equal patterns stand side by side
                counted[pair, orientations[end] // 3] += 1
                counted[pair, 3 + orientations[end] % 3] += 1
                end += 1
                same = end < starts[pair + 1]
                if same:
                    for word in range(len(patterns)):
                        same = same and patterns[word, end] == patterns[word, row]
            if end - row > most:
                most = end - row
                best[pair] = inverse[pair] = row
            elif end - row == most:
                if _comes_later(patterns, row, best[pair], False, longest, per_word):
                    best[pair] = row
                if _comes_later(patterns, row, inverse[pair], True, longest, per_word):
                    inverse[pair] = row
            row = end


@kernel
def _probability(lexicon, source, target, column):
    """Return an entry of the lexical table, 0 where there is none."""
    slot = lexicon_slot(lexicon, source, target)
    return lexicon.values[slot, column] if slot >= 0 else 0.0


@kernel
def _lexical_weights(source, target, patterns, inverse_patterns, longest, per_word, lexicon, out):
    """Multiply, over the words of one side, the mean probability given the linked words of the other, or given NULL."""
    null = np.int64(-1)
    for pair in range(len(out)):
        sources = source.ids[source.starts[pair] : source.starts[pair] + source.lengths[pair]]
        targets = target.ids[target.starts[pair] : target.starts[pair] + target.lengths[pair]]
        product = 1.0
        for t in range(len(targets)):
            mask, total, linked = _sources(patterns, pair, t, longest, per_word), 0.0, 0
            for s in range(len(sources)):
                if (mask >> s) & 1:
                    total += _probability(lexicon, np.int64(sources[s]), np.int64(targets[t]), 1)
                    linked += 1
            product *= total / linked if linked > 0 else _probability(lexicon, null, np.int64(targets[t]), 1)
        out[pair, 1] = product
        product = 1.0
        for s in range(len(sources)):
            total, linked = 0.0, 0
            for t in range(len(targets)):
                if (_sources(inverse_patterns, pair, t, longest, per_word) >> s) & 1:
                    total += _probability(lexicon, np.int64(sources[s]), np.int64(targets[t]), 0)
                    linked += 1
            product *= total / linked if linked > 0 else _probability(lexicon, np.int64(sources[s]), null, 0)
        out[pair, 0] = product


@kernel
def _unpack(patterns, longest, per_word, links):
    at = 0
    for row in range(patterns.shape[1]):
        for t in range(longest):
            mask = _sources(patterns, row, t, longest, per_word)
            for s in range(longest):
                if (mask >> s) & 1:
                    links[at, 0], links[at, 1] = s, t
                    at += 1
