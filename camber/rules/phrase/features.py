"""What features phrase pairs may have: their names, kinds, and the sets that `--rule-features` chooses from.

Some of them hierarchical rules can have, too (:mod:`camber.rules.features`).
"""

from __future__ import annotations

from camber.errors import SettingsError
from camber.features.feature import COUNT, PROBABILITY, RULE, Feature
from camber.rules.features import GROUPS, SUBWORD_NAMES, WORD_NAMES, in_order, split_names

#: The columns of `RuleStore.scores`, in Moses' order.
SCORE_NAMES = ("p_s_given_t", "lex_s_given_t", "p_t_given_s", "lex_t_given_s")

#: How often the source side, the target side and the pair were seen.
COUNT_NAMES = ("count_s", "count_t", "count_st")

#: What every rule store knows about its rules.
STORE_NAMES = (*SCORE_NAMES, *COUNT_NAMES, *WORD_NAMES)

#: Words that stand for several names.
SETS = {"base": SCORE_NAMES, "large": (*STORE_NAMES, *SUBWORD_NAMES, *GROUPS)}

#: Everything that can be chosen.
RULE_FEATURES = SETS["large"]


def chosen_features(text: str) -> tuple[str, ...]:
    """Return the features and groups that a list names, groups at the end; an unknown or repeated name is an error.

    >>> chosen_features("inserts, base, count_st")
    ('p_s_given_t', 'lex_s_given_t', 'p_t_given_s', 'lex_t_given_s', 'count_st', 'inserts')
    """
    named = split_names(text)
    for name in named or ["nothing"]:
        if name not in RULE_FEATURES and name not in SETS:
            known = ", ".join((*SETS, *RULE_FEATURES))
            raise SettingsError(f"{name!r} is no feature of phrase pairs; known: {known}")
    return in_order(named, SETS)


def feature_of(name: str) -> Feature:
    """Return a feature of phrase pairs by its name, which is not that of a group."""
    if name not in RULE_FEATURES or name in GROUPS:
        known = ", ".join(name for name in RULE_FEATURES if name not in GROUPS)
        raise SettingsError(f"no rule feature is called {name!r}; known: {known}")
    return Feature(name, COUNT if name in (*COUNT_NAMES, *WORD_NAMES) else PROBABILITY, RULE)
