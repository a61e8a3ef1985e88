"""Brackets and quotation marks of a translation: as many as in the source, in pairs, and in order.

A model translates them like words, and may drop one or double it. Where the source's brackets are in pairs, those of
the translation are made so: what is too much is left out, what is missing is put back, and where they do not nest they
come in the source's order. Of quotation marks, which languages write differently, the number is made even again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from camber.text.tokenise import escape, unescape

_CLOSING = {")": "(", "]": "[", "}": "{"}
_QUOTES = frozenset(['"', "&quot;", *"«»“”„"])
_KINDS = frozenset([*_CLOSING, *_CLOSING.values()])

#: tokens that are brackets, wide, small, raised, lowered and lying ones, too → the plain bracket
_BRACKETS = {
    token: kind
    for kind, tokens in {
        "(": "(\u207d\u208d\ufe35\ufe59\uff08",
        ")": ")\u207e\u208e\ufe36\ufe5a\uff09",
        "[": "[\ufe47\uff3b",
        "]": "]\ufe48\uff3d",
        "{": "{\ufe37\ufe5b\uff5b",
        "}": "}\ufe38\ufe5c\uff5d",
    }.items()
    for char in tokens
    for token in (char, escape(char))
}

_MARKS = frozenset(_BRACKETS) | _QUOTES

#: puts the source token at a position back into a translation
PutBack = Callable[[int], None]


def bracket(token: str) -> str:
    """Return the bracket that a token is, however wide; nothing if it is none.

    >>> bracket("&#91;"), bracket("\\uff08"), bracket("a)")
    ('[', '(', '')
    """
    return _BRACKETS.get(token, "")


def has_marks(tokens: Sequence[str]) -> bool:
    """Say whether a bracket or a quotation mark is among tokens."""
    return not _MARKS.isdisjoint(tokens)


def nests(brackets: Sequence[str]) -> bool:
    """Say whether brackets are in pairs, one inside or beside the other.

    >>> nests("([])()"), nests("([)]"), nests("(")
    (True, False, False)
    """
    opened: list[str] = []
    for one in brackets:
        if one not in _CLOSING:
            opened.append(one)
        elif not opened or opened.pop() != _CLOSING[one]:
            return False
    return not opened


def mend_brackets(
    tokens: list[str], origins: list[int], source: Sequence[str], put_back: PutBack, leave_out: PutBack
) -> None:
    """Mend the brackets of a translation in place; `origins` has the source token that each is a copy of.

    `put_back` and `leave_out` change tokens and origins: by a position of the source, by one of the translation.
    """
    wanted = [(at, kind) for at, token in enumerate(source) if (kind := _BRACKETS.get(token))]
    there = [kind for token in tokens if (kind := _BRACKETS.get(token))]
    if not nests([kind for _, kind in wanted]):  # a smile, a list: nobody knows what belongs together
        return
    if nests(there) and (not wanted or Counter(there) == Counter(kind for _, kind in wanted)):
        return
    for kind in sorted(_KINDS):
        own = [at for at, one in wanted if one == kind]
        have = [to for to, token in enumerate(tokens) if bracket(token) == kind]
        surplus = sorted(have, key=lambda to: (origins[to] >= 0, -to))[: max(0, len(have) - len(own))]
        for to in sorted(surplus, reverse=True):
            leave_out(to)
        missing = [at for at in own if at not in origins]
        for at in missing[: max(0, len(own) - len(have))]:
            put_back(at)
    slots = [to for to, token in enumerate(tokens) if bracket(token)]
    if not nests([bracket(tokens[to]) for to in slots]):
        for to, (at, _) in zip(slots, wanted, strict=True):
            tokens[to], origins[to] = source[at], at


def mend_quotes(
    tokens: list[str], origins: list[int], source: Sequence[str], put_back: PutBack, leave_out: PutBack
) -> None:
    """Let a translation have an even number of quotation marks where its source does; arguments as above."""
    own = [at for at, token in enumerate(source) if token in _QUOTES]
    have = [to for to, token in enumerate(tokens) if token in _QUOTES]
    if len(own) % 2 or len(have) % 2 == 0:
        return
    if len(have) > len(own):
        leave_out(min(have, key=lambda to: (origins[to] >= 0, -to)))
        return
    form = tokens[have[0]]
    at = next(at for at in own if at not in origins)
    put_back(at)
    if unescape(form) == '"':
        to = origins.index(at)
        tokens[to], origins[to] = form, -1
