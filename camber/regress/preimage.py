"""The pre-image: which sentence has the n-gram vector that a regression predicts (wang2007, section 3)?

A beam search over phrases, as for phrase-based translation, but two phrases may change places only if they are
neighbours. A hypothesis is a prefix of a translation, and its score compares its n-gram vector with what is predicted
for the prefix of the source sentence that it translates:

    least squares (Eq. 10, with its sign turned)      2 ⟨φ(y), W φ(x)⟩ - κ(y, y)
    maximum margin (Eq. 11)                           ⟨φ(y) - μ, W x̄⟩ / ‖φ(y) - μ‖

so that more is better in both. The products are sums over the n-grams of y, and a word adds those that end with it.
The prediction of every prefix of x weighs an n-gram differently: a hypothesis keeps the sums for all prefixes, and one
that is only tried needs that of its own. κ(y, y) grows by (2 c + 1) times its weight with an n-gram that was there c
times before.

A hypothesis that translated a phrase and owes the one before it has translated x[1:a] and x[b:c]; it is compared with
the prediction for x[1:c], which it will have translated with the next phrase. The paper does not say.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from camber.arrays.types import Array, F8, I4, I8
from camber.kernel import kernel
from camber.kernel.table import mix, record_slot


class Phrases(NamedTuple):
    """What the spans of a sentence may become: options ``first[start, size - 1]`` … of the span's `size` words."""

    first: I8  # [words, longest + 1]: that of size k + 1 begins at first[start, k] and ends at first[start, k + 1]
    word_first: I8  # [options + 1]
    words: I4  # target words; those outside the n-grams' vocabulary have numbers above it


class Prediction(NamedTuple):
    """What a regression predicts for every prefix of a sentence, as far as phrases of the sentence can reach it."""

    rows: Array  # int32[n-grams]: the row of a target n-gram below, -1: none, which adds 0
    sums: Array  # float64[rows, prefixes]: what one occurrence of it adds to the product
    means: Array  # float64[rows]: what it adds to the product with the mean
    constants: Array  # float64[prefixes]: taken from the product
    mean_square: float
    normalised: int  # 1: scores are divided by the length of the centred vector


class Grams(NamedTuple):
    """The trie of target n-grams, and what a match of each length counts."""

    table: Array
    words: int
    weights: Array  # float64[order]


class Hypotheses(NamedTuple):
    """All hypotheses that were kept, stack by stack, best first."""

    first: I8  # [words + 2]: those of stack n are first[n] … first[n + 1] - 1
    score: F8
    parent: I4
    option: I4
    end: I4  # the source words before it are translated, but for …
    gap: I4  # … those from here to `gap_end`; -1: none is missing
    gap_end: I4
    size: I4  # target words
    hashed: I8
    norm: F8  # κ(y, y)
    mean: F8  # ⟨φ(y), μ⟩
    sums: F8  # [hypotheses, prefixes]
    words: I4  # [hypotheses, most words]
    nodes: I4  # [hypotheses, order]: the n-gram of k + 1 words that ends the hypothesis, plus 1; 0: unknown

    @classmethod
    def make(cls, length: int, beam: int, most_words: int, order: int) -> Hypotheses:
        """Make room for the search of a sentence."""
        room = (length + 1) * beam
        return cls(
            np.zeros(length + 2, np.int64),
            np.zeros(room),
            *(np.zeros(room, np.int32) for _ in range(6)),
            np.zeros(room, np.int64),
            np.zeros(room),
            np.zeros(room),
            np.zeros((room, length)),
            np.zeros((room, most_words), np.int32),
            np.zeros((room, order), np.int32),
        )


class Tried(NamedTuple):
    """The best candidates of one stack, best first."""

    score: F8
    parent: I4
    option: I4
    start: I4
    end: I4
    hashed: I8

    @classmethod
    def make(cls, beam: int) -> Tried:
        """Make room for so many."""
        return cls(np.empty(beam), *(np.empty(beam, np.int32) for _ in range(4)), np.empty(beam, np.int64))


