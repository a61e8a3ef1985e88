"""The De Bruijn graph of predicted n-grams, in which a translation is a path from `<s>` to `</s>` (bicici, 4).

A node is a context of up to n - 1 words, an edge an n-gram: it leads from its first n - 1 words to its last n - 1. Its
weight is how often regression expects the n-gram. All n-grams of the instances are edges, not only those above some
threshold: of the right ones a threshold lets through a third (a recall of .37), which almost never connect.

    ids, offsets, often = marked_ngrams(text, 2)                # of the instances: w, <s> w, w w', w' </s>
    prediction = Prediction.of((ids, offsets), predicted, Spectrum(2, "weighted"))
    graph = build_graph(prediction, order=2, words=len(vocabulary))

Words are numbers of a vocabulary; `<s>` and `</s>` are the two numbers behind its last (:func:`marks_of`).
Contexts and n-grams are the nodes of one trie: the number of an n-gram is also that of the context which its words are.
With an n-gram come all n-grams inside it, because a path that leaves the graph goes on from a shorter context.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt

from camber.arrays.distinct import number_rows
from camber.arrays.ragged import offsets_from, take_ragged
from camber.arrays.types import F8, I4, I8, Array
from camber.corpus import Sentences, Vocabulary
from camber.corpus.inputs import Input
from camber.errors import CamberError
from camber.kernel import kernel
from camber.kernel.table import capacity_for, find, insert
from camber.regress.spectrum import Spectrum

#: the root of the trie: no word at all
ROOT = 0
#: how often an n-gram may be used of which nobody says how often it is expected
ANY = 1e9


def marks_of(vocabulary: Vocabulary) -> tuple[int, int]:
    """Return the numbers of `<s>` and `</s>` beside those of a vocabulary.

    >>> marks_of(Vocabulary(["a", "b"]))
    (2, 3)
    """
    return len(vocabulary), len(vocabulary) + 1


def marked(text: Sentences) -> Sentences:
    """Put `<s>` and `</s>` around every sentence: the ids are beyond the vocabulary, which stays as it is.

    >>> marked(Sentences.encode([["a"], []])).ids.tolist()
    [1, 0, 2, 1, 2]
    """
    begin, end = marks_of(text.vocabulary)
    ids = np.insert(text.ids, text.offsets[:-1], begin)
    lasts = text.offsets[1:] + np.arange(1, len(text) + 1)
    ids = np.insert(ids, lasts, end)
    return Sentences(ids.astype(np.int32), offsets_from(text.lengths + 2), text.vocabulary)


@dataclass(frozen=True, eq=False)
class Prediction:
    """What regression says about the translation of one sentence: n-grams, each with how often it is expected.

    >>> Prediction.of([[0], [0, 1]], [0.5, 1.4], Spectrum(2, "weighted")).counts.round(2).tolist()
    [0.5, 0.99]
    """

    ids: I4  # words of all n-grams
    offsets: I8  # [n-grams + 1]
    counts: F8  # [n-grams]
    unknown: tuple[int, ...] = ()  # places of the source words of which the instances know nothing

    @classmethod
    def of(
        cls,
        grams: Sequence[Sequence[int]] | tuple[I4, I8],
        values: npt.ArrayLike,
        spectrum: Spectrum | None = None,
        unknown: Sequence[int] = (),
    ) -> Prediction:
        """Take n-grams, as lists or as (ids, offsets), with the values of a regression over a spectrum.

        Such values are √p times a count, where a p-gram has the weight p; this is undone here.
        """
        if isinstance(grams, tuple):
            ids, offsets = np.asarray(grams[0], np.int32), np.asarray(grams[1], np.int64)
        else:
            ids = np.array([word for gram in grams for word in gram], np.int32)
            offsets = offsets_from(np.array([len(gram) for gram in grams], np.int64))
        counts = np.array(values, np.float64)
        if spectrum is not None and len(counts):
            counts /= np.sqrt(spectrum.weights)[np.diff(offsets) - 1]
        return cls(ids, offsets, counts, tuple(unknown))

    def __len__(self) -> int:
        """Return the number of n-grams."""
        return len(self.counts)

    @property
    def lengths(self) -> I8:
        """Words of every n-gram, int64[n-grams]."""
        return np.diff(self.offsets)

    def above(self, least: float) -> Prediction:
        """Keep the n-grams that are expected at least so often."""
        kept = np.flatnonzero(self.counts >= least)
        ids, offsets = take_ragged(self.ids, self.offsets, kept)
        return Prediction(ids, offsets, self.counts[kept], self.unknown)


class GramSource(Protocol):
    """Whatever gives the n-grams of a translation with their weights: selection and regression, or a table."""

    @property
    def source_words(self) -> Vocabulary:
        """The source words that it knows."""

    @property
    def target_words(self) -> Vocabulary:
        """The target words of its n-grams; their marks are :func:`marks_of` it."""

    @property
    def orders(self) -> tuple[int, ...]:
        """The lengths of n-grams that it predicts, rising; the last is the order of the graph, at least 2."""

    @property
    def ratio(self) -> float:
        """Source words for each target word of the corpus: l_R."""

    @property
    def recorded(self) -> dict[str, dict[str, Any]]:
        """The settings that a model must keep, by stage."""

    def predictions(self, inputs: Sequence[Input]) -> Sequence[Prediction]:
        """Return what is predicted for every sentence."""

    def remembering(self) -> Self:
        """Return the same source, which keeps its predictions if that saves work."""


class Graph(NamedTuple):
    """N-grams as a trie; number 0 is the root. All arrays are [n-grams] unless they say otherwise."""

    word: Array  # int64: the last word
    length: Array  # int64: how many words
    prefix: Array  # int64: without the last word
    suffix: Array  # int64: without the first word
    unigram: Array  # int64: the last word alone
    context: Array  # int64: where a path is after it: the longest suffix of n - 1 words at most that something follows
    backoff: Array  # int64: the longest proper suffix that something follows (root: -1)
    end: Array  # int64: with `</s>` behind it, or -1
    first: Array  # int64[n-grams + 1]: the n-grams with one word more are child[first[g]:first[g + 1]]
    child: Array  # int64[…]; neither `<s>` nor `</s>` is the last word of any
    count: Array  # float64: how often it is expected; NaN: nobody says
    times: Array  # int64: how often it may be used
    copied: Array  # int64: whether it is a source word that is passed through
    order: int
    begin: int  # the context that paths start in: `<s>`, or the root

    def __len__(self) -> int:
        return len(self.word)


def build_graph(prediction: Prediction, order: int, words: int, copies: Sequence[tuple[int, int]] = ()) -> Graph:
    """Make the graph of predicted n-grams of up to `order` words, numbered below `words` (and the two marks).

    An n-gram may be used as often as it is expected, rounded, and at least once; what lies inside predicted n-grams,
    but has no value of its own, as often as one likes. `copies` are words that stand alone,
    each with how often it may be used: source words that nothing is known about. Their numbers are words of the
    vocabulary, or beyond the marks; one that some n-gram has is none.
    """
    ids, offsets = _checked(prediction, order, words)
    room = int((prediction.lengths * (prediction.lengths + 1) // 2).sum()) + len(copies) + 2
    word, length, prefix, suffix, unigram, copied, times = (np.zeros(room, np.int64) for _ in range(7))
    count = np.full(room, np.nan)
    keys, nodes = np.full(capacity_for(room), -1, np.int64), np.zeros(capacity_for(room), np.int64)
    factor = max([words + 2, *(number + 1 for number, _ in copies)])
    size = _insert(
        ids, offsets, prediction.counts, words + 1, factor, keys, nodes, word, length, prefix, suffix, unigram, count,
        np.zeros((2, order + 1), np.int64),
    )  # fmt: skip
    if size < 0:
        raise CamberError(f"n-gram {-size - 1} is predicted twice; give each n-gram once")
    for number, often in copies:
        slot = insert(keys, number)
        if nodes[slot] == ROOT:  # nothing leads to the root, so this is a new one
            nodes[slot] = unigram[size] = size
            word[size], length[size], copied[size], times[size] = number, 1, 1, often
            size += 1
    word, length, prefix, suffix, unigram, copied, times = (
        column[:size].copy() for column in (word, length, prefix, suffix, unigram, copied, times)
    )
    count = count[:size].copy()
    expected = np.maximum(1, np.rint(np.nan_to_num(count, nan=ANY)))
    times = np.where(copied > 0, times, expected).astype(np.int64)
    context, backoff, end = (np.full(size, -1, np.int64) for _ in range(3))
    inner = (length > 0) & (word != words) & (word != words + 1)  # neither mark is read on from another word
    first = offsets_from(np.bincount(prefix[inner], minlength=size))
    child = np.flatnonzero(inner)[np.argsort(prefix[inner], kind="stable")]
    slot = int(find(keys, words))
    _link(word, length, prefix, suffix, first, copied, words + 1, order, context, backoff, end)
    return Graph(
        word, length, prefix, suffix, unigram, context, backoff, end, first, child, count, times, copied, order,
        int(nodes[slot]) if slot >= 0 else ROOT,
    )  # fmt: skip


def _checked(prediction: Prediction, order: int, words: int) -> tuple[I8, I8]:
    """Return the words of n-grams in the kernels' type, or refuse them."""
    ids, offsets = prediction.ids.astype(np.int64), np.ascontiguousarray(prediction.offsets, np.int64)
    lengths = prediction.lengths
    if len(offsets) != len(prediction) + 1 or offsets[0] != 0 or offsets[-1] != len(ids):
        raise CamberError(f"{len(prediction)} predicted values, but offsets of {len(offsets) - 1} n-grams")
    if len(lengths) and not 1 <= lengths.min() <= lengths.max() <= order:
        raise CamberError(f"n-grams of {lengths.min()} to {lengths.max()} words; expected 1 to {order}")
    if len(ids) and not 0 <= ids.min() <= ids.max() < words + 2:
        raise CamberError(f"words numbered {ids.min()} to {ids.max()}; expected 0 to {words + 1}, marks included")
    if not np.isfinite(prediction.counts).all():
        bad = int(np.argmin(np.isfinite(prediction.counts)))
        raise CamberError(f"the predicted value of n-gram {bad} is not a finite number")
    inside, behind = np.ones(len(ids), bool), np.ones(len(ids), bool)
    inside[offsets[:-1][lengths > 0]] = False
    behind[offsets[1:][lengths > 0] - 1] = False
    if ((ids == words) & inside).any() or ((ids == words + 1) & behind).any():
        raise CamberError("an n-gram has <s> after its first word, or </s> before its last")
    return ids, offsets


