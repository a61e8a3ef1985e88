"""A remembered translation as the format of a line has it: with the line's tags, and with entities where these are.

What is remembered is plain text, or has inline codes of its own. A line has tags, too, all of which must come back.
"""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Sequence

from camber.memory.codes import segment_in, with_codes
from camber.memory.match import Match
from camber.text.pipeline import TextPipeline
from camber.text.places import gaps_of
from camber.text.prepared import Prepared
from camber.text.retag import retag
from camber.text.tags import REMARKS, TEXT, XLIFF, find_tags


def of_line(text: TextPipeline, match: Match, line: str, format: str, sentences: Sequence[Prepared]) -> str | None:
    """Return the target of an exact match as the translation of a raw line; None if not all of its tags get into it.

    Tags take the places of the match's own inline codes if these correspond, or else go where the word alignment says.
    """
    if match.source == line:  # remembered as it is written
        markup = "<" in line or "&" in line
        if format == TEXT or (markup and _tags(line, format) == _tags(match.target, format)):
            return match.target
    asked = segment_in(line, format) if "<" in line else None
    if asked is not None and asked.codes:
        coded, notation = match.coded or (match.source, match.target), TEXT if match.coded is None else XLIFF
        source, target = (segment_in(side, notation) for side in coded)
        found = with_codes(asked, source, target, escapes=format != TEXT)
        if found is None and len(sentences) == 1 and len(sentences[0].tags) == len(asked.codes):
            found = _by_alignment(text, match, sentences[0])
        return found
    remarks = format == XLIFF and all(tag.name in REMARKS for tag in find_tags(line, format))
    if not remarks and any(sentence.tags for sentence in sentences):  # marks that are no tags elsewhere
        return _by_alignment(text, match, sentences[0]) if len(sentences) == 1 else None
    return match.target if format == TEXT else html.escape(match.target, quote=False)


def of_sentence(text: TextPipeline, match: Match, sentence: Prepared) -> str | None:
    """Return the target of an exact match as the translation of a sentence, of which the text alone is known."""
    if sentence.tags:
        return _by_alignment(text, match, sentence)
    return html.escape(match.target, quote=False) if sentence.escapes else match.target


def _tags(line: str, format: str) -> Counter[str]:
    return Counter(line[tag.start : tag.end] for tag in find_tags(line, format))


def _by_alignment(text: TextPipeline, match: Match, sentence: Prepared) -> str | None:
    """Return a match's target with the tags of a sentence where its links say; None if it was not aligned."""
    places = text.target_places(match.source, match.target)
    length = len(text.pair(match.source, match.target).source)
    if not match.links or places is None or length != len(sentence.tokens):
        return None
    best = [-1] * len(places)
    for at, to in reversed(match.links):
        if not (at < length and to < len(best)):
            return None
        best[to] = at
    tokens, gaps = [match.target[start:end] for start, end in places], list(gaps_of(match.target, places))
    if sentence.escapes:
        tokens, gaps = ([html.escape(piece, quote=False) for piece in row] for row in (tokens, gaps))
    return retag(sentence.tags, tokens, gaps, [-1] * len(best), best).text
