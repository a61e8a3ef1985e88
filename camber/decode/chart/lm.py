"""Language model states of pieces of text whose left context is not known yet.

A piece keeps the words at its left edge whose probabilities still depend on what comes before, and the automaton's
state at its right edge. It is *closed* as soon as no context can change the state any more; then no further words are
kept on the left. An open piece is short: its words are all kept, and they are its state.

Row ``states[piece, k]`` of language model `k`: the state on the right, 2 · (words kept) + closed, and the words.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from camber.arrays.types import Array
from camber.decode.languages import Languages
from camber.kernel import kernel, kernel_inlined
from camber.lm.ngrams import step

#: places in a row of states
RIGHT, SIZE, LEFT = 0, 1, 2
#: `reach` of every node when a context may matter that is no suffix of a longer one
ANY = 127


class ChartModels(NamedTuple):
    """All language models, laid into one pair of arrays, with what tells when a piece is closed."""

    nodes: Array  # CELL
    children: Array  # CELL
    weights: Array  # float64[models]: of a natural logarithm
    roots: Array  # int64[models]
    longest: Array  # int64[models]: words of the longest context that matters
    reach: Array  # int8[nodes]: words of the node's context if longer contexts end in it, otherwise -1


class Pieces(NamedTuple):
    """What language models must know of pieces of text."""

    states: Array  # int64[pieces, models, 2 + longest]
    estimates: Array  # float64[pieces, models]: the score of the words on the left, without context

    @classmethod
    def make(cls, pieces: int, models: int, longest: int) -> Pieces:
        """Make room; the longest context that matters has so many words."""
        return cls(np.empty((pieces, models, LEFT + longest), np.int64), np.empty((pieces, models)))


def chart_models(languages: Languages, weights: Array) -> ChartModels:
    """Find out about language models what a chart needs."""
    nodes, children, roots = languages.nodes, languages.children, languages.roots
    reach = np.full(len(nodes), -1, np.int8)
    longest = np.zeros(len(languages), np.int64)
    queue = np.empty(len(nodes), np.int32)
    for k, model in enumerate(languages.models):
        last = int(roots[k + 1]) if k + 1 < len(languages) else len(nodes)
        longest[k] = survey(nodes, children, int(roots[k]), last, len(model.children), reach, queue)
    return ChartModels(nodes, children, np.ascontiguousarray(weights, np.float64), roots, longest, reach)


@kernel
def survey(nodes, children, root, end, words, reach, queue):
    """Fill `reach` for the nodes root..end-1 of one model; return the length of its longest context.

    Breadth first: a node is met through its own prefix before it is met as the state after any longer n-gram.
    Where a context's own suffix is no node, nothing can be said about what a node may be the end of: ANY.
    """
    reach[root] = 0
    size = 0
    for word in range(words):
        node = children[nodes[root]["next"] + word]["next"]
        if node != root and reach[node] < 0:
            reach[node] = 1
            queue[size] = node
            size += 1
    done = 0
    longest = np.int64(0)
    while done < size:
        node = np.int64(queue[done])
        done += 1
        longest = np.int64(reach[node])
        for cell in range(node + 1, node + 1 + nodes[node]["word"]):
            if nodes[cell]["word"] >= 0:
                after = nodes[cell]["next"]
                if reach[after] < 0:
                    reach[after] = reach[node] + 1
                    queue[size] = after
                    size += 1
    closed_under_suffixes = True
    for i in range(size):
        node = np.int64(queue[i])
        closed_under_suffixes &= reach[nodes[node]["next"]] == reach[node] - 1
    if not closed_under_suffixes:
        for i in range(size):
            reach[queue[i]] = ANY
        reach[root] = ANY
        return longest
    # deepest first: a node whose depth was needed above is marked -1 only after all that could end in it were seen
    for i in range(size - 1, -1, -1):
        node = np.int64(queue[i])
        suffix = np.int64(nodes[node]["next"])
        if suffix != root and reach[suffix] > 0 and reach[suffix] < 64:
            reach[suffix] += 64
        reach[node] = reach[node] - 64 if reach[node] >= 64 else -1
    return longest


@kernel_inlined
def piece_state(models, k, target, words, first, last, one, two, pieces, out, row):
    """Put words and tails of a rule, which are `pieces`, together: write row `row` of the pieces `out`.

    Returns what the language model adds to the tails' scores (in which the words on the left are scored without
    context), and the score of the words whose whole context is known here for the first time.
    """
    states, written = pieces.states, out.states
    longest = models.longest[k]
    state = models.roots[k]
    closed = longest == 0
    count = np.int64(0)
    added, final, estimate = 0.0, 0.0, 0.0
    for t in range(first, last):
        symbol = target[t]
        if symbol >= 0:
            tail, number = np.int64(-1), np.int64(1)
        else:
            tail = one if symbol == -1 else two
            number = states[tail, k, SIZE] >> 1
            if count == 0 and not closed:  # it keeps the state that it has
                for i in range(number):
                    written[row, k, LEFT + i] = states[tail, k, LEFT + i]
                count = number
                closed = (states[tail, k, SIZE] & 1) == 1
                state = states[tail, k, RIGHT]
                estimate = pieces.estimates[tail, k]
                continue
            added -= pieces.estimates[tail, k]
        for i in range(number):
            word = words[k, t] if tail < 0 else states[tail, k, LEFT + i]
            gain, state = step(models.nodes, models.children, state, word)
            added += gain
            if closed:
                final += gain
            else:
                estimate += gain
                written[row, k, LEFT + count] = word
                count += 1
                closed = count >= longest or models.reach[state] < count
        if tail >= 0 and (states[tail, k, SIZE] & 1) == 1:
            state = states[tail, k, RIGHT]
            closed = True
    written[row, k, RIGHT] = state
    written[row, k, SIZE] = 2 * count + (1 if closed else 0)
    out.estimates[row, k] = estimate
    return added, final


@kernel_inlined
def glue_state(models, k, before, tail, end_word, pieces, out, row):
    """Put a piece behind the beginning of the sentence, in state `before`; returns as :func:`piece_state` does."""
    states = pieces.states
    state = before
    final = 0.0
    for i in range(states[tail, k, SIZE] >> 1):
        gain, state = step(models.nodes, models.children, state, states[tail, k, LEFT + i])
        final += gain
    if (states[tail, k, SIZE] & 1) == 1:
        state = states[tail, k, RIGHT]
    if end_word >= 0:
        gain, state = step(models.nodes, models.children, state, end_word)
        final += gain
    out.states[row, k, RIGHT] = state
    out.states[row, k, SIZE] = 1
    out.estimates[row, k] = 0.0
    return final - pieces.estimates[tail, k], final
