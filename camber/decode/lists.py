"""Derivations as an n-best list, in columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.decode.derivation import Decoder, Derivation
from camber.features.feature import CONTEXT, NUMBER, Feature
from camber.features.parts import Parts
from camber.nbest.nbest import NBest


def to_nbest(decoder: Decoder, decoded: Sequence[Sequence[Derivation]], texts: Sequence[str] | None = None) -> NBest:
    """Put the derivations of many sentences into one n-best list that keeps their parts and word alignments.

    `texts` are the finished texts of all derivations, where the decoder's words are not what a reader shall see: the
    words then become the list's tokens, which spans and alignments count.
    """
    flat = [item for best in decoded for item in best]
    words = [" ".join(item.words) for item in flat]
    features = [Feature(name, NUMBER, CONTEXT) for name in decoder.inputs]
    values = np.concatenate([item.features for item in flat] or [np.empty((0, len(features)))])
    rules = np.concatenate([item.rules for item in flat] or [np.empty(0, np.int64)])
    return NBest(
        offsets_from(map(len, decoded)),
        offsets_from(len(item.rules) for item in flat),
        Parts.of_dense(features, values, rules),
        words if texts is None else list(texts),
        np.array([item.score for item in flat]),
        source_spans=np.concatenate([item.spans for item in flat] or [np.empty((0, 2), np.int64)]),
        target_spans=np.concatenate([item.target_spans for item in flat] or [np.empty((0, 2), np.int64)]),
        alignments=[" ".join(f"{s}-{t}" for s, t in decoder.word_alignment(item)) for item in flat],
        tokens=None if texts is None else words,
    )
