"""The rules that apply to one sentence: synchronous rules with at most two non-terminals.

A rule is two strings of symbols. A symbol of 0 or more is a word; -1 and -2 are the first and the second non-terminal
of the source side, and on the target side what these are translated to.

    einem [1] hut [2]  →  a [2] hat [1]
    source  (5, -1, 9, -2)      target  (3, -2, 7, -1)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from camber.arrays.checks import Checks
from camber.arrays.types import F8, I8, U1
from camber.corpus import Vocabulary
from camber.corpus.inputs import Input
from camber.kernel import kernel
from camber.rules.columns import Indicators, RuleColumns
from camber.rules.source import RuleSource


@dataclass(frozen=True)
class Grammar:
    """Rules in columns; those of rule `r` are ``source[source_offsets[r]:source_offsets[r + 1]]`` and so on."""

    names: tuple[str, ...]  # of the features
    source: I8  # symbols: a word of `source_words`, or -1, -2
    source_offsets: I8  # [rules + 1]
    target: I8  # symbols: a word of `target_words`, or -1, -2: what the source's -1, -2 is translated to
    target_offsets: I8  # [rules + 1]
    features: F8  # [rules, features but indicators]: raw; NaN: the rule lacks the feature
    links: U1  # [links, 2]: places of words that are translations of each other
    link_offsets: I8  # [rules + 1]
    source_words: Vocabulary
    target_words: Vocabulary
    indicators: Indicators | None = None  # features behind those in `features`, of which a rule has few
    extra: tuple[str, ...] = ()  # target words behind those of `target_words`, which only constraints have
    extra_source: tuple[str, ...] = ()  # words of terms, which symbols behind those of `source_words` stand for
    heard: I8 | None = None  # what language models hear in place of each symbol of `target`, if that is something else

    def __len__(self) -> int:
        """Return the number of rules."""
        return len(self.source_offsets) - 1

    @property
    def columns(self) -> RuleColumns:
        """All features, as decoders see them."""
        return RuleColumns.of(np.ascontiguousarray(self.features, np.float64), self.indicators)

    @classmethod
    def empty(cls, names: Sequence[str], source_words: Vocabulary, target_words: Vocabulary) -> Grammar:
        """Make a grammar without rules."""
        none, start = np.zeros(0, np.int64), np.zeros(1, np.int64)
        features, links = np.zeros((0, len(names))), np.zeros((0, 2), np.uint8)
        return cls(tuple(names), none, start, none, start, features, links, start, source_words, target_words)

    def source_side(self, rule: int) -> list[str]:
        """Return the source side as text.

        >>> grammar.source_side(0)                                                  # doctest: +SKIP
        ['einem', '[1]', 'hut', '[2]']
        """
        symbols = self.source[self.source_offsets[rule] : self.source_offsets[rule + 1]]
        return [self.source_word(symbol) if symbol >= 0 else f"[{-symbol}]" for symbol in symbols.tolist()]

    def target_side(self, rule: int) -> list[str]:
        """Return the target side as text."""
        symbols = self.target[self.target_offsets[rule] : self.target_offsets[rule + 1]]
        return [self.target_word(symbol) if symbol >= 0 else f"[{-symbol}]" for symbol in symbols.tolist()]

    @property
    def target_size(self) -> int:
        """The number of target words."""
        return len(self.target_words) + len(self.extra)

    def source_word(self, symbol: int) -> str:
        """Return a source word by its number."""
        known = len(self.source_words)
        return self.source_words.words[symbol] if symbol < known else self.extra_source[symbol - known]

    def target_word(self, symbol: int) -> str:
        """Return a target word by its number."""
        known = len(self.target_words)
        return self.target_words.words[symbol] if symbol < known else self.extra[symbol - known]

    def rule_links(self, rule: int) -> list[tuple[int, int]]:
        """Return the word alignment inside a rule: (place in the source side, place in the target side)."""
        a, b = self.link_offsets[rule], self.link_offsets[rule + 1]
        return [(s, t) for s, t in self.links[a:b].tolist()]


class GrammarSource(RuleSource, Protocol):
    """A source of grammars: an indexed corpus, or grammars that were made before."""

    def grammar(self, item: Input) -> Grammar:
        """Return the rules that apply to a sentence."""
        ...


class _Targets(Protocol):
    """The target sides and links of rules, as grammars and rule tables have them."""

    @property
    def target(self) -> npt.NDArray[np.integer]: ...
    @property
    def target_offsets(self) -> I8: ...
    @property
    def links(self) -> U1: ...
    @property
    def link_offsets(self) -> I8: ...
    @property
    def source_words(self) -> Vocabulary: ...
    @property
    def target_words(self) -> Vocabulary: ...


def check_rules(
    checks: Checks, source: npt.NDArray[np.integer], source_offsets: I8, rule_offsets: I8, rules: _Targets, count: int
) -> None:
    """Refuse columns that a kernel would read outside of: source sides, and the target sides of `count` rules.

    Those with source side `n` are ``rule_offsets[n]`` … ``rule_offsets[n + 1] - 1``.
    """
    sides = len(source_offsets) - 1
    checks.offsets("source_offsets", source_offsets, sides, len(source))
    checks.offsets("rule_offsets", rule_offsets, sides, count)
    checks.offsets("target_offsets", rules.target_offsets, count, len(rules.target))
    checks.offsets("link_offsets", rules.link_offsets, count, len(rules.links))
    checks.shape("links", rules.links, len(rules.links), 2)
    checks.below("source", source, len(rules.source_words), least=-2)
    checks.below("target", rules.target, len(rules.target_words), least=-2)
    bad = _bad_rule(
        source, source_offsets, rule_offsets, rules.target, rules.target_offsets, rules.links, rules.link_offsets
    )
    checks.that(bad < 0, "target", f"rule {bad} has other non-terminals than its source side, or links outside it")


@kernel
def _bad_rule(source, source_offsets, rule_offsets, target, target_offsets, links, link_offsets):
    """Return the first rule with non-terminals that do not pair or links outside its symbols, -1: there is none.

    A source side has no non-terminal, the first, or the first and then the second; the target side has the same ones.
    """
    for side in range(len(source_offsets) - 1):
        gaps, symbols = 0, source_offsets[side + 1] - source_offsets[side]
        ordered = symbols > 0
        for at in range(source_offsets[side], source_offsets[side + 1]):
            if source[at] < 0:
                gaps += 1
                ordered &= source[at] == -gaps
        ordered &= symbols > gaps or gaps == 2
        for rule in range(rule_offsets[side], rule_offsets[side + 1]):
            seen, first, second = 0, 0, 0
            for at in range(target_offsets[rule], target_offsets[rule + 1]):
                seen += target[at] < 0
                first += target[at] == -1
                second += target[at] == -2
            if not ordered or seen != gaps or first != min(gaps, 1) or second != max(gaps - 1, 0):
                return rule
            others = target_offsets[rule + 1] - target_offsets[rule]
            for link in range(link_offsets[rule], link_offsets[rule + 1]):
                if links[link, 0] >= symbols or links[link, 1] >= others:
                    return rule
    return -1
