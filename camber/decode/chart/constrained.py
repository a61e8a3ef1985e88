"""Constraints on synchronous rules: the words of a term are translated by rules that are the term's own.

No gap ends among them, because nothing covers a part of them. Other rules have them in their source side only as
likenesses, in which the term stands (:mod:`camber.decode.chart.lending`). Where the grammar has rules for all that a
term allows, copies of these are the term's rules, with features of their own; else all of them are made up without
features, on equal terms, and context decides: language models hear what the best rule would have said. Where the
translation was begun, there are rules made up for words of the prefix (:mod:`camber.decode.chart.prefix`).

The result is a grammar like any other, with the number of the term that each rule belongs to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from camber.arrays.ragged import offsets_from, take_ragged
from camber.arrays.types import F8, I8, Bools
from camber.corpus.constraints import Ban, Term, folded
from camber.corpus.inputs import Input
from camber.decode.chart.grammar import TermPlaces
from camber.decode.chart.lending import Lent, lend
from camber.decode.chart.prefix import GIVEN, LOOSE, UNSAID, Begun
from camber.rules.hiero.grammar import Grammar


class Constrained(NamedTuple):
    """A sentence's grammar under constraints, and where its terms are."""

    grammar: Grammar
    places: TermPlaces
    symbols: I8  # int64[length]: what stands for the sentence's words in source sides, -1: no rule has it
    begun: Begun | None = None  # how its translation must begin


def constrain(grammar: Grammar, item: Input, worth: Callable[[I8], F8]) -> Constrained:
    """Return the grammar of a sentence in which its constraints are obeyed.

    worth: gives what the features of some rules of the grammar are worth.
    """
    constraints, length = item.constraints, len(item)
    symbols = grammar.source_words.encode(item.tokens)
    if not constraints:
        return Constrained(grammar, TermPlaces.none(len(grammar), length), symbols)
    keep = np.ones(len(grammar), bool)
    for ban in constraints.bans:
        keep &= ~_banned(grammar, item.tokens, ban)
    rules = _Rules(grammar, np.flatnonzero(keep))
    begins = np.zeros(length, np.int64)
    for number, term in enumerate(constraints.terms):
        begins[term.begin : term.end] = -1
        begins[term.begin] = term.end
        _add_term(rules, item.tokens, term, number, worth)
    if constraints.terms:
        rules.lent = lend(grammar, rules.kept, item.tokens, constraints.terms, rules.word, worth)
        symbols = np.where(begins == 0, symbols, rules.lent.symbols)
    terms = np.full(length, -1, np.int64)
    terms[[term.begin for term in constraints.terms]] = np.arange(len(constraints.terms))
    words, sizes = np.zeros(0, np.int64), {}
    if constraints.prefix:
        words = np.array([rules.word(word) for word in constraints.prefix], np.int64)
        sizes = _add_pieces(rules, words.tolist(), item)
    bound = Constrained(rules.grammar(), TermPlaces(rules.placed(), begins, terms), symbols)
    return bound._replace(begun=_begun(bound, words, sizes, item)) if constraints.prefix else bound


def _add_pieces(rules: _Rules, words: list[int], item: Input) -> dict[int, int]:
    """Make rules up that turn spans of some sizes into words of the prefix; return the number of each size's first."""
    terms = item.constraints.terms
    number, first = len(terms), {}
    for size in sorted({*range(1, min(LOOSE, len(item)) + 1), *(term.end - term.begin for term in terms)}):
        first[size] = number
        for place in range(len(words)):
            left = len(words) - place
            pieces = [words[place : place + count] for count in sorted({*range(1, min(LOOSE, left) + 1), left})]
            rules.made += pieces
            rules.heard += pieces
            rules.lengths += [size] * len(pieces)
            rules.of_made += [number] * len(pieces)
            number += 1
    return first


