"""The segments that are nearest to a row of words, by edit distance.

The likeness of two segments is 1 - distance / length: the distance is what it costs to insert, delete and replace words
(see `words`), the length that of the longer one. An index of words finds the candidates: whoever shares too few words
cannot be near, whatever their order, so that most segments are never looked at. What is left is compared, most words in
common first, until no other can be nearer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from camber.arrays.types import I4, I8, Array
from camber.kernel import kernel
from camber.memory.words import NEAR

#: thresholds are kept in parts of this, rounded down: a match that is just so like must be found
UNIT = 1_000_000_000


class Index(NamedTuple):
    """Segments as kernels see them."""

    words: I4  # [tokens]
    offsets: I8  # [segments + 1]
    class_of: I4  # [words of the vocabulary]
    weights: I8  # [classes] what a word of the class counts
    lengths: I4  # [segments] the sum of their words' weights
    times: I4  # [segments] how often the pair came
    postings: I4  # the segments that have a word of a class, once for each such word, rising
    posting_offsets: I8  # [classes + 1]
    hidden: Array  # uint8[segments] not to be found


class Query(NamedTuple):
    """A row of words to look for; -1: one that no segment has."""

    words: I4
    classes: I4
    weights: I8  # what they count


class _Room(NamedTuple):
    overlap: I4  # [segments]
    touched: I4  # [segments]
    order: I4  # [segments]
    buckets: I8  # [102]
    rows: I8  # [2, longest + 1]


def nearest(index: Index, query: Query, threshold: float, best: int) -> tuple[I8, I8, I8]:
    """Return the segments that are at least so like the query, the `best` ones, the most like ones first.

    Of equals, those come first that came more often, then later ones. Also their distances and lengths: likeness is
    1 - distance / length.
    """
    segments = len(index.offsets) - 1
    best = min(best, segments)
    longest = int(np.diff(index.offsets).max(initial=0))
    room = _Room(
        np.zeros(segments, np.int32),
        np.empty(segments, np.int32),
        np.empty(segments, np.int32),
        np.zeros(102, np.int64),
        np.empty((2, longest + 1), np.int64),
    )
    found = np.empty((3, best + 1), np.int64)
    count = 0
    if len(query.words):
        count = int(_nearest(index, query, int(threshold * UNIT + 1e-6), best, room, found))
    segment, distance, length = found[:, :count]
    return segment, distance, length


@kernel
def _nearest(index, query, least, best, room, found):
    """Fill found int64[3, best + 1] with segments, distances and lengths; return how many there are."""
    size = np.int64(0)
    for i in range(len(query.weights)):
        size += query.weights[i]
    touched = _overlaps(index, query, room)
    touched = _promising(index, size, least, touched, room)
    count = 0
    for t in range(touched):
        segment = np.int64(room.order[t])
        length = max(size, np.int64(index.lengths[segment]))
        limit = (UNIT - least) * length // UNIT
        if count == best:
            limit = min(limit, found[1, best - 1] * length // found[2, best - 1])
        if length - room.overlap[segment] > limit:
            continue
        distance = _distance(index, query, segment, limit, room.rows)
        if distance > limit:
            continue
        place = count
        while place > 0 and _is_before(index, found, segment, distance, length, place - 1):
            for k in range(3):
                found[k, place] = found[k, place - 1]
            place -= 1
        found[0, place] = segment
        found[1, place] = distance
        found[2, place] = length
        count = min(count + 1, best)
    return count


@kernel
def _is_before(index, found, segment, distance, length, place):
    """Say whether a segment comes before the one at a place."""
    ours, theirs = distance * found[2, place], found[1, place] * length
    if ours != theirs:
        return ours < theirs
    other = found[0, place]
    if index.times[segment] != index.times[other]:
        return index.times[segment] > index.times[other]
    return segment > other


@kernel
def _overlaps(index, query, room):
    """Sum up in `overlap` what the words weigh that segments share with the query; return how many share some."""
    touched = 0
    for i in range(len(query.classes)):
        kind = query.classes[i]
        if kind < 0:
            continue
        often = 0
        for j in range(len(query.classes)):
            if query.classes[j] == kind:
                if j < i:
                    often = 0
                    break
                often += 1
        if often == 0:  # its first place had all of them
            continue
        at, end = index.posting_offsets[kind], index.posting_offsets[kind + 1]
        while at < end:
            segment = index.postings[at]
            shared = 0
            while at < end and index.postings[at] == segment:
                shared += 1
                at += 1
            if index.hidden[segment]:
                continue
            if room.overlap[segment] == 0:
                room.touched[touched] = segment
                touched += 1
            room.overlap[segment] += min(shared, often) * index.weights[kind]
    return touched


@kernel
def _promising(index, size, least, touched, room):
    """Order the segments that share enough, by how like the query they can be at most; return how many they are."""
    kept = 0
    for t in range(touched):
        segment = room.touched[t]
        length = max(size, np.int64(index.lengths[segment]))
        shared = np.int64(room.overlap[segment])
        if shared * UNIT >= least * length:
            room.touched[kept] = segment
            kept += 1
            room.buckets[100 - min(shared * 100 // length, 100) + 1] += 1
    for b in range(1, len(room.buckets)):
        room.buckets[b] += room.buckets[b - 1]
    for t in range(kept):
        segment = room.touched[t]
        length = max(size, np.int64(index.lengths[segment]))
        b = 100 - min(np.int64(room.overlap[segment]) * 100 // length, 100)
        room.order[room.buckets[b]] = segment
        room.buckets[b] += 1
    return kept


@kernel
def _distance(index, query, segment, limit, rows):
    """Return the edit distance of the query and a segment, or anything above `limit` if it is above that."""
    first = index.offsets[segment]
    columns = index.offsets[segment + 1] - first
    rows[0, 0] = 0
    for j in range(columns):
        rows[0, j + 1] = rows[0, j] + index.weights[index.class_of[index.words[first + j]]]
    for i in range(len(query.words)):
        above, row = rows[i & 1], rows[1 - (i & 1)]
        cost = query.weights[i]
        row[0] = above[0] + cost
        least = row[0]
        for j in range(columns):
            word = index.words[first + j]
            kind = index.class_of[word]
            other = index.weights[kind]
            if word == query.words[i]:
                change = np.int64(0)
            elif kind == query.classes[i]:
                change = np.int64(NEAR)
            else:
                change = max(cost, other)
            value = min(above[j] + change, above[j + 1] + cost, row[j] + other)
            row[j + 1] = value
            least = min(least, value)
        if least > limit:
            return least
    return rows[len(query.words) & 1, columns]
