"""The features of hierarchical rules: names, kinds, and raw values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from camber.arrays.types import F8, I8, U1
from camber.corpus.vocabulary import Vocabulary
from camber.errors import CamberError
from camber.features.feature import COUNT, INDICATOR, NUMBER, PROBABILITY, RULE, Feature
from camber.rules.hiero.counting import RAW_NAMES
from camber.rules.hiero.grammar import Grammar

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

    #: The columns of `raw`.
    names = RAW_NAMES

    def __len__(self) -> int:
        """Return the number of rules."""
        return len(self.source_offsets) - 1

    @property
    def nbytes(self) -> int:
        """Bytes of all columns."""
        offsets = self.source_offsets.nbytes + self.target_offsets.nbytes + self.link_offsets.nbytes
        return offsets + self.source.nbytes + self.target.nbytes + self.raw.nbytes + self.links.nbytes

    def column(self, name: str) -> F8:
        """Return the raw values of a feature (cdec's names will do), float64[rules]."""
        return self.raw[:, RAW_NAMES.index(check_names([name])[0])]

    def grammar(self, names: Sequence[str] = DEFAULT_NAMES) -> Grammar:
        """Return the grammar with the named features, raw."""
        names = check_names(names)
        return Grammar(
            names,
            self.source,
            self.source_offsets,
            self.target,
            self.target_offsets,
            np.take(self.raw, [RAW_NAMES.index(name) for name in names], axis=1),  # in rows, as kernels want it
            self.links,
            self.link_offsets,
            self.source_words,
            self.target_words,
        )


def feature_of(name: str) -> Feature:
    """Return a feature of hierarchical rules by its name (cdec's will do).

    A linear model takes logarithms of counts with one more, as cdec does.
    """
    (name,) = check_names([name])
    if name.startswith(("p_", "lex_")):
        return Feature(name, PROBABILITY, RULE, least=LEAST)
    if name.startswith("count_"):
        return Feature(name, COUNT, RULE, plus=1.0)
    return Feature(name, INDICATOR if name.startswith("singleton_") else NUMBER, RULE)


def check_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return our own names for names that may be cdec's; an unknown one is an error.

    >>> check_names(["EgivenFCoherent", "arity"])
    ('p_coherent', 'arity')
    """
    ours = tuple(CDEC_NAMES.get(name, name) for name in names)
    for name in ours:
        if name not in RAW_NAMES:
            known = ", ".join((*RAW_NAMES, *CDEC_NAMES))
            raise CamberError(f"no rule feature is called {name!r}; known: {known}")
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
