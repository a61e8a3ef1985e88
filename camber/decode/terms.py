"""Terms of a glossary in a sentence: which words they are, and what these shall become.

Entries are compared with the tokens of a sentence as they are written, without case. Of those that overlap, longer ones
win, then those further left. Targets take over the case of the source where it differs from the glossary's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from camber.corpus.constraints import Ban, Row, Term, folded
from camber.formats.glossary.glossary import Glossary
from camber.text.pipeline import TextPipeline
from camber.text.prepared import Prepared


class _Known(NamedTuple):
    """An entry as tokens."""

    name: str
    source: Row
    targets: tuple[Row, ...]
    forbidden: tuple[Row, ...]
    kept: bool


class TermFinder:
    """Finds the terms of a glossary in sentences that a text pipeline prepared."""

    def __init__(self, glossary: Glossary, text: TextPipeline) -> None:
        """Tokenise the entries as the model's own text is."""
        source, target = text.source_tokenizer.tokenise, text.target_tokenizer.tokenise
        self._lower = text.settings.lowercase
        self._known: dict[str, list[_Known]] = {}
        #: entries that no text can have
        self.empty: list[str] = []
        for entry in glossary.entries:
            tokens = tuple(source(entry.source))
            targets, forbidden = (
                tuple(self._row(target(text)) for text in row) for row in (entry.targets, entry.forbidden)
            )
            wanted = " or ".join(filter(None, entry.targets))
            name = f"{entry.source} → {wanted}" if wanted else entry.source
            if not tokens:
                self.empty.append(name)
                continue
            known = _Known(name, tokens, targets, tuple(filter(None, forbidden)), entry.kept)
            self._known.setdefault(tokens[0].casefold(), []).append(known)

    def _row(self, tokens: Iterable[str]) -> Row:
        return tuple(token.lower() if self._lower else token for token in tokens)

    def find(self, sentence: Prepared, taken: list[bool] | None = None) -> tuple[list[Term], list[Ban]]:
        """Return the terms and bans of a sentence; `taken` words are left out, and more of them are taken.

        What an entry asks for is not checked here: see :func:`camber.corpus.constraints.settle`.
        """
        protected, taken = sentence.protected, [False] * len(sentence.tokens) if taken is None else taken
        forms = [protected.get(at, token) for at, token in enumerate(sentence.plain)]
        matches = sorted(self._matches(folded(forms)), key=lambda match: (-len(match[1].source), match[0]))
        terms, bans = [], []
        for begin, known in matches:
            end = begin + len(known.source)
            if any(taken[begin:end]):
                continue
            taken[begin:end] = [True] * (end - begin)
            bans += [Ban(begin, end, row, known.name) for row in known.forbidden]
            if not known.targets and not known.kept and known.forbidden:
                continue  # nothing but bans
            targets = [
                _with_protected(row, sentence, begin, end) for row in self._targets(known, sentence, begin, forms)
            ]
            if known.kept:
                targets.insert(0, _kept(sentence, begin, end) if not self._lower else sentence.tokens[begin:end])
            terms.append(Term(begin, end, tuple(dict.fromkeys(targets)), known.name))
        return terms, bans

    def _matches(self, low: Row) -> Iterator[tuple[int, _Known]]:
        """Yield all places where an entry's tokens stand."""
        for begin, first in enumerate(low):
            for known in self._known.get(first, ()):
                if low[begin : begin + len(known.source)] == folded(known.source):
                    yield begin, known

    def _targets(self, known: _Known, sentence: Prepared, begin: int, forms: Sequence[str]) -> list[Row]:
        """Return the targets of an entry, in the case of the words that it was found for."""
        if self._lower:
            return list(known.targets)
        said = list(forms[begin : begin + len(known.source)])
        if not any(any(map(str.isalnum, form)) for form in forms[:begin]):  # how a sentence begins says little
            said[0] = sentence.tokens[begin] if sentence.tokens[begin].casefold() == said[0].casefold() else said[0]
        return [copied_case(row, known.source, said) for row in known.targets]


def _kept(sentence: Prepared, begin: int, end: int) -> Row:
    """Return the words of a sentence as they are written; what is protected keeps its token."""
    return tuple(sentence.tokens[at] if at in sentence.protected else sentence.plain[at] for at in range(begin, end))


def _with_protected(row: Row, sentence: Prepared, begin: int, end: int) -> Row:
    """Put the tokens of what is protected in the source in place of its text in a target."""
    places = {sentence.protected[at]: sentence.tokens[at] for at in range(begin, end) if at in sentence.protected}
    return tuple(places.get(word, word) for word in row)


def copied_case(target: Row, entry: Sequence[str], said: Sequence[str]) -> Row:
    """Return a target in the case of what was said, where that differs from the entry of the glossary.

    >>> copied_case(("home", "page"), ["accueil"], ["Accueil"]), copied_case(("home",), ["accueil"], ["ACCUEIL"])
    (('Home', 'page'), ('HOME',))
    >>> copied_case(("Contract",), ["Contrat"], ["contrat"]), copied_case(("eBay",), ["eBay"], ["eBay"])
    (('contract',), ('eBay',))
    """
    was, now = " ".join(entry), " ".join(said)
    if was == now or not target or not target[0]:
        return target
    first, rest = target[0], target[1:]
    if now.isupper() and not was.isupper() and sum(map(str.isalpha, now)) > 1:
        return tuple(word.upper() for word in target)
    if now[0].isupper() and was[0].islower():
        return (first[0].upper() + first[1:], *rest)
    if now[0].islower() and was[0].isupper() and not was.isupper() and not first.isupper():
        return (first[0].lower() + first[1:], *rest)
    return target
