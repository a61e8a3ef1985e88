"""Rules that lend themselves to terms: what stands around a term's words is translated as ever.

A rule with a term's words in its source side, whose links say which of its target words these become, has a likeness
with the term's own words in their place, if they are as many. In the likeness and in the sentence, symbols that only
the term has stand for its words, so that the rule applies where the term is and nowhere else. Language models hear what
the rule said: of words that are unusual there they would know nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from camber.arrays.distinct import number_pieces
from camber.arrays.ragged import offsets_from, places_of, take_ragged
from camber.arrays.types import F8, I4, I8
from camber.corpus.constraints import Term
from camber.kernel import kernel
from camber.rules.hiero.grammar import Grammar

#: likenesses of rules with one source side
LIKENESSES = 3
#: columns of a match
_RULE, _KIND, _PLACE, _TARGET, _SIZE = range(5)


class Lent(NamedTuple):
    """Likenesses of rules."""

    rows: I8  # the rules that they are likenesses of
    source: I8  # their symbols, as many as those of the rules
    target: I8
    heard: I8  # what language models hear in place of each target symbol
    symbols: I8  # int64[length]: the symbol of each word of the sentence that belongs to a term, -1: none
    words: tuple[str, ...]  # the source words that symbols behind those of the vocabulary stand for


def lend(
    grammar: Grammar,
    kept: I8,
    tokens: Sequence[str],
    terms: Sequence[Term],
    number: Callable[[str], int],
    worth: Callable[[I8], F8],
) -> Lent:
    """Return likenesses of rules, of those that are `kept`, for the terms of a sentence.

    number: gives the number of a target word; worth: what the features of some rules are worth.
    """
    ids, known = grammar.source_words.encode(tokens), len(grammar.source_words)
    symbols, words = np.full(len(tokens), -1, np.int64), list[str]()
    kinds: dict[tuple[tuple[int, ...], tuple[tuple[str, ...], ...]], int] = {}
    free = np.ones(len(tokens), bool)
    for term in terms:
        free[term.begin : term.end] = False
        own = tuple(ids[term.begin : term.end].tolist())
        if min(own) < 0:
            continue
        if (own, term.targets) not in kinds:
            kinds[own, term.targets] = known + len(words)
            words += tokens[term.begin : term.end]
        symbols[term.begin : term.end] = kinds[own, term.targets] + np.arange(len(own))
    order = sorted(kinds, key=lambda kind: -len(kind[0]))  # longer ones win
    if not order:
        none = np.zeros(0, np.int64)
        return Lent(none, none, none, none, symbols, ())
    matches = _matches(grammar, kept, [kind[0] for kind in order])
    targets = [[tuple(map(number, row)) for row in kind[1]] for kind in order]
    rows, matches, wanted = _fitting(matches, targets)
    source, source_offsets = take_ragged(grammar.source, grammar.source_offsets, rows)
    target, target_offsets = take_ragged(grammar.target, grammar.target_offsets, rows)
    sizes = np.array([len(kind[0]) for kind in order], np.int64)[matches[:, _KIND]]
    bases = np.array([kinds[kind] for kind in order], np.int64)[matches[:, _KIND]]
    source[places_of(source_offsets[matches[:, _RULE]] + matches[:, _PLACE], sizes)] = places_of(bases, sizes)
    heard = target.copy()
    target[places_of(target_offsets[matches[:, _RULE]] + matches[:, _TARGET], matches[:, _SIZE])] = wanted
    there = np.zeros(known + len(words) + 2, bool)  # by symbols: those of non-terminals count from the end
    there[ids[free & (ids >= 0)]] = there[known:] = True
    usable = np.ones(len(rows), bool)
    usable[np.searchsorted(source_offsets, np.flatnonzero(~there[source]), "right") - 1] = False
    chosen = _best(
        np.flatnonzero(usable),
        number_pieces(source, source_offsets),
        number_pieces(target, target_offsets),
        worth(rows),
    )
    return Lent(
        rows[chosen],
        take_ragged(source, source_offsets, chosen)[0],
        take_ragged(target, target_offsets, chosen)[0],
        take_ragged(heard, target_offsets, chosen)[0],
        symbols,
        tuple(words),
    )


def _matches(grammar: Grammar, kept: I8, kinds: Sequence[tuple[int, ...]]) -> I8:
    """Return where rules have the source words of kinds of terms, and what these become, int64[matches, 5].

    A rule that has nothing but these words is left out, and one whose links do not say what they become.
    """
    is_first = np.zeros(len(grammar.source_words) + 2, bool)
    is_first[[kind[0] for kind in kinds]] = True
    firsts = np.flatnonzero(is_first[grammar.source])
    of_kept, with_first = np.zeros((2, len(grammar)), bool)
    of_kept[kept] = True
    with_first[np.searchsorted(grammar.source_offsets, firsts, "right") - 1] = True
    near = np.flatnonzero(of_kept & with_first)
    matches = np.empty((len(firsts), 5), np.int64)
    flat = np.array([word for kind in kinds for word in kind], np.int64)
    count = _find(
        np.ascontiguousarray(grammar.source, np.int64),
        np.ascontiguousarray(grammar.source_offsets, np.int64),
        np.ascontiguousarray(grammar.links, np.uint8),
        np.ascontiguousarray(grammar.link_offsets, np.int64),
        near,
        flat,
        offsets_from(map(len, kinds)),
        matches,
    )
    return matches[:count]


@kernel
def _find(source, source_offsets, links, link_offsets, rules, kind_words, kind_offsets, matches):
    """Fill `matches`: rule, kind, place in the source side, place in the target side, target words; return how many."""
    count = 0
    for at in range(len(rules)):
        rule = rules[at]
        begin, end = source_offsets[rule], source_offsets[rule + 1]
        before, place = count, begin
        while place < end:
            kind, size = np.int64(-1), np.int64(1)
            for k in range(len(kind_offsets) - 1):
                words = kind_offsets[k + 1] - kind_offsets[k]
                same = place + words <= end
                j = np.int64(0)
                while same and j < words:
                    same = source[place + j] == kind_words[kind_offsets[k] + j]
                    j += 1
                if same:
                    kind, size = np.int64(k), words
                    break
            if kind >= 0:
                low, high = _piece(links, link_offsets[rule], link_offsets[rule + 1], place - begin, size)
                if high < 0 or size == end - begin:
                    count = before
                    break
                matches[count, 0] = rule
                matches[count, 1] = kind
                matches[count, 2] = place - begin
                matches[count, 3] = low
                matches[count, 4] = high - low
                count += 1
            place += size
    return count


@kernel
def _piece(links, first, last, place, size):
    """Return which target words some source words become, and no others do, by links; (0, -1): one cannot say."""
    low, high = np.int64(1 << 30), np.int64(-1)
    for k in range(first, last):
        if place <= links[k, 0] < place + size:
            low, high = min(low, np.int64(links[k, 1])), max(high, np.int64(links[k, 1]) + 1)
    for to in range(low, high):
        inside = False
        for k in range(first, last):
            if links[k, 1] == to:
                if not place <= links[k, 0] < place + size:
                    return np.int64(0), np.int64(-1)
                inside = True
        if not inside:
            return np.int64(0), np.int64(-1)
    return low, high


def _fitting(matches: I8, targets: Sequence[Sequence[tuple[int, ...]]]) -> tuple[I8, I8, I8]:
    """Return rules for likenesses, their matches (by places among these rules), and what stands in the places of them.

    One likeness for every target of its terms that has as many words as what stood there.
    """
    rules, of_rule = np.unique(matches[:, _RULE], return_inverse=True)
    rows, found, wanted = [np.zeros(0, np.int64)], [np.zeros((0, 5), np.int64)], list[int]()
    count = 0
    for way in range(max(map(len, targets))):
        sizes = np.array([len(own[way]) if way < len(own) else 0 for own in targets], np.int64)
        fits = np.ones(len(rules), bool)
        fits[of_rule[sizes[matches[:, _KIND]] != matches[:, _SIZE]]] = False
        mine = matches[fits[of_rule]].copy()
        mine[:, _RULE] = count + (np.cumsum(fits) - 1)[of_rule[fits[of_rule]]]
        rows.append(rules[fits])
        found.append(mine)
        for kind in mine[:, _KIND].tolist():
            wanted += targets[kind][way]
        count += int(np.count_nonzero(fits))
    return np.concatenate(rows), np.concatenate(found), np.array(wanted, np.int64)


def _best(rows: I8, sources: I4, targets: I4, worth: F8) -> I8:
    """Return, of rows, the best of equal ones, and a few of those with equal source sides; sides are numbered."""
    order = rows[np.lexsort((rows, -worth[rows]))]  # the best first
    texts = sources[order].astype(np.int64) * (int(targets.max(initial=0)) + 1) + targets[order]
    order = order[np.sort(np.unique(texts, return_index=True)[1])]
    by_source = order[np.argsort(sources[order], kind="stable")]
    starts = np.flatnonzero(np.diff(sources[by_source], prepend=-1))
    rank = np.arange(len(by_source)) - np.repeat(starts, np.diff(starts, append=len(by_source)))
    return np.sort(by_source[rank < LIKENESSES])
