"""A sentence's grammar made ready for the search: its source sides as a trie, its rules scored and sorted.

The trie's symbols are words and the non-terminal. Behind its nodes come the nodes of the words that are passed through:
one for every place of the sentence, with a single rule; and then those of terms, with the rules that are theirs alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from camber.arrays.types import Array
from camber.decode.chart.features import LM, PASS_THROUGH, PER_LM, SOURCE_OOV, WORD_PENALTY
from camber.decode.chart.in_context import part_worth, put_language_model
from camber.errors import CamberError
from camber.kernel import kernel
from camber.kernel.sort import sort_falling
from camber.kernel.table import capacity_for, find, insert
from camber.lm.ngrams import UNKNOWN, step
from camber.rules.columns import RuleColumns
from camber.rules.hiero.grammar import Grammar


class TermPlaces(NamedTuple):
    """Where the terms of a sentence are, and which rules belong to them."""

    of_rule: Array  # int64[rules]: the number of a term, -1: any words may be translated by the rule
    ends: Array  # int64[length]: the end of the term that begins here, -1: inside of one, 0: neither
    numbers: Array  # int64[length]: the term that begins here, -1: none

    @classmethod
    def none(cls, rules: int, length: int) -> TermPlaces:
        """Say that there are no terms."""
        return cls(np.full(rules, -1, np.int64), np.zeros(length, np.int64), np.full(length, -1, np.int64))

    @property
    def longest(self) -> int:
        """The words of the longest term."""
        return int((self.ends - np.arange(len(self.ends))).max(initial=0))


class Rules(NamedTuple):
    """The columns of a grammar as the kernels see them; the rules of words passed through come last."""

    source: Array  # int64
    source_offsets: Array  # int64[rules + 1]
    columns: RuleColumns  # the features of the grammar, raw
    target: Array  # int64: symbols; a word that no rule has is the number of words + its first place
    target_offsets: Array  # int64[rules + length + 1]
    heard: Array  # int64: the symbols that language models hear
    words: Array  # int64[models, symbols]: the words of each language model
    score: Array  # float64[rules + length]: without language models' probabilities
    estimate: Array  # float64[rules + length]: with them, as seen from inside the rule
    trie_keys: Array  # int64, a power of two
    trie_nodes: Array  # int64: the node at each slot of `trie_keys`
    gap: Array  # int64[nodes]: the node behind a non-terminal, or -1
    more: Array  # int64[nodes]: whether a word may follow
    node_of: Array  # int64[rules + length]: where its source side ends
    node_first: Array  # int64[nodes + 1]
    order: Array  # int64[rules + length]: by node, then by falling estimate
    count: Array  # int64[2]: nodes of the trie; 1 where words with a rule of their own may be copied, too
    unknown: Array  # int64[length]: 1 for a word that is in no rule
    terms: TermPlaces


def check_grammar(grammar: Grammar, names: tuple[str, ...], number: int) -> None:
    """Refuse what would make the search of sentence `number` go wrong, or round in circles."""
    if grammar.names != names:
        raise CamberError(
            f"the grammar of sentence {number + 1} has the features {', '.join(grammar.names)}; expected "
            f"{', '.join(names)}"
        )
    if np.isinf(grammar.features).any():
        rule = int(np.argwhere(np.isinf(grammar.features))[0][0])
        raise CamberError(
            f"a feature of rule {rule} ({' '.join(grammar.source_side(rule))}) of sentence {number + 1} is not a "
            "finite number"
        )
    sizes = np.diff(grammar.source_offsets)
    lonely = sizes == 0
    single = np.flatnonzero(sizes == 1)
    lonely[single] = grammar.source[grammar.source_offsets[single]] < 0
    if lonely.any():
        rule = int(np.flatnonzero(lonely)[0])
        raise CamberError(
            f"rule {rule} of sentence {number + 1} has {' '.join(grammar.source_side(rule)) or 'nothing'} on its "
            "source side; expected a word, or two non-terminals"
        )


def lay_out(grammar: Grammar, sentence: Sequence[str], models: int, terms: TermPlaces, *, copy_known: bool) -> Rules:
    """Make the arrays for a grammar and a sentence."""
    length = len(sentence)
    # one word has one number, however it came into a text: so texts can be told apart by numbers
    places: dict[str, int] = {}
    for place, word in enumerate(sentence):
        places.setdefault(word, place)
    passed = grammar.target_words.encode(sentence)
    for number, word in enumerate(grammar.extra):
        if word in places:
            passed[[word == other for other in sentence]] = len(grammar.target_words) + number
    own = np.array([places[word] for word in sentence], np.int64) + grammar.target_size
    rules, symbols = len(grammar) + length, len(grammar.target)
    of_rules = grammar.source[: grammar.source_offsets[np.count_nonzero(terms.of_rule < 0)]]  # those of terms come last
    target = np.empty(symbols + length, np.int64)
    target[:symbols] = grammar.target
    target[symbols:] = np.where(passed < 0, own, passed)
    heard = target.copy()
    if grammar.heard is not None:
        heard[:symbols] = grammar.heard
    offsets = np.empty(rules + 1, np.int64)
    offsets[: len(grammar) + 1] = grammar.target_offsets
    offsets[len(grammar) :] = symbols + np.arange(length + 1)
    capacity = capacity_for(len(grammar.source) + 1)
    return Rules(
        np.ascontiguousarray(grammar.source, np.int64),
        np.ascontiguousarray(grammar.source_offsets, np.int64),
        grammar.columns,
        target,
        offsets,
        heard,
        np.empty((models, len(target)), np.int64),
        np.empty(rules),
        np.empty(rules),
        np.full(capacity, -1, np.int64),
        np.empty(capacity, np.int64),
        np.empty(len(grammar.source) + 1, np.int64),
        np.empty(len(grammar.source) + 1, np.int64),
        np.empty(rules, np.int64),
        np.zeros(len(grammar.source) + 2 * length + 3, np.int64),
        np.empty(rules, np.int64),
        np.array([0, copy_known], np.int64),
        (~np.isin(grammar.source_words.encode(sentence), of_rules[of_rules >= 0])).astype(np.int64),
        terms,
    )


@kernel
def child(rules, node, word, width):
    """Return the node behind a word, or -1; `width`: words of the source vocabulary."""
    slot = find(rules.trie_keys, node * width + word)
    return rules.trie_nodes[slot] if slot >= 0 else np.int64(-1)


@kernel
def prepare(rules, worth, words_worth, length, width, target_words, lm_words, own_words, models, weights, context):
    """Fill the trie, the scores and the order of the rules.

    worth: float64[rules], what the grammar's features are worth; words_worth: float64[longest side + 1], what the
    number of a rule's words is worth where it is bent; lm_words: int64[models, target_words], own_words:
    int64[models, length]: the language models' numbers of the target words and of the sentence's own words; weights:
    float64[features], of a word and of natural logarithms; context: ChartContext, or None.
    """
    number = len(rules.columns.table)
    nodes = _fill_trie(rules, width)
    rules.count[0] = nodes
    for place in range(length):
        rules.node_of[number + place] = nodes + place
    last = np.int64(-1)
    for r in range(number):
        if rules.terms.of_rule[r] >= 0:
            rules.node_of[r] = nodes + length + rules.terms.of_rule[r]
            last = max(last, rules.terms.of_rule[r])
    _score_rules(rules, worth, words_worth, target_words, lm_words, own_words, models, weights, context)
    _sort_rules(rules, number + length, nodes + length + last + 1)


@kernel
def _fill_trie(rules, width):
    """Put the source sides of the grammar into the trie; return how many nodes it has."""
    nodes = np.int64(1)
    rules.gap[0] = -1
    rules.more[0] = 0
    for r in range(len(rules.columns.table)):
        if rules.terms.of_rule[r] >= 0:
            continue
        node = np.int64(0)
        for t in range(rules.source_offsets[r], rules.source_offsets[r + 1]):
            symbol = rules.source[t]
            after = rules.gap[node] if symbol < 0 else child(rules, node, symbol, width)
            if after < 0:
                after = nodes
                nodes += 1
                rules.gap[after] = -1
                rules.more[after] = 0
                if symbol < 0:
                    rules.gap[node] = after
                else:
                    rules.more[node] = 1
                    rules.trie_nodes[insert(rules.trie_keys, node * width + symbol)] = after
            node = after
        rules.node_of[r] = node
    return nodes


@kernel
def _score_rules(rules, worth, words_worth, target_words, lm_words, own_words, models, weights, context):
    """Fill words, scores and estimates of all rules; arguments as in :func:`prepare`."""
    number, columns = len(rules.columns.table), rules.columns.width
    for r in range(len(rules.score)):
        total = 0.0
        if r < number:
            total += worth[r]
        else:
            total += weights[columns + PASS_THROUGH] + weights[columns + SOURCE_OOV] * rules.unknown[r - number]
        first, last = rules.target_offsets[r], rules.target_offsets[r + 1]
        size = np.int64(0)
        for t in range(first, last):
            symbol = rules.heard[t]
            if symbol < 0:
                continue
            size += 1
            total -= weights[columns + WORD_PENALTY]
            for k in range(len(models.weights)):
                word = lm_words[k, symbol] if symbol < target_words else own_words[k, symbol - target_words]
                rules.words[k, t] = word
                if word == UNKNOWN:
                    total += weights[columns + LM + PER_LM * k + 1]
        if r < number:
            total += words_worth[size]
        rules.score[r] = total
        for k in range(len(models.weights)):
            state = models.roots[k]
            inside = 0.0
            for t in range(first, last):
                if rules.target[t] < 0:
                    state = models.roots[k]
                else:
                    gain, state = step(models.nodes, models.children, state, rules.words[k, t])
                    total += models.weights[k] * gain
                    inside += gain
            if context is not None:
                put_language_model(context, columns, k, inside)
        if context is not None:
            total += part_worth(context, r)
        rules.estimate[r] = total


@kernel
def _sort_rules(rules, number, nodes):
    """Sort the rules by node, and those of a node by falling estimate (equal ones as they came)."""
    first = rules.node_first
    for node in range(nodes + 1):
        first[node] = 0
    for r in range(number):
        first[rules.node_of[r] + 1] += 1
    for node in range(nodes):
        first[node + 1] += first[node]
    # fill each node's rows from its first one on; `first` is moved along, and moved back at the end
    for r in range(number):
        node = rules.node_of[r]
        rules.order[first[node]] = r
        first[node] += 1
    for node in range(nodes, 0, -1):
        first[node] = first[node - 1]
    first[0] = 0
    for node in range(nodes):
        sort_falling(rules.order, first[node], first[node + 1], rules.estimate)
