"""Lines that are like something remembered: exact repeats, and what of a fuzzy match holds for a line.

A line that is remembered comes back as its translation. For one that is like a remembered one, the phrase decoder fills
the spans where they differ (`camber.memory.repair`); such a line is translated as a whole, as it is remembered.
Otherwise its sentences are looked for one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from camber.corpus.constraints import FREE, Constraints
from camber.decode.searcher import Searcher
from camber.errors import CamberError
from camber.memory.match import Match
from camber.memory.repair import beside, filled, repair
from camber.model.asking import Asked
from camber.text.pipeline import TextPipeline
from camber.text.prepared import Paragraph, Prepared

#: matches that are equally like a line
EQUALS = 8


class Kept(NamedTuple):
    """What is remembered for a sentence."""

    match: Match | None = None
    constraints: Constraints = FREE
    #: whole translations, the best first: of the sentence itself, or with its numbers and placeholders
    texts: tuple[str, ...] = ()

    def recalled(self, decoded: str) -> str | None:
        """Return the whole translation: of several, that which the decoder found, too, whatever its white space."""
        same = "".join(decoded.split())
        return next((text for text in self.texts if "".join(text.split()) == same), next(iter(self.texts), None))


class Remembering:
    """Looks lines up in a memory."""

    def __init__(
        self, text: TextPipeline, decoder: Searcher, find: Callable[[str, float, int], list[Match]], threshold: float
    ) -> None:
        """Look for matches of at least a threshold by ``find(line, threshold, best)``."""
        if "walls" not in decoder.takes and threshold < 1:
            raise CamberError(
                "models of this kind cannot repair matches; train with --method phrase, or ask for exact ones (fuzzy 1)"
            )
        self.text, self.threshold = text, threshold
        self._find = find

    def of(self, paragraph: Paragraph, whole: Callable[[], Paragraph]) -> tuple[Paragraph, list[Kept]]:
        """Return a line as it shall be translated, and what is remembered for its sentences.

        `whole` prepares it as a single sentence.
        """
        if len(paragraph.sentences) > 1:
            found = self._matches(paragraph.line.strip())
            if found:
                joined = whole()
                if len(joined.sentences) == 1:
                    return joined, [self._of(found, joined.sentences[0])]
        kept = []
        for sentence in paragraph.sentences:
            line = paragraph.line.strip() if len(paragraph.sentences) == 1 else sentence.line
            kept.append(self._of(self._matches(line), sentence))
        return paragraph, kept

    def _matches(self, line: str) -> list[Match]:
        """Return the best matches, which are equally like the line."""
        matches = self._find(line, self.threshold, EQUALS) if line else []
        return [match for match in matches if match.likeness == matches[0].likeness]

    def _of(self, matches: list[Match], sentence: Prepared) -> Kept:
        """Return what holds of matches; nothing of one that was not aligned."""
        if not matches:
            return Kept()
        match = matches[0]
        if match.likeness == 1.0:
            return Kept(match, texts=tuple(other.target for other in matches))
        whole = [text for other in matches if (text := self._with_protected(other, sentence)) is not None]
        if whole:
            return Kept(match, texts=tuple(whole))
        pair = self.text.pair(match.source, match.target)
        if not match.links or any(s >= len(pair.source) or t >= len(pair.target) for s, t in match.links):
            return Kept()
        constraints = repair(sentence.tokens, pair.source, tuple(pair.target), match.links)
        return Kept(match, constraints) if constraints.terms else Kept()

    def _with_protected(self, match: Match, sentence: Prepared) -> str | None:
        """Return a match's translation with the protected text of a sentence that is the same but for that."""
        source = self.text.prepare(match.source)
        if not source.protected or source.plain != sentence.plain or "<" in match.source or sentence.tags:
            return None
        places = sorted(source.protected)
        return filled(match.target, [(source.protected[at], sentence.protected[at]) for at in places])


def with_kept(asked: Asked, kept: Kept) -> Asked:
    """Return what is asked of a sentence together with what is remembered for it."""
    if not kept.constraints:
        return asked
    constraints = beside(kept.constraints, asked.constraints)
    return asked._replace(constraints=constraints) if constraints else asked


def told(kept: list[Kept]) -> Match | None:
    """Return the match that a line was made of, if it is of one."""
    return kept[0].match if len(kept) == 1 else None
