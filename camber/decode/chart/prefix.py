"""A translation that was begun, in a chart: pieces that know at which place of the prefix they begin.

Beside what a span can become anywhere, it has pieces for every place of the prefix: derivations that agree with it from
there on. A rule's words are compared with the prefix; each of its gaps begins where what stands before it in the target
ended, and behind the prefix it is a gap like any other. All pieces that end inside the prefix have the same words, so
there is one vertex for each place where pieces of a span begin, and each where they end.

The prefix may have words that no rule gives, in any order. So short spans may also become a few words of it, whatever
these are, and every one of them all that is left of it; hence any prefix can be had. That costs something for each word
that a rule would have given, and what the words of the span are worth otherwise. Such pieces are put behind each other
by glue, and fill no gaps: nearly all rules would fit around them somewhere.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from camber.arrays.types import F8, I8, Array
from camber.decode.chart.cells import BUNDLES_FULL, CELLS_FULL, GRAMMAR, put_bundle, queue_cell, take_cells
from camber.decode.chart.hypergraph import BUNDLES, CELLS, GLUE, ITEMS, QUEUE, START
from camber.kernel import kernel

#: source words, and words of the prefix, that may be taken for translations of each other
LOOSE = 3
#: nats of the language models: what a word of a prefix costs that rules give, but not where it stands; and what a
#: source word that the prefix uses up would have cost its translation
GIVEN, UNSAID = 8.0, 4.0
#: hypotheses taken from the queue for pieces that end inside the prefix, and that end behind it, for each of the search
INSIDE, ACROSS = 0.05, 0.2
#: code for room that is too small
GROUPS_FULL = -8


class Begun(NamedTuple):
    """The words of a prefix as a sentence's grammar numbers them, and its rules that become some of them."""

    words: I8  # [places]
    last: I8  # what the last of them may be
    first_made: I8  # [length + 1]: for spans of so many words, the number of the first place's rules; -1: none
    given: F8  # [rules]: words of a made rule that other rules give


class Prefix(NamedTuple):
    """What the kernels know of a prefix, and its room."""

    words: Array  # int64[places]
    next: Array  # int64[places]: the next place of the same word, -1: none; the last place is no such place
    place: Array  # int32[target words]: the first place of a word, -1: none
    last: Array  # int8[target words]: 1 for what the last word may be
    first_made: Array  # int64[length + 1], as terms are numbered
    worth: Array  # float64[length + 1]: what it is worth to use up the first words of the sentence
    final: Array  # int64[1]: 1: all of the prefix must come, 0: the sentence goes on
    pops: Array  # int64[2]: inside, across
    first: (
        Array  # int32[length + 1, longest span + 1, places]: groups of a span (its begin and size), by where they begin
    )
    count: Array  # int32, as `first`
    there: Array  # int8[length + 1, longest span + 1]: 1 if there is any
    made: Array  # int32, as `first`: of words of the prefix that no rule gave
    made_count: Array  # int32, as `first`
    groups: Array  # int64[room, 3]: first row, rows, where they end
    start: Array  # int64[length + 1, places + 1, 2]: first row and rows of beginnings, by where they end
    ending: Array  # int64[places, places + 1]: the last bundle that begins and ends at two places, -1: none
    used: Array  # int64[1]: groups

    @classmethod
    def make(
        cls, begun: Begun, worth: F8, length: int, limit: int, target_words: int, pop_limit: int, *, final: bool
    ) -> Self:
        """Make room for a sentence whose spans have up to `limit` words."""
        places = len(begun.words)
        shape = (length + 1, limit + 1, places)
        following, first, last = (
            np.full(places, -1),
            np.full(target_words, -1, np.int32),
            np.zeros(target_words, np.int8),
        )
        for place in range(places - 2, -1, -1):
            following[place] = first[begun.words[place]]
            first[begun.words[place]] = place
        last[begun.last] = 1
        return cls(
            begun.words,
            following,
            first,
            last,
            begun.first_made,
            worth,
            np.array([final], np.int64),
            np.array([max(1, round(pop_limit * share)) for share in (INSIDE, ACROSS)], np.int64),
            np.zeros(shape, np.int32),
            np.zeros(shape, np.int32),
            np.zeros(shape[:2], np.int8),
            np.zeros(shape, np.int32),
            np.zeros(shape, np.int32),
            np.empty((1024 + 8 * length * places, 3), np.int64),
            np.zeros((length + 1, places + 1, 2), np.int64),
            np.full((places, places + 1), -1),
            np.zeros(1, np.int64),
        )

    def larger(self) -> Self:
        """Return the same with more room."""
        return self._replace(groups=np.empty((2 * len(self.groups), 3), np.int64))


