"""Grow the trees of a decoder: from the lists that it makes of the dev set, before weights are tuned (toutanova2013).

A part of the sentences is set aside: trees are added while these are translated better. Then all trees and the linear
features are tuned together, with the trees inside the search. The trees begin with the weight 0, and the others with
what they had: weights that were fitted to one list rank it well, but may lead a search far away from it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.types import I8
from camber.bend.settings import BendSettings
from camber.bend.weighing import Weighing
from camber.corpus import Sentences
from camber.decode.derivation import HypothesisColumns, parts_of
from camber.decode.searcher import LogLinear
from camber.engine import LOCAL, Engine
from camber.features.parts import Parts
from camber.progress import log
from camber.tune.boost import Boost, PartsData
from camber.tune.data import TuningData
from camber.tune.dev_set import DevSet

#: every so many sentences, one is set aside to say when to stop
ASIDE = 4
#: sentences at a time: all features of all parts are large, until equal rows have become one
CHUNK = 100


def grown_decoder(
    decoder: Any,
    dev: DevSet,
    settings: BendSettings,
    nbest: int,
    fixed: Collection[str] = (),
    *,
    seed: int = 1,
    engine: Engine = LOCAL,
) -> Any:
    """Return the decoder with trees that were grown from its own lists, which count nothing yet."""
    lists = lists_of(decoder, dev, nbest, fixed, engine)
    aside = np.arange(len(lists.data)) % ASIDE == ASIDE - 1
    boost = Boost.of(settings)
    boosted = boost.fit(
        lists.of_sentences(np.flatnonzero(~aside)),
        decoder.weights,
        select=lists.of_sentences(np.flatnonzero(aside)) if aside.any() else None,
        seed=seed,
        engine=engine,
    )
    first, last = boosted.rounds[0], boosted.rounds[len(boosted.forest)]
    told = ""
    if first.selection is not None and last.selection is not None:
        name = dev.metric.name.upper()
        told = f"; sentences set aside have {name} {last.selection:.2f}, without trees {first.selection:.2f}"
    log.info("trees: %d of at most %d%s", len(boosted.forest), settings.trees, told)
    bend = decoder.bend.with_forest(boosted.forest)
    weights = {**decoder.weighing.by_name(), **dict.fromkeys(boosted.forest.names, 0.0)}
    return decoder.weighed(Weighing(bend, weights))


def lists_of(decoder: LogLinear, dev: DevSet, nbest: int, fixed: Collection[str], engine: Engine = LOCAL) -> PartsData:
    """Decode a set into lists with parts; parts that are no rules, which trees do not touch, are left out."""
    pieces, tables, counts = [], [], []
    for first in range(0, len(dev.inputs), CHUNK):
        decoded = list(decoder.decode(dev.inputs[first : first + CHUNK], nbest, engine=engine))
        flat = [item for best in decoded for item in best]
        some, ends = parts_of(decoder.inputs, flat)
        design = decoder.weighing.design(some, ends)
        sizes = np.array([len(best) for best in decoded], np.int64)
        words = Sentences.encode([item.words for item in flat], dev.vocabulary)
        pieces.append(HypothesisColumns(sizes, design.dense, words, design.sparse))
        tables.append(some)
        counts.append(np.diff(ends))
    columns = HypothesisColumns.join(pieces, dev.vocabulary, decoder.weighing)
    parts, offsets = Parts.join(tables), offsets_from(np.concatenate(counts))
    data = TuningData(
        decoder.names,
        columns.features,
        offsets_from(columns.counts),
        dev.statistics(columns),
        dev.metric,
        np.array([name in fixed for name in decoder.names], bool),
        counts=columns.bins,
    )
    rules = parts.rules >= 0
    inside: I8 = offsets_from(rules)[offsets]
    return PartsData(data, parts.take(np.flatnonzero(rules)), inside)
