"""Files beside a list: texts with a line for every sentence, and scores with a number for every hypothesis.

    references = lines_beside(nbest, read_lines("dev.en"), "dev.en")
    nbest = nbest.with_feature("logprob", scores_beside(nbest, "logprob", "dev.logprob"))

A list may be that of a part of a text (:meth:`camber.nbest.nbest.NBest.covered`); texts beside it are those of the same
part or of the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from camber.arrays.types import F8
from camber.errors import InputError
from camber.files import read_lines
from camber.nbest.nbest import NBest
from camber.numbers import number
from camber.progress import log


def lines_beside(nbest: NBest, lines: Sequence[str], path: str | Path) -> list[str]:
    """Return the lines of the list's sentences, out of those of the same part of a text or of the whole.

    `path` is where they come from, for messages.

    >>> part = NBest.of_hypotheses((), [0, 1, 2], ["a", "b"], [[], []], first=1)
    >>> lines_beside(part, ["x", "y"], "part"), lines_beside(part, ["w", "x", "y"], "whole")
    (['x', 'y'], ['x', 'y'])
    """
    end = nbest.first + len(nbest)
    if len(lines) < end and len(lines) != len(nbest):
        raise InputError(
            f"{len(lines):,} lines, but the list has the sentences {nbest.span} (from 0)",
            path,
            min(len(lines), end) + 1,
            remedy="give a line for each of these sentences, or for every sentence of the whole text",
        )
    if len(lines) < end:
        log.info("%s: its first line is taken for sentence %s, with which the list begins", path, f"{nbest.first:,}")
        return list(lines)
    if len(lines) > len(nbest):
        log.warning(
            "%s: of its %s lines, those of the sentences %s (from 0) are used, which the list has",
            path, f"{len(lines):,}", nbest.span,
        )  # fmt: skip
    return list(lines[nbest.first : end])


def scores_beside(nbest: NBest, name: str, path: str | Path) -> F8:
    """Read the scores `name`, a number per line and hypothesis, float64[hypotheses]; an error names its line.

    The order is that of the list's file, whatever the order of sentences there.
    """
    lines = read_lines(path)
    if len(lines) != nbest.hypotheses:
        raise InputError(
            f"{len(lines):,} scores {name} for {nbest.hypotheses:,} hypotheses",
            path,
            min(len(lines), nbest.hypotheses) + 1,
            remedy="give a number for every hypothesis of the list, in its order, one per line",
        )
    scores = np.array([number(line, name, path, place) for place, line in enumerate(lines, 1)])
    return scores if nbest.places is None else scores[nbest.places]
