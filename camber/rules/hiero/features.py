"""The features of hierarchical rules: names, kinds, and raw values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from camber.arrays.types import F8, I8, U1
from camber.corpus.vocabulary import Vocabulary
from camber.errors import SettingsError
from camber.features.feature import COUNT, INDICATOR, NUMBER, PROBABILITY, RULE, Feature
from camber.rules.columns import Indicators
from camber.rules.features import GROUPS, LEARNT_NAMES, SUBWORD_NAMES, WORD_NAMES, in_order, learnt, split_names
from camber.rules.hiero.counting import RAW_NAMES
from camber.rules.hiero.grammar import Grammar
from camber.rules.sides import RuleSides

if TYPE_CHECKING:  # imported where rules have such features
    from camber.rules.inventory import Inventory
    from camber.rules.measuring import Measured

#: What extraction gives unless it is asked for others.
DEFAULT_NAMES = (
    "p_coherent",
    "lex_t_given_s",
    "lex_s_given_t",
    "count_s",
    "count_st",
    "singleton_s",
    "singleton_st",
    "arity",
)

#: Everything that can be chosen: c(t) and p(s|t) are not counted when rules are extracted for a sentence.
RULE_FEATURES = (*RAW_NAMES, *WORD_NAMES, *LEARNT_NAMES)

#: Words that stand for several names.
SETS = ("base", "large")

#: The kinds of lexical weights to choose from: every word with its best counterpart, or with the mean of its links.
LEXICAL = ("max", "averaged", "both")

#: cdec's names for the same values.
CDEC_NAMES = {
    "EgivenFCoherent": "p_coherent",
    "MaxLexEgivenF": "lex_t_given_s",
    "MaxLexFgivenE": "lex_s_given_t",
    "SampleCountF": "count_s",
    "CountEF": "count_st",
    "IsSingletonF": "singleton_s",
    "IsSingletonFE": "singleton_st",
}

#: The natural logarithm of an impossible event, which cdec takes for 10 to the power of -99.
LEAST = -99.0 * math.log(10.0)


@dataclass(frozen=True)
class RawGrammar:
    """The rules of one sentence with raw probabilities and counts: no logarithms.

    p_coherent: c(s, t) / sampled occurrences of s, those that gave no rule included. lex_t_given_s, lex_s_given_t:
    every word with its best counterpart in the rule or NULL; `_averaged`: with the mean of those it is linked to.
    count_s: sampled occurrences of the words of s. count_st: c(s, t) among them. singleton_s: 1 if s gave one rule
    once. singleton_st: 1 if c(s, t) = 1. arity: non-terminals. words: target words.
    """

    source: I8  # symbols as in `Grammar`
    source_offsets: I8  # [rules + 1]
    target: I8
    target_offsets: I8  # [rules + 1]
    raw: F8  # [rules, len(RAW_NAMES)]
    links: U1  # [links, 2]
    link_offsets: I8  # [rules + 1]
    source_words: Vocabulary
    target_words: Vocabulary
    measured: Measured | None = None  # what an inventory says about the rules

    #: The columns of `raw`.
    names = RAW_NAMES

    def __len__(self) -> int:
        """Return the number of rules."""
        return len(self.source_offsets) - 1

    @property
    def nbytes(self) -> int:
        """Bytes of all columns."""
        offsets = self.source_offsets.nbytes + self.target_offsets.nbytes + self.link_offsets.nbytes
        more = 0 if self.measured is None else self.measured.nbytes
        return offsets + self.source.nbytes + self.target.nbytes + self.raw.nbytes + self.links.nbytes + more

    @property
    def sides(self) -> RuleSides:
        """The rules as they are measured."""
        return RuleSides(
            self.source,
            self.source_offsets,
            np.arange(len(self)),
            self.target,
            self.target_offsets,
            self.links,
            self.link_offsets,
        )

    def column(self, name: str) -> F8:
        """Return the raw values of a feature (cdec's names will do), float64[rules]."""
        (name,) = check_names([name])
        if name == "source_words":
            return np.diff(self.source_offsets) - self.raw[:, RAW_NAMES.index("arity")]
        if name in SUBWORD_NAMES and self.measured is not None:
            return self.measured.subword_scores[:, SUBWORD_NAMES.index(name)].astype(np.float64)
        _refuse(learnt([name]))
        return self.raw[:, RAW_NAMES.index("words" if name == "target_words" else name)]

    def grammar(
        self, names: Sequence[str] = DEFAULT_NAMES, indicators: Sequence[str] = (), places: I8 | None = None
    ) -> Grammar:
        """Return the grammar with the named features, raw.

        names: of features that all rules have; indicators: of those in the columns `places` (`Inventory.columns`).
        """
        names = check_names(names)
        if all(name in RAW_NAMES for name in names):
            table = np.take(self.raw, [RAW_NAMES.index(name) for name in names], axis=1)  # in rows, as kernels want it
        else:
            table = np.column_stack([self.column(name) for name in names])
        chosen = None
        if places is not None and self.measured is not None:
            chosen = Indicators(self.measured.numbers, self.measured.offsets, places)
        return Grammar(
            (*names, *indicators),
            self.source,
            self.source_offsets,
            self.target,
            self.target_offsets,
            table,
            self.links,
            self.link_offsets,
            self.source_words,
            self.target_words,
            chosen,
        )


def feature_of(name: str) -> Feature:
    """Return a feature of hierarchical rules by its name (cdec's will do), which is not that of a group.

    A linear model takes logarithms of counts with one more, as cdec does; those of words are the same as for phrases.
    """
    (name,) = check_names([name])
    if name in WORD_NAMES:
        return Feature(name, COUNT, RULE)
    if name.startswith(("p_", "lex_")):
        return Feature(name, PROBABILITY, RULE, least=LEAST)
    if name.startswith("count_"):
        return Feature(name, COUNT, RULE, plus=1.0)
    return Feature(name, INDICATOR if name.startswith("singleton_") else NUMBER, RULE)


def features_of(names: Sequence[str], inventory: Inventory | None = None) -> tuple[Feature, ...]:
    """Return the features that names stand for; those of groups are indicators of an inventory."""
    if inventory is None:
        _refuse(learnt(names))
    own = tuple(feature_of(name) for name in names if name not in GROUPS)
    return own if inventory is None else (*own, *inventory.features(names))


def _refuse(names: Sequence[str]) -> None:
    if names:
        raise SettingsError(
            f"the rules of this model have no {', '.join(names)}: train it with --hiero-rule-features that name it"
        )


def check_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return our own names for names that may be cdec's; an unknown one is an error.

    >>> check_names(["EgivenFCoherent", "arity"])
    ('p_coherent', 'arity')
    """
    ours = tuple(CDEC_NAMES.get(name, name) for name in names)
    for name in ours:
        if name not in RULE_FEATURES:
            known = ", ".join((*RULE_FEATURES, *CDEC_NAMES))
            raise SettingsError(f"no rule feature is called {name!r}; known: {known}")
    return ours


def chosen_names(lexical: str = "max") -> tuple[str, ...]:
    """Return the features of rules with one or both kinds of lexical weights.

    >>> chosen_names("averaged")[:3]
    ('p_coherent', 'lex_t_given_s_averaged', 'lex_s_given_t_averaged')
    """
    averaged = ("lex_t_given_s_averaged", "lex_s_given_t_averaged")
    if lexical == "averaged":
        return (DEFAULT_NAMES[0], *averaged, *DEFAULT_NAMES[3:])
    return (*DEFAULT_NAMES[:3], *averaged, *DEFAULT_NAMES[3:]) if lexical == "both" else DEFAULT_NAMES


def chosen_features(text: str, lexical: str = "max") -> tuple[str, ...]:
    """Return the features and groups that a list names, groups at the end; without any name, those of "base".

    >>> chosen_features("inserts, arity, count_st")
    ('arity', 'count_st', 'inserts')
    """
    base = chosen_names(lexical)
    sets = dict(zip(SETS, (base, (*base, *WORD_NAMES, *LEARNT_NAMES)), strict=True))
    named = split_names(text) or ["base"]
    for name in named:
        if name not in (*SETS, *RULE_FEATURES, *CDEC_NAMES):
            known = ", ".join((*SETS, *RULE_FEATURES))
            raise SettingsError(f"{name!r} is no feature of hierarchical rules; known: {known}")
    ours = [CDEC_NAMES.get(name, name) for name in named]
    if len(set(ours)) < len(ours):
        raise SettingsError(f"a feature is named twice in {text!r}")
    return in_order(ours, sets)
