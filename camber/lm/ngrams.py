"""Queries: an n-gram model as an automaton whose state is one integer.

A *node* is a context that matters: one after which some word was seen, or that has a backoff. Reading a word in a
state looks for it among the node's children; where it is absent, the node's backoff is paid and the search goes on in
the node of the next shorter context. The root's children are all words, so the search ends there at the latest.
A child knows the node that is the state after it: the longest suffix that is a node, hence the minimal state.

    log_probability, state = step(model.nodes, model.children, state, word)

Log probabilities are natural here.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeAlias, cast

import numpy as np

from camber.arrays.checked import checked_once
from camber.arrays.checks import Checks
from camber.arrays.files import Shapes, open_arrays, save_arrays
from camber.arrays.ragged import offsets_from
from camber.arrays.scratch import UNLIMITED, Scratch
from camber.arrays.types import F8, I4, I8, Records
from camber.corpus import Sentences, Vocabulary
from camber.errors import CamberError, ModelError
from camber.files import decode_lines, read_bytes, write_lines
from camber.kernel import kernel
from camber.lm.arpa import read_arpa
from camber.lm.lines import SpelledWords
from camber.lm.trie import BEGIN, END, SPECIAL, UNKNOWN, NgramTrie

#: Sentences in numbers, as lists of words, or as lines of words with blanks between.
Text: TypeAlias = Sentences | Sequence[Sequence[str]] | Sequence[str]

#: One cell of a node. The first: how many more cells the node has, its backoff, and the node of the longest proper
#: suffix. The others are children: `word` (-1: a free slot of a hash table), natural log probability, and the state
#: after it. Most nodes have a single child, so that everything a step needs lies in one line of the processor's cache.
#: The root's first cell says -1, and in `next` where its children are in their own array: one per word.
CELL = np.dtype([("word", "i4"), ("log", "f4"), ("next", "i4")])

#: Nodes with more children than this have a hash table. Limits from 2 to 12 could not be told apart in speed; 8 keeps
#: the model small, because children that are scanned need no free slots.
SCANNED = 8
#: Slots of a hash table per child
SLACK = 1.75
#: Sentences that advance in turn, word by word: a single one would wait for memory after every word; 32 gain no more
_TOGETHER = 16
_LN10 = math.log(10)


@kernel
def step(nodes, children, state, word):
    """Read `word` in `state`: return its natural log probability (float64) and the next state (int64).

    All indices are absolute, so that several models may share one pair of arrays (:func:`concatenate`). Here they are
    unsigned: signed ones would be compared with 0 every time.
    """
    total = 0.0
    while True:
        node = nodes[np.uint64(state)]
        size = np.int64(node["word"])
        if size < 0:  # the root
            child = children[np.uint64(node["next"] + word)]
            return total + child["log"], np.int64(child["next"])
        first = state + 1
        end = first + size
        if size <= SCANNED:
            for slot in range(np.uint64(first), np.uint64(end)):
                cell = nodes[slot]
                if cell["word"] == word:
                    return total + cell["log"], np.int64(cell["next"])
        else:
            place = first + _home(word, size)
            while True:
                cell = nodes[np.uint64(place)]
                here = cell["word"]
                if here == word:
                    return total + cell["log"], np.int64(cell["next"])
                if here < 0:
                    break
                place = _after(place, first, end)
        total += node["log"]
        state = np.int64(node["next"])


@kernel
def _home(word, size):
    """Return where `word` would like to be in a hash table of `size` slots: multiply, then scale down."""
    return ((word * 2654435769 & 0xFFFFFFFF) * size) >> 32


@kernel
def _after(slot, first, end):
    """Return the slot after `slot` in a hash table from `first` to `end`."""
    return slot + 1 if slot + 1 < end else first


@dataclass(frozen=True)
class NgramModel:
    """An n-gram model to query.

    >>> model = NgramModel.read("en.arpa")                                          # doctest: +SKIP
    >>> model.score([["a", "man", "sleeps"]])                                       # doctest: +SKIP
    array([-14.3])
    """

    nodes: Records  # CELL[…]: the root, and every other node with its children
    children: Records  # CELL[words]: the children of the root
    vocabulary: Vocabulary  # 0 <unk>, 1 <s>, 2 </s>, then words
    order: int
    root: int  # state without any context
    begin: int  # state after <s>
    #: the vocabulary mapped last and its words here: texts of one vocabulary are scored again and again
    _mapped: list[tuple[Vocabulary, I8]] = field(default_factory=list, repr=False, compare=False)
    #: the words by their bytes, once lines were scored
    _spelled: list[SpelledWords] = field(default_factory=list, repr=False, compare=False)

    @classmethod
    def read(cls, path: str | Path) -> NgramModel:
        """Read an ARPA file (plain or .gz)."""
        return cls.from_trie(read_arpa(path))

    @classmethod
    def from_trie(cls, trie: NgramTrie, scratch: Scratch = UNLIMITED) -> NgramModel:
        """Compile n-gram columns."""
        nodes, children, state = _compile(trie, scratch)
        return cls(nodes, children, Vocabulary(trie.words), trie.order, 0, int(state[1 + BEGIN]))

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays that queries use."""
        return self.nodes.nbytes + self.children.nbytes

    def word_ids(self, vocabulary: Vocabulary) -> I8:
        """Map every id of a text's vocabulary to a word of the model, int64[len(vocabulary)].

        Words that the model does not have are 0; so are tokens of the text that are spelled `<s>`, `</s>` or `<unk>`.
        """
        get = self.vocabulary._ids.get
        ids = np.fromiter(map(get, vocabulary.words, itertools.repeat(UNKNOWN)), np.int64, len(vocabulary))
        ids[ids < len(SPECIAL)] = UNKNOWN
        return ids

    def score(self, sentences: Text, *, bos: bool = True, eos: bool = True) -> F8:
        """Return the natural log probability of each sentence, float64[sentences].

        Sentences are ids, lists of words, or whole lines with blanks between words, which is the fastest for strings.
        `bos`: start after `<s>` (otherwise without context); `eos`: count the end of the sentence. Divide by ``ln 10``
        for the log10 that KenLM gives.
        """
        return self._run(sentences, bos, eos)[0]

    def word_scores(self, sentences: Text, *, bos: bool = True, eos: bool = True) -> tuple[F8, I8]:
        """Return the natural log probability of each word (and end), and the offsets of the sentences in it."""
        _, scores, offsets = self._run(sentences, bos, eos)
        return scores, offsets

    def perplexity(self, sentences: Text) -> float:
        """Return the perplexity per word; ends of sentences and unknown words count as words."""
        _, scores, _ = self._run(sentences, True, True)
        if len(scores) == 0:
            raise CamberError("no sentences to measure the perplexity on")
        return math.exp(-float(scores.mean()))

    def _run(self, sentences: Text, bos: bool, eos: bool) -> tuple[F8, F8, I8]:
        if not isinstance(sentences, Sentences) and len(sentences) and isinstance(sentences[0], str):
            if not self._spelled:
                self._spelled.append(SpelledWords.of(self.vocabulary.words))
            lines = cast(Sequence[str], sentences)
            found = [
                (*self._score(words, offsets, bos, eos), np.diff(offsets) + eos)
                for words, offsets in self._spelled[0].numbered(lines)
            ]
            totals, scores, sizes = (np.concatenate(column) for column in zip(*found, strict=True))
            return totals, scores, offsets_from(sizes)
        if isinstance(sentences, Sentences):
            last = self._mapped[-1:]
            if not last or last[0][0] is not sentences.vocabulary:
                # one entry more, which the id -1 of an unknown word finds
                last = [(sentences.vocabulary, np.append(self.word_ids(sentences.vocabulary), UNKNOWN))]
                self._mapped[:] = last
            words = last[0][1][sentences.ids]
            offsets = sentences.offsets
        else:
            words, offsets = self._encode(cast(Sequence[Sequence[str]], sentences))
        return *self._score(words, offsets, bos, eos), offsets + np.arange(len(offsets)) * eos

    def _score(self, words: I8, offsets: I8, bos: bool, eos: bool) -> tuple[F8, F8]:
        """Return the log probabilities of sentences in numbers, and of all their words and ends."""
        totals, scores = np.empty(len(offsets) - 1), np.empty(len(words) + (len(offsets) - 1) * eos)
        states, start = np.empty(_TOGETHER, np.int64), self.begin if bos else self.root
        _score(self.nodes, self.children, words, offsets, start, int(eos), states, scores, totals)
        return totals, scores

    def _encode(self, sentences: Sequence[Sequence[str]]) -> tuple[I8, I8]:
        """Look up the words of sentences given as strings."""
        offsets = offsets_from(map(len, sentences))
        get = self.vocabulary._ids.get
        tokens = itertools.chain.from_iterable(sentences)
        words = np.fromiter(map(get, tokens, itertools.repeat(UNKNOWN)), np.int64, int(offsets[-1]))
        words[words < len(SPECIAL)] = UNKNOWN
        return words, offsets

    def save(self, folder: str | Path, prefix: str) -> None:
        """Write `prefix`.nodes.npy, `prefix`.children.npy and `prefix`.words.txt into a folder."""
        folder = Path(folder)
        save_arrays(folder, {f"{prefix}.nodes": self.nodes, f"{prefix}.children": self.children})
        header = f"{self.order} {self.root} {self.begin}"
        write_lines(folder / f"{prefix}.words.txt", [header, *self.vocabulary.words])

    @classmethod
    def load(cls, folder: str | Path, prefix: str) -> NgramModel:
        """Open what :meth:`save` wrote; the arrays are memory-mapped."""
        folder = Path(folder)
        shapes: Shapes = {f"{prefix}.{name}": (CELL, 1) for name in ("nodes", "children")}
        nodes, children = open_arrays(folder, shapes, "build the model again").values()
        path = folder / f"{prefix}.words.txt"
        lines = decode_lines(read_bytes(path), path)
        try:
            order, root, begin = map(int, lines[0].split())
        except (IndexError, ValueError):
            raise ModelError(f"{path}: the first line is not 'order root begin'; build the model again") from None
        model = cls(nodes, children, Vocabulary.of_lines(lines[1:], path), order, root, begin)
        checked_once([path, *(folder / f"{name}.npy" for name in shapes)], partial(model._check, folder, prefix))
        return model

    def _check(self, folder: Path, prefix: str) -> None:
        """Refuse an automaton that a step would leave, or that it would never come back from."""
        checks, words = Checks(folder, "build the model again"), len(self.vocabulary)
        checks.shape(f"{prefix}.children", self.children, words)
        starts = np.zeros(len(self.nodes), np.uint8)
        bad = _bad_cell(self.nodes, starts, words)
        checks.that(bad < 0, f"{prefix}.nodes", f"cell {bad} contradicts the others")
        bad = _bad_child(self.children, starts)
        checks.that(bad < 0, f"{prefix}.children", f"cell {bad} contradicts the nodes")
        if self.vocabulary.words[: len(SPECIAL)] != SPECIAL or self.root != 0 or not 0 <= self.begin < len(starts):
            raise ModelError(f"{folder / prefix}.words.txt: its head does not fit the nodes; build the model again")
        checks.that(starts[self.begin] > 0, f"{prefix}.nodes", f"cell {self.begin} is no node")


