"""A batch of sentences through the search: the work arrays, and the one kernel call that does it all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from camber.arrays.types import Array
from camber.decode.phrase import search as stack_search
from camber.decode.phrase.coverage import future_costs
from camber.decode.phrase.kbest import ITEM, k_best, part_features
from camber.decode.phrase.search import (
    ANSWER,
    ANSWER_BITS,
    CELL,
    COUNTS,
    EDGE,
    GROUP,
    HYPOTHESIS,
    STATE,
    Course,
    Room,
    search,
)
from camber.kernel import kernel
from camber.kernel.table import capacity_for

#: what :func:`decode_batch` returns when there was no room for the n-best list
ITEMS_FULL = -9


class ListRoom(NamedTuple):
    """The arrays that the n-best list of one sentence is read out with."""

    items: Array  # ITEM[items]
    heap_scores: Array  # float64[items]
    heap_items: Array  # int64[items]
    seen: Array  # int64[nbest, 2]: two hashes of every text so far
    seen_slots: Array  # int64, a power of two: where to find them
    chain: Array  # int64[hypotheses of a stack]
    path: Array  # int64[parts]: hypotheses


class DerivationColumns(NamedTuple):
    """The derivations of a batch, in columns; those of sentence `s` are the next `count[s]`."""

    count: Array  # int64[sentences]
    part_first: Array  # int64[derivations + 1]
    score: Array  # float64[derivations]
    features: Array  # float64[parts, features], raw, without those that are a rule's own
    rule: Array  # int64[parts]
    span: Array  # int64[parts, 2]
    option: Array  # int64[parts]
    next: Array  # int64[3]: sentence, derivation, part to go on with

    @classmethod
    def make(cls, sentences: int, words: int, nbest: int, features: int) -> DerivationColumns:
        """Make room for the `nbest` best of sentences that have so many words together."""
        parts = words * nbest
        return cls(
            np.zeros(sentences, np.int64),
            np.zeros(sentences * nbest + 1, np.int64),
            np.zeros(sentences * nbest),
            np.empty((parts, features)),
            np.empty(parts, np.int64),
            np.empty((parts, 2), np.int64),
            np.empty(parts, np.int64),
            np.zeros(3, np.int64),
        )


class Workspace:
    """Makes the work arrays of a batch, larger ones when the kernel asks for them."""

    def __init__(self, length: int, models: int, pop_limit: int, nbest: int) -> None:
        self.length, self.models, self.pops, self.nbest = max(1, length), models, pop_limit, nbest
        self.coverages = 64 * self.length + 1024
        self.edges = 4096
        self.cells = 4096 + 3 * pop_limit
        self.items = 4096 + (16 * nbest * self.length if nbest > 1 else 0)
        #: edges, language model scores of cells, pops
        self.work = np.zeros(3, np.int64)

    def grow(self, code: int) -> None:
        """Double the size of the arrays that were too small."""
        if code == stack_search.COVERAGES_FULL:
            self.coverages *= 2
        elif code == stack_search.EDGES_FULL:
            self.edges *= 2
        elif code == stack_search.CELLS_FULL:
            self.cells *= 2
        else:
            self.items *= 2

    def future(self) -> Array:
        """Make the table of future costs."""
        return np.empty((self.length + 1, self.length + 1))

    def room(self) -> Room:
        """Make the arrays of the search."""
        hypotheses = self.length * self.pops + 1
        return Room(
            hyps=np.empty(hypotheses, HYPOTHESIS),
            states=np.empty((hypotheses, self.models), np.int32),
            bits=np.empty((self.coverages, self.length // 64 + 1), np.uint64),
            coverage_slots=np.empty(capacity_for(2 * self.coverages), np.int64),
            gaps=np.empty(self.coverages, np.int64),
            cost=np.empty(self.coverages),
            groups=np.empty(hypotheses, GROUP),
            stack_first=np.empty(self.length + 2, np.int64),
            rows=np.empty((3, hypotheses), np.uint32),
            row_score=np.empty((3, hypotheses)),
            edges=np.empty(self.edges, EDGE),
            cells=np.empty(self.cells, CELL),
            cell_states=np.empty((self.cells, self.models), np.int32),
            heap_scores=np.empty(self.cells),
            heap_cells=np.empty(self.cells, np.int64),
            group_slots=np.empty(capacity_for(self.pops), np.int64),
            slots=np.empty(capacity_for(self.pops), STATE),
            heads=np.empty(self.pops, np.int64),
            head_group=np.empty(self.pops, np.int64),
            answers=_no_answers(),
            counts=np.zeros(COUNTS, np.int64),
            work=self.work,
        )

    def list_room(self) -> ListRoom:
        """Make the arrays of the n-best list."""
        return ListRoom(
            items=np.empty(self.items, ITEM),
            heap_scores=np.empty(self.items),
            heap_items=np.empty(self.items, np.int64),
            seen=np.empty((self.nbest, 2), np.int64),
            seen_slots=np.empty(capacity_for(self.nbest) if self.nbest > 1 else 8, np.int64),
            chain=np.empty(self.pops, np.int64),
            path=np.empty(self.length * self.nbest + 1, np.int64),
        )


def _no_answers() -> Array:
    answers = np.empty(1 << ANSWER_BITS, ANSWER)
    answers["state"] = -1
    return answers


class Sentences(NamedTuple):
    """The sentences of a batch, as the search sees them."""

    spans: Array  # int64[rows, longest]: the phrase of every span, -1: none
    first: Array  # int64[sentences + 1]: a row for each word, and each place of the prefix, and each word behind it
    places: Array  # int64[sentences]: words of the prefix
    needed: Array  # int64[sentences]: how many of them must come
    offsets: Array  # int64[sentences + 1]
    reach: Array  # int64[words]: where the next wall is, or the end of the sentence
    stays: Array  # int64[words]: 1 where a word comes right behind the one before it
    begin_states: Array  # int64[sentences, models], and one more where n-grams have scores
    end_words: Array  # int64[sentences, models]; -1: the sentence goes on


class Limits(NamedTuple):
    """How far the search goes, and what it lists."""

    distortion: float  # its weight
    distortion_limit: int
    pop_limit: int
    beam: float  # as a difference of scores
    nbest: int
    distinct: int  # 0 or 1
    tries: int  # derivations that are looked at for distinct texts


@kernel
def decode_batch(sentences, limits, options, reordering, models, context, future, room, list_room, columns):
    """Decode the sentences from columns.next[0] on; return 0, or a negative code when a work array is too small."""
    course = Course(
        limits.distortion, limits.distortion_limit, limits.pop_limit, limits.beam, reordering.shape[1] == 6,
        limits.nbest > 1,
    )  # fmt: skip
    while columns.next[0] < len(sentences.offsets) - 1:
        s, d, part = columns.next[0], columns.next[1], columns.next[2]
        a, b = sentences.offsets[s], sentences.offsets[s + 1]
        if a == b:
            columns.count[s] = 1
            columns.score[d] = 0.0
            columns.part_first[d + 1] = part
            columns.next[0], columns.next[1] = s + 1, d + 1
            continue
        spans, places = sentences.spans[sentences.first[s] : sentences.first[s + 1]], sentences.places[s]
        begin, ends = sentences.begin_states[s], sentences.end_words[s]
        future_costs(spans[places * (b - a) :], options.first, options.estimate, future)
        best = search(
            spans, places, sentences.needed[s], sentences.reach[a:b], sentences.stays[a:b], future, options, models,
            context, begin, ends, course, room,
        )  # fmt: skip
        if best < 0:
            return best
        count = k_best(
            room.hyps, best, limits.nbest, limits.distinct, limits.tries, options, list_room, columns, d, part
        )
        if count < 0:
            return ITEMS_FULL
        for n in range(d, d + count):
            part_features(room.hyps, list_room.path, part, n, options, reordering, models, begin, ends, columns)
        columns.count[s] = count
        columns.next[0], columns.next[1], columns.next[2] = s + 1, d + count, columns.part_first[d + count]
    return 0


@kernel
def spell(columns, options, unknown_ids, offsets, ids):
    """Write the words of every derivation, one after the other: offsets int64[derivations + 1], ids int32[words].

    unknown_ids: int64, the id of each unknown word.
    """
    at = 0
    for d in range(len(offsets) - 1):
        for row in range(columns.part_first[d], columns.part_first[d + 1]):
            option = columns.option[row]
            for t in range(options.word_first[option], options.word_first[option + 1]):
                word = options.target[t]
                ids[at] = word if word >= 0 else unknown_ids[-1 - word]
                at += 1
        offsets[d + 1] = at


@kernel
def part_rows(columns, outside, place, rows, first, context):
    """Number the options that parts have, by first use; return how many there are.

    place int64[options], -1 at first; rows int32[parts]: the number of each part's option; first int64[parts]: a part
    that has it; outside int64: features that the option does not tell, which go to context float64[parts, outside].
    """
    count = 0
    for part in range(len(rows)):
        option = columns.option[part]
        if place[option] < 0:
            place[option] = count
            first[count] = part
            count += 1
        rows[part] = place[option]
        for k in range(len(outside)):
            context[part, k] = columns.features[part, outside[k]]
    return count
