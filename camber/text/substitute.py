"""Class tokens in place of protected text, for a line and for both sides of a pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from camber.text.protect import CLASS_OF, CLOSE, FIGURE, NUMBER, OPEN, THING, Span, inner_text
from camber.text.tokenise import Tokenizer


def span_texts(line: str, spans: Sequence[Span]) -> list[str]:
    """Return the protected spans of a line; of a pair around a title, both ends as one."""
    texts = [line[start:end] for start, end, _ in spans]
    for place, span in enumerate(spans):
        if span.kind == OPEN:
            closing = next(other for other in range(place, len(spans)) if spans[other].kind == CLOSE)
            texts[place] = texts[closing] = f"{texts[place]} {texts[closing]}"
    return texts


def shared_spans(line: str, spans: Sequence[Span], shared: Counter[str]) -> list[bool]:
    """Say which spans of a line are among those that both sides share, the first ones where one side has more."""
    left = Counter(shared)
    kept = []
    for text in span_texts(line, spans):
        kept.append(left[text] > 0)
        left[text] -= 1
    return kept


def substituted(
    line: str, spans: Sequence[Span], tokenizer: Tokenizer, kept: Sequence[bool] | None = None
) -> tuple[list[str], list[str]]:
    """Tokenise a line with class tokens for its spans (those that are `kept`); also with a mark for each span."""
    if not spans:
        tokens = tokenizer.tokenise(line)
        return tokens, tokens
    pieces, names, done = [], [], 0
    for place, span in enumerate(spans):
        pieces.append(line[done : span.start])
        if kept is None or kept[place]:
            pieces.append(f" {FIGURE if span.kind == NUMBER else THING} ")
            names.append(span.token)
        else:
            pieces.append(inner_text(line[span.start : span.end], span.kind))
        done = span.end
    marks = tokenizer.tokenise("".join([*pieces, line[done:]]))
    following = iter(names)
    return [next(following) if mark in (THING, FIGURE) else mark for mark in marks], marks


def class_links(
    tokens: tuple[list[str], list[str]],
    lines: tuple[str, str],
    spans: tuple[Sequence[Span], Sequence[Span]],
    kept: tuple[Sequence[bool], Sequence[bool]],
) -> list[tuple[int, int]]:
    """Link the class tokens of two sides that stand for the same text."""
    places: tuple[dict[tuple[str, str], list[int]], ...] = ({}, {})
    for side in (0, 1):
        positions = (at for at, token in enumerate(tokens[side]) if token in CLASS_OF)
        texts = span_texts(lines[side], spans[side])
        for span, text, keep in zip(spans[side], texts, kept[side], strict=True):
            if keep:
                places[side].setdefault((span.kind, text), []).append(next(positions))
    return sorted(
        link for key, positions in places[0].items() for link in zip(positions, places[1].get(key, ()), strict=False)
    )