def concatenate(models: Sequence[NgramModel]) -> tuple[Records, Records, I8, I8]:
    """Lay several models into one pair of arrays: (nodes, children, roots[models], begin_states[models]).

    Words keep the numbers that they have in their own model. A single model is not copied.
    """
    if len(models) == 1:
        only = models[0]
        return only.nodes, only.children, np.array([only.root]), np.array([only.begin])
    nodes = np.concatenate([np.empty(0, CELL), *(model.nodes for model in models)])
    children = np.concatenate([np.empty(0, CELL), *(model.children for model in models)])
    _check_size(max(len(nodes), len(children)))
    roots, begins = np.zeros(len(models), np.int64), np.zeros(len(models), np.int64)
    cell = slot = 0
    for index, model in enumerate(models):
        nodes["next"][cell : cell + len(model.nodes)] += cell
        nodes["next"][cell + model.root] += slot - cell  # it refers to the other array
        children["next"][slot : slot + len(model.children)] += cell
        roots[index], begins[index] = model.root + cell, model.begin + cell
        cell, slot = cell + len(model.nodes), slot + len(model.children)
    return nodes, children, roots, begins


@kernel
def _score(nodes, children, words, offsets, start, eos, states, scores, totals):
    """Score sentences word by word; sentence `s` has ``eos`` more scores than words.

    As many sentences as there are `states` advance in turn: while one waits for its node, the others go on.
    """
    count = len(offsets) - 1
    for first in range(0, count, len(states)):
        last = min(first + len(states), count)
        longest = 0
        for sentence in range(first, last):
            states[sentence - first] = start
            totals[sentence] = 0.0
            longest = max(longest, offsets[sentence + 1] - offsets[sentence])
        for place in range(longest + eos):
            for sentence in range(first, last):
                position, end = offsets[sentence] + place, offsets[sentence + 1]
                if position < end + eos:
                    word = words[position] if position < end else np.int64(END)
                    score, states[sentence - first] = step(nodes, children, states[sentence - first], word)
                    scores[position + sentence * eos] = score
                    totals[sentence] += score


