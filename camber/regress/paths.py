"""Search for the best paths through the graph of n-grams.

Stack *l* holds the `beam` best paths of *l* words. A path goes on by an n-gram that begins with its last words: what
that adds is known but for the language models, and but for n-grams that were used before, which its own words tell.
Paths are ranked by what they have so far and what is still to come. The latter is the best completion of a simpler
problem, solved backwards over (words so far, context): every n-gram may be used any number of times, and the language
model sees no more than the context. A context from which the end cannot be reached in time is never entered, so a path
is found wherever there is one.

*Glue* is a word that follows though the n-gram is not in the graph: the path goes on from a shorter context, with one
more word read for each word that the context lost. Without glue, every n-gram of a path is an edge.

A text is one path at most, so paths need no recombination to be distinct, and an n-best list is just what ended.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from camber.arrays.types import I8, Array
from camber.kernel import kernel, kernel_inlined
from camber.kernel.heap import push, replace
from camber.kernel.sort import insert_falling
from camber.lm.ngrams import step


class Worth(NamedTuple):
    """What things add to the score of a path."""

    gram: Array  # float64[n-grams]: one use of it, alone
    sums: Array  # float64[n-grams]: with its suffixes
    word: float
    repeat: float
    glue: float
    copy: float
    brevity: Array  # float64[words + 1]: the end after so many words


class Models(NamedTuple):
    """Language models as the search sees them."""

    nodes: Array
    children: Array
    weights: Array  # float64[models]
    words: Array  # int64[models, n-grams]: the last word of each
    root: Array  # int64[models]: without context
    begin: Array  # int64[models]: before the first word
    end: Array  # int64[models]: what is read at the end, or -1


class Room(NamedTuple):
    """Work arrays of a search for paths of up to `L` words."""

    seen: Array  # int64[n-grams, models]: language model states after the words of an n-gram
    guess: Array  # float64[n-grams]: what its last word adds, by its own words alone
    best: Array  # float64[n-grams]: the best that follows a context itself
    future: Array  # float64[L + 1, n-grams]: the best that follows a context after so many words
    open: Array  # int64[L + 1, n-grams]: whether the end can be reached from there
    stamp: Array  # int64[n-grams]: which words the path has tried
    glued: Array  # int64[K + 1]: the best words to go on with, wherever the path is
    ranks: Array  # float64[K + 1]
    heap: Array  # float64[beam]: minus the ranks of a stack
    slots: Array  # int64[beam]
    score: Array  # float64[2, beam]
    state: Array  # int64[2, beam, models]
    row: Array  # int64[2, beam, L + 2]: the words (as unigrams), behind a -1
    next: Array  # int64[models]
    uses: Array  # int64[order + 2]
    edge: Array  # int64[L + 1, beam]: the n-gram by which a path came
    parent: Array  # int64[L + 1, beam]
    size: Array  # int64[L + 1]


def make_room(grams: int, order: int, models: int, longest: int, beam: int, glued: int) -> Room:
    """Make the work arrays of a search in a graph of so many n-grams."""

    def whole(*shape: int) -> I8:
        return np.zeros(shape, np.int64)

    return Room(
        whole(grams, models), np.zeros(grams), np.zeros(grams), np.zeros((longest + 1, grams)),
        whole(longest + 1, grams), whole(grams), whole(glued + 1), np.zeros(glued + 1), np.zeros(beam), whole(beam),
        np.zeros((2, beam)), whole(2, beam, models), whole(2, beam, longest + 2), whole(models), whole(order + 2),
        whole(longest + 1, beam), whole(longest + 1, beam), whole(longest + 1),
    )  # fmt: skip


class Ends(NamedTuple):
    """Paths that came to the end, in any order."""

    heap: Array  # float64[nbest]: minus the scores
    slots: Array  # int64[nbest]
    words: Array  # int64[nbest]: how many
    path: Array  # int64[nbest]: number in its stack
    edge: Array  # int64[nbest]: the last n-gram


@kernel_inlined
def _due(graph, words):
    """Return how many words the n-gram of the next word has, if nothing is glued."""
    return min(graph.order, words + 2)


@kernel_inlined
def _use(graph, uses, row, words, gram):
    """Count how often each suffix of `gram`, the next of a path of so many words, was used: int64[its length + 1]."""
    word = graph.unigram[gram]
    length = graph.length[gram]
    for n in range(1, length + 1):
        uses[n] = 0
    again = False
    for place in range(1, words + 1):
        if row[place] == word:
            again = True
            same = 1
            while same < length and place >= same and row[place - same] == row[words + 1 - same]:
                same += 1
            for n in range(1, same + 1):
                uses[n] += 1
    return again


@kernel_inlined
def _gain(graph, worth, uses, row, words, gram):
    """Return what `gram` adds as the next of a path of so many words, without language models; -inf: it may not be."""
    total = worth.glue * (_due(graph, words) - graph.length[gram])
    if not _use(graph, uses, row, words, gram):
        total += worth.sums[gram]
    else:
        if uses[graph.length[gram]] >= graph.times[gram]:
            if graph.copied[gram] > 0:
                return -math.inf
            total += worth.repeat
        suffix = gram
        while suffix > 0:
            if uses[graph.length[suffix]] < graph.times[suffix]:
                total += worth.gram[suffix]
            suffix = graph.suffix[suffix]
    return total + worth.copy * graph.copied[gram]


@kernel
def _guess(graph, worth, models, room):
    """Fill what every n-gram adds where it is used the first time, by a language model that sees its words only."""
    for k in range(len(models.weights)):
        room.seen[0, k] = models.root[k]
    for gram in range(1, len(graph.word)):
        total = worth.sums[gram] + worth.copy * graph.copied[gram]
        is_end = gram == graph.end[graph.prefix[gram]]
        if not is_end:
            total += worth.word
        for k in range(len(models.weights)):
            if gram == graph.begin:
                room.seen[gram, k] = models.begin[k]
            elif is_end:
                if models.end[k] >= 0:
                    log, _ = step(models.nodes, models.children, room.seen[graph.prefix[gram], k], models.end[k])
                    total += models.weights[k] * log
            else:
                log, state = step(
                    models.nodes, models.children, room.seen[graph.prefix[gram], k], models.words[k, gram]
                )
                room.seen[gram, k] = state
                total += models.weights[k] * log
        room.guess[gram] = total


@kernel
def _look_ahead(graph, worth, room, longest, glue):
    """Fill the best completion of every context after every number of words, and whether there is one.

    `best` is what follows a context without looking at shorter ones; that of the root are words that stand anywhere.
    The estimate allows glue even where the search does not. Otherwise, what a context is worth would be how near it is
    to the best circle of n-grams, in which a path without a memory goes round and round; glue bounds that.
    """
    size = len(graph.word)
    future, best = room.future, room.best
    for words in range(longest, -1, -1):
        copy = -math.inf
        due = _due(graph, words)
        for context in range(size):
            top = -math.inf
            leads = 0
            if words > 0 and graph.end[context] >= 0:
                top = room.guess[graph.end[context]] + worth.brevity[words]
                leads = 1
            if words < longest:
                for at in range(graph.first[context], graph.first[context + 1]):
                    gram = graph.child[at]
                    value = room.guess[gram] + future[words + 1, graph.context[gram]]
                    if graph.copied[gram] > 0:
                        copy = max(copy, value)
                    else:
                        top = max(top, value)
                        leads = max(leads, room.open[words + 1, graph.context[gram]])
            best[context] = top
            room.open[words, context] = leads if graph.length[context] + 1 == due else 0
        copy += worth.glue * (due - 1)
        for context in range(size):
            if graph.context[context] != context:
                continue
            top = copy
            at = context
            while at >= 0:
                top = max(top, best[at] + worth.glue * (due - 1 - graph.length[at]))
                at = graph.backoff[at]
            future[words, context] = top
            if top > -math.inf and (glue or graph.copied[context] > 0 or copy > -math.inf):
                room.open[words, context] = 1


@kernel_inlined
def _offer(graph, worth, models, room, source, words, path, gram, share, beam):
    """Let a path go on by `gram`; it is taken into the next stack if it is among the best there."""
    if room.open[words + 1, graph.context[gram]] == 0:
        return
    score = room.score[source, path] + worth.word
    score += _gain(graph, worth, room.uses, room.row[source, path], words, gram)
    if score == -math.inf:
        return
    for k in range(len(models.weights)):
        log, state = step(models.nodes, models.children, room.state[source, path, k], models.words[k, gram])
        score += models.weights[k] * log
        room.next[k] = state
    rank = score + share * room.future[words + 1, graph.context[gram]]
    size = room.size[words + 1]
    if size < beam:
        slot = size
        push(room.heap, room.slots, size, -rank, slot)
        room.size[words + 1] = size + 1
    elif rank > -room.heap[0]:
        slot = room.slots[0]
        replace(room.heap, room.slots, size, -rank, slot)
    else:
        return
    room.edge[words + 1, slot] = gram
    room.parent[words + 1, slot] = path
    room.score[1 - source, slot] = score
    for k in range(len(models.weights)):
        room.state[1 - source, slot, k] = room.next[k]


@kernel_inlined
def _finish(graph, worth, models, room, ends, source, words, path, context, glue, count):
    """Let a path end, if it can; return how many ends there are."""
    at = context
    while graph.end[at] < 0:  # the root has one
        at = graph.backoff[at]
    gram = graph.end[at]
    if graph.length[gram] != _due(graph, words) and not glue and graph.copied[context] == 0:
        return count
    score = room.score[source, path] + worth.brevity[words]
    score += _gain(graph, worth, room.uses, room.row[source, path], words, gram)
    for k in range(len(models.weights)):
        if models.end[k] >= 0:
            log, _ = step(models.nodes, models.children, room.state[source, path, k], models.end[k])
            score += models.weights[k] * log
    if count < len(ends.heap):
        slot = count
        push(ends.heap, ends.slots, count, -score, slot)
        count += 1
    elif score > -ends.heap[0]:
        slot = ends.slots[0]
        replace(ends.heap, ends.slots, count, -score, slot)
    else:
        return count
    ends.words[slot] = words
    ends.path[slot] = path
    ends.edge[slot] = gram
    return count


@kernel
def _choose_glued(graph, room, words, share):
    """Fill the words that paths of so many words may be glued to, the best first; return how many."""
    most = len(room.glued) - 1
    count = 0
    for at in range(graph.first[0], graph.first[1]):
        gram = graph.child[at]
        if graph.copied[gram] > 0 or room.open[words + 1, graph.context[gram]] == 0:
            continue
        rank = room.guess[gram] + share * room.future[words + 1, graph.context[gram]]
        if count < most or rank > room.ranks[count - 1]:
            insert_falling(room.ranks, room.glued, 0, count, rank, gram)
            count = min(count + 1, most)
    return count


@kernel
def search(graph, worth, models, room, ends, longest, beam, glue, share, work):
    """Fill `ends` with the best paths of 1 to `longest` words; return how many there are.

    `glue`: whether words may follow that no n-gram leads to. `share`: how much of what is still to come counts when
    paths are ranked. work int64[…]: how many paths were tried is added to the first.
    """
    _guess(graph, worth, models, room)
    _look_ahead(graph, worth, room, longest, glue)
    count = 0
    stamp = 0
    room.stamp[:] = 0
    room.size[:] = 0
    if room.open[0, graph.context[graph.begin]] == 0:
        return 0
    room.size[0] = 1
    room.edge[0, 0] = graph.begin
    room.score[0, 0] = 0.0
    room.row[0, 0, 0] = -1
    for k in range(len(models.weights)):
        room.state[0, 0, k] = models.begin[k]
    source = 0
    for words in range(longest + 1):
        glued = _choose_glued(graph, room, words, share) if words < longest else 0
        for path in range(room.size[words]):
            context = graph.context[room.edge[words, path]]
            if words > 0:
                count = _finish(graph, worth, models, room, ends, source, words, path, context, glue, count)
            if words == longest:
                continue
            stamp += 1
            free = glue or graph.copied[context] > 0
            at = context
            while at > 0 and (free or graph.length[at] + 1 == _due(graph, words)):
                for place in range(graph.first[at], graph.first[at + 1]):
                    gram = graph.child[place]
                    if room.stamp[graph.unigram[gram]] != stamp:
                        room.stamp[graph.unigram[gram]] = stamp
                        _offer(graph, worth, models, room, source, words, path, gram, share, beam)
                if not free:
                    break
                at = graph.backoff[at]
            if free:
                for place in range(glued):
                    if room.stamp[room.glued[place]] != stamp:
                        _offer(graph, worth, models, room, source, words, path, room.glued[place], share, beam)
            for gram in range(len(graph.word) - 1, 0, -1):  # words that are passed through stand last
                if graph.copied[gram] == 0:
                    break
                _offer(graph, worth, models, room, source, words, path, gram, share, beam)
        if words < longest:
            for path in range(room.size[words + 1]):
                before = room.parent[words + 1, path]
                for place in range(words + 1):
                    room.row[1 - source, path, place] = room.row[source, before, place]
                room.row[1 - source, path, words + 1] = graph.unigram[room.edge[words + 1, path]]
            work[0] += room.size[words + 1]
        source = 1 - source
    return count


class Columns(NamedTuple):
    """Where the columns of parts are: numbers of features, -1 where there is none."""

    gram: Array  # int64[order + 1]: by length
    word: int
    repeat: int
    glue: int
    copy: int
    brevity: int
    lm: int


@kernel
def spell(graph, models, room, ends, chosen, columns, use, brevity, offsets, grams, features):
    """Fill the n-grams and the features of the parts of some paths: one part for each word, and one for the end.

    `chosen` int64[paths] are numbers of ends; use float64[n-grams] is what one use of an n-gram counts, raw; brevity
    float64[words + 1] the penalty of so many words, raw. offsets int64[paths + 1] say where parts go.
    """
    row = room.row[0, 0]
    for number in range(len(chosen)):
        end = chosen[number]
        words = ends.words[end]
        path = ends.path[end]
        first = offsets[number]
        grams[first + words] = ends.edge[end]
        for place in range(words, 0, -1):
            grams[first + place - 1] = room.edge[place, path]
            path = room.parent[place, path]
        row[0] = -1
        for k in range(len(models.weights)):
            room.next[k] = models.begin[k]
        for place in range(words + 1):
            part = first + place
            gram = grams[part]
            for column in range(features.shape[1]):
                features[part, column] = 0.0
            for n in range(1, graph.order + 1):
                if columns.gram[n] >= 0:
                    features[part, columns.gram[n]] = math.nan
            _use(graph, room.uses, row, place, gram)
            if columns.repeat >= 0 and room.uses[graph.length[gram]] >= graph.times[gram]:
                features[part, columns.repeat] = 1.0
            suffix = gram
            while suffix > 0:
                n = graph.length[suffix]
                if columns.gram[n] >= 0 and room.uses[n] < graph.times[suffix]:
                    features[part, columns.gram[n]] = use[suffix]
                suffix = graph.suffix[suffix]
            features[part, columns.glue] = _due(graph, place) - graph.length[gram]
            features[part, columns.copy] = graph.copied[gram]
            features[part, columns.brevity] = brevity[words] if place == words else math.nan
            if place < words and columns.word >= 0:
                features[part, columns.word] = -1.0
            for k in range(len(models.weights)):
                word = models.words[k, gram] if place < words else models.end[k]
                if word >= 0:
                    log, state = step(models.nodes, models.children, room.next[k], word)
                    features[part, columns.lm + k] = log
                    room.next[k] = state
            row[place + 1] = graph.unigram[gram]
