"""What is asked of the translation of a line, beyond that it is a translation: terms, and how it begins.

    Request(Glossary.of({"maison": "home"}), prefix="The home")

A glossary holds for all lines, a request for one. Both become constraints on the search of the line's sentences.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from camber.corpus.constraints import FREE, Ban, Constraints, Row, Term, folded, settle
from camber.decode.derivation import Derivation
from camber.decode.searcher import Searcher
from camber.decode.terms import TermFinder
from camber.errors import CamberError, InputError
from camber.files import decode_lines, is_unicode, read_bytes
from camber.formats.glossary.glossary import ALLOWED, FORBIDDEN, KEPT, Glossary
from camber.formats.glossary.glossary import Row as GlossaryRow
from camber.progress import log
from camber.text.pipeline import TextPipeline
from camber.text.prepared import Paragraph, Prepared
from camber.text.sentences import split_sentences


@dataclass(frozen=True)
class Request:
    """What is asked for one line: terms of its own, which come before those of any other glossary, and a beginning."""

    glossary: Glossary | None = None
    prefix: str = ""

    def __post_init__(self) -> None:
        if "\n" in self.prefix or "\r" in self.prefix:
            raise CamberError(f"a prefix with a line end inside: {self.prefix!r:.80}")
        if not is_unicode(self.prefix):
            raise CamberError(f"a prefix that is no Unicode text: {self.prefix!r:.80}")


class Asked(NamedTuple):
    """What is asked of one sentence."""

    constraints: Constraints = FREE
    notes: tuple[str, ...] = ()  # what cannot be had
    prefix: str = ""  # as it was written
    whole: bool = False  # the prefix is all there is to say


#: glossaries, tokenised: whoever translates text by text with one and the same does that once
_FINDERS: WeakKeyDictionary[TextPipeline, WeakKeyDictionary[Glossary, TermFinder]] = WeakKeyDictionary()


def finder_of(text: TextPipeline, glossary: Glossary) -> TermFinder:
    """Return what finds the terms of a glossary in sentences that a pipeline prepared."""
    finders = _FINDERS.setdefault(text, WeakKeyDictionary())
    if glossary not in finders:
        finders[glossary] = TermFinder(glossary, text)
    return finders[glossary]


class Asking:
    """Turns glossaries and requests into constraints on sentences."""

    def __init__(self, text: TextPipeline, decoder: Searcher, glossary: Glossary | None = None) -> None:
        """Tokenise a glossary, if there is one."""
        self.text, self.decoder = text, decoder
        self._finder: TermFinder | None = None
        if glossary is not None:
            self._finder = self._find(glossary)
            for name in self._finder.empty:
                log.warning("%s: a term without words", name)

    def _find(self, glossary: Glossary) -> TermFinder:
        if "terms" not in self.decoder.takes:
            raise CamberError("models of this kind take no glossary; train with --method phrase or hiero")
        return finder_of(self.text, glossary)

    def of(self, paragraph: Paragraph, request: Request) -> list[Asked]:
        """Return what is asked of each sentence of a line."""
        if request.prefix.strip() and "prefix" not in self.decoder.takes:
            raise CamberError("models of this kind cannot complete what was begun; train with --method phrase or hiero")
        finders = [self._find(request.glossary)] if request.glossary is not None else []
        finders += [self._finder] if self._finder is not None else []
        begun = self._begun(paragraph, request.prefix)
        asked = []
        for sentence, (prefix, whole) in zip(paragraph.sentences, begun, strict=True):
            terms: list[Term] = []
            bans: list[Ban] = []
            taken = [False] * len(sentence.tokens)
            for finder in finders:
                more, unwanted = finder.find(sentence, taken)
                terms, bans = terms + more, bans + unwanted
            words = self._words(prefix, sentence)
            opened = bool(words) and not prefix[-1:].isspace() and not whole
            constraints, notes = settle(sentence.tokens, terms, bans, words, open=opened)
            begins = prefix if whole or constraints.prefix or not words else ""  # one too long is left out
            asked.append(Asked(constraints, tuple(notes), begins, whole))
        return asked

    def _words(self, prefix: str, sentence: Prepared) -> Row:
        return tuple(self.text.target_tokens(prefix, sentence.line)) if prefix.strip() else ()

    def _begun(self, paragraph: Paragraph, prefix: str) -> list[tuple[str, bool]]:
        """Deal a prefix out to the sentences of a line: as many of its sentences as come before the last are whole."""
        count = len(paragraph.sentences)
        prefix = prefix.lstrip()
        places = split_sentences(prefix, self.text.settings.target_lang) if count > 1 else []
        done = min(len(places) - 1, count - 1) if places else 0
        pieces = [(prefix[a:b], True) for a, b in places[:done]]
        rest = prefix[places[done][0] :] if places else prefix
        return [*pieces, (rest, False), *[("", False)] * (count - done - 1)]

    def finish(self, text: str, asked: Asked, source: Prepared) -> str:
        """Return a finished text that begins with what was asked for, letter by letter."""
        if asked.whole:
            return asked.prefix
        prefix = asked.prefix.rstrip()
        if not prefix or text.startswith(prefix):
            return text
        # spaces and capitals may be others than the user's: what follows stays
        begin = self.text.finish(asked.constraints.prefix, source)
        if text.startswith(begin):
            return prefix + text[len(begin) :]
        if text[: len(prefix)].casefold() == prefix.casefold():
            return prefix + text[len(prefix) :]
        return text


def disobeyed(derivation: Derivation, constraints: Constraints) -> list[str]:
    """Return a note for each ban that a derivation does not keep: nothing else was there, or two rules met.

    And one for each term whose words went into what was begun, which comes before all that is asked.
    """
    notes = _used_up(derivation.words, constraints) if constraints.prefix else []
    parts = list(_lexical(derivation)) if constraints.bans else []
    of_word: dict[int, list[int]] = {}  # the parts that translate each source word
    for number, ((a, b), _, tails) in enumerate(parts):
        for at in range(a, b if not tails else a):
            of_word.setdefault(at, []).append(number)
    for ban in constraints.bans:
        words: list[str] = []
        for number in sorted({part for at in range(ban.begin, ban.end) for part in of_word.get(at, ())}):
            c, d = parts[number][1]
            words += [*derivation.words[c:d], "\0"]
        if ban.within(words):
            notes.append(f"{ban.name}: {' '.join(ban.target)} is forbidden, but nothing else was found")
    return notes


def _used_up(words: Sequence[str], constraints: Constraints) -> list[str]:
    """Return a note for each term of which no target is in a translation that was begun."""
    said, starts = folded(words), dict[str, list[int]]()
    for at, word in enumerate(said):
        starts.setdefault(word, []).append(at)
    notes = []
    for term in constraints.terms:
        targets = [folded(target) for target in term.targets]
        if not any(said[at : at + len(row)] == row for row in targets for at in starts.get(row[0], ())):
            notes.append(
                f"{term.name or ' '.join(term.targets[0])}: left out, since its words went into what was begun"
            )
    return notes


def _lexical(derivation: Derivation) -> Iterator[tuple[list[int], list[int], bool]]:
    """Yield the spans of a derivation's parts on both sides, and whether other parts are inside."""
    tails = getattr(derivation, "tails", None)
    inside = [False] * len(derivation.rules) if tails is None else (tails >= 0).any(axis=1).tolist()
    return zip(derivation.spans.tolist(), derivation.target_spans.tolist(), inside, strict=True)


