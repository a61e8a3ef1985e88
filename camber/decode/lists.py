"""Derivations as an n-best list, in columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from camber.decode.derivation import Decoder, Derivation
from camber.nbest.nbest import NBest


def to_nbest(decoder: Decoder, decoded: Sequence[Sequence[Derivation]], texts: Sequence[str] | None = None) -> NBest:
    """Put the derivations of many sentences into one n-best list that keeps their parts and word alignments.

    `texts` are the finished texts of all derivations, where the decoder's words are not what a reader shall see: the
    words then become the list's tokens, which spans and alignments count.
    """
    flat = [item for found in decoded for item in found]
    words = [" ".join(item.words) for item in flat]
    sentence_offsets = np.zeros(len(decoded) + 1, np.int64)
    np.cumsum([len(found) for found in decoded], out=sentence_offsets[1:])
    part_offsets = np.zeros(len(flat) + 1, np.int64)
    np.cumsum([len(item.rules) for item in flat], out=part_offsets[1:])
    features = np.concatenate([item.features for item in flat] or [np.empty((0, len(decoder.inputs)))])
    absent = np.isnan(features)
    return NBest(
        decoder.inputs,
        sentence_offsets,
        part_offsets,
        np.where(absent, 0.0, features),
        words if texts is None else list(texts),
        np.array([item.score for item in flat]),
        source_spans=np.concatenate([item.spans for item in flat] or [np.empty((0, 2), np.int64)]),
        target_spans=np.concatenate([item.target_spans for item in flat] or [np.empty((0, 2), np.int64)]),
        sparse=frozenset(decoder.inputs[column] for column in np.flatnonzero(absent.any(0)).tolist()),
        alignments=[" ".join(f"{s}-{t}" for s, t in decoder.word_alignment(item)) for item in flat],
        tokens=None if texts is None else words,
    )