def search(phrases: Phrases, prediction: Prediction, grams: Grams, beam: int) -> Hypotheses:
    """Search a sentence; the last stack holds whole translations, best first (none: the phrases leave gaps)."""
    length, longest = phrases.first.shape[0], phrases.first.shape[1] - 1
    sizes = np.diff(phrases.word_first)
    most = int(sizes.max(initial=1)) * length
    found = Hypotheses.make(length, beam, most, len(grams.weights))
    _search(phrases, longest, prediction, grams, beam, Tried.make(beam), found)
    return found


@kernel
def _score(prediction, column, product, norm, mean):
    product -= prediction.constants[column]
    if prediction.normalised == 0:
        return 2.0 * product - norm
    length = norm - 2.0 * mean + prediction.mean_square
    return product / np.sqrt(length) if length > 1e-12 else 0.0


@kernel
def _before(found, parent, phrases, option, done, place):
    """Return the word at a place of a hypothesis that is extended by the first `done` words of an option."""
    size = found.size[parent]
    if place < size:
        return found.words[parent, place]
    return phrases.words[phrases.word_first[option] + place - size]


@kernel
def _norm_of_word(found, parent, phrases, option, done, weights):
    """Return what the next word adds to κ(y, y): for every n-gram that ends there, (2 c + 1) times its weight."""
    order = len(weights)
    here = found.size[parent] + done
    word = phrases.words[phrases.word_first[option] + done]
    total = 0.0
    for p in range(min(order, here + 1)):
        total += weights[p]
    for place in range(here):
        if _before(found, parent, phrases, option, done, place) != word:
            continue
        same = 1
        while (
            same < order
            and same <= place
            and _before(found, parent, phrases, option, done, place - same)
            == _before(found, parent, phrases, option, done, here - same)
        ):
            same += 1
        for p in range(same):
            total += 2.0 * weights[p]
    return total


@kernel
def _next_nodes(grams, nodes, word):
    """Bring the n-grams that end a hypothesis up to date with one more word, longest first."""
    order = len(nodes)
    for p in range(order - 1, -1, -1):
        before = 0
        if p > 0:
            before = nodes[p - 1]
            if before == 0:
                nodes[p] = 0
                continue
        nodes[p] = 0
        if word < grams.words:
            key = np.int64(before) * grams.words + word
            slot = record_slot(grams.table, key)
            if grams.table[slot]["key"] == key:
                nodes[p] = grams.table[slot]["gram"] + 1


@kernel
def _try(found, parent, phrases, option, prediction, grams, column, nodes):
    """Return the score of a hypothesis with one more phrase, and a hash of its words."""
    product, norm, mean = found.sums[parent, column], found.norm[parent], found.mean[parent]
    hashed = found.hashed[parent]
    for p in range(len(nodes)):
        nodes[p] = found.nodes[parent, p]
    first, last = phrases.word_first[option], phrases.word_first[option + 1]
    for w in range(first, last):
        norm += _norm_of_word(found, parent, phrases, option, w - first, grams.weights)
        _next_nodes(grams, nodes, phrases.words[w])
        for p in range(len(nodes)):
            if nodes[p] > 0 and prediction.rows[nodes[p] - 1] >= 0:
                row = prediction.rows[nodes[p] - 1]
                product += prediction.sums[row, column]
                mean += prediction.means[row]
        hashed = mix(hashed ^ (np.int64(phrases.words[w]) + 1))
    return _score(prediction, column, product, norm, mean), hashed


@kernel
def _offer(tried, count, beam, score, parent, option, start, end, hashed):
    """Put a candidate among the best of its stack, once for each text that translates the same; return their number."""
    if count == beam and score <= tried.score[beam - 1]:
        return count
    for other in range(count):
        if tried.hashed[other] == hashed:
            if score <= tried.score[other]:
                return count
            for at in range(other, count - 1):
                _copy(tried, at + 1, at)
            count -= 1
            break
    place = count if count < beam else beam - 1
    while place > 0 and tried.score[place - 1] < score:
        _copy(tried, place - 1, place)
        place -= 1
    tried.score[place] = score
    tried.parent[place] = parent
    tried.option[place] = option
    tried.start[place] = start
    tried.end[place] = end
    tried.hashed[place] = hashed
    return min(count + 1, beam)


