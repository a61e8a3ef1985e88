"""Queries: an n-gram model as an automaton whose state is one integer.

A *node* is a context that matters: one after which some word was seen, or that has a backoff. Reading a word in a
state looks for it among the node's children; where it is absent, the node's backoff is paid and the search goes on in
the node of the next shorter context. The root's children are all words, so the search ends there at the latest.
A child knows the node that is the state after it: the longest suffix that is a node, hence the minimal state.

    log_probability, state = step(model.nodes, model.children, state, word)

Log probabilities are natural here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from camber.corpus import Sentences, Vocabulary
from camber.corpus.reading import decode_lines, read_bytes, write_lines
from camber.errors import CamberError, ModelError
from camber.kernel import kernel
from camber.lm.arpa import read_arpa
from camber.lm.trie import BEGIN, END, SPECIAL, UNKNOWN, NgramTrie

#: Children are from `first` to the `first` of the next node (there is one node more, as an end mark): scanned if they
#: are few, a hash table otherwise; of the root, whose `suffix` is -1, one per word.
NODE = np.dtype([("first", "i4"), ("suffix", "i4"), ("backoff", "f4")])
#: `word` is -1 in a free slot of a hash table.
CHILD = np.dtype([("word", "i4"), ("prob", "f4"), ("next", "i4")])

#: Nodes with more children than this have a hash table (measured: longer scans are slower than one jump).
SCANNED = 8
#: Slots of a hash table per child
SLACK = 1.75

Nodes = npt.NDArray[np.void]
Children = npt.NDArray[np.void]


@kernel
def step(nodes, children, state, word):
    """Read `word` in `state`: return its natural log probability (float64) and the next state (int64).

    All indices are absolute, so that several models may share one pair of arrays (:func:`concatenate`).
    """
    total = 0.0
    while True:
        first = np.int64(nodes[state]["first"])
        suffix = np.int64(nodes[state]["suffix"])
        if suffix < 0:  # the root
            return total + children[first + word]["prob"], np.int64(children[first + word]["next"])
        end = np.int64(nodes[state + 1]["first"])
        if end - first <= SCANNED:
            for slot in range(first, end):
                if children[slot]["word"] == word:
                    return total + children[slot]["prob"], np.int64(children[slot]["next"])
        else:
            place = first + _home(word, end - first)
            while True:
                found = children[place]["word"]
                if found == word:
                    return total + children[place]["prob"], np.int64(children[place]["next"])
                if found < 0:
                    break
                place += 1
                if place == end:
                    place = first
        total += nodes[state]["backoff"]
        state = suffix


@kernel
def _home(word, size):
    """Return where `word` would like to be in a hash table of `size` slots: multiply, then scale down."""
    return ((word * 2654435769 & 0xFFFFFFFF) * size) >> 32


@dataclass(frozen=True)
class NgramModel:
    """An n-gram model to query.

    >>> model = NgramModel.read("en.arpa")                                          # doctest: +SKIP
    >>> model.score([["a", "man", "sleeps"]])                                       # doctest: +SKIP
    array([-14.3])
    """

    nodes: Nodes  # NODE[nodes]
    children: Children  # CHILD[slots]
    vocabulary: Vocabulary  # 0 <unk>, 1 <s>, 2 </s>, then words
    order: int
    root: int  # state without any context
    begin: int  # state after <s>

    @classmethod
    def read(cls, path: str | Path) -> NgramModel:
        """Read an ARPA file (plain or .gz)."""
        return cls.from_trie(read_arpa(path))

    @classmethod
    def from_trie(cls, trie: NgramTrie) -> NgramModel:
        """Compile n-gram columns."""
        nodes, children, state = _compile(trie)
        return cls(nodes, children, Vocabulary(trie.words), trie.order, 0, int(state[1 + BEGIN]))

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays that queries use."""
        return self.nodes.nbytes + self.children.nbytes

    def word_ids(self, vocabulary: Vocabulary) -> npt.NDArray[np.int64]:
        """Map every id of a text's vocabulary to a word of the model, int64[len(vocabulary)].

        Words that the model does not have are 0; so are tokens of the text that are spelled `<s>`, `</s>` or `<unk>`.
        """
        get = self.vocabulary._ids.get
        found = np.fromiter((get(word, UNKNOWN) for word in vocabulary.words), np.int64, len(vocabulary))
        found[found < len(SPECIAL)] = UNKNOWN
        return found

    def score(
        self, sentences: Sentences | Sequence[Sequence[str]], *, bos: bool = True, eos: bool = True
    ) -> npt.NDArray[np.float64]:
        """Return the natural log probability of each sentence, float64[sentences].

        `bos`: start after `<s>` (otherwise without context); `eos`: count the end of the sentence. Divide by ``ln 10``
        for the log10 that KenLM gives.
        """
        return self._run(sentences, bos, eos)[0]

    def word_scores(
        self, sentences: Sentences | Sequence[Sequence[str]], *, bos: bool = True, eos: bool = True
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        """Return the natural log probability of each word (and end), and the offsets of the sentences in it."""
        _, scores, offsets = self._run(sentences, bos, eos)
        return scores, offsets

    def perplexity(self, sentences: Sentences | Sequence[Sequence[str]]) -> float:
        """Return the perplexity per word; ends of sentences and unknown words count as words."""
        _, scores, _ = self._run(sentences, True, True)
        if len(scores) == 0:
            raise CamberError("no sentences to measure the perplexity on")
        return math.exp(-float(scores.mean()))

    def _run(
        self, sentences: Sentences | Sequence[Sequence[str]], bos: bool, eos: bool
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        if isinstance(sentences, Sentences):
            # one entry more, which the id -1 of an unknown word finds
            words = np.append(self.word_ids(sentences.vocabulary), UNKNOWN)[sentences.ids]
            offsets = sentences.offsets
        else:
            words, offsets = self._encode(sentences)
        count = len(offsets) - 1
        totals = np.zeros(count)
        scores = np.zeros(len(words) + count * eos)
        start = self.begin if bos else self.root
        _score(self.nodes, self.children, words, offsets, start, int(eos), scores, totals)
        return totals, scores, offsets + np.arange(count + 1) * eos

    def _encode(self, sentences: Sequence[Sequence[str]]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Look up the words of sentences given as strings."""
        offsets = np.zeros(len(sentences) + 1, np.int64)
        np.cumsum([len(sentence) for sentence in sentences], out=offsets[1:])
        get = self.vocabulary._ids.get
        words = np.fromiter(
            (get(word, UNKNOWN) for sentence in sentences for word in sentence), np.int64, int(offsets[-1])
        )
        words[words < len(SPECIAL)] = UNKNOWN
        return words, offsets

    def save(self, folder: str | Path, prefix: str) -> None:
        """Write `prefix`.nodes.npy, `prefix`.children.npy and `prefix`.words.txt into a folder."""
        folder = Path(folder)
        np.save(folder / f"{prefix}.nodes.npy", self.nodes)
        np.save(folder / f"{prefix}.children.npy", self.children)
        header = f"{self.order} {self.root} {self.begin}"
        write_lines(folder / f"{prefix}.words.txt", [header, *self.vocabulary.words])

    @classmethod
    def load(cls, folder: str | Path, prefix: str) -> NgramModel:
        """Open what :meth:`save` wrote; the arrays are memory-mapped."""
        folder = Path(folder)
        arrays = []
        for name, dtype in (("nodes", NODE), ("children", CHILD)):
            path = folder / f"{prefix}.{name}.npy"
            try:
                # mode "c": kernels see a writable array (one signature), the file is never changed
                array = np.load(path, mmap_mode="c", allow_pickle=False)
            except (OSError, ValueError) as error:
                raise ModelError(f"{path}: cannot be opened ({error}); build the model again") from None
            if array.dtype != dtype or array.ndim != 1:
                raise ModelError(f"{path}: not the {name} of a language model; build the model again")
            arrays.append(array.view(np.ndarray))
        path = folder / f"{prefix}.words.txt"
        lines = decode_lines(read_bytes(path), path)
        try:
            order, root, begin = map(int, lines[0].split())
        except (IndexError, ValueError):
            raise ModelError(f"{path}: the first line is not 'order root begin'; build the model again") from None
        return cls(arrays[0], arrays[1], Vocabulary(lines[1:]), order, root, begin)


def concatenate(
    models: Sequence[NgramModel],
) -> tuple[Nodes, Children, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Lay several models into one pair of arrays: (nodes, children, roots[models], begin_states[models]).

    Words keep the numbers that they have in their own model. A single model is not copied.
    """
    if len(models) == 1:
        only = models[0]
        return only.nodes, only.children, np.array([only.root]), np.array([only.begin])
    nodes = np.concatenate([model.nodes for model in models]) if models else np.empty(0, NODE)
    children = np.concatenate([model.children for model in models]) if models else np.empty(0, CHILD)
    roots, begins = np.zeros(len(models), np.int64), np.zeros(len(models), np.int64)
    node = slot = 0
    for index, model in enumerate(models):
        own = nodes[node : node + len(model.nodes)]
        own["first"] += slot
        own["suffix"][own["suffix"] >= 0] += node
        children["next"][slot : slot + len(model.children)] += node
        roots[index], begins[index] = model.root + node, model.begin + node
        node, slot = node + len(model.nodes), slot + len(model.children)
    _check_size(slot)
    return nodes, children, roots, begins


@kernel
def _score(nodes, children, words, offsets, start, eos, scores, totals):
    """Score sentences word by word; sentence `s` has ``eos`` more scores than words."""
    for sentence in range(len(offsets) - 1):
        state, total = start, 0.0
        shift = sentence * eos
        for position in range(offsets[sentence], offsets[sentence + 1]):
            score, state = step(nodes, children, state, words[position])
            scores[position + shift] = score
            total += score
        if eos > 0:
            score, state = step(nodes, children, state, END)
            scores[offsets[sentence + 1] + shift] = score
            total += score
        totals[sentence] = total


def _compile(trie: NgramTrie) -> tuple[Nodes, Children, npt.NDArray[np.int32]]:
    """Return nodes, children, and the state (node) after every n-gram of the trie."""
    total = len(trie.word)
    degree = np.bincount(trie.prefix[1:], minlength=total)
    backoff = (trie.backoff * math.log(10)).astype(np.float32)
    is_node = (degree > 0) | (backoff != 0)
    is_node[0] = True  # the root is node 0
    number = np.cumsum(is_node, dtype=np.int64) - 1
    state = np.where(is_node, number, 0).astype(np.int32)
    for n in range(1, trie.order + 1):
        level = slice(int(trie.starts[n]), int(trie.starts[n + 1]))
        state[level] = np.where(is_node[level], state[level], state[trie.suffix[level]])

    grams = np.flatnonzero(is_node)
    size = degree[grams]
    size = np.where(size > SCANNED, np.ceil(size * SLACK).astype(np.int64), size)
    size[0] = len(trie.words)
    _check_size(int(size.sum()))
    nodes = np.zeros(len(grams) + 1, NODE)
    nodes["first"][1:] = np.cumsum(size)
    nodes["suffix"][:-1], nodes["backoff"][:-1] = state[trie.suffix[grams]], backoff[grams]
    nodes["suffix"][0] = nodes["suffix"][-1] = -1

    children = np.zeros(int(size.sum()), CHILD)
    children["word"] = -1
    _fill(nodes, children, state, trie.prefix, trie.word, (trie.probability * math.log(10)).astype(np.float32))
    return nodes, children, state


@kernel
def _fill(nodes, children, state, prefix, word, probability):
    """Put every n-gram among the children of its prefix."""
    for gram in range(1, len(word)):
        node, last = state[prefix[gram]], np.int64(word[gram])
        first, end = np.int64(nodes[node]["first"]), np.int64(nodes[node + 1]["first"])
        slot = first
        if node == 0:
            slot += last
        else:
            if end - first > SCANNED:
                slot += _home(last, end - first)
            while children[slot]["word"] >= 0:
                slot += 1
                if slot == end:
                    slot = first
        children[slot]["word"] = last
        children[slot]["prob"] = probability[gram]
        children[slot]["next"] = state[gram]


def _check_size(slots: int) -> None:
    if slots >= 2**31:
        raise CamberError(f"a language model with {slots:,} slots is too large; prune it (at most {2**31 - 1:,})")
