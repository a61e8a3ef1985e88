"""A re-ranked list as lines: the best texts, or JSON Lines with rank and score."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from camber.errors import CamberError
from camber.nbest import NBest


def best_lines(ranked: NBest, path: str | Path) -> list[str]:
    """Return the best text of every sentence, empty where there is none; `path` is told where one has a line end."""
    best = ranked.best_texts()
    for sentence, text in enumerate(best, ranked.first):
        if "\n" in text or "\r" in text:
            raise CamberError(f"{path}: the best text of sentence {sentence} has a line end: {text!r}; write jsonl")
    return best


def json_lines(ranked: NBest, *, everything: bool = False) -> Iterator[str]:
    """Yield an object for the best hypothesis of every sentence that has any, or for all hypotheses, best first.

    >>> ranked = NBest.of_hypotheses((), [0, 0, 2], ["a", "b"], [[], []], [0.5, -1.0])
    >>> list(json_lines(ranked))
    ['{"sentence": 1, "rank": 0, "text": "a", "score": 0.5}']
    """
    starts = ranked.sentence_offsets.tolist()
    scores = None if ranked.scores is None else ranked.scores.tolist()
    for row, sentence in enumerate(ranked.sentences().tolist()):
        rank = row - starts[sentence]
        if rank == 0 or everything:
            item = {"sentence": ranked.first + sentence, "rank": rank, "text": ranked.texts[row]}
            yield json.dumps(item if scores is None else item | {"score": scores[row]}, ensure_ascii=False)
