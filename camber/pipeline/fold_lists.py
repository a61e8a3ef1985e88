"""The merged list over a corpus: every sentence translated by a model that was trained without its fold.

    lists = fold_lists("train.de", "train.en", "lists.work")
    data = lists.data()                     # columns of features and statistics, for tuners: TuningData
    for nbest in lists.pieces(): ...        # texts and features of some sentences at a time: NBest
    lists.write("train.jsonl.gz")

The hypotheses stay on disk, fold by fold and round by round, in mapped columns; what is asked for is put together in
the order of the corpus.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from camber.arrays.ragged import offsets_from, owners_of, places_of
from camber.arrays.types import F8, I8, Bools
from camber.corpus import Vocabulary
from camber.features.weights import Weights
from camber.metrics.bleu import BLEU
from camber.nbest.formats import AUTO
from camber.nbest.nbest import NBest
from camber.nbest.pieces import write_pieces
from camber.pipeline.fold_columns import FoldColumns
from camber.text.pipeline import TextPipeline
from camber.tune.data import TuningData, add_products
from camber.tune.loop import FIXED

#: hypotheses of a piece: some 20 MB
PIECE = 50_000


@dataclass(frozen=True)
class FoldRound:
    """What one translation of all folds showed."""

    score: float  # of the best hypotheses
    ratio: float  # their length / the references'
    hypotheses: int  # in the merged list
    new: int  # of them new
    weights: Weights  # that all folds were translated with


@dataclass(frozen=True)
class FoundInFold:
    """What was found for the lines of a fold, round after round."""

    lines: I8  # [sentences]: lines of the corpus that have a list, rising
    text: TextPipeline
    vocabulary: Vocabulary  # of the words of hypotheses
    rounds: Sequence[FoldColumns]


@dataclass(frozen=True)
class FoldLists:
    """The hypotheses of all rounds for every line of a corpus, without repeats."""

    sources: list[str]  # raw lines
    targets: list[str]
    fold_numbers: I8  # [lines]: the fold of each, from 0
    folds: Sequence[FoundInFold]
    metric: BLEU  # whose statistics the columns have
    weights: Weights  # fitted to all hypotheses
    rounds: Sequence[FoldRound]

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self.sources)

    @property
    def names(self) -> tuple[str, ...]:
        """The features, in the order of columns and weights."""
        return self.weights.names

    @cached_property
    def counts(self) -> I8:
        """How many hypotheses each line has, int64[lines]."""
        counts = np.zeros(len(self), np.int64)
        for fold in self.folds:
            counts[fold.lines] = sum(found.counts for found in fold.rounds)
        return counts

    @property
    def hypotheses(self) -> int:
        """The number of hypotheses."""
        return int(self.counts.sum())

    @property
    def dropped(self) -> I8:
        """The lines that cleaning would drop, which have no hypotheses: int64[dropped]."""
        with_list = np.zeros(len(self), bool)
        for fold in self.folds:
            with_list[fold.lines] = True
        return np.flatnonzero(~with_list)

    def drawn(self, most: int, seed: int = 1) -> I8:
        """Return lines that have `most` hypotheses or less together, drawn at random, rising (0: all that have a list).

        The same seed gives the same order of drawing, however long the lists are.
        """
        listed = np.flatnonzero(self.counts)
        if not most or self.hypotheses <= most:
            return listed
        order = np.random.default_rng(seed).permutation(len(self))
        order = order[self.counts[order] > 0]
        taken = int(np.searchsorted(np.cumsum(self.counts[order]), most, "right"))
        return np.sort(order[: max(1, taken)])

    def data(self, lines: I8 | None = None) -> TuningData:
        """Return the columns of some lines (by default of all that have a list), as tuners and learners take them."""
        chosen = np.flatnonzero(self.counts) if lines is None else lines
        offsets = offsets_from(self.counts[chosen])
        features = np.zeros((int(offsets[-1]), len(self.names)))
        statistics = np.zeros((len(features), 2 + 2 * self.metric.order))
        for _, found, rows, places, columns in self._places(chosen, offsets):
            features[places[:, None], columns] = found.features[rows]
            statistics[places] = found.statistics[rows]
        return TuningData(self.names, features, offsets, statistics, self.metric, self._fixed())

    def pieces(self, most: int = PIECE) -> Iterator[NBest]:
        """Yield the list in pieces of at most so many hypotheses (of one sentence at least), best first by the weights.

        A piece has all sentences up to its last one, so that they have their numbers; those before it have no
        hypotheses. Texts are raw.
        """
        ends = np.cumsum(self.counts)
        first = 0
        while first < len(self):
            done = int(ends[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(ends, done + most, "right")))
            yield self._nbest(first, last)
            first = last

    def nbest(self) -> NBest:
        """Return the whole list, which takes about 300 bytes for each hypothesis."""
        return self._nbest(0, len(self))

    def _nbest(self, first: int, last: int) -> NBest:
        chosen = np.arange(first, last)
        offsets = offsets_from(self.counts[chosen])
        features = np.zeros((int(offsets[-1]), len(self.names)))
        texts = [""] * len(features)
        owners = owners_of(offsets)
        for fold, found, rows, places, columns in self._places(chosen, offsets):
            features[places[:, None], columns] = found.features[rows]
            for place, text in zip(
                places.tolist(), self._texts(fold, found, rows, first + owners[places]), strict=True
            ):
                texts[place] = text
        scores = self._scores(features)
        order = np.lexsort((-scores, owners))  # of equal scores, what was found first
        return NBest.of_hypotheses(
            self.names,
            np.concatenate([np.zeros(first, np.int64), offsets]),
            [texts[row] for row in order.tolist()],
            features[order],
            scores[order],
            sources=self.sources[:last],
            targets=self.targets[:last],
        )

    def _scores(self, features: F8) -> F8:
        """Return the scores of hypotheses, added up as :meth:`TuningData.scores` does it: ties are ties there, too."""
        scores, weights, fixed = np.zeros(len(features)), self.weights.vector(self.names), self._fixed()
        for those in (fixed, ~fixed):
            add_products(np.ascontiguousarray(features[:, those].T), weights[those], scores)
        return scores

    def _fixed(self) -> Bools:
        return np.array([name in FIXED for name in self.names])

    def _texts(self, fold: FoundInFold, found: FoldColumns, rows: I8, owners: I8) -> Iterator[str]:
        """Yield the raw texts of some hypotheses of a fold, given the lines that they belong to."""
        ids, bounds = found.words_of(rows)
        spelt = list(map(fold.vocabulary.words.__getitem__, ids.tolist()))
        starts, before, prepared = bounds.tolist(), -1, None
        for place, line in enumerate(owners.tolist()):
            if line != before or prepared is None:
                before, prepared = line, fold.text.prepare(self.sources[line])
            yield fold.text.finish(spelt[starts[place] : starts[place + 1]], prepared)

    def _places(self, chosen: I8, offsets: I8) -> Iterator[tuple[FoundInFold, FoldColumns, I8, I8, I8]]:
        """Yield folds and rounds, the rows of these for the lines `chosen`, and the rows and columns that they fill.

        Of a sentence, the hypotheses of an earlier round come first.
        """
        column = {name: place for place, name in enumerate(self.names)}
        for fold in self.folds:
            own = np.flatnonzero(np.isin(chosen, fold.lines, assume_unique=True))
            sentences = np.searchsorted(fold.lines, chosen[own])
            filled = offsets[own]
            for found in fold.rounds:
                sizes = found.counts[sentences]
                columns = np.array([column[name] for name in found.names])
                yield fold, found, found.rows_of(sentences), places_of(filled, sizes), columns
                filled = filled + sizes

    def write(self, path: str | Path, format: str = AUTO) -> None:
        """Write the merged list, whole or not at all; `auto`: by the name's ending, Moses' format without any."""
        write_pieces(self.pieces(), path, format)
