"""The pre-image: which sentence has the n-gram vector that a regression predicts (wang2007, section 3)?

    prediction = regression.predict(sentence, reachable)        # for all prefixes
    found = search(options, prediction, Grams.of(vectors.target_grams), beam=100)
    found.best()                                                # hypotheses that translate everything, best first

A beam search over phrases as for phrase-based translation, but two phrases may change places only if they are
neighbours. A hypothesis y is a prefix of a translation; its score compares its n-gram vector with what is predicted for
a prefix x of the source sentence:

    least squares (Eq. 10, with its sign turned)      2 ⟨φ(y), W φ(x)⟩ - κ(y, y)
    maximum margin (Eq. 11)                           ⟨φ(y) - μ, W x̄⟩ / ‖φ(y) - μ‖

More is better in both. The prefix has as many words as the hypothesis translates, also where a phrase was left out that
must come next: then x has words of that phrase in place of the last ones that were translated. So all hypotheses of a
stack are compared with one vector, and what a prediction is worth as a whole cannot favour any of them. Three others
were tried on 200 sentences of 4,000 pairs (means of the final score at a beam of 100; with 5,000 it is -3.15): this one
-3.28, words that are translated in place of a prefix -3.46, and with their squared loss -3.36, the whole sentence with
an estimate of what is still to come -3.68.

The products are sums over the n-grams of y, of which a word adds those that end with it. Since every prefix of x weighs
an n-gram differently, a hypothesis that is kept has the sums for all prefixes; one that is only tried needs that of its
stack. κ(y, y) grows by 2 c + 1 times its weight with an n-gram that was there c times before. No training sentence is
touched. Two hypotheses with the same words for the same source words are one: nothing can tell them apart.

A word that no n-gram knows may stand anywhere: the score is the same. So of equal scores, the one with fewer swaps is
taken to be better.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from camber.arrays.types import F8, I4, I8, Array
from camber.kernel import kernel
from camber.kernel.table import mix, record_slot
from camber.regress.prediction import Prediction
from camber.regress.spectrum import NgramMap

#: what a swap takes from a score where hypotheses are compared, and only there: less than any difference that matters
_SWAP = 1e-7


class PhraseOptions(NamedTuple):
    """What the spans of a sentence may become: those of `size` words from `start` on have the options
    ``first[start, size - 1]`` … ``first[start, size] - 1``, which are in any order.
    """

    first: I8  # [words, longest + 1]
    word_first: I8  # [options + 1]
    words: I4  # [target words of all options]: those without n-grams have numbers from the vocabulary's size on

    @classmethod
    def of(cls, options: Sequence[Sequence[Sequence[Sequence[int]]]]) -> PhraseOptions:
        """Make them of lists: ``options[start][size - 1]`` are the options of a span, each a row of words."""
        longest = max(map(len, options), default=1)
        first = np.zeros((len(options), longest + 1), np.int64)
        flat: list[Sequence[int]] = []
        for start, sizes in enumerate(options):
            first[start, 0] = len(flat)
            for size in range(longest):
                flat += sizes[size] if size < len(sizes) else ()
                first[start, size + 1] = len(flat)
        words = np.array([word for option in flat for word in option], np.int32)
        return cls(first, np.concatenate(([0], np.cumsum([len(option) for option in flat], dtype=np.int64))), words)


class Grams(NamedTuple):
    """The trie of target n-grams, and what a match of each length counts."""

    table: Array
    words: int
    weights: Array  # float64[order]

    @classmethod
    def of(cls, grams: NgramMap) -> Grams:
        """Take what the search needs of a map."""
        return cls(grams.table, grams.words, grams.spectrum.weights)


class Hypotheses(NamedTuple):
    """All hypotheses that were kept, stack by stack, best first; stack n translates n source words."""

    first: I8  # [words + 2]: those of stack n are first[n] … first[n + 1] - 1
    score: F8
    parent: I4  # -1: none
    option: I4
    start: I4  # source words of the option
    stop: I4
    end: I4  # the source words before it are translated, but for …
    gap: I4  # … those from here to `gap_end`; -1: none is missing
    gap_end: I4
    size: I4  # target words
    swaps: I4  # pairs of phrases that changed places, or will
    hashed: I8
    norm: F8  # κ(y, y)
    mean: F8  # ⟨φ(y), μ⟩
    sums: F8  # [hypotheses, prefixes]
    words: I4  # [hypotheses, most words]
    nodes: I4  # [hypotheses, order]: the n-gram of k + 1 words that ends the hypothesis, plus 1; 0: unknown

    @classmethod
    def make(cls, length: int, beam: int, most_words: int, order: int) -> Hypotheses:
        """Make room for the search of a sentence."""
        room = length * beam + 2  # the empty hypothesis, and a row that is only tried

        def numbers() -> I4:
            return np.zeros(room, np.int32)

        return cls(
            first=np.zeros(length + 2, np.int64),
            score=np.zeros(room),
            parent=numbers(),
            option=numbers(),
            start=numbers(),
            stop=numbers(),
            end=numbers(),
            gap=numbers(),
            gap_end=numbers(),
            size=numbers(),
            swaps=numbers(),
            hashed=np.zeros(room, np.int64),
            norm=np.zeros(room),
            mean=np.zeros(room),
            sums=np.zeros((room, length)),
            words=np.zeros((room, most_words), np.int32),
            nodes=np.zeros((room, order), np.int32),
        )

    def best(self) -> range:
        """Return the hypotheses that translate everything, best first; none, if phrases leave gaps."""
        return range(int(self.first[-2]), int(self.first[-1]))

    def path(self, hypothesis: int) -> list[int]:
        """Return the hypotheses that led to one, in target order, itself at the end and without the empty one."""
        path = []
        while self.parent[hypothesis] >= 0:
            path.append(hypothesis)
            hypothesis = int(self.parent[hypothesis])
        return path[::-1]

    def text(self, hypothesis: int) -> list[int]:
        """Return the words of a hypothesis."""
        return [int(word) for word in self.words[hypothesis, : self.size[hypothesis]]]


class _Tried(NamedTuple):
    """The best candidates of one stack, best first."""

    score: F8
    parent: I4
    option: I4
    start: I4
    stop: I4
    hashed: I8

    @classmethod
    def make(cls, beam: int) -> _Tried:
        """Make room for so many."""
        parent, option, start, stop = (np.empty(beam, np.int32) for _ in range(4))
        return cls(np.empty(beam), parent, option, start, stop, np.empty(beam, np.int64))


def search(options: PhraseOptions, prediction: Prediction, grams: Grams, beam: int) -> Hypotheses:
    """Search a sentence with a prediction for each of its prefixes, keeping `beam` hypotheses of each stack."""
    length = len(options.first)
    most = _most_words(options)
    found = Hypotheses.make(length, beam, most, len(grams.weights))
    _search(options, prediction, grams, beam, _Tried.make(beam), found)
    return found


def _most_words(options: PhraseOptions) -> int:
    """Return how many words a translation can have at most: spans side by side, each with its longest option."""
    length, longest = options.first.shape[0], options.first.shape[1] - 1
    sizes = np.diff(options.word_first)
    most = [0] + [-1] * length
    for start in range(length):
        for size in range(1, min(longest, length - start) + 1):
            own = sizes[options.first[start, size - 1] : options.first[start, size]]
            if len(own) and most[start] >= 0:
                most[start + size] = max(most[start + size], most[start] + int(own.max()))
    return max(1, *most) + int(sizes.max(initial=0)) * 2  # and a swapped pair that leads nowhere


@kernel
def _score(aim, column, product, norm, mean):
    product -= aim.constants[column]
    if aim.normalised == 0:
        return 2.0 * product - norm  # wang2007 Eq. 10
    square = norm - 2.0 * mean + aim.mean_square
    return product / np.sqrt(square) if square > 1e-12 else 0.0  # Eq. 11


@kernel
def _word_at(found, parent, options, option, place):
    """Return a word of a hypothesis that is extended by an option."""
    size = found.size[parent]
    if place < size:
        return found.words[parent, place]
    return options.words[options.word_first[option] + place - size]


@kernel
def _norm_of_word(found, parent, options, option, done, weights):
    """Return what the next word adds to κ(y, y): for every n-gram that ends there, (2 c + 1) times its weight.

    How often each was there follows from comparing with the words so far, which are few.
    """
    order = len(weights)
    here = found.size[parent] + done
    word = _word_at(found, parent, options, option, here)
    total = 0.0
    for p in range(min(order, here + 1)):
        total += weights[p]
    for place in range(here):
        if _word_at(found, parent, options, option, place) != word:
            continue
        total += 2.0 * weights[0]
        same = 1
        while (
            same < order
            and same <= place
            and _word_at(found, parent, options, option, place - same)
            == _word_at(found, parent, options, option, here - same)
        ):
            total += 2.0 * weights[same]
            same += 1
    return total


@kernel
def _next_nodes(grams, nodes, word):
    """Bring the n-grams that end a hypothesis up to date with one more word, longest first."""
    for p in range(len(nodes) - 1, -1, -1):
        before = np.int64(nodes[p - 1]) if p > 0 else np.int64(0)
        nodes[p] = 0
        if word < grams.words and (p == 0 or before > 0):
            key = before * grams.words + word
            slot = record_slot(grams.table, key)
            if grams.table[slot]["key"] == key:
                nodes[p] = grams.table[slot]["gram"] + 1


@kernel
def _try(found, parent, options, option, aim, grams, column, nodes):
    """Return the score of a hypothesis with one more phrase, and a hash of its words."""
    product, norm, mean = found.sums[parent, column], found.norm[parent], found.mean[parent]
    hashed = found.hashed[parent]
    for p in range(len(nodes)):
        nodes[p] = found.nodes[parent, p]
    first, last = options.word_first[option], options.word_first[option + 1]
    for w in range(first, last):
        norm += _norm_of_word(found, parent, options, option, w - first, grams.weights)
        _next_nodes(grams, nodes, options.words[w])
        for p in range(len(nodes)):
            if nodes[p] > 0 and aim.rows[nodes[p] - 1] >= 0:
                row = aim.rows[nodes[p] - 1]
                product += aim.sums[row, column]
                mean += aim.means[row]
        hashed = mix(hashed ^ (np.int64(options.words[w]) + 1))
    return _score(aim, column, product, norm, mean), hashed


@kernel
def _offer(tried, count, beam, score, parent, option, start, stop, hashed):
    """Put a candidate among the best of its stack unless its equal is there; return how many there are."""
    if count == beam and score <= tried.score[beam - 1]:
        return count
    place = count if count < beam else beam - 1
    for other in range(count):
        if tried.hashed[other] == hashed:  # the same words for the same source words: one of them is enough
            if tried.score[other] >= score:
                return count
            place = other
            count -= 1
            break
    while place > 0 and tried.score[place - 1] < score:
        tried.score[place] = tried.score[place - 1]
        tried.parent[place] = tried.parent[place - 1]
        tried.option[place] = tried.option[place - 1]
        tried.start[place] = tried.start[place - 1]
        tried.stop[place] = tried.stop[place - 1]
        tried.hashed[place] = tried.hashed[place - 1]
        place -= 1
    tried.score[place] = score
    tried.parent[place] = parent
    tried.option[place] = option
    tried.start[place] = start
    tried.stop[place] = stop
    tried.hashed[place] = hashed
    return min(count + 1, beam)


@kernel
def _keep(found, at, tried, place, options, aim, grams):
    """Make a hypothesis of a candidate."""
    parent, option = tried.parent[place], tried.option[place]
    start, stop = tried.start[place], tried.stop[place]
    found.swaps[at] = found.swaps[parent] + (found.gap[parent] < 0 and start > found.end[parent])
    found.score[at] = tried.score[place] + _SWAP * found.swaps[at]
    found.parent[at] = parent
    found.option[at] = option
    found.start[at] = start
    found.stop[at] = stop
    found.gap[at] = -1
    found.gap_end[at] = -1
    if found.gap[parent] >= 0:
        found.end[at] = found.end[parent]
    elif start > found.end[parent]:
        found.gap[at] = found.end[parent]
        found.gap_end[at] = start
        found.end[at] = stop
    else:
        found.end[at] = stop
    size = found.size[parent]
    for w in range(size):
        found.words[at, w] = found.words[parent, w]
    sums, nodes = found.sums[at], found.nodes[at]
    for k in range(len(sums)):
        sums[k] = found.sums[parent, k]
    for p in range(len(nodes)):
        nodes[p] = found.nodes[parent, p]
    norm, mean, hashed = found.norm[parent], found.mean[parent], found.hashed[parent]
    first, last = options.word_first[option], options.word_first[option + 1]
    for w in range(first, last):
        hashed = mix(hashed ^ (np.int64(options.words[w]) + 1))
        norm += _norm_of_word(found, parent, options, option, w - first, grams.weights)
        _next_nodes(grams, nodes, options.words[w])
        for p in range(len(nodes)):
            if nodes[p] > 0 and aim.rows[nodes[p] - 1] >= 0:
                row = aim.rows[nodes[p] - 1]
                mean += aim.means[row]
                for k in range(len(sums)):
                    sums[k] += aim.sums[row, k]
        found.words[at, size + w - first] = options.words[w]
    found.size[at] = size + last - first
    found.hashed[at] = hashed
    found.norm[at] = norm
    found.mean[at] = mean


@kernel
def _search(options, aim, grams, beam, tried, found):
    length, longest = len(options.first), options.first.shape[1] - 1
    nodes = found.nodes[len(found.nodes) - 1]
    found.parent[0] = -1
    found.gap[0] = -1
    found.gap_end[0] = -1
    found.first[1] = 1
    for stack in range(1, length + 1):
        count = 0
        for earlier in range(max(0, stack - longest), stack):
            size = stack - earlier
            for h in range(found.first[earlier], found.first[earlier + 1]):
                end, gap = int(found.end[h]), int(found.gap[h])
                if gap >= 0:
                    if found.gap_end[h] - gap != size:
                        continue
                    begin, last = gap, gap
                else:
                    begin, last = end, min(end + longest, length - size)
                for start in range(begin, last + 1):
                    owed = gap < 0 and start > end
                    if owed and options.first[end, start - end - 1] == options.first[end, start - end]:
                        continue  # the phrase that would be owed does not exist
                    state = (end * 65536 + start if owed else 0) * 65536 + max(end, start + size)
                    for option in range(options.first[start, size - 1], options.first[start, size]):
                        score, hashed = _try(found, h, options, option, aim, grams, stack - 1, nodes)
                        score -= _SWAP * (found.swaps[h] + owed)
                        hashed = mix(hashed ^ state)
                        count = _offer(tried, count, beam, score, h, option, start, start + size, hashed)
        at = found.first[stack]
        for place in range(count):
            _keep(found, at + place, tried, place, options, aim, grams)
        found.first[stack + 1] = at + count