def marked_ngrams(text: Sentences, order: int, lengths: Sequence[int] | None = None) -> tuple[I4, I8, I8]:
    """Return the distinct n-grams of sentences with their marks, of the given lengths (all up to `order` by default).

    (ids, offsets) as :meth:`Prediction.of` takes them, and how often each stands there, int64[n-grams]. The marks
    alone are no n-grams.

    >>> ids, offsets, often = marked_ngrams(Sentences.encode([["a"], ["a"]]), 2)
    >>> [ids[a:b].tolist() for a, b in zip(offsets, offsets[1:])], often.tolist()
    ([[0], [1, 0], [0, 2]], [2, 2, 2])
    """
    around = marked(text)
    rows: list[I4] = []
    counts: list[I8] = []
    sizes: list[int] = []
    for n in lengths or range(1, order + 1):
        places = np.arange(len(around.ids))
        last = np.repeat(around.offsets[1:], around.lengths)
        starts = places[places + n <= last]
        if n == 1:
            starts = starts[around.ids[starts] < len(text.vocabulary)]
        table = around.ids[starts[:, None] + np.arange(n)]
        firsts, numbers = number_rows(table)
        rows.append(table[firsts].reshape(-1))
        counts.append(np.bincount(numbers, minlength=len(firsts)))
        sizes += [n] * len(firsts)
    return (
        np.concatenate([*rows, np.zeros(0, np.int32)]).astype(np.int32),
        offsets_from(np.array(sizes, np.int64)),
        np.concatenate([*counts, np.zeros(0, np.int64)]),
    )