def _begun(bound: Constrained, words: I8, sizes: dict[int, int], item: Input) -> Begun:
    """Return what the search must know of a prefix."""
    grammar, of_rule = bound.grammar, bound.places.of_rule
    made = of_rule >= len(item.constraints.terms)
    given = np.zeros(grammar.target_size, bool)
    symbols = grammar.target[: grammar.target_offsets[np.count_nonzero(~made)]]
    given[symbols[symbols >= 0]] = True
    single = np.diff(grammar.source_offsets) == 1
    known = set(grammar.source[grammar.source_offsets[:-1][single & (of_rule < 0)]].tolist())
    passed = [word for word, number in _numbered(grammar, item.tokens) if number not in known]
    given[[number for number in map(partial(_number, grammar), passed) if number >= 0]] = True
    last, wanted = {int(words[-1])}, item.constraints.prefix[-1]
    if item.constraints.open and not given[words[-1]]:  # it may be the beginning of a word
        last.update(word for word in np.flatnonzero(given).tolist() if grammar.target_word(word).startswith(wanted))
    first_made = np.full(len(item) + 1, -1, np.int64)
    first_made[list(sizes)] = list(sizes.values())
    counts = np.zeros(len(grammar))
    owners = np.repeat(np.arange(len(grammar)), np.diff(grammar.target_offsets))
    there = (grammar.target >= 0) & made[owners]
    np.add.at(counts, owners[there], given[grammar.target[there]])
    return Begun(words, np.array(sorted(last), np.int64), first_made, counts)


def _numbered(grammar: Grammar, tokens: Sequence[str]) -> list[tuple[str, int]]:
    return list(zip(tokens, grammar.source_words.encode(tokens).tolist(), strict=True))


def _number(grammar: Grammar, word: str) -> int:
    """Return the number of a target word; -1: the grammar has none."""
    number = grammar.target_words.id(word)
    if number < 0 and word in grammar.extra:
        return len(grammar.target_words) + grammar.extra.index(word)
    return number


def prefix_worth(bound: Constrained, worth: F8, tokens: Sequence[str], nat: float) -> F8:
    """Return what it is worth to use up the first words of a sentence for a prefix, float64[length + 1].

    worth: float64[rules], what the grammar's features are worth; nat: what a nat of the language models is.
    """
    grammar = bound.grammar
    alone = np.flatnonzero((np.diff(grammar.source_offsets) == 1) & (bound.places.of_rule < 0))
    best: dict[int, float] = {}
    for word, value in zip(grammar.source[grammar.source_offsets[alone]].tolist(), worth[alone].tolist(), strict=True):
        best[word] = max(value, best.get(word, -np.inf))
    single = [
        best[number] - UNSAID * nat if number in best and free else -GIVEN * nat
        for (_, number), free in zip(_numbered(grammar, tokens), bound.places.ends == 0, strict=True)
    ]
    return np.concatenate([[0.0], np.cumsum(single)])


class _Rules:
    """The rules that stay, copies of some, and some that were made up."""

    def __init__(self, grammar: Grammar, kept: I8) -> None:
        self.source, self.kept = grammar, kept
        self.copied: list[int] = []
        self.made: list[list[int]] = []  # target words
        self.lengths: list[int] = []  # source words of what was made up
        self.extra: dict[str, int] = {}
        self.of_copies: list[int] = []  # terms
        self.of_made: list[int] = []
        self.heard: list[list[int]] = []  # what language models hear in place of words that terms want
        self.lent: Lent | None = None

    def word(self, word: str) -> int:
        """Return the number of a target word, a new one if no rule has it."""
        number = self.source.target_words.id(word)
        return number if number >= 0 else len(self.source.target_words) + self.extra.setdefault(word, len(self.extra))

    def placed(self) -> I8:
        """Return the term that each rule belongs to, -1: none."""
        free = len(self.kept) + (len(self.lent.rows) if self.lent else 0)
        return np.array([-1] * free + self.of_copies + self.of_made, np.int64)

    def grammar(self) -> Grammar:
        """Put all of them together."""
        old, lent, kept = self.source, self.lent, len(self.kept)
        likenesses = lent.rows if lent else np.zeros(0, np.int64)
        rows = np.concatenate([self.kept, likenesses, np.array(self.copied, np.int64)])
        source, source_offsets = take_ragged(old.source, old.source_offsets, rows)
        target, target_offsets = take_ragged(old.target, old.target_offsets, rows)
        heard = target.copy()
        if lent:
            source[source_offsets[kept] : source_offsets[kept + len(likenesses)]] = lent.source
            target[target_offsets[kept] : target_offsets[kept + len(likenesses)]] = lent.target
        links, link_offsets = take_ragged(old.links, old.link_offsets, rows)
        together = [  # all words of a term are linked with each other, as far as numbers of links go
            [(s, t) for s in range(min(size, 256)) for t in range(min(len(row), 256))]
            for size, row in zip(self.lengths, self.made, strict=True)
        ]
        indicators = old.indicators
        if indicators is not None:
            numbers, offsets = take_ragged(indicators.numbers, indicators.offsets, rows)
            indicators = indicators._replace(numbers=numbers, offsets=_longer(offsets, [0] * len(self.made)))
        return replace(
            old,
            source=np.concatenate([source, np.zeros(sum(self.lengths), np.int64)]),
            source_offsets=_longer(source_offsets, self.lengths),
            target=np.concatenate([target, np.array([word for row in self.made for word in row], np.int64)]),
            target_offsets=_longer(target_offsets, [len(row) for row in self.made]),
            features=np.concatenate([old.features[rows], np.full((len(self.made), old.features.shape[1]), np.nan)]),
            links=np.concatenate(
                [links, np.array([link for row in together for link in row], np.uint8).reshape(-1, 2)]
            ),
            link_offsets=_longer(link_offsets, [len(row) for row in together]),
            indicators=indicators,
            extra=tuple(self.extra),
            extra_source=lent.words if lent else (),
            heard=np.concatenate([heard, np.array([word for row in self.heard for word in row], np.int64)]),
        )