@kernel
def _agree(rules, at, last, place, prefix):
    """Compare the words of a target side from `at` on with the prefix from a place on, up to a gap or the end.

    Return where that is, and the place there; -1 for the place if a word is another one.
    """
    places = len(prefix.words)
    while at < last and rules.target[at] >= 0:
        word = rules.target[at]
        if place == places - 1:
            if prefix.last[word] == 0:
                return at, np.int64(-1)
        elif place < places and word != prefix.words[place]:
            return at, np.int64(-1)
        if place < places:
            place += 1
        at += 1
    return at, place


@kernel
def _group_range(span, side, place, prefix):
    """Return the groups of a span that begin at a place inside the prefix: first .. last (exclusive)."""
    begin, size = span // side, span % side - span // side
    first = np.int64(prefix.first[begin, size, place])
    return first, first + prefix.count[begin, size, place]


@kernel
def _put(kind, row, one, ones, two, twos, begins, ends, extra, prefix, room):
    """Append a bundle of one rule, which begins and ends at two places of the prefix; say whether it fitted."""
    if not put_bundle(kind, row, np.int64(1), one, ones, two, twos, ends, extra, room):
        return False
    number = room.counts[BUNDLES] - 1
    room.bundles[number]["next"] = prefix.ending[begins, ends]
    prefix.ending[begins, ends] = number
    return True