@kernel
def _bad_cell(nodes, starts, words):
    """Mark where nodes start, and return the first cell that a step must not meet, -1: there is none.

    Suffixes stand before their nodes, so a search for a word always comes to the root.
    """
    cell = 0
    while cell < len(nodes):
        size = np.int64(nodes[cell]["word"])
        if (size < 0) != (cell == 0) or cell + size >= len(nodes):
            return cell
        starts[cell] = 1
        cell += 1 + int(size) if cell > 0 else 1
    if len(nodes) == 0 or nodes[0]["next"] != 0:
        return 0
    first, size, free = 0, np.int64(0), 1
    for cell in range(len(nodes)):
        word, after = np.int64(nodes[cell]["word"]), np.int64(nodes[cell]["next"])
        if starts[cell] > 0:
            if size > SCANNED and free == 0:
                return first  # a word that is not there would be looked for without end
            first, size, free = cell, word, 0
            if cell > 0 and (after < 0 or after >= cell or starts[after] == 0):
                return cell
        elif word < 0:
            if size <= SCANNED:
                return cell
            free += 1
            continue
        elif word >= words or after < 0 or after >= len(nodes) or starts[after] == 0:
            return cell
        if not abs(nodes[cell]["log"]) < np.inf:
            return cell
    return first if size > SCANNED and free == 0 else -1


