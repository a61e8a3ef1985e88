"""Lists for re-ranking: hypotheses with all features, of which the base features are some.

There are far more indicators than other features, and a hypothesis has few of them: they are kept as sparse rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.sparse import Counts
from camber.engine import Threads
from camber.features.feature import INDICATOR
from camber.features.parts import Parts
from camber.metrics.bleu import BLEU
from camber.model.translator import Translator
from camber.pipeline.tune import dev_set
from camber.tune.boost import Boosted, PartsData
from camber.tune.data import TuningData
from camber.tune.growing import lists_of
from camber.tune.loop import FIXED

BLEU_OF_TOKENS, SBP = BLEU(tokenize="none"), BLEU(tokenize="none", strict=True)
#: sentences at a time: hypotheses with all features of all parts are large before equal rows become one
CHUNK = 50


def strict(statistics: np.ndarray) -> np.ndarray:
    """Return the statistics of BLEU-SBP, given those of BLEU."""
    rows = statistics.copy()
    rows[:, 0] = np.minimum(rows[:, 0], rows[:, 1])
    return rows


@dataclass(frozen=True, eq=False)
class Lists:
    """The lists of a set under both sets of features."""

    base: PartsData
    large: PartsData
    statistics: np.ndarray  # [hypotheses, columns] of BLEU

    def __str__(self) -> str:
        data = self.large.data
        return f"{len(data):,} sentences, {data.hypotheses:,} hypotheses, {len(self.large.parts):,} parts"

    def of(self, features: str, *, whole: bool = False) -> PartsData:
        """Return the lists under a set of features; `whole`: hypotheses are not taken apart."""
        if whole:
            return self._whole
        return self.base if features == "base" else self.large

    @cached_property
    def _whole(self) -> PartsData:
        return self.large.whole()

    def statistics_of(self, boosted: Boosted, features: str, *, whole: bool = False) -> np.ndarray:
        """Return the statistics of BLEU of what a model ranks first in every list."""
        lists = self.of(features, whole=whole)
        return self.statistics[lists.data.best_by(boosted.scores(lists))]

    def measure(self, boosted: Boosted, features: str, *, whole: bool = False) -> dict[str, float]:
        """Return both metrics of what a model ranks first."""
        rows = self.statistics_of(boosted, features, whole=whole)
        return {"sbp": float(SBP.score(strict(rows).sum(0))), "bleu": float(BLEU_OF_TOKENS.score(rows.sum(0)))}


def make_lists(
    model: Translator[Any], source: Sequence[str], target: Sequence[str], nbest: int, base: Sequence[str]
) -> Lists:
    """Translate a set into lists; `base` names the base features."""
    pieces = []
    for first in range(0, len(source), CHUNK):
        dev = dev_set(model, source[first : first + CHUNK], [target[first : first + CHUNK]], "bleu")
        pieces.append(_sparse(lists_of(model.decoder, dev, nbest, FIXED, Threads(1))))
    lists = _join(pieces)
    statistics = lists.data.statistics
    data = replace(lists.data, statistics=strict(statistics), metric=SBP)
    columns = [data.names.index(name) for name in base]
    few = replace(data, names=tuple(base), features=data.features[:, columns], fixed=data.fixed[columns], counts=None)
    return Lists(replace(lists, data=few), replace(lists, data=data), statistics)


def _sparse(lists: PartsData) -> PartsData:
    """Move the indicators behind the other features, into sparse rows."""
    data = lists.data
    sparse = {feature.name for feature in lists.parts.features if feature.kind == INDICATOR} - set(FIXED)
    order = sorted(range(len(data.names)), key=lambda column: data.names[column] in sparse)
    dense = [column for column in order if data.names[column] not in sparse]
    others = order[len(dense) :]
    moved = replace(
        data,
        names=tuple(data.names[column] for column in order),
        features=data.features[:, dense],
        fixed=data.fixed[order],
        counts=Counts.of_dense(data.features[:, others]),
    )
    return replace(lists, data=moved)


def _join(pieces: Sequence[PartsData]) -> PartsData:
    """Put lists behind each other."""
    every = [piece.data for piece in pieces]
    counts = Counts.join([data.counts for data in every if data.counts is not None], every[0].bins)
    data = TuningData(
        every[0].names,
        np.concatenate([data.features for data in every]),
        offsets_from(np.concatenate([np.diff(data.sentence_offsets) for data in every])),
        np.concatenate([data.statistics for data in every]),
        every[0].metric,
        every[0].fixed,
        counts=counts,
    )
    offsets = offsets_from(np.concatenate([np.diff(piece.part_offsets) for piece in pieces]))
    return PartsData(data, Parts.join([piece.parts for piece in pieces]), offsets)