@kernel
def _copy(tried, origin, place):
    tried.score[place] = tried.score[origin]
    tried.parent[place] = tried.parent[origin]
    tried.option[place] = tried.option[origin]
    tried.start[place] = tried.start[origin]
    tried.end[place] = tried.end[origin]
    tried.hashed[place] = tried.hashed[origin]


@kernel
def _keep(found, at, tried, place, phrases, prediction, grams):
    """Make a hypothesis of a candidate."""
    parent, option = tried.parent[place], tried.option[place]
    start, end = tried.start[place], tried.end[place]
    found.score[at] = tried.score[place]
    found.parent[at] = parent
    found.option[at] = option
    found.gap[at] = -1
    found.gap_end[at] = -1
    if found.gap[parent] >= 0:
        found.end[at] = found.end[parent]
    elif start > found.end[parent]:
        found.gap[at] = found.end[parent]
        found.gap_end[at] = start
        found.end[at] = end
    else:
        found.end[at] = end
    size = found.size[parent]
    for w in range(size):
        found.words[at, w] = found.words[parent, w]
    for k in range(found.sums.shape[1]):
        found.sums[at, k] = found.sums[parent, k]
    nodes = found.nodes[at]
    for p in range(len(nodes)):
        nodes[p] = found.nodes[parent, p]
    norm, mean, hashed = found.norm[parent], found.mean[parent], found.hashed[parent]
    first, last = phrases.word_first[option], phrases.word_first[option + 1]
    for w in range(first, last):
        hashed = mix(hashed ^ (np.int64(phrases.words[w]) + 1))
        norm += _norm_of_word(found, parent, phrases, option, w - first, grams.weights)
        _next_nodes(grams, nodes, phrases.words[w])
        for p in range(len(nodes)):
            if nodes[p] > 0 and prediction.rows[nodes[p] - 1] >= 0:
                row = prediction.rows[nodes[p] - 1]
                mean += prediction.means[row]
                for k in range(found.sums.shape[1]):
                    found.sums[at, k] += prediction.sums[row, k]
        found.words[at, size + w - first] = phrases.words[w]
    found.size[at] = size + last - first
    found.hashed[at] = hashed
    found.norm[at] = norm
    found.mean[at] = mean


@kernel
def _search(phrases, longest, prediction, grams, beam, tried, found):
    length = len(phrases.first)
    nodes = found.nodes[len(found.nodes) - 1]  # the last row is filled last, when nothing is tried any more
    found.gap[0] = -1
    found.gap_end[0] = -1
    found.first[1] = 1
    for stack in range(1, length + 1):
        count = 0
        for earlier in range(max(0, stack - longest), stack):
            size = stack - earlier
            for h in range(found.first[earlier], found.first[earlier + 1]):
                end = found.end[h]
                if found.gap[h] >= 0:
                    if found.gap_end[h] - found.gap[h] != size:
                        continue
                    start, stop = found.gap[h], found.gap[h] + 1
                else:
                    start, stop = end, min(end + longest, length - size) + 1
                for begin in range(start, stop):
                    if found.gap[h] < 0 and begin > end:  # the phrase that is owed then must exist
                        if phrases.first[end, begin - end - 1] == phrases.first[end, begin - end]:
                            continue
                    column = (end if found.gap[h] >= 0 else begin + size) - 1
                    for option in range(phrases.first[begin, size - 1], phrases.first[begin, size]):
                        score, hashed = _try(found, h, phrases, option, prediction, grams, column, nodes)
                        state = begin if found.gap[h] < 0 and begin > end else -1
                        hashed = mix(hashed ^ (np.int64(state) * 4099 + column))
                        count = _offer(tried, count, beam, score, h, option, begin, begin + size, hashed)
        at = found.first[stack]
        for place in range(count):
            _keep(found, at + place, tried, place, phrases, prediction, grams)
        found.first[stack + 1] = at + count