@kernel
def _bad_child(children, starts):
    for word in range(len(children)):
        after = np.int64(children[word]["next"])
        if after < 0 or after >= len(starts) or starts[after] == 0 or not abs(children[word]["log"]) < np.inf:
            return word
    return -1


def _compile(trie: NgramTrie, scratch: Scratch) -> tuple[Records, Records, I4]:
    """Return the nodes, the children of the root, and the state (node) after every n-gram of the trie."""
    degree, state = scratch.zeros((len(trie.word),), np.int32), scratch.empty((len(trie.word),), np.int32)
    cells = int(_lay_out(trie.prefix, trie.suffix, trie.backoff, _LN10, SLACK, degree, state))
    _check_size(cells)
    nodes: Records = scratch.zeros((cells,), CELL)
    _fill_nodes(trie.suffix, trie.backoff, _LN10, SLACK, degree, state, nodes)

    unigrams = slice(1, 1 + len(trie.words))
    children = np.zeros(len(trie.words), CELL)
    children["word"], children["next"] = trie.word[unigrams], state[unigrams]
    children["log"] = (trie.probability[unigrams] * _LN10).astype(np.float32)
    _fill(nodes, trie.prefix, trie.word, trie.probability, _LN10, state, unigrams.stop)
    return nodes, children, state


@kernel
def _lay_out(prefix, suffix, backoff, ln10, slack, degree, state):
    """Fill how many children every n-gram has, and where its state is; return how many cells there are."""
    for gram in range(1, len(prefix)):
        degree[prefix[gram]] += 1
    degree[0] = 0  # the root's children are not here
    cells = 1
    state[0] = 0
    for gram in range(1, len(prefix)):
        if degree[gram] == 0 and np.float32(backoff[gram] * ln10) == 0:
            state[gram] = state[suffix[gram]]  # no node
        else:
            state[gram] = cells
            cells += 1 + _cells_of(np.int64(degree[gram]), slack)
    return cells


@kernel
def _cells_of(degree, slack):
    """Return how many cells so many children take."""
    return np.int64(np.ceil(degree * slack)) if degree > SCANNED else degree


@kernel
def _fill_nodes(suffix, backoff, ln10, slack, degree, state, nodes):
    """Write the first cell of every node, and mark the others as free."""
    for cell in range(len(nodes)):
        nodes[cell]["word"] = -1
    nodes[0]["log"] = np.float32(backoff[0] * ln10)
    for gram in range(1, len(suffix)):
        log = np.float32(backoff[gram] * ln10)
        if degree[gram] > 0 or log != 0:
            first = state[gram]
            nodes[first]["word"] = _cells_of(np.int64(degree[gram]), slack)
            nodes[first]["log"] = log
            nodes[first]["next"] = state[suffix[gram]]


@kernel
def _fill(nodes, prefix, word, probability, ln10, state, start):
    """Put every n-gram longer than a word, from number `start` on, among the children of its prefix."""
    for gram in range(start, len(word)):
        first, last = np.int64(state[prefix[gram]]) + 1, np.int64(word[gram])
        size = np.int64(nodes[first - 1]["word"])
        slot = first
        if size > SCANNED:
            slot += _home(last, size)
        while nodes[slot]["word"] >= 0:
            slot = _after(slot, first, first + size)
        nodes[slot]["word"] = last
        nodes[slot]["log"] = np.float32(probability[gram] * ln10)
        nodes[slot]["next"] = state[gram]


def _check_size(slots: int) -> None:
    if slots >= 2**31:
        raise CamberError(f"a language model with {slots:,} slots is too large; prune it (at most {2**31 - 1:,})")