@kernel
def _fit(row, item, side, begins, rules, prefix, room):
    """Put every bundle of a rule that agrees with the prefix from a place on; say whether there was room."""
    places = len(prefix.words)
    rule = rules.order[row]
    none, zero = np.int64(-1), np.int64(0)
    last = rules.target_offsets[rule + 1]
    at, place = _agree(rules, rules.target_offsets[rule], last, begins, prefix)
    if place < 0:
        return True
    if at == last:
        return _put(GRAMMAR, row, none, zero, none, zero, begins, place, 0.0, prefix, room)
    gap = rules.target[at]
    span = np.int64(item["one"] if gap == -1 else item["two"])
    other = np.int64(item["two"] if gap == -1 else item["one"])
    low, high = zero, np.int64(1)
    if place < places:
        low, high = _group_range(span, side, place, prefix)
    for group in range(low, high):
        if place < places:
            first, count, end = prefix.groups[group, 0], prefix.groups[group, 1], prefix.groups[group, 2]
        else:
            first, count = room.cell_first[span // side, span % side], room.cell_count[span // side, span % side]
            end = np.int64(places)
        then, here = _agree(rules, at + 1, last, end, prefix)
        if here < 0:
            continue
        if then == last:
            fits = (
                _put(GRAMMAR, row, first, count, none, zero, begins, here, 0.0, prefix, room)
                if gap == -1
                else _put(GRAMMAR, row, none, zero, first, count, begins, here, 0.0, prefix, room)
            )
            if not fits:
                return False
            continue
        low2, high2 = zero, np.int64(1)
        if here < places:
            low2, high2 = _group_range(other, side, here, prefix)
        for group2 in range(low2, high2):
            if here < places:
                first2, count2, end2 = prefix.groups[group2, 0], prefix.groups[group2, 1], prefix.groups[group2, 2]
            else:
                first2 = room.cell_first[other // side, other % side]
                count2 = room.cell_count[other // side, other % side]
                end2 = np.int64(places)
            _, whole = _agree(rules, then + 1, last, end2, prefix)
            if whole < 0:
                continue
            fits = (
                _put(GRAMMAR, row, first, count, first2, count2, begins, whole, 0.0, prefix, room)
                if gap == -1
                else _put(GRAMMAR, row, first2, count2, first, count, begins, whole, 0.0, prefix, room)
            )
            if not fits:
                return False
    return True


@kernel
def _fit_words(node, extra, begins, rules, prefix, room):
    """Put the rules of a node without gaps that agree with the prefix from a place on; say whether there was room."""
    none, zero = np.int64(-1), np.int64(0)
    for row in range(rules.node_first[node], rules.node_first[node + 1]):
        rule = rules.order[row]
        last = rules.target_offsets[rule + 1]
        _, ends = _agree(rules, rules.target_offsets[rule], last, begins, prefix)
        if ends >= 0 and not _put(GRAMMAR, row, none, zero, none, zero, begins, ends, extra, prefix, room):
            return False
    return True


@kernel
def _fit_rules(begin, end, length, rules, prefix, room):
    """Put all bundles of a span that agree with the prefix from some place on; say whether there was room."""
    counts, items = room.counts, room.items
    side, places, term = length + 1, len(prefix.words), rules.terms.ends[begin]
    own = False
    for i in range(room.item_first[end], counts[ITEMS]):
        node = items[i]["node"]
        for row in range(rules.node_first[node], rules.node_first[node + 1]):
            own = True
            symbol = rules.target[rules.target_offsets[rules.order[row]]]
            if symbol >= 0:
                place = np.int64(prefix.place[symbol])
                while place >= 0:
                    if not _fit(row, items[i], side, place, rules, prefix, room):
                        return False
                    place = prefix.next[place]
                if prefix.last[symbol] and not _fit(row, items[i], side, places - 1, rules, prefix, room):
                    return False
                continue
            span = np.int64(items[i]["one"] if symbol == -1 else items[i]["two"])
            first, size = span // side, span % side - span // side
            if prefix.there[first, size] == 0:
                continue
            for begins in range(places):
                none = prefix.count[first, size, begins] == 0
                if not (none or _fit(row, items[i], side, begins, rules, prefix, room)):
                    return False
    passes = term == 0 and end == begin + 1 and (rules.count[1] or not own)
    for begins in range(places):
        if term == end:
            node = rules.count[0] + length + rules.terms.numbers[begin]
            if not _fit_words(node, 0.0, begins, rules, prefix, room):
                return False
        if passes and not _fit_words(rules.count[0] + begin, 0.0, begins, rules, prefix, room):
            return False
    return True


@kernel
def _fit_made(begin, end, length, rules, prefix, room):
    """Put what a span may be used up for at each place of the prefix; say whether there was room."""
    loose = end - begin <= LOOSE
    for word in range(begin, end):
        loose = loose and rules.terms.ends[word] == 0
    if not (loose or rules.terms.ends[begin] == end) or prefix.first_made[end - begin] < 0:
        return True
    extra = prefix.worth[end] - prefix.worth[begin]
    for place in range(len(prefix.words)):
        node = rules.count[0] + length + prefix.first_made[end - begin] + place
        if not _fit_words(node, extra, place, rules, prefix, room):
            return False
    return True


@kernel
def prefix_cells(
    begin, end, length, beam, rules, models, context, begin_states, end_words, weights, prefix, forest, room
):
    """Fill what a span, which is translated anywhere already, can become at each place of the prefix.

    Return 0, or a negative code.
    """
    size = end - begin
    for made in range(2):
        room.counts[BUNDLES] = 0
        fits = (
            _fit_rules(begin, end, length, rules, prefix, room)
            if made == 0
            else _fit_made(begin, end, length, rules, prefix, room)
        )
        if not fits:
            prefix.ending[:] = -1
            return np.int64(BUNDLES_FULL)
        if room.counts[BUNDLES] == 0:
            continue
        first_group = prefix.made if made == 1 else prefix.first
        groups = prefix.made_count if made == 1 else prefix.count
        for place in range(len(prefix.words)):
            first_group[begin, size, place] = prefix.used[0]
            for ending in range(place + 1, len(prefix.words) + 1):
                if prefix.ending[place, ending] < 0:
                    continue
                if prefix.used[0] >= len(prefix.groups):
                    prefix.ending[:] = -1
                    return np.int64(GROUPS_FULL)
                first = forest.size[0]
                code = _take(
                    begin, end, False, place, ending, beam, rules, models, context, begin_states, end_words, weights,
                    prefix, forest, room,
                )  # fmt: skip
                if code < 0:
                    return code
                group = prefix.groups[prefix.used[0]]
                group[0] = first
                group[1] = forest.size[0] - first
                group[2] = ending
                prefix.used[0] += 1
            groups[begin, size, place] = prefix.used[0] - first_group[begin, size, place]
            if made == 0 and groups[begin, size, place] > 0:
                prefix.there[begin, size] = 1
    return np.int64(0)


@kernel
def _take(
    begin, end, complete, place, ending, beam, rules, models, context, begin_states, end_words, weights, prefix, forest,
    room,
):  # fmt: skip
    """Turn the best cells of the bundles between two places (-1: to any) into edges; return 0, or a negative code."""
    room.counts[CELLS] = 0
    room.counts[QUEUE] = 0
    zero, fits = np.int64(0), True
    for ends in range(max(0, ending), (ending if ending >= 0 else len(prefix.words)) + 1):
        number = prefix.ending[place, ends]
        prefix.ending[place, ends] = -1
        while number >= 0:
            fits = fits and queue_cell(number, zero, zero, zero, 0.0, False, weights, rules, forest, room)
            number = np.int64(room.bundles[number]["next"])
    if not fits:
        prefix.ending[:] = -1
        return np.int64(CELLS_FULL)
    pops = prefix.pops[0 if 0 <= ending < len(prefix.words) else 1]
    code = take_cells(
        begin, end, complete, pops, beam, rules, models, context, begin_states, end_words, weights, forest, room
    )
    if code < 0:
        prefix.ending[:] = -1
    return code


@kernel
def _put_beginnings(end, length, limit, prefix, room):
    """Put what the first `end` words can become, as bundles that begin at place 0; say whether there was room."""
    places = len(prefix.words)
    none, zero = np.int64(-1), np.int64(0)
    for cut in range(max(0, end - limit), end):
        if room.cell_count[cut, end] == 0:
            continue
        for place in range(places + 1 if cut > 0 else 1):
            kind, rows, many = np.int64(START), none, zero
            if cut > 0:
                kind, rows, many = np.int64(GLUE), prefix.start[cut, place, 0], prefix.start[cut, place, 1]
                if many == 0:
                    continue
            if place == places:
                first, count = room.cell_first[cut, end], room.cell_count[cut, end]
                if not _put(kind, zero, rows, many, first, count, zero, place, 0.0, prefix, room):
                    return False
                continue
            for made in range(2):
                low, number = prefix.first[cut, end - cut, place], prefix.count[cut, end - cut, place]
                if made == 1:
                    low, number = prefix.made[cut, end - cut, place], prefix.made_count[cut, end - cut, place]
                for group in range(low, low + number):
                    first, count, ends = prefix.groups[group, 0], prefix.groups[group, 1], prefix.groups[group, 2]
                    if not _put(kind, zero, rows, many, first, count, zero, ends, 0.0, prefix, room):
                        return False
    return True


@kernel
def prefix_start(
    end, length, limit, beam, rules, models, context, begin_states, end_words, weights, prefix, forest, room
):
    """Fill what the first `end` words can become, by where in the prefix that ends; return 0, or a negative code."""
    places, zero = len(prefix.words), np.int64(0)
    room.counts[BUNDLES] = 0
    if not _put_beginnings(end, length, limit, prefix, room):
        prefix.ending[:] = -1
        return np.int64(BUNDLES_FULL)
    for ending in range(places + 1):
        prefix.start[end, ending, 1] = 0
    if end == length:  # all of the prefix has come, or, if the sentence goes on, as much as may be
        prefix.start[end, places, 0] = forest.size[0]
        wanted = np.int64(places) if prefix.final[0] else np.int64(-1)
        code = _take(
            zero, end, True, zero, wanted, beam, rules, models, context, begin_states, end_words, weights, prefix,
            forest, room,
        )  # fmt: skip
        prefix.ending[:] = -1
        return code
    for ending in range(1, places + 1):
        if prefix.ending[0, ending] < 0:
            continue
        first = forest.size[0]
        code = _take(
            zero, end, False, zero, np.int64(ending), beam, rules, models, context, begin_states, end_words, weights,
            prefix, forest, room,
        )  # fmt: skip
        if code < 0:
            return code
        prefix.start[end, ending, 0] = first
        prefix.start[end, ending, 1] = forest.size[0] - first
    return np.int64(0)
