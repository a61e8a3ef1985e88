"""Lines that are like something remembered: exact repeats, and what of a fuzzy match holds for a line.

A line that is remembered comes back as its translation. For one that is like a remembered one, the phrase decoder fills
the spans where they differ (`camber.memory.repair`); such a line is translated as a whole, as it is remembered.
Otherwise its sentences are looked for one by one. The tags of a line get into what is remembered as `recalling` says.

A pair of the training whose source the decoder itself would translate quite otherwise is a free translation, or wrong,
or aligned badly: it is no model for other lines, and nothing of it is kept.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import NamedTuple

from camber.corpus.constraints import FREE, Constraints
from camber.corpus.inputs import Input
from camber.decode.searcher import Searcher
from camber.engine import Threads
from camber.errors import CamberError
from camber.memory.match import Match
from camber.memory.repair import beside, filled, repair
from camber.metrics.chrf import ChrF
from camber.model.asking import Asked
from camber.model.recalling import of_line, of_sentence
from camber.text.pipeline import Pair, TextPipeline
from camber.text.prepared import Paragraph, Prepared
from camber.text.tags import TEXT

#: matches that are equally like a line
EQUALS = 8
#: chrF between a remembered translation and the decoder's own, from which others are made after it
LITERAL = 70.0
_ONE = Threads(1)


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
        self,
        text: TextPipeline,
        decoder: Searcher,
        find: Callable[[str, float, int, str], list[Match]],
        threshold: float,
        format: str = TEXT,
    ) -> None:
        """Look for matches of at least a threshold by ``find(line, threshold, best, format)``."""
        if "walls" not in decoder.takes and threshold < 1:
            raise CamberError(
                "models of this kind cannot repair matches; train with --method phrase, or ask for exact ones (fuzzy 1)"
            )
        self.text, self.threshold, self.format = text, threshold, format
        self._find = find
        self._decoder = decoder

    def of(self, paragraph: Paragraph, whole: Callable[[], Paragraph]) -> tuple[Paragraph, list[Kept]]:
        """Return a line as it shall be translated, and what is remembered for its sentences.

        `whole` prepares it as a single sentence. It is taken as one if it is remembered better than its sentences are.
        """
        line, sentences = paragraph.line.strip(), paragraph.sentences
        found = self._matches(line)
        if len(sentences) == 1 and not paragraph.marked:
            return paragraph, [self._of(found, sentences[0], line)]
        parts = [self._matches(sentence.line, TEXT) for sentence in sentences]
        if found and found[0].likeness >= _mean_likeness(parts, sentences):
            joined = whole()
            if len(joined.sentences) == 1:  # none but elements end sentences in it
                return joined, [self._of(found, joined.sentences[0], line)]
        return paragraph, [self._of(part, one) for part, one in zip(parts, sentences, strict=True)]

    def _matches(self, line: str, format: str = "") -> list[Match]:
        """Return the best matches, which are equally like the line; and the next that is aligned if none of them is."""
        matches = self._find(line, self.threshold, EQUALS, format or self.format) if line else []
        best = [match for match in matches if match.likeness == matches[0].likeness]
        return best if any(match.links for match in best) else best + [match for match in matches if match.links][:1]

    def _of(self, matches: list[Match], sentence: Prepared, line: str | None = None) -> Kept:
        """Return what holds of matches; nothing of one that was not aligned.

        `line` is the sentence as it is written; of one in a longer line, that is not known.
        """
        if not matches:
            return Kept()
        best = [match for match in matches if match.likeness == matches[0].likeness]
        if matches[0].likeness == 1.0:
            texts = [
                of_sentence(self.text, match, sentence)
                if line is None
                else of_line(self.text, match, line, self.format, (sentence,))
                for match in best
            ]
            if any(text is not None for text in texts):
                return Kept(best[0], texts=tuple(text for text in texts if text is not None))
        whole = [text for match in best if (text := self._with_protected(match, sentence)) is not None]
        if whole:
            return Kept(best[0], texts=tuple(whole))
        match = next((match for match in matches if match.links), best[0])
        pair = self.text.pair(match.source, match.target)
        if not match.links or any(s >= len(pair.source) or t >= len(pair.target) for s, t in match.links):
            return Kept()
        constraints = repair(sentence.tokens, pair.source, tuple(pair.target), match.links)
        if not constraints.terms or not (match.added or self._is_literal(pair)):
            return Kept()
        return Kept(match, constraints)

    def _is_literal(self, pair: Pair) -> bool:
        """Say whether the decoder would translate a remembered source much as it is remembered."""
        (best,) = next(iter(self._decoder.decode([Input(pair.source)], engine=_ONE)))
        chrf = ChrF()
        statistics = chrf.statistics([" ".join(best.words)], [[" ".join(pair.target)]])
        return bool(chrf.score(statistics.sum(0)) >= LITERAL)

    def _with_protected(self, match: Match, sentence: Prepared) -> str | None:
        """Return a match's translation with the protected text of a sentence that is the same but for that."""
        source = self.text.prepare(match.source)
        if not source.protected or source.plain != sentence.plain or "<" in match.source or sentence.tags:
            return None
        places = sorted(source.protected)
        now = sentence.protected
        if not sentence.escapes:
            return filled(match.target, [(source.protected[at], now[at]) for at in places])
        text = filled(match.target, [(source.protected[at], html.unescape(now[at])) for at in places])
        return None if text is None else html.escape(text, quote=False)


def _mean_likeness(found: Sequence[Sequence[Match]], sentences: Sequence[Prepared]) -> float:
    """Return how like the sentences of a line their best matches are, on average by words."""
    sizes = [len(sentence.tokens) for sentence in sentences]
    likeness = (matches[0].likeness if matches else 0.0 for matches in found)
    return sum(one * size for one, size in zip(likeness, sizes, strict=True)) / max(1, sum(sizes))


def with_kept(asked: Asked, kept: Kept) -> Asked:
    """Return what is asked of a sentence together with what is remembered for it."""
    if not kept.constraints:
        return asked
    constraints = beside(kept.constraints, asked.constraints)
    return asked._replace(constraints=constraints) if constraints else asked


def told(kept: list[Kept]) -> Match | None:
    """Return the match that a line was made of, if it is of one."""
    return kept[0].match if len(kept) == 1 else None