@kernel
def _insert(ids, offsets, counts, end_mark, factor, keys, nodes, word, length, prefix, suffix, unigram, count, walk):
    """Put all n-grams and what lies inside them into the trie; return its size, or -1 - g if g came twice.

    Suffixes go first, the shortest before the others, so that those of an n-gram are there when it comes:
    ``walk[0, e]`` is what ends with word `e` and begins one word later.
    """
    word[0] = -1
    size = 1
    for gram in range(len(offsets) - 1):
        low, high = offsets[gram], offsets[gram + 1]
        for start in range(high - 1, low - 1, -1):
            node = np.int64(0)
            for place in range(start, high):
                slot = insert(keys, node * factor + ids[place])
                if nodes[slot] == 0:
                    nodes[slot] = size
                    word[size] = ids[place]
                    length[size] = place - start + 1
                    prefix[size] = node
                    suffix[size] = walk[0, place - low] if place > start else 0
                    unigram[size] = size if place == start else unigram[suffix[size]]
                    size += 1
                node = nodes[slot]
                walk[1, place - low] = node
            for place in range(start, high):
                walk[0, place - low] = walk[1, place - low]
            if start == low:
                if count[node] == count[node]:
                    return -1 - gram
                count[node] = counts[gram]
    slot = insert(keys, end_mark)  # the end can always be read, if nothing else
    if nodes[slot] == 0:
        nodes[slot] = size
        word[size] = end_mark
        length[size] = 1
        unigram[size] = size
        size += 1
    return size


@kernel
def _link(word, length, prefix, suffix, first, copied, end_mark, order, context, backoff, end):
    """Fill where a path goes on after each n-gram, and which shorter context follows a context."""
    for node in range(1, len(word)):
        if word[node] == end_mark:
            end[prefix[node]] = node
    for node in range(len(word)):
        at = suffix[node] if node > 0 else np.int64(-1)
        while at > 0 and first[at] == first[at + 1] and end[at] < 0:
            at = suffix[at]
        backoff[node] = at
        follows = first[node] < first[node + 1] or end[node] >= 0
        stays = node == 0 or copied[node] > 0 or (length[node] < order and follows)
        context[node] = node if stays else at
