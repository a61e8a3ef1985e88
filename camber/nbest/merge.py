"""Merge n-best lists of the same sentences: what a decoder came upon over several iterations, without repeats.

    merged = merge(first, second)            # a hypothesis with the same features and text is kept once

The order is that of discovery: all of the first list's hypotheses of a sentence, then what the second adds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from camber.arrays.distinct import number_rows
from camber.arrays.types import I8
from camber.errors import CamberError
from camber.features.parts import Parts
from camber.nbest.nbest import NBest

Scalar = TypeVar("Scalar", bound=np.generic)


def first_of_each(owners: I8, *columns: npt.NDArray[np.generic]) -> I8:
    """Return the hypotheses to keep: of equal ones, the first; by sentence, and in their order.

    owners int64[hypotheses] are the sentences, columns [hypotheses] or [hypotheses, any] what makes hypotheses equal.

    >>> first_of_each(np.array([1, 0, 1, 1]), np.array([7.0, 7.0, 8.0, 7.0])).tolist()
    [1, 0, 2]
    """
    table = np.column_stack([owners, *columns]).astype(np.float64)
    table += 0.0  # -0.0 becomes 0.0: the same value, other bits
    firsts, _ = number_rows(table)
    return firsts[np.argsort(owners[firsts], kind="stable")]


def merge(first: NBest, second: NBest, *, scores: bool = False) -> NBest:
    """Return the union of two lists of the same sentences and features, each hypothesis once.

    Two hypotheses are the same if text and features (sums over their parts) are equal; the first is kept. Columns that
    only one of the lists has are dropped, except for sources and targets. So are the scores, which belong to the
    weights of an iteration, unless `scores` says that both lists have comparable ones.

    >>> a = NBest.of_hypotheses(("lm",), [0, 1], ["a b"], [[-1.0]])
    >>> b = NBest.of_hypotheses(("lm",), [0, 2], ["a b", "b a"], [[-1.0], [-2.0]])
    >>> merge(a, b).texts
    ['a b', 'b a']
    """
    if len(first) != len(second):
        raise CamberError(f"lists of {len(first):,} and {len(second):,} sentences cannot be merged; expected as many")
    if sorted(first.names) != sorted(second.names):
        odd = sorted(set(first.names) ^ set(second.names))
        raise CamberError(f"lists with different features cannot be merged; only one of them has {', '.join(odd)}")
    places = [second.names.index(name) for name in first.names]
    for one, place in zip(first.features, places, strict=True):
        if one != (other := second.features[place]):
            raise CamberError(f"lists with different features cannot be merged; one has {one}, the other {other}")
    both = _behind_each_other(first, replace(second, parts=second.parts.select(places)))
    owners = np.concatenate([first.sentences(), second.sentences()])
    return _without_repeats(both if scores else replace(both, scores=None), owners, len(first))


def without_repeats(nbest: NBest) -> NBest:
    """Return the list with every hypothesis (by text and features) once, the first of each."""
    return _without_repeats(nbest, nbest.sentences(), len(nbest))


def _without_repeats(nbest: NBest, owners: I8, sentences: int) -> NBest:
    """Return the first so many sentences with the first of equal hypotheses, whose sentences are `owners`."""
    numbers: dict[str, int] = {}
    texts = np.array([numbers.setdefault(text, len(numbers)) for text in nbest.texts], np.int64)
    kept = first_of_each(owners, texts, nbest.hypothesis_features())
    bounds = np.searchsorted(owners[kept], np.arange(1, sentences))
    return nbest.of_rows(np.split(kept, bounds) if sentences else [], range(sentences))


def _behind_each_other(first: NBest, second: NBest) -> NBest:
    """Return a list that has the sentences of both lists, one after the other."""

    def joined(one: Sequence[str] | None, other: Sequence[str] | None) -> list[str] | None:
        return None if one is None or other is None else [*one, *other]

    def stacked(one: npt.NDArray[Scalar] | None, other: npt.NDArray[Scalar] | None) -> npt.NDArray[Scalar] | None:
        return None if one is None or other is None else np.concatenate([one, other])

    sources, targets = (
        None if side is None else side * 2
        for side in (_agreed(first.sources, second.sources), _agreed(first.targets, second.targets))
    )
    return NBest(
        np.concatenate([first.sentence_offsets, first.hypotheses + second.sentence_offsets[1:]]),
        np.concatenate([first.part_offsets, len(first.parts) + second.part_offsets[1:]]),
        Parts.join([first.parts, second.parts]),
        [*first.texts, *second.texts],
        stacked(first.scores, second.scores),
        stacked(first.source_spans, second.source_spans),
        stacked(first.target_spans, second.target_spans),
        joined(first.segmentations, second.segmentations),
        joined(first.alignments, second.alignments),
        {name: np.concatenate([first.extra[name], second.extra[name]]) for name in first.extra if name in second.extra},
        joined(first.tokens, second.tokens),
        sources,
        targets,
    )


def _agreed(one: list[str] | None, other: list[str] | None) -> list[str] | None:
    """Return the lines that either list has; where both have one, it must be the same.

    >>> _agreed(["a", ""], ["a", "b"])
    ['a', 'b']
    """
    if one is None or other is None:
        return other if one is None else one
    for sentence, (a, b) in enumerate(zip(one, other, strict=True)):
        if a and b and a != b:
            raise CamberError(f"lists of different text cannot be merged; sentence {sentence} is {a!r} and {b!r}")
    return [a or b for a, b in zip(one, other, strict=True)]
