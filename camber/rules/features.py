"""What phrase pairs and hierarchical rules may both have as features: the same names mean the same.

Most names are one feature. A *group* stands for indicators that depend on the text, such as ``inserts:the``; which they
are is known when the model is trained (:mod:`camber.rules.inventory`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from camber.errors import SettingsError

#: How many words either side has.
WORD_NAMES = ("source_words", "target_words")

#: Lexical weights by the pieces of words.
SUBWORD_NAMES = ("lex_s_given_t_subwords", "lex_t_given_s_subwords")

#: What is learnt from the training text beside the rules, and what it is, in the order of the indicators.
GROUPS = {
    "inserts": "a target word has no link: one of the most frequent words",
    "deletes": "a source word has no link: one of the most frequent words",
    "inserts_like": "a target word has no link: a word of one of the clusters",
    "deletes_like": "a source word has no link: a word of one of the clusters",
    "signatures": "the clusters of all words: one of the most frequent pairs of sequences",
}

#: What only an inventory can tell.
LEARNT_NAMES = (*SUBWORD_NAMES, *GROUPS)


def split_names(text: str) -> list[str]:
    """Return the names of a list with commas; one that is named twice is an error.

    >>> split_names("inserts, base,")
    ['inserts', 'base']
    """
    named = [name.strip() for name in text.split(",") if name.strip()]
    if len(set(named)) < len(named):
        raise SettingsError(f"a feature is named twice in {text!r}")
    return named


def in_order(names: Sequence[str], sets: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return what names stand for, some of which are those of sets; groups come at the end, in their order.

    >>> in_order(["inserts", "few", "p"], {"few": ("p", "q")})
    ('p', 'q', 'inserts')
    """
    single = dict.fromkeys(one for name in names for one in sets.get(name, (name,)))  # two sets may share some
    return (*(name for name in single if name not in GROUPS), *(name for name in GROUPS if name in single))


def learnt(names: Sequence[str]) -> list[str]:
    """Return those of the names that need what training learns for them alone."""
    return [name for name in names if name in LEARNT_NAMES]
