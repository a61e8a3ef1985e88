"""What features phrase pairs may have: their names, kinds, and the sets that `--rule-features` chooses from.

Most names are one feature. A *group* stands for indicators that depend on the text, such as ``inserts:the``; which they
are is known when the model is trained (:mod:`camber.rules.phrase.large`).
"""

from __future__ import annotations

from collections.abc import Sequence

from camber.errors import SettingsError
from camber.features.feature import COUNT, PROBABILITY, RULE, Feature

#: The columns of `RuleStore.scores`, in Moses' order.
SCORE_NAMES = ("p_s_given_t", "lex_s_given_t", "p_t_given_s", "lex_t_given_s")

#: How often the source side, the target side and the pair were seen.
COUNT_NAMES = ("count_s", "count_t", "count_st")

#: How many words either side has.
WORD_NAMES = ("source_words", "target_words")

#: What every rule store knows about its rules.
STORE_NAMES = (*SCORE_NAMES, *COUNT_NAMES, *WORD_NAMES)

#: Lexical weights by the pieces of words.
SUBWORD_NAMES = ("lex_s_given_t_subwords", "lex_t_given_s_subwords")

#: What is learnt from the training text beside the phrase pairs, and what it is, in the order of the indicators.
GROUPS = {
    "inserts": "a target word has no link: one of the most frequent words",
    "deletes": "a source word has no link: one of the most frequent words",
    "inserts_like": "a target word has no link: a word of one of the clusters",
    "deletes_like": "a source word has no link: a word of one of the clusters",
    "signatures": "the clusters of all words: one of the most frequent pairs of sequences",
}

#: Words that stand for several names.
SETS = {"base": SCORE_NAMES, "large": (*STORE_NAMES, *SUBWORD_NAMES, *GROUPS)}

#: Everything that can be chosen.
RULE_FEATURES = SETS["large"]


def chosen_features(text: str) -> tuple[str, ...]:
    """Return the features and groups that a list names, groups at the end; an unknown or repeated name is an error.

    >>> chosen_features("inserts, base, count_st")
    ('p_s_given_t', 'lex_s_given_t', 'p_t_given_s', 'lex_t_given_s', 'count_st', 'inserts')
    """
    named = [name.strip() for name in text.split(",") if name.strip()]
    for name in named or ["nothing"]:
        if name not in RULE_FEATURES and name not in SETS:
            known = ", ".join((*SETS, *RULE_FEATURES))
            raise SettingsError(f"{name!r} is no feature of phrase pairs; known: {known}")
    if len(set(named)) < len(named):
        raise SettingsError(f"a feature is named twice in {text!r}")
    single = dict.fromkeys(one for name in named for one in SETS.get(name, (name,)))  # two sets may share some
    return (*(name for name in single if name not in GROUPS), *(name for name in GROUPS if name in single))


def feature_of(name: str) -> Feature:
    """Return a feature of phrase pairs by its name, which is not that of a group."""
    if name not in RULE_FEATURES or name in GROUPS:
        known = ", ".join(name for name in RULE_FEATURES if name not in GROUPS)
        raise SettingsError(f"no rule feature is called {name!r}; known: {known}")
    return Feature(name, COUNT if name in (*COUNT_NAMES, *WORD_NAMES) else PROBABILITY, RULE)


def beyond_store(names: Sequence[str]) -> list[str]:
    """Return those of the names that need what training learns for them alone."""
    return [name for name in names if name not in STORE_NAMES]