def requests_for(prefix: str | Sequence[str] | None, requests: Iterable[Request] | None) -> Iterator[Request]:
    """Return a request for every line: the given ones, with the same prefix for all of them or one for each."""
    if requests is not None:
        if prefix is not None:
            raise CamberError("a prefix and requests: requests have prefixes of their own")
        return chain(requests, repeat(Request()))
    if prefix is None:
        return repeat(Request())
    if isinstance(prefix, str):
        return repeat(Request(prefix=prefix))
    return chain((Request(prefix=text) for text in prefix), repeat(Request()))


def read_requests(path: str | Path) -> list[Request]:
    """Read what is asked for, line by line: a JSON object each, with any of ``terms``, ``forbidden`` and ``prefix``.

    ``{"terms": {"maison": "home", "bleu": ["blue", "azure"], "Camber": null}, "prefix": "The home"}``
    """
    requests = []
    for number, line in enumerate(decode_lines(read_bytes(path), path), 1):
        try:
            content = json.loads(line) if line.strip() else {}
            requests.append(_request(content))
        except (ValueError, RecursionError, CamberError) as error:
            remedy = "give an object with terms, forbidden, prefix on each line"
            raise InputError(f"no request ({error})", path, number, remedy=remedy) from None
    return requests


def _request(content: Any) -> Request:
    """Return a request as JSON has it; ValueError for what is none."""
    if not isinstance(content, dict):
        raise ValueError(f"{content!r:.40} is not an object")
    if unknown := content.keys() - {"terms", "forbidden", "prefix"}:
        raise ValueError(f"{sorted(unknown)[0]!r:.40} is not known")
    prefix = content.get("prefix", "")
    if not isinstance(prefix, str):
        raise ValueError("the prefix is no text")
    rows = []
    for key, status in (("terms", ALLOWED), ("forbidden", FORBIDDEN)):
        terms = content.get(key, {})
        if not isinstance(terms, dict):
            raise ValueError(f"{key} is no object")
        for source, targets in terms.items():
            if targets is None and status == ALLOWED:
                rows.append(GlossaryRow(source, (), KEPT))
                continue
            texts = [targets] if isinstance(targets, str) else targets
            if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
                raise ValueError(f"{source!r:.40} shall become {targets!r:.40}: expected a text, or a list of texts")
            if not all(map(is_unicode, (source, *texts))):
                raise ValueError(f"{source!r:.40} shall become {targets!r:.40}, which is no Unicode text")
            rows.append(GlossaryRow(source, tuple(texts), status))
    return Request(Glossary.of_rows(rows) if rows else None, prefix)
