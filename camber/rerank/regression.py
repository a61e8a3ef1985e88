"""How well hypotheses fit what a regression predicts for their source sentences: features for lists of any engine.

    regression.lsr      least squares: 2 ⟨φ(y), W φ(x)⟩ - κ(y, y), wang2007 Eq. 8 with its sign turned
    regression.norm     κ(y, y) itself, so that a weight can be learnt for each of both terms
    regression.mmr      maximum margin instead: ⟨φ(y) - μ, W x̄⟩ / ‖φ(y) - μ‖, Eq. 9

The regression is that of a kernel model, or of a phrase model that has one as a feature. It must not know the sentences
of the list: for those that it was learnt from, it predicts the reference.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from camber.arrays.types import F8
from camber.engine import LOCAL, Engine
from camber.errors import CamberError
from camber.model.regression import ModelRegression
from camber.nbest import NBest
from camber.progress import each
from camber.regress.scorer import word_numbers
from camber.regress.scores import text_scores
from camber.regress.settings import LEAST_SQUARES

PREFIX = "regression."
#: sentences that a thread takes at a time
_PIECE = 25

#: a source line, and the texts of its hypotheses
_Group = tuple[str, Sequence[str]]


def regression_features(
    nbest: NBest, model: ModelRegression, sources: Sequence[str] | None, engine: Engine = LOCAL
) -> dict[str, F8]:
    """Return the features, name → float64[hypotheses]; `sources` has the source line of every sentence of the list."""
    if sources is None:
        raise CamberError("a regression predicts for source sentences, so these are needed; give them (--source)")
    if len(sources) != len(nbest):
        raise CamberError(f"{len(sources):,} sources for {len(nbest):,} sentences; expected one for each")
    bounds = zip(nbest.sentence_offsets[:-1].tolist(), nbest.sentence_offsets[1:].tolist(), strict=True)
    groups = [(line, nbest.texts[a:b]) for line, (a, b) in zip(sources, bounds, strict=True)]
    pieces = [groups[first : first + _PIECE] for first in range(0, len(groups), _PIECE)]
    both = [np.zeros((2, 0)), *each(engine.map(_scores, model, pieces), "score", len(pieces))]
    scores, norms = np.concatenate(both, axis=1)
    features = {PREFIX + model.kind: scores}
    return features | {PREFIX + "norm": norms} if model.kind == LEAST_SQUARES else features


def _scores(model: ModelRegression, groups: Sequence[_Group]) -> F8:
    """Return scores and norms of all hypotheses of some sentences, float64[2, hypotheses]."""
    both = [np.zeros((2, 0))]
    for line, texts in groups:
        if texts:
            sentence = word_numbers(model.text.prepare(line).tokens, model.source_words)
            hypotheses = [word_numbers(model.text.target_tokens(text), model.target_words) for text in texts]
            both.append(np.stack(text_scores(model.regression, sentence, hypotheses, scale=model.scale)))
    return np.concatenate(both, axis=1)
