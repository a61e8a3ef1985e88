"""The suffix array of a text: all positions in the order of the words that follow, up to the end of their sentence.

The places where a phrase occurs stand side by side, so a phrase is a range of the array, and a longer phrase is a
range inside the range of its first words. Equal suffixes stand in the order of their positions.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from camber.arrays.types import I4, I8
from camber.corpus.bitext import Sentences
from camber.kernel import kernel


def ends_of(text: Sentences) -> I4:
    """Return, for every position, where its sentence ends: int32[tokens]."""
    return np.repeat(text.offsets[1:], text.lengths).astype(np.int32)


def sort_suffixes(text: Sentences) -> I4:
    """Sort all positions of a text by the words that follow: int32[tokens].

    >>> sort_suffixes(Sentences.encode([["b", "a"], ["b"]])).tolist()   # ids: b 0, a 1
    [2, 0, 1]
    """
    tokens, longest = len(text.ids), text.longest
    left = np.repeat(text.offsets[1:], text.lengths) - np.arange(tokens)
    bits = int(text.ids.max(initial=0) + 1).bit_length()
    known = max(1, 62 // bits)  # the first words of a suffix, as many as fit into one number; 0 is past the end
    rank = np.zeros(tokens, np.int64)
    for place in range(min(known, max(longest, 1))):
        rank <<= bits
        rank[: tokens - place] += np.where(left[: tokens - place] > place, text.ids[place:].astype(np.int64) + 1, 0)
    order = np.argsort(rank, kind="stable")
    distinct = _rank(rank, order)
    while known < longest and distinct < tokens:
        # prefix doubling: the rank by 2k words is the rank by k words and that of the place k further; only suffixes
        # that have neighbours of equal rank are sorted again
        place_of = rank[order]
        tied = np.zeros(tokens, bool)
        equal = place_of[1:] == place_of[:-1]
        tied[1:] |= equal
        tied[:-1] |= equal
        at = np.flatnonzero(tied)
        members = order[at]
        later = members + known
        inside = left[members] > known
        key = rank[members] * np.int64(tokens + 1)
        key[inside] += rank[later[inside]]
        # members stand by rank and then by position, and a stable sort keeps that order for equal keys
        chosen = np.argsort(key, kind="stable")
        order[at] = members[chosen]
        key = key[chosen]
        step = np.zeros(tokens, np.int64)
        step[1:] = ~equal
        inner = np.zeros(tokens, np.int64)
        inner[at[1:]] = np.diff(key) != 0
        step = np.maximum(step, inner)
        step[:1] = 1
        ranks = np.cumsum(step)
        rank[order] = ranks
        distinct = int(ranks[-1]) if tokens else 0
        known *= 2
    return order.astype(np.int32)


def are_sorted(text: Sentences, order: I4) -> bool:
    """Say whether `order`, positions of a text, is what :func:`sort_suffixes` gives.

    A suffix is a word and the suffix behind it, so neighbours are compared by their words, then by the places of what
    follows them: no comparison looks further.

    >>> text = Sentences.encode([["b", "a"], ["b"]])
    >>> are_sorted(text, np.array([2, 0, 1], np.int32)), are_sorted(text, np.array([0, 2, 1], np.int32))
    (True, False)
    """
    place_of = np.full(len(text.ids), -1, np.int32)
    return bool(_are_sorted(text.ids, ends_of(text), order, place_of))


def merge_suffixes(words: I4, ends: I4, old: I4, new: I4) -> I4:
    """Merge two sorted lists of suffixes of one text; where both are equal the old one comes first.

    `old` are positions of the first part of the text, `new` those of the rest.
    """
    places = np.empty(len(new), np.int64)
    _insertion_points(words, ends, old, new, places)
    merged = np.empty(len(old) + len(new), np.int32)
    at = places + np.arange(len(new))
    fresh = np.zeros(len(merged), bool)
    fresh[at] = True
    merged[at] = new
    merged[~fresh] = old
    return merged


def find_phrase(words: I4, ends: I4, order: I4, phrase: npt.ArrayLike) -> tuple[int, int]:
    """Return the range of a suffix array whose suffixes start with `phrase`; an empty range if there is none."""
    ids = np.atleast_1d(np.asarray(phrase, np.int64))
    low, high = _find(words, ends, order, ids)
    return int(low), int(high)


def _rank(keys: I8, order: npt.NDArray[np.intp]) -> int:
    """Replace keys by their rank from 1, and return how many differ."""
    step = np.ones(len(keys), np.int64)
    step[1:] = np.diff(keys[order]) != 0
    ranks = np.cumsum(step)
    keys[order] = ranks
    return int(ranks[-1]) if len(ranks) else 0


@kernel
def _are_sorted(words, ends, order, place_of):
    """Fill `place_of`, the place of every position in `order`; say whether all are there, and in order."""
    for place in range(len(order)):
        if place_of[order[place]] >= 0:
            return False
        place_of[order[place]] = place
    for place in range(1, len(order)):
        a, b = np.int64(order[place - 1]), np.int64(order[place])
        if words[a] != words[b]:
            if words[a] > words[b]:
                return False
            continue
        # where a sentence ends, what follows comes before everything else
        a_next = place_of[a + 1] if a + 1 < ends[a] else np.int32(-1)
        b_next = place_of[b + 1] if b + 1 < ends[b] else np.int32(-1)
        if a_next > b_next or (a_next < 0 and b_next < 0 and a > b):
            return False
    return True


@kernel
def narrow(words, ends, order, low, high, depth, word):
    """Return the part of the range low:high (suffixes that share `depth` words) where `word` comes next."""
    first, last = low, high
    while first < last:
        middle = (first + last) >> 1
        at = order[middle] + depth
        if at < ends[order[middle]] and words[at] >= word:
            last = middle
        else:
            first = middle + 1
    begin, last = first, high
    while first < last:
        middle = (first + last) >> 1
        at = order[middle] + depth
        if at < ends[order[middle]] and words[at] > word:
            last = middle
        else:
            first = middle + 1
    return begin, first


@kernel
def _find(words, ends, order, phrase):
    low, high = 0, len(order)
    for depth in range(len(phrase)):
        low, high = narrow(words, ends, order, low, high, depth, phrase[depth])
    return low, high


@kernel
def _insertion_points(words, ends, old, new, places):
    """Find for every new suffix how many old ones come before it or are equal."""
    floor = 0
    for n in range(len(new)):
        low, high = floor, len(old)
        while low < high:
            middle = (low + high) >> 1
            a, b = np.int64(old[middle]), np.int64(new[n])
            a_end, b_end = ends[a], ends[b]
            while a < a_end and b < b_end and words[a] == words[b]:
                a += 1
                b += 1
            if a == a_end or (b < b_end and words[a] < words[b]):  # the old one is a prefix, equal, or smaller
                low = middle + 1
            else:
                high = middle
        places[n] = low
        floor = low