def _longer(offsets: I8, sizes: Sequence[int]) -> I8:
    """Append pieces of some sizes to offsets."""
    return np.concatenate([offsets, offsets[-1] + offsets_from(np.array(sizes, np.int64))[1:]])


def _add_term(rules: _Rules, tokens: Sequence[str], term: Term, number: int, worth: Callable[[I8], F8]) -> None:
    """Give a term its rules."""
    grammar, words = rules.source, tokens[term.begin : term.end]
    ids = grammar.source_words.encode(words)
    sizes = np.diff(grammar.source_offsets)[rules.kept]
    alike = rules.kept[sizes == len(words)]
    for place, word in enumerate(ids.tolist()):
        alike = alike[grammar.source[grammar.source_offsets[alike] + place] == word] if word >= 0 else alike[:0]
    by_target: dict[tuple[int, ...], int] = {}
    for rule in alike.tolist():
        by_target.setdefault(_target(grammar, rule), rule)
    targets = [tuple(map(rules.word, row)) for row in term.targets]
    if all(target in by_target for target in targets):
        rules.copied += [by_target[target] for target in targets]
        rules.of_copies += [number] * len(targets)
    else:
        best: tuple[int, ...] = ()
        if len(alike):
            best = _target(grammar, int(alike[np.argmax(worth(alike))]))
        rules.made += map(list, targets)
        rules.heard += [[*best[: len(row)], *row[len(best) :]] for row in targets]
        rules.lengths += [len(words)] * len(targets)
        rules.of_made += [number] * len(targets)


def _target(grammar: Grammar, rule: int) -> tuple[int, ...]:
    a, b = grammar.target_offsets[rule : rule + 2]
    return tuple(grammar.target[a:b].tolist())


def _banned(grammar: Grammar, tokens: Sequence[str], ban: Ban) -> Bools:
    """Say which rules have words of a ban in their source side, and the banned row in their target side."""
    banned = np.zeros(len(grammar), bool)
    words = grammar.source_words.encode(tokens[ban.begin : ban.end])
    first = folded(ban.target)[0]
    used = np.unique(grammar.target[grammar.target >= 0]).tolist()
    starts = [number for number in used if grammar.target_words.words[number].casefold() == first]
    near = np.unique(_owners(np.isin(grammar.target, starts), grammar.target_offsets))
    for rule in near[
        np.isin(near, _owners(np.isin(grammar.source, words[words >= 0]), grammar.source_offsets))
    ].tolist():
        banned[rule] = ban.within(grammar.target_side(rule))
    return banned


def _owners(hits: Bools, offsets: I8) -> I8:
    """Return the rules that hits belong to."""
    return np.searchsorted(offsets, np.flatnonzero(hits), "right") - 1
