"""Random rules with non-terminals, and the same rules as the package's own grammar."""

from dataclasses import replace
from typing import ClassVar

import numpy as np
from toys.models import SOURCE, TARGET

from camber.arrays.ragged import offsets_from
from camber.corpus import Vocabulary
from camber.features.feature import NUMBER, RULE, Feature
from camber.rules.columns import Indicators
from camber.rules.hiero.grammar import Grammar

NAMES = ("p", "q")


def random_rules(rng, number, absent=0.0):
    """Draw rules with up to two non-terminals; some have no words on the target side, or several translations.

    A share of the features is `absent`: NaN.
    """
    rules = []
    shapes = (("w",), ("w", "w"), ("w", 1), (1, "w"), (1, "w", 2), ("w", 1, "w"), (1, 2), (1, 2, "w"), ("w", 1, "w", 2))
    for _ in range(number):
        shape = shapes[rng.integers(len(shapes))]
        source = tuple(str(rng.choice(SOURCE)) if symbol == "w" else symbol for symbol in shape)
        for _ in range(rng.integers(1, 3)):
            target = [*(symbol for symbol in source if not isinstance(symbol, str))]
            target += [str(word) for word in rng.choice(TARGET, rng.integers(0 if target else 1, 4))]
            rng.shuffle(order := list(range(len(target))))
            values = np.where(rng.random(2) < absent, np.nan, rng.normal(size=2))
            rules.append((source, tuple(target[i] for i in order), tuple(values.tolist())))
    return rules


def grammar_of(rules, names=NAMES):
    """Lay rules out as a grammar."""
    source_words = Vocabulary(sorted({s for source, _, _ in rules for s in source if isinstance(s, str)}))
    target_words = Vocabulary(sorted({t for _, target, _ in rules for t in target if isinstance(t, str)}))

    def column(side, words):
        flat = [words.id(s) if isinstance(s, str) else -s for rule in rules for s in rule[side]]
        return np.array(flat, np.int64), offsets_from(np.array([len(rule[side]) for rule in rules], np.int64))

    return Grammar(
        names,
        *column(0, source_words),
        *column(1, target_words),
        np.array([rule[2] for rule in rules]).reshape(len(rules), len(names)),
        np.zeros((0, 2), np.uint8),
        np.zeros(len(rules) + 1, np.int64),
        source_words,
        target_words,
    )


def with_links(rng, rules, grammar):
    """Link words of rules at random: return the rules with their links, and the grammar."""
    linked = []
    for rule in rules:
        sides = [[place for place, symbol in enumerate(side) if isinstance(symbol, str)] for side in rule[:2]]
        links = [(s, t) for s in sides[0] for t in sides[1] if rng.random() < 0.5]
        linked.append((*rule[:3], tuple(links)))
    flat = np.array([link for rule in linked for link in rule[3]], np.uint8).reshape(-1, 2)
    offsets = offsets_from(np.array([len(rule[3]) for rule in linked], np.int64))
    return linked, replace(grammar, links=flat, link_offsets=offsets)


def with_indicators(rng, rules, number=4):
    """Give rules 0 or 1 for each of so many indicators: return the rules, all names, and the grammar.

    In the grammar the indicators are lists of numbers, some of which are of indicators that were not chosen.
    """
    marks = rng.random((len(rules), number)) < 0.4
    names = (*NAMES, *(f"has:{k}" for k in range(number)))
    chosen = rng.permutation(number + 2)[:number]  # the numbers of the indicators
    places = np.full(number + 2, -1, np.int64)
    places[chosen] = np.arange(number)
    others = [k for k in range(number + 2) if k not in chosen]
    hits = []
    for row in marks:
        some = [*chosen[row].tolist(), *(k for k in others if rng.random() < 0.5)]
        hits.append(rng.permutation(some).tolist())
    numbers = np.array([number for some in hits for number in some], np.int16)
    plain = grammar_of(rules)
    grammar = replace(plain, names=names, indicators=Indicators(numbers, offsets_from(map(len, hits)), places))
    marked = [
        (source, target, (*values, *row.astype(float).tolist()))
        for (source, target, values), row in zip(rules, marks, strict=True)
    ]
    return marked, names, grammar


class OneGrammar:
    """A source that has the same rules for every sentence."""

    recorded: ClassVar = {}

    def __init__(self, grammar):
        self.rules, self.names = grammar, grammar.names
        self.features = tuple(Feature(name, NUMBER, RULE) for name in grammar.names)
        self.source_words, self.target_words = grammar.source_words, grammar.target_words

    def remembering(self):
        return self

    def grammar(self, item):
        return self.rules
