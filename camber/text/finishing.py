"""A model's output back to raw text.

What a translation has of its source is written as in the source, and everything else by the habits of the target
language. Where two neighbours come from two neighbours, the source's white space stands between them.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from camber.text.case import Truecaser, recase, sentence_starts, upper
from camber.text.detokenise import TYPOGRAPHY, spelt
from camber.text.figures import as_written_in, percent_gap
from camber.text.places import places_in
from camber.text.prepared import Prepared
from camber.text.protect import CLASS_OF, CLOSE, NUMBER, OPEN
from camber.text.restore import Links, Restored, restore
from camber.text.retag import retag
from camber.text.scripts import is_unspaced
from camber.text.settings import TARGET, TextSettings
from camber.text.tokenise import Tokenizer, base_language, unescape

#: marks that languages have rules for; and such that mean the same in all of them
_QUOTES, _SYMBOLS = frozenset("'’‘‚\"“”„«»–—"), frozenset("\\*_~#&@/|<>=+^$`-")
_OPENS, _CLOSES = f"@{OPEN}@", f"@{CLOSE}@"


class Finished(NamedTuple):
    """A translation as raw text, and what had to be mended in it."""

    text: str
    repairs: list[str]
    places: list[tuple[int, int]]  # of every token in the text; (-1, -1): it was left out


class Finisher:
    """Make raw text of a model's output, given the source as it was prepared.

    >>> from camber.text.pipeline import TextPipeline
    >>> text = TextPipeline(TextSettings(target_lang="en"))
    >>> text.finisher.finished(["hi", "@var@", "!"], text.prepare("Salut {x} !"), None, 0).text
    'Hi {x}!'
    """

    def __init__(
        self, settings: TextSettings, tokenizer: Tokenizer, source_case: Truecaser | None, target_case: Truecaser | None
    ) -> None:
        self.settings, self.tokenizer = settings, tokenizer
        self.source_case, self.target_case = source_case, target_case
        self.protects = settings.protection and settings.tokenizer != "none"
        languages = [base_language(code) for code in (settings.source_lang, settings.target_lang)]
        # marks whose spaces are a habit of one language only
        habits = [TYPOGRAPHY.get(code, {}) for code in languages]
        self._respaced = frozenset().union(*habits) if languages[0] != languages[1] else frozenset()
        self._language = languages[1]

    def finished(self, tokens: Sequence[str], source: Prepared, links: Links | None, begun: int) -> Finished:
        """Return the raw text of a translation (see `TextPipeline.finished`)."""
        if not self.protects:
            cased = self._recased(tokens, source)
            text = self.tokenizer.detokenise(cased)
            return Finished(text, [], places_in(text, cased))
        restored = restore(tokens, source, links, begun)
        if restored.origins == list(range(len(source.tokens))):  # it came through untranslated
            written, gaps = list(source.written), list(source.gaps[:-1])
        else:
            written = self._written(restored, source)
            gaps = self._gaps(written, restored, source)
            if gaps:
                gaps[0] = source.gaps[0]
        if self.settings.number_format == TARGET:
            self._reformat(written, gaps, restored.origins, source)
        if source.tags:
            gaps.append(source.gaps[-1])
            text, places = retag(source.tags, written, gaps, restored.origins, restored.best)
        else:
            parts = [part for pair in zip(gaps, written, strict=True) for part in pair]
            text = "".join(parts) + source.gaps[-1]
            bounds = list(accumulate(map(len, parts)))
            places = list(zip(bounds[::2], bounds[1::2], strict=True))
        return Finished(text, restored.repairs, _as_given(places, restored.numbers, len(tokens)))

    def _written(self, restored: Restored, source: Prepared) -> list[str]:
        """Return the tokens of a translation as they are written; copies are, where they can be, as in the source."""
        recased = self._recased(restored.tokens, source)
        cased = [token if token.isalpha() else spelt(unescape(token)) for token in recased]
        for to, at in enumerate(restored.origins):
            token = cased[to]
            if (
                at >= 0
                and token != source.written[at]
                and (
                    at in source.protected
                    or source.shouted
                    or unescape(source.plain[at]) == token  # something invisible is in it, or an entity
                    or (token != unescape(restored.tokens[to]) and at in source.starts)  # a sentence begins, as there
                )
            ):
                cased[to] = source.written[at]
                continue
            if source.escapes and (at < 0 or token != source.written[at]):
                cased[to] = html.escape(token, quote=False)
        self._case_unknown(cased, restored, source)
        return cased

    def _case_unknown(self, cased: list[str], restored: Restored, source: Prepared) -> None:
        """Let a word that came through untranslated have the capital that it has for itself, not for its place.

        One that began the source sentence loses its capital inside the translation if unknown words are rather small;
        one that stood inside gets none where it begins the translation, unless the target language has such a word.
        """
        if self.source_case is None or self.target_case is None or source.shouted:
            return
        heads: set[int] | None = None
        for to, at in enumerate(restored.origins):
            if at < 0 or at in source.protected:
                continue
            token = restored.tokens[to]
            if not token[0].isalpha() or "&" in token or self.target_case.best(token) is not None:
                continue
            if heads is None:
                heads = set(sentence_starts(restored.tokens))
            if to in heads and at not in source.starts and token[0].islower():
                cased[to] = token
            elif to not in heads and at in source.starts:
                cased[to] = self.source_case.unseen(token)

    def _reformat(self, written: list[str], gaps: list[str], origins: list[int], source: Prepared) -> None:
        """Write the source's numbers as the target language does, and the space before a percent sign."""
        languages = self.settings.source_lang, self.settings.target_lang
        for to, at in enumerate(origins):
            if at in source.protected and CLASS_OF[source.tokens[at]] == NUMBER:
                written[to] = as_written_in(written[to], *languages)
                if to + 1 < len(written) and written[to + 1] == "%":
                    gaps[to + 1] = percent_gap(languages[1])

    def _recased(self, tokens: Sequence[str], source: Prepared) -> Sequence[str]:
        if self.settings.lowercase or self.settings.tokenizer == "none":
            return tokens
        if source.shouted:
            return [upper(token, self._language) for token in tokens]
        return recase(tokens, source.plain, self._language)

    def _gaps(self, tokens: list[str], restored: Restored, source: Prepared) -> list[str]:
        """Return the white space before every token: that of the source between copies of neighbours.

        And beside marks and protected text, if what stands there comes from what stood there in the source.
        """
        gaps = self.tokenizer.gaps([html.unescape(token) for token in tokens] if source.escapes else tokens)
        origins, links, respaced = restored.origins, set(restored.links), self._respaced
        for to, (before, at) in enumerate(pairwise(origins), 1):
            if before < 0 and at < 0:
                continue
            if 0 < at == before + 1 and tokens[to] not in respaced and tokens[to - 1] not in respaced:
                gaps[to] = source.gaps[at]  # copies of neighbours, quickly
            elif before >= 0 and source.plain[before] == _OPENS:
                gaps[to] = source.gaps[before + 1]
            elif at >= 0 and source.plain[at] == _CLOSES:
                gaps[to] = source.gaps[at]
            elif tokens[to] in respaced or tokens[to - 1] in respaced:
                continue
            elif at > 0 and _tells(source, at) and (source.gaps[at] or (at - 1, to - 1) in links):
                gaps[to] = _gap_beside(source, at, at - 1, gaps[to])
            elif (
                0 <= before < len(source.plain) - 1
                and _tells(source, before)
                and (source.gaps[before + 1] or (before + 1, to) in links)
            ):
                gaps[to] = _gap_beside(source, before, before + 1, gaps[to])
        return gaps


def _tells(source: Prepared, at: int) -> bool:
    """Say whether the white space beside a token is no matter of the language: it is a mark, or protected."""
    token = unescape(source.plain[at])
    return at in source.protected or (len(token) == 1 and not token.isalnum() and token not in _QUOTES)


def _gap_beside(source: Prepared, at: int, neighbour: int, usual: str) -> str:
    """Return the white space between a mark or something protected and what its neighbour became."""
    gap = source.gaps[max(at, neighbour)]
    if gap:  # what other marks have is a matter of the language
        return gap if unescape(source.plain[at]) in _SYMBOLS else usual
    beside = unescape(source.plain[neighbour])
    char = beside[-1] if neighbour < at else beside[0]
    return usual if char in _QUOTES or is_unspaced(char) else ""


def _as_given(places: list[tuple[int, int]], numbers: Sequence[int], count: int) -> list[tuple[int, int]]:
    """Return the places of tokens, given those of what they became when protected text was put back and left out."""
    if numbers == list(range(count)):  # nothing was
        return places
    given = [(-1, -1)] * count
    for place, number in zip(places, numbers, strict=True):
        if number >= 0:
            given[number] = place
    return given
