"""Merge n-best lists of the same sentences: what a decoder found over several iterations, without repeats.

    merged = merge(first, second)            # a hypothesis with the same features and text is kept once

The order is that of discovery: all of the first list's hypotheses of a sentence, then what the second adds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from camber.arrays.types import I8
from camber.errors import CamberError
from camber.nbest.nbest import NBest


def merge(first: NBest, second: NBest, scores: bool = False) -> NBest:
    """Return the union of two lists of the same sentences and features, each hypothesis once.

    Two hypotheses are the same if text and features (sums over their parts) are equal; the first is kept. Columns that
    only one of the lists has are dropped. So are the scores, which belong to the weights of an iteration, unless
    `scores` says that both lists have comparable ones.

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
    both = _concatenated(first, second, scores)
    owners = np.concatenate([first.sentences(), second.sentences()])
    return _taken(both, _first_of_each(both, owners), owners, len(first))


def without_repeats(nbest: NBest) -> NBest:
    """Return the list with every hypothesis (by text and features) once, the first of each."""
    owners = nbest.sentences()
    return _taken(nbest, _first_of_each(nbest, owners), owners, len(nbest))


def _concatenated(first: NBest, second: NBest, scores: bool) -> NBest:
    """Return a list of one sentence that has the hypotheses of both lists, one after the other."""

    def joined(one: Sequence[str] | None, other: Sequence[str] | None) -> list[str] | None:
        return None if one is None or other is None else [*one, *other]

    def stacked(one: npt.NDArray[np.generic] | None, other: npt.NDArray[np.generic] | None) -> npt.NDArray | None:
        return None if one is None or other is None else np.concatenate([one, other])

    places = [second.names.index(name) for name in first.names]
    total = first.hypotheses + second.hypotheses
    return NBest(
        first.names,
        np.array([0, total]),
        np.concatenate([first.part_offsets, first.parts + second.part_offsets[1:]]),
        np.concatenate([first.features, second.features[:, places]]),
        [*first.texts, *second.texts],
        stacked(first.scores, second.scores) if scores else None,
        stacked(first.source_spans, second.source_spans),
        stacked(first.target_spans, second.target_spans),
        joined(first.segmentations, second.segmentations),
        joined(first.alignments, second.alignments),
        {name: np.concatenate([first.extra[name], second.extra[name]]) for name in first.extra if name in second.extra},
    )


def _first_of_each(nbest: NBest, owners: I8) -> I8:
    """Return the hypotheses to keep, by sentence and in their order."""
    table = np.ascontiguousarray(nbest.hypothesis_features() + 0.0)  # -0.0 becomes 0.0: the same value, other bytes
    seen: set[tuple[int, bytes, str]] = set()
    kept = []
    for index, key in enumerate(zip(owners.tolist(), map(bytes, table), nbest.texts, strict=True)):
        if key not in seen:
            seen.add(key)
            kept.append(index)
    chosen = np.array(kept, np.int64)
    return chosen[np.argsort(owners[chosen], kind="stable")]


def _taken(nbest: NBest, chosen: I8, owners: I8, sentences: int) -> NBest:
    """Return the chosen hypotheses, which come by sentence."""
    counts = np.diff(nbest.part_offsets)[chosen]
    part_offsets = np.concatenate([[0], np.cumsum(counts)])
    parts = np.arange(part_offsets[-1]) + np.repeat(nbest.part_offsets[chosen] - part_offsets[:-1], counts)
    rows = chosen.tolist()
    return NBest(
        nbest.names,
        np.concatenate([[0], np.cumsum(np.bincount(owners[chosen], minlength=sentences))]),
        part_offsets,
        nbest.features[parts],
        [nbest.texts[row] for row in rows],
        None if nbest.scores is None else nbest.scores[chosen],
        None if nbest.source_spans is None else nbest.source_spans[parts],
        None if nbest.target_spans is None else nbest.target_spans[parts],
        None if nbest.segmentations is None else [nbest.segmentations[row] for row in rows],
        None if nbest.alignments is None else [nbest.alignments[row] for row in rows],
        {name: values[chosen] for name, values in nbest.extra.items()},
    )
