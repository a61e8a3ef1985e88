"""Derivations as an n-best list, in columns; and lists as what the weights of a bend multiply."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.bend.bend import Bend
from camber.decode.derivation import Derivation, parts_of
from camber.decode.searcher import Featured
from camber.nbest.nbest import NBest


def to_nbest(
    decoder: Featured,
    decoded: Sequence[Sequence[Derivation]],
    texts: Sequence[str] | None = None,
    links: Sequence[Sequence[tuple[int, int]]] | None = None,
) -> NBest:
    """Put the derivations of many sentences into one n-best list that keeps their parts, raw, and word alignments.

    `texts` are the finished texts of all derivations, where the decoder's words are not what a reader shall see: the
    words then become the list's tokens, which spans and alignments count. `links` are the word alignments, where those
    that the decoder finds in a derivation are not known to be all.
    """
    flat = [item for best in decoded for item in best]
    words = [" ".join(item.words) for item in flat]
    parts, part_offsets = parts_of(decoder.inputs, flat)
    links = [decoder.word_alignment(item) for item in flat] if links is None else links
    return NBest(
        offsets_from(map(len, decoded)),
        part_offsets,
        parts,
        words if texts is None else list(texts),
        np.array([item.score for item in flat]),
        source_spans=np.concatenate([item.spans for item in flat] or [np.empty((0, 2), np.int64)]),
        target_spans=np.concatenate([item.target_spans for item in flat] or [np.empty((0, 2), np.int64)]),
        alignments=[" ".join(f"{s}-{t}" for s, t in pairs) for pairs in links],
        tokens=None if texts is None else words,
    )


def as_weighed(nbest: NBest, bend: Bend) -> NBest:
    """Return a list, one part per hypothesis, whose features are what the weights of a bend multiply.

    That is what other tools can make use of. Sparse features, such as bins, are absent where a hypothesis has none.
    """
    dense, sparse = bend.design(nbest.parts, nbest.part_offsets)
    names = list(bend.names[: dense.shape[1]])
    if sparse is not None:
        used = np.unique(sparse.columns)
        names += [bend.names[dense.shape[1] + column] for column in used.tolist()]
        hits = np.full((len(sparse), len(used)), np.nan)
        rows = np.repeat(np.arange(len(sparse)), np.diff(sparse.offsets))
        hits[rows, np.searchsorted(used, sparse.columns)] = sparse.values
        dense = np.hstack([dense, hits])
    return NBest.of_hypotheses(
        names,
        nbest.sentence_offsets,
        nbest.texts,
        dense,
        nbest.scores,
        segmentations=[nbest.segmentation(row) for row in range(nbest.hypotheses)],
        alignments=nbest.alignments,
        extra=nbest.extra,
        tokens=nbest.tokens,
        sources=nbest.sources,
        targets=nbest.targets,
    )
