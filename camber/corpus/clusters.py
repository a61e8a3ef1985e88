"""Word clusters by exchange (Kneser & Ney 1993; Martin, Liermann & Ney 1998).

Each word belongs to one cluster, and a word depends on the cluster of the word before: p(w | v) = p(w | c(w)) ·
p(c(w) | c(v)). One word after the other goes to the cluster that makes the text most likely, until none moves.

    clusters = WordClusters.learn(text, clusters=50)
    clusters.of_word[text.vocabulary.id("hund")]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from camber.arrays.types import F8, I4, I8, Array
from camber.corpus.bitext import Sentences
from camber.errors import CamberError
from camber.kernel import kernel

#: Passes over all words at most; later ones move few words.
ROUNDS = 20

#: What a move must add to the log likelihood: less is rounding.
LEAST_GAIN = 1e-7

#: Numbers whose n log n is looked up.
_TABLE = 1 << 20


@dataclass(frozen=True)
class WordClusters:
    """The cluster of every word of a vocabulary; clusters are numbered by falling frequency.

    >>> lines = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "cat", "barks"], ["a", "dog", "sleeps"]]
    >>> text = Sentences.encode(lines)
    >>> of = dict(zip(text.vocabulary.words, WordClusters.learn(text, 3).of_word.tolist()))
    >>> of["dog"] == of["cat"], of["the"] == of["a"], of["dog"] == of["barks"]
    (True, True, False)
    """

    of_word: I4  # [words]
    log_likelihood: float  # of the text, in nats, ends of sentences included
    rounds: int  # passes over all words

    @classmethod
    def learn(cls, text: Sentences, clusters: int = 50, rounds: int = ROUNDS) -> Self:
        """Cluster the words of a text with its own vocabulary.

        At first, each of the most frequent words is a cluster, and all others are the last one. Words are looked at by
        falling frequency.
        """
        if clusters < 1:
            raise CamberError(f"{clusters} clusters were asked for; at least 1 is needed")
        words = len(text.vocabulary)
        counts = np.bincount(text.ids, minlength=words).astype(np.int64)
        order = np.argsort(-counts, kind="stable").astype(np.int64)
        of_word = np.full(words + 1, clusters, np.int32)  # the end of a sentence, behind the words, stays alone
        of_word[order] = np.minimum(np.arange(words), clusters - 1)
        left, right, often = _bigrams(text)
        successors, predecessors = _neighbours(left, right, often, words), _neighbours(right, left, often, words)
        table = np.zeros((clusters + 1, clusters + 1), np.int64)
        np.add.at(table, (of_word[left], of_word[right]), often)
        sizes = np.bincount(of_word, [*counts, len(text)], clusters + 1).astype(np.int64)
        entropy = _n_log_n(np.arange(min(len(text.ids) + len(text) + 1, _TABLE)))
        scratch = np.zeros((2, clusters + 1), np.int64)
        done = 0
        while done < rounds and words:
            done += 1
            if not _exchange(order, counts, successors, predecessors, of_word, table, sizes, entropy, scratch):
                break
        likelihood = _n_log_n(table).sum() - 2 * _n_log_n(sizes).sum() + _n_log_n(np.append(counts, len(text))).sum()
        frequency = np.bincount(of_word[:words], counts, clusters)
        rank = np.empty(clusters, np.int32)
        rank[np.argsort(-frequency, kind="stable")] = np.arange(clusters)
        return cls(rank[of_word[:words]], float(likelihood), done)


class _Neighbours(NamedTuple):
    """The words that stand on one side of every word: those of word w are ``words[offsets[w]:offsets[w + 1]]``."""

    offsets: Array  # int64[words + 1]
    words: Array  # int32[bigrams]
    counts: Array  # int64[bigrams]


def _bigrams(text: Sentences) -> tuple[I8, I8, I8]:
    """Return the distinct bigrams and how often each occurs; a sentence begins and ends with the word behind all."""
    end = len(text.vocabulary)
    padded = np.full(len(text.ids) + len(text) + 1, end, np.int64)
    sentence = np.repeat(np.arange(len(text)), text.lengths)
    padded[np.arange(len(text.ids)) + sentence + 1] = text.ids
    keys, counts = np.unique(padded[:-1] * (end + 1) + padded[1:], return_counts=True)
    return keys // (end + 1), keys % (end + 1), counts.astype(np.int64)


def _neighbours(words: I8, others: I8, counts: I8, size: int) -> _Neighbours:
    order = np.argsort(words, kind="stable")
    offsets = np.searchsorted(words[order], np.arange(size + 1)).astype(np.int64)
    return _Neighbours(offsets, others[order].astype(np.int32), counts[order])


def _n_log_n(numbers: I8) -> F8:
    return np.asarray(numbers * np.log(np.maximum(numbers, 1)), np.float64)


@kernel
def _entropy(number, table):
    """Return n log n, from a table if it is there."""
    return table[number] if number < len(table) else number * np.log(number)


@kernel
def _count_neighbours(word, neighbours, of_word, counts):
    """Count the clusters beside a word into counts int64[clusters + 1]; return how often it stands beside itself."""
    same = 0
    for k in range(neighbours.offsets[word], neighbours.offsets[word + 1]):
        if neighbours.words[k] == word:
            same = neighbours.counts[k]
        else:
            counts[of_word[neighbours.words[k]]] += neighbours.counts[k]
    return same


@kernel
def _shift(cluster, sign, count, before, after, same, table, sizes):
    """Put a word into a cluster (sign 1) or take it out (-1); it has `same` bigrams with itself."""
    for g in range(len(sizes)):
        table[g, cluster] += sign * before[g]
        table[cluster, g] += sign * after[g]
    table[cluster, cluster] += sign * same
    sizes[cluster] += sign * count


@kernel
def _gain(cluster, count, before, after, same, table, sizes, entropy):
    """Return what putting a word into a cluster adds to the log likelihood."""
    gain = 0.0
    for g in range(len(sizes)):
        if g != cluster:
            if before[g] > 0:
                gain += _entropy(table[g, cluster] + before[g], entropy) - _entropy(table[g, cluster], entropy)
            if after[g] > 0:
                gain += _entropy(table[cluster, g] + after[g], entropy) - _entropy(table[cluster, g], entropy)
    inside, size = table[cluster, cluster], sizes[cluster]
    gain += _entropy(inside + before[cluster] + after[cluster] + same, entropy) - _entropy(inside, entropy)
    return gain - 2.0 * (_entropy(size + count, entropy) - _entropy(size, entropy))


@kernel
def _exchange(order, counts, successors, predecessors, of_word, table, sizes, entropy, scratch):
    """Give each word the best cluster for it, one after the other; return how many moved.

    table int64[clusters + 1, clusters + 1]: bigrams of clusters, the last of which is the end of a sentence; sizes
    int64[clusters + 1]; entropy float64: n log n of small numbers; scratch int64[2, clusters + 1].
    """
    before, after = scratch[0], scratch[1]
    moved = 0
    for word in order:
        old = np.int64(of_word[word])
        best = old
        for g in range(len(sizes)):
            before[g] = 0
            after[g] = 0
        same = _count_neighbours(word, predecessors, of_word, before)
        _count_neighbours(word, successors, of_word, after)
        _shift(old, -1, counts[word], before, after, same, table, sizes)
        most = _gain(old, counts[word], before, after, same, table, sizes, entropy)
        for cluster in range(len(sizes) - 1):
            gain = _gain(cluster, counts[word], before, after, same, table, sizes, entropy)
            if gain > most + LEAST_GAIN:
                best, most = np.int64(cluster), gain
        _shift(best, 1, counts[word], before, after, same, table, sizes)
        of_word[word] = best
        moved += best != old
    return moved
